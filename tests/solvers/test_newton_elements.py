"""Elements with Hessians: exact derivatives by central differences, and the same laws as everybody's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from law_specimens import N, constraints

import pliant as pl
from pliant.diagnostics.report import elastic_energy, law_values
from pliant.lab.conformance.specimens import SOFT, two_sheets, two_solids, woven_sheets
from pliant.laws import LAWS
from pliant.solvers.newton.elements import ELEMENTS, element_of
from pliant.solvers.newton.elements.base import Element, positive
from pliant.solvers.newton.objective import Incremental

Array = np.ndarray


def prepared(law: str, gamma: float, kind: type[Element] | None = None) -> tuple[Element, Array]:
    rng = np.random.default_rng(list(LAWS).index(law))
    block, x = constraints(law, rng)
    block = replace(block, damping_time=np.full(N, gamma))
    element = kind(block) if kind else element_of(block)
    element.begin(x + 0.1 * rng.normal(size=x.shape), block.compliance, np.full(N, gamma))
    element.kappa[:] = 1.0
    return element, x


def derivatives(element: Element, x: Array, order: int = 1) -> tuple[Array, Array, Array]:
    """Energy (N,), gradient (N, 3 c) and Hessian (N, 3 c, 3 c) by corners."""
    z = element.vectors(x)
    element.see(z, x)
    t = element.terms(z, order, False)
    b = np.einsum("ecm,ij->ecimj", element.shape, np.eye(3)).reshape(N, x[0].size, -1)
    h = np.zeros(0) if t.hessian is None else b @ t.hessian @ b.transpose(0, 2, 1)
    return t.energy, np.einsum("epn,en->ep", b, t.gradient), h


def slopes(element: Element, x: Array) -> Array:
    """Orders at which the errors of gradient and Hessian fall with the difference's width."""
    rng = np.random.default_rng(5)
    way = rng.normal(size=x.shape)
    _, gradient, hessian = derivatives(element, x, 2)
    flat = way.reshape(N, -1)
    errors = []
    for eps in (2e-3, 2e-4):
        up, down = derivatives(element, x + eps * way), derivatives(element, x - eps * way)
        first = (up[0] - down[0]) / (2 * eps) - np.einsum("ep,ep->e", gradient, flat)
        second = (up[1] - down[1]) / (2 * eps) - np.einsum("epq,eq->ep", hessian, flat)
        errors.append((np.linalg.norm(first), np.linalg.norm(second)))
    return np.log10(np.array(errors[0]) / np.array(errors[1]))


@pytest.mark.parametrize("gamma", [0.0, 0.7])
@pytest.mark.parametrize("law", LAWS)
def test_derivatives_are_exact(law: str, gamma: float) -> None:
    """Errors of central differences fall as eps^2 over a decade; for linear laws they are rounding."""
    element, x = prepared(law, gamma)
    _, gradient, hessian = derivatives(element, x, 2)
    assert np.all(np.linalg.norm(gradient, axis=1) > 1e-3) or LAWS[law].one_sided
    assert np.linalg.norm(gradient) > 1e-2
    np.testing.assert_allclose(hessian, hessian.transpose(0, 2, 1), atol=1e-12 * np.abs(hessian).max())
    if law == "attachment" or (law == "isometric" and not gamma):
        way = np.ones_like(x) + 0.3 * x
        up, down = derivatives(element, x + way), derivatives(element, x - way)
        flat = way.reshape(N, -1)
        np.testing.assert_allclose(up[0] - down[0], 2 * np.einsum("ep,ep->e", gradient, flat), rtol=1e-9)
        np.testing.assert_allclose(
            up[1] - down[1], 2 * np.einsum("epq,eq->ep", hessian, flat), rtol=1e-9, atol=1e-9
        )
        return
    assert slopes(element, x) == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.parametrize("law", ["distance", "tie", "dihedral"])
def test_a_flipped_sign_is_found(law: str) -> None:
    """The check above fails for a Hessian whose curvature has the wrong sign, and for a flipped gradient."""
    kind = ELEMENTS[law]
    bent = type("Bent", (kind,), {"curvature": lambda self, z, pull: -kind.curvature(self, z, pull)})
    flipped = type(
        "Flipped", (kind,), {"rows": lambda self, z: (kind.rows(self, z)[0], -kind.rows(self, z)[1])}
    )
    assert slopes(*prepared(law, 0.0, bent))[1] < 0.5
    assert slopes(*prepared(law, 0.0, flipped))[0] < 0.5


def test_projection_keeps_what_is_positive_and_nothing_else() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=(5, 6, 6))
    h = a + a.transpose(0, 2, 1)
    good = a @ a.transpose(0, 2, 1)
    assert np.linalg.eigvalsh(h)[:, 0].max() < -0.1
    assert np.linalg.eigvalsh(positive(h))[:, 0].min() > -1e-12
    np.testing.assert_array_equal(positive(good), good)
    values = np.linalg.eigvalsh(h)
    np.testing.assert_allclose(np.linalg.eigvalsh(positive(h))[:, -1], values[:, -1], rtol=1e-12)


def every_law() -> dict[str, pl.Scene]:
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.bar((0.2, 0.1, 0.1), (2, 1, 1)), pl.solids.rubber, law="volume")
    old = pl.Scene(gravity=(0, 0, 0))
    old.add_cloth(pl.shapes.grid(4, 4), SOFT, bending="dihedral_acos")
    return {
        "sheets": two_sheets(contact=False),
        "woven": woven_sheets(contact=False),
        "solids": two_solids(contact=False),
        "volume": scene,
        "acos": old,
    }


@pytest.mark.parametrize("name", every_law())
def test_the_laws_are_the_ones_that_diagnostics_report(name: str) -> None:
    """Energy and forces agree with the compiled laws, which share no line with these elements."""
    scene = every_law()[name]
    model = scene.build(1, "float64")
    state, control = model.state(), model.control()
    rng = np.random.default_rng(2)
    x = model.x_rest + 0.1 * model.length * rng.normal(size=model.x_rest.shape)
    state.set_x(x)
    nothing = {law: np.zeros((1, *b.compliance.shape)) for law, b in model.blocks.items()}
    values, gradient = law_values(model, state, control, nothing)
    objective = Incremental(model)
    held = model.attachment_targets
    if len(held):
        held = held[model.blocks["attachment"].file_order]
    objective.begin(x, 1.0, dict.fromkeys(LAWS, 1.0), (held, held), np.zeros(0), 0)
    for e in objective.elements.values():
        e.gamma = e.gamma * 0  # what diagnostics report is elastic
    value = objective.place(x, np.zeros_like(x))
    energy = float(elastic_energy(model, control, values)[0])
    assert objective.energy(value) == pytest.approx(energy, rel=1e-12)
    assert energy > 1e-9
    expected = gradient[0][objective.free].ravel()
    np.testing.assert_allclose(value.gradient, expected, atol=1e-12 * np.abs(expected).max())
