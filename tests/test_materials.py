"""Materials: SI in, coefficients out; what springs along edges are worth as a membrane."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.build import opposite_edges
from pliant.errors import SceneError
from pliant.geometry import shapes, topology
from pliant.geometry.mesh import TriMesh
from pliant.materials import (
    KES_B,
    Fabric,
    curved_compliance,
    dihedral_compliance,
    edge_compliance,
    fabrics,
    isometric_compliance,
    membrane_compliance,
    orthotropic_rows,
)

Array = np.ndarray

FABRIC = Fabric(
    areal_density=0.2, thickness=4e-4, youngs_modulus=2e6, poisson_ratio=0.25, bending_rigidity=3e-5
)

# --- values and errors -----------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["areal_density", "thickness", "youngs_modulus"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_what_must_be_positive_is_refused_otherwise(key: str, value: float) -> None:
    with pytest.raises(SceneError, match=rf'"towel": {key} is .*must be greater than 0'):
        Fabric("towel", **{key: value})


@pytest.mark.parametrize("key", ["bending_rigidity", "damping_time", "friction"])
def test_what_may_be_nought_may_not_be_negative(key: str) -> None:
    assert getattr(Fabric(**{key: 0.0}), key) == 0.0
    for value in (-1e-9, np.nan, np.inf):
        with pytest.raises(SceneError, match=rf"{key} is .*at least 0"):
            Fabric(**{key: value})


@pytest.mark.parametrize("nu", [-0.1, 1.0, 1.5, np.nan])
def test_poissons_ratio_of_a_sheet_lies_below_one(nu: float) -> None:
    with pytest.raises(SceneError, match=r"poisson_ratio is .*plane stress"):
        Fabric(poisson_ratio=nu)


WOVEN = FABRIC.with_(name="woven", weft_modulus=5e5, shear_modulus=1e5)


@pytest.mark.parametrize("key", ["weft_modulus", "shear_modulus"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "1e6", True])
def test_moduli_of_woven_cloth_are_positive_or_absent(key: str, value: float) -> None:
    assert getattr(Fabric(), key) is None
    with pytest.raises(SceneError, match=rf'"towel": {key} is .*(greater than 0|a number)'):
        Fabric("towel", **{key: value})


def test_a_strain_limit_is_at_least_nought_or_absent() -> None:
    assert Fabric().strain_limit is None
    assert Fabric(strain_limit=0.0).strain_limit == 0.0
    with pytest.raises(SceneError, match=r"strain_limit is -0.1, it must be at least 0"):
        Fabric(strain_limit=-0.1)


def test_a_woven_sheet_needs_a_positive_energy() -> None:
    """nu12^2 < E1/E2: more than 1 where the warp is stiff, less where the weft is."""
    assert Fabric(youngs_modulus=4e6, weft_modulus=1e6, poisson_ratio=1.9).orthotropic
    with pytest.raises(SceneError, match=r"poisson_ratio is 2.0, .*square below the warp over .* 4: energy"):
        Fabric(youngs_modulus=4e6, weft_modulus=1e6, poisson_ratio=2.0)
    with pytest.raises(SceneError, match=r"poisson_ratio is 0.6, .*0.25"):
        Fabric(youngs_modulus=1e6, weft_modulus=4e6, poisson_ratio=0.6)
    with pytest.raises(SceneError, match="poisson_ratio"):
        Fabric(shear_modulus=1e5, poisson_ratio=-0.1)


def test_what_a_woven_sheet_leaves_out_is_that_of_the_isotropic_one() -> None:
    assert not FABRIC.orthotropic
    assert (FABRIC.weft, FABRIC.shear) == (2e6, pytest.approx(2e6 / 2.5))
    only_shear = FABRIC.with_(shear_modulus=3e4)
    assert only_shear.orthotropic
    assert (only_shear.weft, only_shear.shear) == (2e6, 3e4)
    only_weft = FABRIC.with_(weft_modulus=5e5)
    assert only_weft.shear == pytest.approx(np.sqrt(2e6 * 5e5) / (2 * (1 + 0.25 * np.sqrt(0.25))))


def test_plane_stress_of_a_woven_sheet() -> None:
    """Its inverse reads E1, E2, nu12 and G."""
    c11, c12, c22, g = WOVEN.plane_stress
    s = np.linalg.inv([[c11, c12], [c12, c22]]) * 4e-4
    np.testing.assert_allclose([1 / s[0, 0], 1 / s[1, 1], -s[0, 1] / s[0, 0]], [2e6, 5e5, 0.25], rtol=1e-12)
    assert g == pytest.approx(1e5 * 4e-4)


def test_a_changed_copy_leaves_the_fabric_alone_and_is_checked() -> None:
    stiff = FABRIC.with_(youngs_modulus=5e6, name="stiff")
    assert (stiff.youngs_modulus, stiff.name, stiff.thickness) == (5e6, "stiff", FABRIC.thickness)
    assert FABRIC.youngs_modulus == 2e6
    assert stiff.membrane_stiffness == pytest.approx(2000.0)
    with pytest.raises(SceneError, match=r'no "stiffness"; it has areal_density, .*youngs_modulus'):
        FABRIC.with_(stiffness=3.0)
    with pytest.raises(SceneError, match="thickness"):
        FABRIC.with_(thickness=-1.0)
    with pytest.raises(AttributeError):
        FABRIC.thickness = 1.0  # type: ignore[misc]


PRINTED = {  # areal density kg/m2, thickness mm, E t N/m, nu; bending gf cm2/cm: as the sources print them
    "cotton": (0.1503, 0.318, 261.0, 0.243, 0.118),
    "wool": (0.2348, 0.568, 97.0, 0.277, 0.067),
    "polyester": (0.1646, 0.252, 120.0, 0.381, 0.019),
    "denim": (0.324, 0.9, 9500.0, 0.3, 0.185),
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_fabrics_have_the_values_of_their_sources(name: str) -> None:
    fabric, (density, millimetres, stiffness, nu, bending) = getattr(fabrics, name), PRINTED[name]
    assert fabric.name == name
    assert fabric.areal_density == density
    assert fabric.thickness == pytest.approx(1e-3 * millimetres)
    assert fabric.membrane_stiffness == pytest.approx(stiffness, rel=0.005)
    assert fabric.poisson_ratio == nu
    one_gf_cm = 9.80665e-3 * 1e-2  # gram-force times a centimetre [N m]; cm2 per cm is a cm
    assert fabric.bending_rigidity == pytest.approx(bending * one_gf_cm)
    assert pytest.approx(one_gf_cm) == KES_B
    assert re.search(r"(19|20)\d\d", fabric.source), "a source has a year"
    assert "not measured" in fabric.source, "and says what is none"


def test_every_fabric_is_checked_here_and_listed_in_the_page() -> None:
    page = (ROOT / "docs" / "materials.md").read_text(encoding="utf-8")
    assert set(vars(fabrics)) == set(PRINTED)
    for name, fabric in vars(fabrics).items():
        row = re.search(rf"^\| `{name}` \|(.*)\|$", page, re.MULTILINE)
        assert row, name
        stated = [float(cell) for cell in row[1].split("|")]
        values = (
            fabric.areal_density, 1e3 * fabric.thickness, 1e-6 * fabric.youngs_modulus,
            fabric.membrane_stiffness, fabric.poisson_ratio, 1e6 * fabric.bending_rigidity, fabric.friction,
        )  # fmt: skip
        np.testing.assert_allclose(stated, values, rtol=0.005)
    for field in fields(Fabric):
        assert f"`{field.name}`" in page, field.name


# --- compliances -----------------------------------------------------------------------------------


def test_membrane_compliance_is_one_over_the_lame_stiffness_and_area() -> None:
    area = np.array([1e-4, 3e-3])
    alpha = membrane_compliance(FABRIC, area)
    shear = 2e6 / (2 * 1.25)
    lame = 2e6 * 0.25 / (1 - 0.25**2)
    np.testing.assert_allclose(alpha[:, 0], 1 / (2 * shear * 4e-4 * area), rtol=1e-14)
    np.testing.assert_allclose(alpha[:, 1], 1 / (lame * 4e-4 * area), rtol=1e-14)
    absent = membrane_compliance(FABRIC.with_(poisson_ratio=0.0), area)
    assert np.isinf(absent[:, 1]).all()


def test_orthotropic_rows_complete_the_square_of_plane_stress() -> None:
    area = np.array([1e-4, 3e-3])
    ratio, alpha = orthotropic_rows(WOVEN, area)
    c11, c12, c22, g = WOVEN.plane_stress
    e1, e2, shear = 0.01, -0.02, 0.03
    exact = 0.5 * (c11 * e1**2 + 2 * c12 * e1 * e2 + c22 * e2**2 + g * shear**2) * area
    rows = np.array([e1 + ratio * e2, e2, shear])
    np.testing.assert_allclose((rows**2 / (2 * alpha)).sum(axis=1), exact, rtol=1e-13)


def test_bending_compliances_belong_to_the_same_energy() -> None:
    """B l^2 theta^2 / (2 (A0 + A1)) either way, as |sum K x| = l theta for a small fold."""
    area, length, theta = np.array([2e-4, 5e-4]), np.array([0.01, 0.03]), 1e-3
    exact = 0.5 * 3e-5 * (length * theta) ** 2 / area
    alpha = isometric_compliance(FABRIC, area)
    assert alpha.shape == (2, 3)
    np.testing.assert_allclose((length * theta) ** 2 / (2 * alpha[:, 0]), exact, rtol=1e-14)
    np.testing.assert_array_equal(curved_compliance(FABRIC, area), alpha[:, :1])
    assert (alpha == alpha[:, :1]).all()
    alpha = dihedral_compliance(FABRIC, area, length)
    assert alpha.shape == (2, 1)
    np.testing.assert_allclose(theta**2 / (2 * alpha[:, 0]), exact, rtol=1e-14)


# --- springs along edges ---------------------------------------------------------------------------


def springs(mesh: TriMesh, material: Fabric = FABRIC) -> tuple[Array, Array]:
    """Edges (E, 2) and their stiffness (E,) over E t."""
    e = topology.edges(mesh.triangles)
    alpha = edge_compliance(material, mesh.vertices, mesh.triangles, e, opposite_edges(mesh.triangles, e))
    assert alpha.shape == (len(e), 1)
    return e, 1 / (alpha[:, 0] * material.membrane_stiffness)


def test_equilateral_springs_have_the_known_stiffness() -> None:
    """k = sqrt(3)/2 E t inside, half of it on the border (one triangle)."""
    edge = 0.02
    mesh = shapes.equilateral((20 * edge, 10 * edge * np.sqrt(0.75)), edge)
    e, k = springs(mesh)
    length = np.linalg.norm(mesh.vertices[e[:, 1]] - mesh.vertices[e[:, 0]], axis=1)
    middle = np.abs(mesh.vertices[e].mean(axis=1)) < [8 * edge, 3 * edge, 1.0]
    inner = middle.all(axis=1)
    np.testing.assert_allclose(length[inner], edge, rtol=1e-12)
    assert inner.sum() > 50
    np.testing.assert_allclose(k[inner], np.sqrt(3) / 2, rtol=1e-6)
    border = np.isclose(mesh.vertices[e][:, :, 1], 5 * edge * np.sqrt(0.75)).all(axis=1)
    np.testing.assert_allclose(k[border], np.sqrt(3) / 4, rtol=1e-6)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), factor=st.sampled_from([0.01, 1.0, 100.0]))
def test_spring_stiffness_knows_neither_place_nor_unit_of_length(seed: int, factor: float) -> None:
    mesh = shapes.unstructured((0.4, 0.3), 0.08, seed=seed)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    _, k = springs(mesh)
    _, moved = springs(TriMesh(factor * mesh.vertices @ turn.T + 3.0, mesh.triangles))
    np.testing.assert_allclose(moved, k, rtol=1e-6)
    _, harder = springs(mesh, FABRIC.with_(youngs_modulus=1e9, poisson_ratio=0.0))
    np.testing.assert_allclose(harder, k, rtol=1e-9)  # proportional to E t, blind to nu


def test_an_edge_that_gets_no_stiffness_is_named() -> None:
    mesh = TriMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0.1, 0]]), np.array([[0, 1, 2]], np.int32))
    with pytest.raises(SceneError, match=r"edge \[\d, \d\] gets no stiffness.*obtuse.*triangles"):
        springs(mesh)


EDGE = 1 / 16
ROW = EDGE * np.sqrt(0.75)
DIRECTIONS = tuple(range(0, 180, 15))
SHEETS: dict[str, tuple[TriMesh, tuple[float, float]]] = {
    "right": (shapes.grid(17, 17), (0.5, 0.5)),
    "alternating": (shapes.grid(17, 17, pattern="alternating"), (0.5, 0.5)),
    "cross": (shapes.grid(17, 17, pattern="cross"), (0.5, 0.5)),
    "equilateral": (shapes.equilateral((1.0, 16 * ROW), EDGE), (0.5, 8 * ROW)),
    "unstructured": (shapes.unstructured((1.0, 1.0), EDGE), (0.8, 0.8)),
}


class Truss:
    """The springs of a flat sheet for small strain: stiffness matrix K (2 n, 2 n) over E t, dense."""

    def __init__(self, mesh: TriMesh) -> None:
        self.edges, self.k = springs(mesh)
        self.x = mesh.vertices[:, :2]
        d = self.x[self.edges[:, 1]] - self.x[self.edges[:, 0]]
        self.t = d / np.linalg.norm(d, axis=1)[:, None]
        n = 2 * len(self.x)
        pull = np.zeros((len(self.edges), n))
        rows = np.arange(len(self.edges))[:, None]
        pull[rows, 2 * self.edges[:, :1] + [0, 1]] = -self.t
        pull[rows, 2 * self.edges[:, 1:] + [0, 1]] = self.t
        self.pull = pull  # (E, 2 n): elongations from displacements
        self.K = pull.T @ (self.k[:, None] * pull)

    def solve(self, fixed: Array, u: Array) -> Array:
        """Displacements (2 n,) in equilibrium, those of ``fixed`` as given in u."""
        free = np.setdiff1d(np.arange(len(u)), fixed)
        out = u.copy()
        out[free] = np.linalg.solve(self.K[np.ix_(free, free)], -self.K[np.ix_(free, fixed)] @ u[fixed])
        return out


def strip_test(mesh: TriMesh, axis: int) -> tuple[float, float]:
    """Modulus over E t and Poisson's ratio of the sheet pulled along an axis, its ends free to contract."""
    truss, other = Truss(mesh), 1 - axis
    along, across = truss.x[:, axis], truss.x[:, other]
    low, high = along.min(), along.max()
    ends = [np.flatnonzero(np.isclose(along, end)) for end in (low, high)]
    u = np.zeros(truss.x.size)
    strain = 1e-3
    u[2 * ends[1] + axis] = strain * (high - low)
    hold = ends[0][np.argmin(np.abs(across[ends[0]]))]
    fixed = np.concatenate([2 * ends[0] + axis, 2 * ends[1] + axis, [2 * hold + other]])
    u = truss.solve(fixed, u)
    force = (truss.K @ u)[2 * ends[1] + axis].sum()
    middle = np.abs(along) < 0.2 * (high - low)
    slope = np.polyfit(across[middle], u[2 * np.flatnonzero(middle) + other], 1)[0]
    return float(force / np.ptp(across) / strain), float(-slope / strain)


