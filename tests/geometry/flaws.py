"""Clean surfaces with one kind of flaw planted, so that what is found can be told to be right."""

from __future__ import annotations

import numpy as np

from pliant.geometry import shapes
from pliant.geometry.mesh import TriMesh

Array = np.ndarray


def sheet(n: int = 7) -> TriMesh:
    """A slightly uneven sheet that lies in no special plane."""
    mesh = shapes.grid(n, n, (0.6, 0.5), pattern="alternating")
    x = mesh.vertices.copy()
    x[:, 2] = 0.05 * np.sin(5 * x[:, 0]) * np.cos(4 * x[:, 1])
    return TriMesh(x, mesh.triangles, name="sheet")


def soup(mesh: TriMesh) -> TriMesh:
    """Every triangle with three vertices of its own."""
    return TriMesh(
        mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(3 * mesh.n_triangles).reshape(-1, 3)
    )


def seamed(mesh: TriMesh, seed: int = 0) -> tuple[TriMesh, Array]:
    """Cut open between two halves, the copies last; and the vertex that each is a copy of."""
    x = mesh.vertices[mesh.triangles].mean(axis=1)
    normal = np.random.default_rng(seed).normal(size=3)
    right = (x - x.mean(axis=0)) @ normal > 0
    shared = np.intersect1d(mesh.triangles[right], mesh.triangles[~right])
    copy = np.arange(mesh.n_vertices)
    copy[shared] = mesh.n_vertices + np.arange(len(shared))
    triangles = np.where(right[:, None], copy[mesh.triangles], mesh.triangles)
    source = np.concatenate([np.arange(mesh.n_vertices), shared])
    return TriMesh(mesh.vertices[source], triangles, name="seamed"), source


def rewound(mesh: TriMesh, share: float = 0.4, seed: int = 0) -> TriMesh:
    """Some triangles turned over."""
    turned = np.random.default_rng(seed).random(mesh.n_triangles) < share
    triangles = np.where(turned[:, None], mesh.triangles[:, [0, 2, 1]], mesh.triangles)
    return TriMesh(mesh.vertices, triangles, name="rewound")


def doubled(mesh: TriMesh, own_vertices: bool = False) -> TriMesh:
    """Every triangle once more, turned over; on request with vertices of its own."""
    back = mesh.triangles[:, ::-1] + (mesh.n_vertices if own_vertices else 0)
    x = np.concatenate([mesh.vertices, mesh.vertices]) if own_vertices else mesh.vertices
    return TriMesh(x, np.concatenate([mesh.triangles, back]), name="doubled")


def with_strays(mesh: TriMesh, n: int = 3) -> TriMesh:
    """Vertices that no triangle uses, before, between and after the others."""
    where = np.linspace(0, mesh.n_vertices, n).astype(int)
    x = np.insert(mesh.vertices, where, [0.1, 0.2, 5.0], axis=0)
    new = np.setdiff1d(np.arange(len(x)), where + np.arange(n))
    return TriMesh(x, new[mesh.triangles], name="strays")


def fins(n: int = 5) -> TriMesh:
    """Two sheets in one plane, and a third upright on their common line: edges of three triangles."""
    mesh = shapes.grid(n, n, (0.4, 0.4))
    middle = np.flatnonzero(np.abs(mesh.vertices[:, 0]) < 1e-12)
    fin = shapes.grid(3, n, (0.2, 0.4)).transformed((0.1, 0, 0)).vertices
    base = np.flatnonzero(np.abs(fin[:, 0]) < 1e-12)
    x = np.concatenate([mesh.vertices, np.stack([0 * fin[:, 0], fin[:, 1], fin[:, 0]], axis=1)])
    ids = mesh.n_vertices + np.arange(len(fin))
    ids[base] = middle
    triangles = np.concatenate([mesh.triangles, ids[shapes.grid(3, n).triangles]])
    used, packed = np.unique(triangles, return_inverse=True)
    return TriMesh(x[used], packed.reshape(-1, 3), name="fins")


def cap(n: int = 5) -> tuple[Array, Array]:
    """A sheet with a triangle without area in its middle: its corner lies on the longest side."""
    mesh = shapes.grid(n, n)
    a, b, c = mesh.triangles[n]
    new = mesh.n_vertices
    x = np.concatenate([mesh.vertices, [0.5 * (mesh.vertices[a] + mesh.vertices[b])]])
    split = np.array([[a, new, c], [new, b, c], [a, b, new]])
    return x, np.concatenate([np.delete(mesh.triangles, n, axis=0), split])


def t_vertex(n: int = 5) -> tuple[TriMesh, int]:
    """A sheet in which one triangle is cut at the middle of a side, and its neighbour is not; the vertex."""
    x, triangles = cap(n)
    return TriMesh(x, triangles[:-1], name="cracked"), len(x) - 1


def crossed() -> TriMesh:
    """Two sheets that pass through each other."""
    one = shapes.grid(4, 4, (0.3, 0.3))
    x = one.transformed((0.013, 0.021, 0.0), rotation=(1.2, 0.1, 0.0)).vertices
    return TriMesh(
        np.concatenate([one.vertices, x]), np.concatenate([one.triangles, one.triangles + one.n_vertices])
    )


def area(x: Array, triangles: Array) -> float:
    """Total area."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
