"""Adam, perhaps with a learning rate that falls towards the end, and one typed call for a step."""

from typing import Any, TypeVar, cast

import optax

from csd.config import FALLING

Tree = TypeVar("Tree")


def adam(lr: float, steps: int, final: float) -> optax.GradientTransformation:
    """Adam whose rate falls linearly to `final * lr` over the last part of `steps`."""
    if final == 1.0:
        return optax.adam(lr)
    falling = max(int(FALLING * steps), 1)
    return optax.adam(optax.linear_schedule(lr, final * lr, falling, steps - falling))


def descend(
    optimizer: optax.GradientTransformation, grads: Any, opt: Any, params: Tree
) -> tuple[Tree, Any]:
    """New parameters and optimiser state after one step against the gradient."""
    updates, opt = optimizer.update(grads, opt, cast(Any, params))
    return cast(Tree, optax.apply_updates(cast(Any, params), updates)), opt
