"""Static equilibrium by dynamic relaxation: the tool with which the lab weighs and measures.

The dynamics run until the kinetic energy passes a maximum; all velocities are then set to zero and the run
goes on (kinetic damping, Cundall 1976). What is left is the static state of the solver at its own step:
no artificial force acts at the end. Solvers themselves never do this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..simulation import Simulation

Array = np.ndarray


@dataclass(frozen=True)
class Rest:
    """How a relaxation ended, per world (W,).

    steps taken; restarts: how often the velocities were set to zero; drift: largest motion of a particle
    over the last cycle between restarts, relative to the length of the scene; converged.
    """

    steps: int
    restarts: Array
    drift: Array
    converged: Array


def relax(
    sim: Simulation, tolerance: float = 1e-5, max_steps: int = 5000, length: float | None = None
) -> Rest:
    """Bring every world to rest.

    tolerance  two cycles in a row (from one restart to the next) that move no particle by more than
               ``tolerance`` times ``length`` (default: the extent of the scene) end a world's relaxation
    Returns a :class:`Rest`; worlds that max_steps did not suffice for have ``converged`` False.
    """
    model, state = sim.model, sim.state
    span = length or float(np.linalg.norm(np.ptp(model.x_rest, axis=0)))
    n = model.n_worlds
    before, restarts, drift, calm = np.zeros(n), np.zeros(n, int), np.full(n, np.inf), np.zeros(n, int)
    turned = state.x.astype(float)
    steps = 0
    while steps < max_steps and (calm < 2).any():
        sim.step("status")
        steps += 1
        kinetic = np.einsum("n,wnk->w", model.mass, state.v.astype(float) ** 2)
        peak = kinetic < before
        if peak.any():
            x = state.x.astype(float)
            drift[peak] = np.abs(x - turned).max(axis=(1, 2))[peak] / span
            turned[peak] = x[peak]
            restarts[peak] += 1
            calm[peak] = np.where(drift[peak] < tolerance, calm[peak] + 1, 0)
            state.set_v(0.0, worlds=peak)
        before = np.where(peak, 0.0, kinetic)
    return Rest(steps, restarts, drift, calm >= 2)
