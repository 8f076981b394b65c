"""What a constraint pulls with: the derivative of its energy with respect to its value."""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel, law


@law
def pull(value: Any, alpha: Any, multiplier: Any) -> Any:
    """dU/dC = C/alpha; for a rigid row the force that the solver found, and 0 for an absent one."""
    return value / alpha if alpha > 0 else -multiplier


@kernel(inline=True)
def pull_of(out: Any, alpha: Any, force: Any, c: Any, row: Any) -> Any:
    """dU/dC of one row of constraint ``c``."""
    return pull(out[c, row, 0], alpha[c, row], force[c, row])
