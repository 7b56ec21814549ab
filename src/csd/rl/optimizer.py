"""One typed call for a step of an optax optimiser."""

from typing import Any, TypeVar, cast

import optax

Tree = TypeVar("Tree")


def descend(
    optimizer: optax.GradientTransformation, grads: Any, opt: Any, params: Tree
) -> tuple[Tree, Any]:
    """New parameters and optimiser state after one step against the gradient."""
    updates, opt = optimizer.update(grads, opt, cast(Any, params))
    return cast(Tree, optax.apply_updates(cast(Any, params), updates)), opt
