"""From a Scene to a Model: lumped masses, rest measures, constraint blocks, collider arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import materials
from .errors import SceneError
from .geometry import measures, topology
from .geometry.colliders import Box, Capsule, Cylinder, MeshCollider, Plane, Shape, Sphere
from .laws import LAWS
from .loads import build_faces
from .model import MESH, Block, ColliderSet, Model, Part, lane_width

if TYPE_CHECKING:
    from .scene import Cloth, Scene

Array = np.ndarray
Rows = tuple[Array, Array, Array, Array]  # ids, params, compliance, damping time


def build_model(scene: Scene, worlds: int, dtype: Any) -> Model:
    """See :meth:`pliant.Scene.build`."""
    if not (isinstance(worlds, (int, np.integer)) and worlds >= 1):
        raise SceneError(f"worlds is {worlds!r}, it must be a whole number, at least 1")
    kind = np.dtype(dtype)
    if kind not in (np.dtype("float32"), np.dtype("float64")):
        raise SceneError(f"dtype is {dtype!r}, it must be float32 or float64")
    if not scene.cloths:
        raise SceneError("the scene is empty: add a cloth first (scene.add_cloth)")
    n = scene.n_particles
    mass = np.concatenate([_masses(c) for c in scene.cloths])
    pins = np.concatenate([c.pins for c in scene.cloths]).astype(np.int64)
    inv_mass = 1 / mass
    inv_mass[pins] = 0.0
    rows: dict[str, list[Rows]] = {law: [] for law in LAWS}
    for cloth in scene.cloths:
        for law, r in _cloth_rows(cloth):
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
    blocks = {law: _block(law, r, n) for law, r in rows.items() if sum(len(i[0]) for i in r)}
    targets = [a.targets for a in scene.attachments]
    held = np.concatenate(targets) if targets else np.zeros((0, 3))
    model = Model(
        n_worlds=int(worlds),
        dtype=kind,
        width=lane_width(worlds),
        x_rest=np.concatenate([c.mesh.vertices for c in scene.cloths]),
        v_start=np.concatenate([np.broadcast_to(c.velocity, c.mesh.vertices.shape) for c in scene.cloths]),
        mass=mass,
        inv_mass=inv_mass,
        pin_ids=pins,
        contact_radius=_per_particle(scene, [0.5 * c.material.thickness for c in scene.cloths]),
        body=_per_particle(scene, range(len(scene.cloths))).astype(np.int32),
        gravity=scene.gravity,
        air_drag=scene.air_drag,
        blocks=blocks,
        colliders=_colliders(scene),
        parts=tuple(_part(c) for c in scene.cloths),
        attachment_targets=held,
        wind=np.zeros(3) if callable(scene.wind) else scene.wind,
        faces=build_faces(scene, mass),
    )
    model.require_finite()
    return model


def _per_particle(scene: Scene, values: Any) -> Array:
    return np.concatenate([np.full(c.mesh.n_vertices, v) for c, v in zip(scene.cloths, values, strict=True)])


def _masses(cloth: Cloth) -> Array:
    """A third of each triangle's rest mass to each corner [kg]."""
    return cloth.material.areal_density * measures.vertex_areas(cloth.rest.vertices, cloth.rest.triangles)


def _part(cloth: Cloth) -> Part:
    x, t = cloth.rest.vertices, cloth.rest.triangles
    frames = measures.rest_frames(x, t, cloth.warp_direction)
    area = measures.triangle_areas(x, t)
    return Part(cloth.name, cloth.vertices.start, cloth.vertices.stop, t, frames, area)


def _cloth_rows(cloth: Cloth) -> list[tuple[str, Rows]]:
    """Constraint rows of one cloth, particles numbered in the scene."""
    x, t, start = cloth.rest.vertices, cloth.rest.triangles, cloth.vertices.start
    material = cloth.material
    out: list[tuple[str, Rows]] = []
    area = measures.triangle_areas(x, t)
    frames = measures.rest_frames(x, t, cloth.warp_direction).reshape(-1, 4)
    if cloth.membrane == "triangles":
        out.append(("membrane", (t, frames, materials.membrane_compliance(material, area), _tau(cloth, t))))
    elif cloth.membrane == "orthotropic":
        ratio, alpha = materials.orthotropic_rows(material, area)
        out.append(("orthotropic", (t, _with_last(frames, ratio), alpha, _tau(cloth, t))))
    elif cloth.membrane == "edges":
        e = topology.edges(t)
        alpha = materials.edge_compliance(material, x, t, e, opposite_edges(t, e))
        out.append(("distance", (e, measures.edge_lengths(x, e)[:, None], alpha, _tau(cloth, e))))
    if cloth.membrane != "none" and material.strain_limit is not None:
        most = _with_last(frames, 1 + material.strain_limit)
        out.append(("strain_limit", (t, most, np.zeros((len(t), 1)), np.zeros(len(t)))))
    hinges = topology.hinges(t)
    if cloth.bending != "none" and material.bending_rigidity > 0 and len(hinges):
        k, area = measures.cotangent_stencil(x, hinges)
        if cloth.bending == "isometric":
            _require_flat(cloth, hinges)
            row = (hinges, k, materials.isometric_compliance(material, area), _tau(cloth, hinges))
        elif cloth.bending == "curved":
            rest = _with_last(k, measures.stencil_lengths(x, hinges, k))
            row = (hinges, rest, materials.curved_compliance(material, area), _tau(cloth, hinges))
        else:
            length = measures.edge_lengths(x, hinges[:, :2])
            angle = measures.hinge_angles(x, hinges)
            rest = np.abs(angle) if cloth.bending == "dihedral_acos" else angle
            alpha = materials.dihedral_compliance(material, area, length)
            row = (hinges, rest[:, None], alpha, _tau(cloth, hinges))
        out.append((cloth.bending, row))
    return [(law, (ids + start, p, a, d)) for law, (ids, p, a, d) in out]


def _with_last(params: Array, last: Any) -> Array:
    """Parameters with one more column: a number, or one for each row."""
    return np.column_stack([params, np.broadcast_to(last, len(params))])


def _tau(cloth: Cloth, items: Array) -> Array:
    return np.full(len(items), cloth.material.damping_time)


def _require_flat(cloth: Cloth, hinges: Array) -> None:
    """The isometric law knows only flat rest shapes: say so instead of flattening a curved one."""
    angle = np.abs(measures.hinge_angles(cloth.rest.vertices, hinges))
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


def _block(law: str, rows: list[Rows], n_particles: int) -> Block:
    ids, params, alpha, tau = (np.concatenate(part) for part in zip(*rows, strict=True))
    return Block.colored(law, ids, params, alpha, tau, n_particles)


def _colliders(scene: Scene) -> ColliderSet:
    k = len(scene.colliders)
    mu = np.zeros((2, len(scene.cloths), k))
    for j, c in enumerate(scene.colliders):
        for i, cloth in enumerate(scene.cloths):
            kinetic = cloth.material.friction if c.friction is None else c.friction
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
