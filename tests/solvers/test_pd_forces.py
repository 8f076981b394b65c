"""The local step of projective dynamics: energies and gradients of all laws, against Newton's elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from law_specimens import N, constraints

from pliant.backend.lanes import Lanes
from pliant.laws import LAWS
from pliant.laws.membrane import rotation, rotation_of
from pliant.model import Block
from pliant.solvers.newton.elements import element_of
from pliant.solvers.pd import forces, more_forces
from pliant.solvers.pd.forces import DAMPED, STORE
from pliant.solvers.pool import Rows

Array = np.ndarray

FORCES = {
    "distance": forces.force_distance,
    "membrane": forces.force_membrane,
    "isometric": forces.force_isometric,
    "curved": more_forces.force_curved,
    "orthotropic": more_forces.force_orthotropic,
    "arap_tet": more_forces.force_arap,
    "neo_hookean": more_forces.force_neo_hookean,
    "volume": more_forces.force_volume,
    "tie": more_forces.force_tie,
}
H = 0.1
SCALE = 1.3
TINY = 4e-15


def rows_of_block(block: Block, tau: float) -> Rows:
    """A block as the kernels see it: 1/alpha and parameters."""
    ids = np.ascontiguousarray(block.ids.T.astype(np.int32))
    data = np.ascontiguousarray(np.concatenate([1 / block.compliance, block.params], axis=1).T)
    n = len(block)
    lambda_ = np.full((block.compliance.shape[1], n, 1), np.nan)
    return Rows(ids, ids, data, np.full(n, tau), np.ones(n), lambda_, np.array([SCALE]))


@pytest.mark.parametrize("gamma", [0.0, 0.4])
@pytest.mark.parametrize("law", [*FORCES, "dihedral", "dihedral_acos", "attachment"])
def test_energy_gradient_and_multipliers_are_those_of_newton(law: str, gamma: float) -> None:
    rng = np.random.default_rng(list(LAWS).index(law))
    block, x = constraints(law, rng)
    if law in ("isometric", "attachment", "tie"):  # all rows alike, as in every model
        block = replace(block, compliance=np.repeat(block.compliance[:, :1], 3, axis=1))
    block = replace(block, damping_time=np.full(N, gamma * H))
    before = x + 0.1 * rng.normal(size=x.shape)
    element = element_of(block)
    held = np.zeros((2, N, 3, 1))
    if law == "attachment":
        held[...] = rng.normal(size=held.shape)
        element.begin(before - held[1][:, None, :, 0], block.compliance / SCALE, np.full(N, gamma))
        p = x - held[0][:, None, :, 0]
    else:
        element.begin(before, block.compliance / SCALE, np.full(N, gamma))
        p = x
    z = element.vectors(p)
    element.see(z, p)
    terms = element.terms(z, 1, False)
    exact = np.matmul(element.shape, terms.gradient.reshape(N, -1, 3))

    r = rows_of_block(block, gamma * H)
    now, then = (np.ascontiguousarray(a.reshape(-1, 3, 1)) for a in (x, before))
    g, e = np.zeros_like(now), np.zeros(now.shape[::2])
    times = np.array([H, 1 / H, 1 / H**2, 1.0, 1 / H, 1.0])
    flags = STORE | (DAMPED if gamma else 0)
    lanes = Lanes(1)
    if law == "attachment":
        forces.force_attachment(now, then, g, e, r, times, flags, 0, N, held, lanes)
    elif law.startswith("dihedral"):
        signed = law == "dihedral"
        more_forces.force_dihedral(now, then, g, e, r, times, flags, 0, N, signed, lanes)
    else:
        FORCES[law](now, then, g, e, r, times, flags, 0, N, lanes)

    corners = LAWS[law].corners
    size = np.abs(exact).max()
    assert size > 0.01
    np.testing.assert_allclose(g.reshape(N, corners, 3), exact, rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(e[:, 0].reshape(N, corners).sum(axis=1), terms.energy, rtol=1e-12)
    if gamma == 0 or not law.endswith(("tet", "hookean")):
        pulls = -r.lambda_[:, :, 0].T / H**2
        np.testing.assert_allclose(pulls, element.forces(z), rtol=1e-11, atol=1e-12)


def test_rotations_by_cofactor_are_those_of_the_frame() -> None:
    """Of any triangle, and orthonormal where it has shrunk to a line or a point."""
    rng = np.random.default_rng(3)
    for f1, f2 in rng.normal(size=(200, 2, 3)):
        a, b = rotation(tuple(f1), tuple(f2)), rotation_of(tuple(f1), tuple(f2), TINY)
        np.testing.assert_allclose(np.array([*b[0], *b[1], b[2]]), np.array([*a[0], *a[1], a[2]]), atol=1e-12)
    u = np.array([0.3, -0.5, 0.2])
    for f1, f2 in ((u, 2 * u), (u, 0 * u), (0 * u, u), (u, -0.5 * u), (1e-200 * u, 0 * u)):
        with np.errstate(all="ignore"):
            r1, r2, total = (np.array(v) for v in rotation_of(tuple(f1), tuple(f2), TINY))
        if total > 1e-150:
            np.testing.assert_allclose([r1 @ r1, r2 @ r2, r1 @ r2], [1, 1, 0], atol=1e-12)
            assert abs(r1 @ f1 + r2 @ f2 - total) < 1e-12 * total
        else:
            assert np.isfinite([*r1, *r2]).all()
