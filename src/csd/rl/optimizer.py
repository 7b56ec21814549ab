"""Adam, perhaps with a learning rate that falls towards the end, and one typed call for a step."""

from typing import Any, TypeVar, cast

import jax
import optax

from csd.compilation import zeros
from csd.config import FALLING

Tree = TypeVar("Tree")


def adam(lr: float, steps: int, final: float) -> optax.GradientTransformation:
    """Adam whose rate falls linearly to `final * lr` over the last part of `steps`."""
    falling = max(int(FALLING * steps), 1)
    schedule = optax.linear_schedule(lr, final * lr, falling, steps - falling)
    optimizer = optax.adam(lr if final == 1.0 else schedule)

    def init(params: Any) -> Any:
        start = jax.eval_shape(optimizer.init, params)
        return jax.tree.map(lambda x: zeros(x.shape, x.dtype), start)

    return optax.GradientTransformation(init, optimizer.update)


def descend(
    optimizer: optax.GradientTransformation, grads: Any, opt: Any, params: Tree
) -> tuple[Tree, Any]:
    """New parameters and optimiser state after one step against the gradient."""
    updates, opt = optimizer.update(grads, opt, cast(Any, params))
    return cast(Tree, optax.apply_updates(cast(Any, params), updates)), opt