def stiffness_tensor(mesh: TriMesh, window: tuple[float, float]) -> Array:
    """C (3, 3) over E t in the components (11, 22, sqrt2 12): mean stress on mean strain of whole cells.

    The border follows a homogeneous strain, everything else relaxes.
    """
    truss = Truss(mesh)
    border = np.unique(topology.boundary_edges(mesh.triangles))
    fixed = np.concatenate([2 * border, 2 * border + 1])
    span = truss.x[truss.edges[:, 1]] - truss.x[truss.edges[:, 0]]
    length = np.linalg.norm(span, axis=1)
    half = 0.5 * np.asarray(window)
    edges_in = (np.abs(truss.x[truss.edges].mean(axis=1) + 1e-9) < half).all(axis=1)
    points_in = (np.abs(truss.x) <= half + 1e-9).all(axis=1)
    place = np.c_[truss.x[points_in], np.ones(points_in.sum())]
    dyads = np.stack([truss.t[:, 0] ** 2, truss.t[:, 1] ** 2, np.sqrt(2) * truss.t[:, 0] * truss.t[:, 1]])
    stress, strain = np.empty((3, 3)), np.empty((3, 3))
    for load, e in enumerate(np.array([[[1, 0], [0, 0]], [[0, 0], [0, 1]], [[0, 1], [1, 0]]])):
        u = truss.solve(fixed, (truss.x @ e).ravel().astype(float))
        tension = (truss.k * (truss.pull @ u) * length)[edges_in]
        stress[:, load] = dyads[:, edges_in] @ tension / (window[0] * window[1])
        g = np.linalg.lstsq(place, u.reshape(-1, 2)[points_in], rcond=None)[0]
        strain[:, load] = [g[0, 0], g[1, 1], (g[0, 1] + g[1, 0]) / np.sqrt(2)]
    return stress @ np.linalg.inv(strain)


