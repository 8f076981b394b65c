"""Materials in SI units, and the only place that turns them into discrete coefficients.

A material is what a textile laboratory measures. Compliances come out of the functions below; the same
material gives the same continuum for every mesh, solver and time step, as each converges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from .errors import SceneError

Array = np.ndarray

NUMBERS = (
    "areal_density",
    "thickness",
    "youngs_modulus",
    "poisson_ratio",
    "bending_rigidity",
    "damping_time",
    "friction",
)


@dataclass(frozen=True)
class Fabric:
    """A sheet, isotropic or woven.

    areal_density       mass per area [kg/m^2]
    thickness           [m]; turns Young's modulus into a membrane stiffness and keeps surfaces apart
    youngs_modulus      in-plane, of the sheet taken as a solid of that thickness [Pa]; if woven, of the warp
    poisson_ratio       in-plane, in [0, 1) [-]; if woven, contraction of the weft for a pull along the warp,
                        its square below youngs_modulus/weft_modulus
    bending_rigidity    B, moment per width and curvature [N m]
    damping_time        tau of stiffness-proportional damping: stress = E (strain + tau d strain/dt) [s]
    friction            default Coulomb coefficient against colliders [-]
    source              where the numbers come from
    weft_modulus        [Pa]; None: that of the warp
    shear_modulus       [Pa]; None: :attr:`shear`, for an isotropic sheet E/(2 (1 + nu))
    strain_limit        largest principal strain, which no triangle exceeds [-]; None: there is none

    With a weft_modulus or a shear_modulus the fabric is orthotropic.
    """

    name: str = "fabric"
    areal_density: float = 0.2
    thickness: float = 5e-4
    youngs_modulus: float = 1e6
    poisson_ratio: float = 0.3
    bending_rigidity: float = 1e-5
    damping_time: float = 0.0
    friction: float = 0.3
    source: str = ""
    weft_modulus: float | None = None
    shear_modulus: float | None = None
    strain_limit: float | None = None

    def __post_init__(self) -> None:
        _check_numbers(
            self, NUMBERS, ("areal_density", "thickness", "youngs_modulus"),
            ("bending_rigidity", "damping_time", "friction"),
        )  # fmt: skip
        moduli = [key for key in ("weft_modulus", "shear_modulus") if getattr(self, key) is not None]
        limits = [key for key in ("strain_limit",) if getattr(self, key) is not None]
        _check_numbers(self, moduli + limits, moduli, limits)
        nu, most = self.poisson_ratio, self.youngs_modulus / self.weft
        if self.orthotropic:
            rule = (
                f"at least 0, its square below the warp over the weft modulus, {most:.4g}: energy is positive"
            )
            _check(self, "poisson_ratio", nu >= 0 and nu**2 < most, rule)
        else:
            _check(self, "poisson_ratio", 0 <= nu < 1, "in [0, 1): a sheet in plane stress")

    @property
    def membrane_stiffness(self) -> float:
        """E t [N/m], along the warp."""
        return self.youngs_modulus * self.thickness

    @property
    def orthotropic(self) -> bool:
        """Whether warp and weft have moduli, or shear a modulus, of their own."""
        return self.weft_modulus is not None or self.shear_modulus is not None

    @property
    def weft(self) -> float:
        """Modulus along the weft [Pa]."""
        return self.youngs_modulus if self.weft_modulus is None else self.weft_modulus

    @property
    def shear(self) -> float:
        """Shear modulus [Pa].

        Where it is not given, ``sqrt(E1 E2)/(2 (1 + sqrt(nu12 nu21)))`` (Huber 1923), which is E/(2 (1 + nu))
        for equal moduli. Woven cloth is softer than that: give it if you know it.
        """
        if self.shear_modulus is not None:
            return self.shear_modulus
        ratio = self.weft / self.youngs_modulus
        return self.youngs_modulus * ratio**0.5 / (2 * (1 + self.poisson_ratio * ratio**0.5))

    @property
    def plane_stress(self) -> tuple[float, float, float, float]:
        """C11, C12, C22 and G t [N/m]: stress per strain of the sheet in warp, weft and shear."""
        c11 = self.membrane_stiffness / (1 - self.poisson_ratio**2 * self.weft / self.youngs_modulus)
        c22 = c11 * self.weft / self.youngs_modulus
        return c11, self.poisson_ratio * c22, c22, self.shear * self.thickness

    def with_(self, **changes: Any) -> Fabric:
        """A copy with some values changed."""
        return _changed(self, changes)


@dataclass(frozen=True)
class SolidMaterial:
    """An isotropic elastic solid.

    density             [kg/m^3]
    youngs_modulus      at small strain [Pa]
    poisson_ratio       at small strain, in [0, 0.5) [-]; from about 0.49 on nearly incompressible
    damping_time        tau of stiffness-proportional damping: stress = C (strain + tau d strain/dt) [s]
    friction            default Coulomb coefficient against colliders [-]
    source              where the numbers come from
    """

    name: str = "solid"
    density: float = 1000.0
    youngs_modulus: float = 1e6
    poisson_ratio: float = 0.3
    damping_time: float = 0.0
    friction: float = 0.5
    source: str = ""

    def __post_init__(self) -> None:
        keys = ("density", "youngs_modulus", "poisson_ratio", "damping_time", "friction")
        _check_numbers(self, keys, ("density", "youngs_modulus"), ("damping_time", "friction"))
        rule = "in [0, 0.5): 0.5 would be incompressible, for which take 0.49"
        _check(self, "poisson_ratio", 0 <= self.poisson_ratio < 0.5, rule)

    @property
    def shear_modulus(self) -> float:
        """mu = E/(2 (1 + nu)) [Pa]."""
        return self.youngs_modulus / (2 * (1 + self.poisson_ratio))

    @property
    def lame_modulus(self) -> float:
        """lambda = E nu/((1 + nu) (1 - 2 nu)) [Pa]."""
        nu = self.poisson_ratio
        return self.youngs_modulus * nu / ((1 + nu) * (1 - 2 * nu))

    @property
    def bulk_modulus(self) -> float:
        """K = lambda + 2 mu/3 [Pa]."""
        return self.youngs_modulus / (3 * (1 - 2 * self.poisson_ratio))

    def with_(self, **changes: Any) -> SolidMaterial:
        """A copy with some values changed."""
        return _changed(self, changes)


Material = TypeVar("Material", Fabric, SolidMaterial)


def _changed(material: Material, changes: dict[str, Any]) -> Material:
    known = {f.name for f in fields(material)}
    for key in changes:
        if key not in known:
            raise SceneError(f'a {type(material).__name__} has no "{key}"; it has {", ".join(sorted(known))}')
    return replace(material, **changes)


def _check_numbers(
    material: Any, keys: Sequence[str], positive: Sequence[str], not_negative: Sequence[str]
) -> None:
    for key in keys:
        value = getattr(material, key)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise SceneError(f'material "{material.name}": {key} is {value!r}, it must be a number')
    for key in positive:
        _check(material, key, getattr(material, key) > 0, "greater than 0")
    for key in not_negative:
        _check(material, key, getattr(material, key) >= 0, "at least 0")


def _check(material: Any, key: str, ok: Any, rule: str) -> None:
    value = getattr(material, key)
    if not (np.isfinite(value) and ok):
        raise SceneError(f'material "{material.name}": {key} is {value!r}, it must be {rule}')


KES_B = 9.80665e-5
"""1 gf cm^2/cm in N m (bending rigidity per width)."""

fabrics = SimpleNamespace(
    cotton=Fabric(
        "cotton",
        areal_density=0.1503,
        thickness=3.18e-4,
        youngs_modulus=0.821e6,
        poisson_ratio=0.243,
        bending_rigidity=0.118 * KES_B,
        damping_time=2e-3,
        friction=0.35,
        source="plain weave: density, thickness, E, nu from Penava et al. 2014, Fibres & Textiles in Eastern "
        "Europe; bending: cotton broad, KES-FB2, Matsudaira et al. 2015, J. Textile Eng. 61(6) 69; damping "
        "and friction are not measured",
    ),
    wool=Fabric(
        "wool",
        areal_density=0.2348,
        thickness=5.68e-4,
        youngs_modulus=0.170e6,
        poisson_ratio=0.277,
        bending_rigidity=0.067 * KES_B,
        damping_time=2e-3,
        friction=0.40,
        source="plain weave: Penava et al. 2014; bending: wool tropical, KES-FB2, Matsudaira et al. 2015; "
        "damping and friction are not measured",
    ),
    polyester=Fabric(
        "polyester",
        areal_density=0.1646,
        thickness=2.52e-4,
        youngs_modulus=0.478e6,
        poisson_ratio=0.381,
        bending_rigidity=0.019 * KES_B,
        damping_time=2e-3,
        friction=0.30,
        source="plain weave: Penava et al. 2014; bending: polyester faille, KES-FB2, Matsudaira et al. 2015; "
        "damping and friction are not measured",
    ),
    denim=Fabric(
        "denim",
        areal_density=0.324,
        thickness=9.0e-4,
        youngs_modulus=9.5e3 / 9.0e-4,
        poisson_ratio=0.3,
        bending_rigidity=0.185 * KES_B,
        damping_time=2e-3,
        friction=0.50,
        source="11 oz denim, density from Wang, O'Brien, Ramamoorthi 2011; E t = 490.3 N/m / EMT, thickness "
        "and bending: middle of six denims, KES-F, doi 10.1155/2016/4614168; nu, damping and friction are "
        "not measured",
    ),
)

_PRESET = (
    "values in use rather than measured: E, nu, density and friction of the presets of ppf-contact-solver "
    "(materials.toml, 2025), of the order that handbooks give; damping is not measured"
)
solids = SimpleNamespace(
    rubber=SolidMaterial("rubber", 1100.0, 3e6, 0.49, 1e-3, 0.85, f"vulcanised rubber; {_PRESET}"),
    silicone=SolidMaterial("silicone", 1030.0, 2e6, 0.49, 1e-3, 0.45, f"silicone elastomer, PDMS; {_PRESET}"),
    foam=SolidMaterial("foam", 45.0, 5e4, 0.30, 2e-3, 0.50, f"flexible polyurethane foam; {_PRESET}"),
    sponge=SolidMaterial("sponge", 100.0, 3e5, 0.20, 2e-3, 0.50, f"dry cellulose sponge; {_PRESET}"),
    gelatine=SolidMaterial("gelatine", 1040.0, 1.5e5, 0.49, 1e-3, 0.10, f"ballistic gel; {_PRESET}"),
)


def arap_compliance(material: SolidMaterial, volume: Array) -> Array:
    """Compliances (E, 2) [J^-1] of the shape and the trace row of ARAP tetrahedra of rest ``volume`` [m^3].

    ``alpha_shape = 1/(2 mu V)``, ``alpha_trace = 1/(lambda V)``, infinite (row absent) for nu = 0.
    """
    out = np.full((len(volume), 2), np.inf)
    out[:, 0] = 1 / (2 * material.shear_modulus * volume)
    if material.lame_modulus > 0:
        out[:, 1] = 1 / (material.lame_modulus * volume)
    return out


def neo_hookean_compliance(material: SolidMaterial, volume: Array) -> Array:
    """Compliances (E, 2) [J^-1] of the shape and the volume row of neo-Hookean tetrahedra.

    ``alpha_shape = 1/(mu V)``, ``alpha_volume = 1/(lambda V)``, infinite (row absent) for nu = 0.
    """
    out = np.full((len(volume), 2), np.inf)
    out[:, 0] = 1 / (material.shear_modulus * volume)
    if material.lame_modulus > 0:
        out[:, 1] = 1 / (material.lame_modulus * volume)
    return out


def volume_compliance(material: SolidMaterial, volume: Array) -> Array:
    """Compliance (E, 1) [J^-1] of the volume law: ``1/(K V)`` with the bulk modulus K."""
    return (1 / (material.bulk_modulus * volume))[:, None]


def membrane_compliance(material: Fabric, area: Array) -> Array:
    """Compliances (F, 2) [J^-1] of the shape and the trace row of ARAP triangles of rest ``area`` [m^2].

    ``alpha_shape = 1/(w A)``, ``w = 2 mu t``; ``alpha_trace = 1/(lambda t A)``, ``lambda = E nu/(1-nu^2)``,
    infinite (row absent) for nu = 0.
    """
    stiffness, nu = material.membrane_stiffness, material.poisson_ratio
    w = stiffness / (1 + nu)
    lame = stiffness * nu / (1 - nu**2)
    out = np.full((len(area), 2), np.inf)
    out[:, 0] = 1 / (w * area)
    if lame > 0:
        out[:, 1] = 1 / (lame * area)
    return out


def orthotropic_rows(material: Fabric, area: Array) -> tuple[float, Array]:
    """C12/C11, and the compliances (F, 3) [J^-1] of the rows for warp, weft and shear of triangles.

    ``1/(C11 A)``, ``1/((C22 - C12^2/C11) A)`` and ``1/(G t A)``: the quadratic form of plane stress with its
    square completed, see docs/laws/orthotropic.md.
    """
    c11, c12, c22, shear = material.plane_stress
    stiffness = np.array([c11, c22 - c12**2 / c11, shear])
    return c12 / c11, 1 / (area[:, None] * stiffness)


def isometric_compliance(material: Fabric, hinge_area: Array) -> Array:
    """Compliance (H, 3) of the three rows of isometric bending: ``(A0 + A1)/B`` [m^2/(N m)]."""
    return np.repeat((hinge_area / material.bending_rigidity)[:, None], 3, axis=1)


def curved_compliance(material: Fabric, hinge_area: Array) -> Array:
    """Compliance (H, 1) of curved bending: ``(A0 + A1)/B`` [m^2/(N m)], as of one isometric row."""
    return (hinge_area / material.bending_rigidity)[:, None]


def dihedral_compliance(material: Fabric, hinge_area: Array, length: Array) -> Array:
    """Compliance (H, 1) of hinge angles: ``(A0 + A1)/(B l^2)`` [1/(N m)]."""
    return (hinge_area / (material.bending_rigidity * length**2))[:, None]


def edge_compliance(material: Fabric, x: Array, triangles: Array, edges: Array, edge_of: Array) -> Array:
    """Compliance (E, 1) [m/N] of springs along the edges that imitate the membrane.

    Springs can only imitate a sheet whose elastic tensor is fully symmetric (nu = 1/3). In each triangle
    the three stiffnesses ``k_e >= 0`` are the non-negative least-squares fit of ``sum k l^2/A t t t t`` to
    the tensor of the material's E t at nu = 1/3; an edge adds up what its triangles give it. Exact on
    equilateral triangles; on others the uniaxial modulus is off by what docs/materials.md lists.

    x (N, 3), triangles (F, 3), edges (E, 2), edge_of (F, 3): edge id of the side opposite corner c.
    """
    target = _plane_stress(material.membrane_stiffness, 1 / 3)
    stiffness = np.zeros(len(edges))
    for f, s in enumerate(_triangle_springs(x, triangles, target)):
        stiffness[edge_of[f]] += s
    if np.any(stiffness <= 0):
        worst = int(np.argmin(stiffness))
        raise SceneError(
            f'membrane="edges": the edge {edges[worst].tolist()} gets no stiffness from its triangles (it '
            'lies opposite an obtuse angle); use membrane="triangles" or a mesh without obtuse triangles'
        )
    return (1 / stiffness)[:, None]


def _plane_stress(stiffness: float, nu: float) -> Array:
    """C (3, 3) in the components (11, 22, sqrt2 12), plane stress [N/m]."""
    c = stiffness / (1 - nu**2)
    return c * np.array([[1, nu, 0], [nu, 1, 0], [0, 0, 1 - nu]])


def _triangle_springs(x: Array, triangles: Array, target: Array) -> Array:
    """Spring stiffness (F, 3) [N/m] per triangle, side c opposite corner c."""
    from scipy.optimize import nnls

    p = x[triangles]
    sides = np.stack([p[:, 2] - p[:, 1], p[:, 0] - p[:, 2], p[:, 1] - p[:, 0]], axis=1)
    e1 = sides[:, 2] / np.linalg.norm(sides[:, 2], axis=1)[:, None]
    n = np.cross(sides[:, 2], -sides[:, 1])
    area = 0.5 * np.linalg.norm(n, axis=1)
    e2 = np.cross(n / (2 * area)[:, None], e1)
    u = np.einsum("fsk,fk->fs", sides, e1)
    v = np.einsum("fsk,fk->fs", sides, e2)
    length2 = u**2 + v**2
    t = np.stack([u * u, v * v, np.sqrt(2) * u * v], axis=2) / length2[..., None]
    basis = np.einsum("fsi,fsj->fsij", t, t) * (length2 / area[:, None])[..., None, None]
    out = np.empty((len(triangles), 3))
    cache: dict[bytes, Array] = {}
    for f in range(len(triangles)):
        key = np.round(length2[f] / area[f], 9).tobytes()
        if key not in cache:
            cache[key] = nnls(basis[f].reshape(3, 9).T, target.ravel())[0]
        out[f] = cache[key]
    return out
