"""From a Scene to a Model: lumped masses, rest measures, constraint blocks, collider arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import materials
from .alignment import warn_of_misfits
from .bodies import Body, Cloth, Solid
from .errors import SceneError
from .geometry import measures, tetrahedra, topology
from .geometry.colliders import Box, Capsule, Cylinder, MeshCollider, Plane, Shape, Sphere
from .geometry.unfolding import rest_hinges
from .laws import LAWS
from .loads import build_faces
from .model import MESH, Block, ColliderSet, Model, Part, lane_width

if TYPE_CHECKING:
    from .scene import Scene

Array = np.ndarray
Rows = tuple[Array, Array, Array, Array]  # ids, params, compliance, damping time


def build_model(scene: Scene, worlds: int, dtype: Any) -> Model:
    """See :meth:`pliant.Scene.build`."""
    if not (isinstance(worlds, (int, np.integer)) and worlds >= 1):
        raise SceneError(f"worlds is {worlds!r}, it must be a whole number, at least 1")
    kind = np.dtype(dtype)
    if kind not in (np.dtype("float32"), np.dtype("float64")):
        raise SceneError(f"dtype is {dtype!r}, it must be float32 or float64")
    if not scene.bodies:
        raise SceneError(
            "the scene is empty: add a cloth or a solid first (scene.add_cloth, scene.add_solid)"
        )
    warn_of_misfits(scene.bodies, scene.colliders, scene.gravity)
    mass = np.concatenate([_masses(b) for b in scene.bodies])
    pins = np.concatenate([b.pins for b in scene.bodies]).astype(np.int64)
    inv_mass = 1 / mass
    inv_mass[pins] = 0.0
    rows: dict[str, list[Rows]] = {law: [] for law in LAWS}
    for body in scene.bodies:
        for law, r in _cloth_rows(body) if isinstance(body, Cloth) else _solid_rows(body):
            rows[law].append(r)
    for a in scene.attachments:
        k = len(a.particles)
        rows["attachment"].append(
            (
                a.particles[:, None],
                np.zeros((k, 0)),
                np.full((k, 3), 1 / a.stiffness),
                np.full(k, a.damping_time),
            )
        )
    for tie in scene.ties:
        rows["tie"].append(tie.rows())
    ranks = _ranks(scene)
    blocks = {law: _block(law, r, ranks) for law, r in rows.items() if sum(len(i[0]) for i in r)}
    targets = [a.targets for a in scene.attachments]
    held = np.concatenate(targets) if targets else np.zeros((0, 3))
    model = Model(
        n_worlds=int(worlds),
        dtype=kind,
        width=lane_width(worlds),
        x_rest=np.concatenate([b.mesh.vertices for b in scene.bodies]),
        v_start=np.concatenate([np.broadcast_to(b.velocity, b.mesh.vertices.shape) for b in scene.bodies]),
        mass=mass,
        inv_mass=inv_mass,
        pin_ids=pins,
        contact_radius=_per_particle(scene, [b.contact_radius for b in scene.bodies]),
        body=_per_particle(scene, range(len(scene.bodies))).astype(np.int32),
        gravity=scene.gravity,
        air_drag=scene.air_drag,
        blocks=blocks,
        colliders=_colliders(scene),
        parts=tuple(_part(b) for b in scene.bodies),
        attachment_targets=held,
        wind=np.zeros(3) if callable(scene.wind) else scene.wind,
        faces=build_faces(scene, mass),
        contact=scene.contact,
        rest=np.concatenate([_places_at_rest(b) for b in scene.bodies]),
    )
    model.require_finite()
    return model


def _per_particle(scene: Scene, values: Any) -> Array:
    return np.concatenate([np.full(b.mesh.n_vertices, v) for b, v in zip(scene.bodies, values, strict=True)])


def _masses(body: Body) -> Array:
    """A third of each triangle's rest mass to each corner, a quarter of each tetrahedron's [kg]."""
    if isinstance(body, Cloth):
        third = np.repeat(measures.triangle_areas(body.rest.vertices, body.rest.triangles) / 3.0, 3)
        area = np.bincount(body.mesh.triangles.ravel(), third, body.mesh.n_vertices)
        return body.material.areal_density * area
    assert isinstance(body, Solid)
    return body.material.density * tetrahedra.vertex_volumes(body.rest.vertices, body.rest.tets)


def _places_at_rest(body: Body) -> Array:
    """(n, 3) [m]; where a vertex has several places in its panels, as it is sewn."""
    x = body.rest.vertices
    return x if len(x) == body.mesh.n_vertices else body.mesh.vertices


def _part(body: Body) -> Part:
    x, t = body.rest.vertices, body.rest.triangles
    frames = measures.rest_frames(x, t, body.warp_direction if isinstance(body, Cloth) else None)
    area = measures.triangle_areas(x, t)
    return Part(body.name, body.vertices.start, body.vertices.stop, body.mesh.triangles, frames, area)


def _cloth_rows(cloth: Cloth) -> list[tuple[str, Rows]]:
    """Constraint rows of one cloth, particles numbered in the scene."""
    x, corners, start = cloth.rest.vertices, cloth.rest.triangles, cloth.vertices.start
    t = cloth.mesh.triangles
    material = cloth.material
    out: list[tuple[str, Rows]] = []
    area = measures.triangle_areas(x, corners)
    frames = measures.rest_frames(x, corners, cloth.warp_direction).reshape(-1, 4)
    if cloth.membrane == "triangles":
        out.append(("membrane", (t, frames, materials.membrane_compliance(material, area), _tau(cloth, t))))
    elif cloth.membrane == "orthotropic":
        ratio, alpha = materials.orthotropic_rows(material, area)
        out.append(("orthotropic", (t, _with_last(frames, ratio), alpha, _tau(cloth, t))))
    elif cloth.membrane == "edges":
        _require_one_place(cloth)
        e = topology.edges(t)
        alpha = materials.edge_compliance(material, x, t, e, opposite_edges(t, e))
        out.append(("distance", (e, measures.edge_lengths(x, e)[:, None], alpha, _tau(cloth, e))))
    if cloth.membrane != "none" and material.strain_limit is not None:
        most = _with_last(frames, 1 + material.strain_limit)
        out.append(("strain_limit", (t, most, np.zeros((len(t), 1)), np.zeros(len(t)))))
    hinges = topology.hinges(t)
    if cloth.bending != "none" and material.bending_rigidity > 0 and len(hinges):
        x, resting = rest_hinges(t, x, corners)
        k, area = measures.cotangent_stencil(x, resting)
        if cloth.bending == "isometric":
            _require_flat(cloth, x, resting)
            row = (hinges, k, materials.isometric_compliance(material, area), _tau(cloth, hinges))
        elif cloth.bending == "curved":
            rest = _with_last(k, measures.stencil_lengths(x, resting, k))
            row = (hinges, rest, materials.curved_compliance(material, area), _tau(cloth, hinges))
        else:
            length = measures.edge_lengths(x, resting[:, :2])
            angle = measures.hinge_angles(x, resting)
            rest = np.abs(angle) if cloth.bending == "dihedral_acos" else angle
            alpha = materials.dihedral_compliance(material, area, length)
            row = (hinges, rest[:, None], alpha, _tau(cloth, hinges))
        out.append((cloth.bending, row))
    return [(law, (ids + start, p, a, d)) for law, (ids, p, a, d) in out]


def _with_last(params: Array, last: Any) -> Array:
    """Parameters with one more column: a number, or one for each row."""
    return np.column_stack([params, np.broadcast_to(last, len(params))])


def _solid_rows(solid: Body) -> list[tuple[str, Rows]]:
    """Constraint rows of one solid, particles numbered in the scene."""
    assert isinstance(solid, Solid)
    x, t, material = solid.rest.vertices, solid.rest.tets, solid.material
    volume = tetrahedra.tet_volumes(x, t)
    frames = tetrahedra.inv_rest_matrices(x, t).reshape(-1, 9)
    ids = t + solid.vertices.start
    law, compliance = {
        "arap": ("arap_tet", materials.arap_compliance),
        "neo_hookean": ("neo_hookean", materials.neo_hookean_compliance),
        "volume": ("volume", materials.volume_compliance),
    }[solid.law]
    return [(law, (ids, frames, compliance(material, volume), _tau(solid, t)))]


def _tau(body: Body, items: Array) -> Array:
    return np.full(len(items), body.material.damping_time)


def _require_one_place(cloth: Cloth) -> None:
    if not np.array_equal(cloth.rest.triangles, cloth.mesh.triangles):
        raise SceneError(
            f'cloth "{cloth.name}": rest_mesh has vertices at several places, as panels have along seams; '
            'springs along edges (membrane="edges") need one; take membrane="triangles"'
        )


def _require_flat(cloth: Cloth, x: Array, hinges: Array) -> None:
    """The isometric law knows only flat rest shapes: say so instead of flattening a curved one."""
    angle = np.abs(measures.hinge_angles(x, hinges))
    if angle.max() > 1e-3:
        raise SceneError(
            f'cloth "{cloth.name}": the rest shape is curved (a hinge of '
            f"{np.degrees(angle.max()):.1f} degrees); "
            'bending="isometric" would flatten it. Use bending="curved" (cheap) or bending="dihedral" (for '
            "sharp folds, too), or give a flat rest_mesh"
        )


def opposite_edges(triangles: Array, edges: Array) -> Array:
    """(F, 3): index in ``edges`` (sorted rows, sorted lexicographically) of the side opposite each corner."""
    n = int(triangles.max()) + 1
    keys = edges[:, 0].astype(np.int64) * n + edges[:, 1]
    sides = np.sort(
        np.stack([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]], axis=1), axis=2
    )
    return np.searchsorted(keys, sides[..., 0].astype(np.int64) * n + sides[..., 1])


def _block(law: str, rows: list[Rows], ranks: Array) -> Block:
    ids, params, alpha, tau = (np.concatenate(part) for part in zip(*rows, strict=True))
    return Block.colored(law, ids, params, alpha, tau, len(ranks), ranks)


def _ranks(scene: Scene) -> Array:
    """Particles numbered body by body by where they are in the mesh, z before y before x: (N,).

    Colours, hence the order of a sweep, go by this and not by the file's numbers: the same mesh numbered
    otherwise moves alike. Shapes of the package are numbered that way.
    """
    ranks = []
    for body in scene.bodies:
        x = body.rest.vertices
        if len(x) != body.mesh.n_vertices:  # sewn: a particle may have several places in the rest shape
            x = body.mesh.vertices
        rank = np.empty(len(x), np.int64)
        rank[np.lexsort(x.T)] = np.arange(len(x))
        ranks.append(body.vertices.start + rank)
    return np.concatenate(ranks)


def _colliders(scene: Scene) -> ColliderSet:
    k = len(scene.colliders)
    mu = np.zeros((2, len(scene.bodies), k))
    for j, c in enumerate(scene.colliders):
        for i, body in enumerate(scene.bodies):
            kinetic = body.material.friction if c.friction is None else c.friction
            mu[1, i, j] = kinetic
            mu[0, i, j] = kinetic if c.friction_static is None else max(c.friction_static, kinetic)
    kinds, sizes, frames = [], np.zeros((k, 4)), np.zeros((k, 3, 3))
    for j, c in enumerate(scene.colliders):
        kind, sizes[j], frames[j] = _shape_row(c.shape)
        kinds.append(kind)
    turns = np.array([c.rotation for c in scene.colliders]).reshape(k, 3, 3)
    where = np.array([c.position for c in scene.colliders]).reshape(k, 3)
    names = tuple(c.name for c in scene.colliders)
    meshes = tuple(c.shape for c in scene.colliders if isinstance(c.shape, MeshCollider))
    return ColliderSet(np.array(kinds, np.int32), sizes, frames, turns, where, mu[0], mu[1], names, meshes)


def _shape_row(shape: Shape) -> tuple[int, Array, Array]:
    """Kind, size and own frame of a shape."""
    if isinstance(shape, Plane):
        return 0, np.zeros(4), shape.frame()
    if isinstance(shape, Sphere):
        return 1, np.array([shape.radius, 0, 0, 0]), np.eye(3)
    if isinstance(shape, Cylinder):
        return 2, np.array([shape.radius, 0.5 * shape.height, 0, shape.rounding]), np.eye(3)
    if isinstance(shape, Capsule):
        return 3, np.array([shape.radius, 0.5 * shape.height, 0, 0]), np.eye(3)
    if isinstance(shape, Box):
        return 4, np.array([*(0.5 * np.asarray(shape.size, float)), shape.rounding]), np.eye(3)
    if isinstance(shape, MeshCollider):
        return MESH, np.zeros(4), np.eye(3)
    raise SceneError(f"no distance law for a collider of type {type(shape).__name__}")