@cache
def moduli(name: str) -> list[float]:
    """Uniaxial modulus of a sheet over E t in each of DIRECTIONS: 1 / (n n : C^-1 : n n)."""
    compliance = np.linalg.inv(stiffness_tensor(*SHEETS[name]))
    a = np.radians(DIRECTIONS)
    v = np.stack([np.cos(a) ** 2, np.sin(a) ** 2, np.sqrt(2) * np.cos(a) * np.sin(a)], axis=1)
    return list(1 / np.einsum("ni,ij,nj->n", v, compliance, v))


def test_equilateral_springs_are_the_sheet_asked_for() -> None:
    c = stiffness_tensor(*SHEETS["equilateral"])
    nu = 1 / 3
    exact = np.array([[1, nu, 0], [nu, 1, 0], [0, 0, 1 - nu]]) / (1 - nu**2)
    np.testing.assert_allclose(c, exact, atol=0.02)  # rows of the window end between springs
    for axis in (0, 1):
        modulus, poisson = strip_test(SHEETS["equilateral"][0], axis)
        assert modulus == pytest.approx(1.0, abs=0.01)
        assert poisson == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize("name", SHEETS)
def test_the_documented_table_is_measured(name: str) -> None:
    text = (ROOT / "docs" / "materials.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {name} \|(.*)\|$", text, re.MULTILINE)
    assert row, f"no row for {name}"
    stated = [float(cell) for cell in row[1].split("|")]
    measured = moduli(name)
    np.testing.assert_allclose(stated[: len(DIRECTIONS)], measured, atol=0.0051)
    for axis, degrees in ((0, 0), (1, 90)):  # a strip with free sides agrees, its border apart
        modulus, poisson = strip_test(SHEETS[name][0], axis)
        assert modulus == pytest.approx(measured[DIRECTIONS.index(degrees)], abs=0.025)
        if axis == 0:
            assert stated[-1] == pytest.approx(poisson, abs=0.0051)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_irregular_meshes_are_alike(seed: int) -> None:
    mesh = shapes.unstructured((1.0, 1.0), EDGE, seed=seed)
    for axis in (0, 1):
        assert 0.9 < strip_test(mesh, axis)[0] < 1.0


@pytest.mark.parametrize("value", ["1e6", None, True])
def test_a_modulus_that_is_no_number_is_refused(value) -> None:
    with pytest.raises(SceneError, match="youngs_modulus"):
        Fabric(youngs_modulus=value)
