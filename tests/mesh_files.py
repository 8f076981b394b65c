"""Small files of many formats, written here or by other libraries: what the readers are tried on."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from pliant.geometry.mesh import TriMesh

BOX = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
TETS = np.array([[0, 1, 3, 7], [0, 1, 7, 5], [0, 5, 7, 4], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7]])

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
RGB = ("red", "green", "blue")


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def ply_header(kind: str, n: int, f: int, extra: str = "", number: str = "double") -> str:
    return (
        f"ply\nformat {kind} 1.0\ncomment made here\nelement vertex {n}\n"
        + "".join(f"property {number} {axis}\n" for axis in "xyz")
        + extra
        + f"element face {f}\nproperty list uchar int vertex_indices\nend_header\n"
    )


def ply_ascii(mesh: TriMesh) -> bytes:
    rows = [" ".join(map(repr, row)) for row in mesh.vertices.tolist()]
    rows += ["3 " + " ".join(map(str, row)) for row in mesh.triangles.tolist()]
    return (ply_header("ascii", mesh.n_vertices, mesh.n_triangles) + "\n".join(rows) + "\n").encode()


def ply_binary(mesh: TriMesh, order: str = "<") -> bytes:
    kind = "binary_little_endian" if order == "<" else "binary_big_endian"
    extra = "property float s\nproperty float t\n"
    body = b"".join(struct.pack(order + "dddff", *row, 0.5, 0.25) for row in mesh.vertices.tolist())
    body += b"".join(struct.pack(order + "Biii", 3, *row) for row in mesh.triangles.tolist())
    return ply_header(kind, mesh.n_vertices, mesh.n_triangles, extra).encode() + body


def stl_binary(mesh: TriMesh) -> bytes:
    corners = mesh.vertices[mesh.triangles].astype("<f4")
    body = b"".join(bytes(12) + c.tobytes() + b"\0\0" for c in corners)
    return b"solid but binary".ljust(80) + struct.pack("<I", mesh.n_triangles) + body


def stl_ascii(mesh: TriMesh) -> str:
    facets = []
    for corners in mesh.vertices[mesh.triangles].tolist():
        points = "".join(f"   vertex {x!r} {y!r} {z!r}\n" for x, y, z in corners)
        facets.append(f" facet normal 0 0 1\n  outer loop\n{points}  endloop\n endfacet\n")
    return "solid towel\n" + "".join(facets) + "endsolid towel\n"


def gmsh_22(x: np.ndarray, triangles: np.ndarray, tets: np.ndarray) -> str:
    """Gmsh 2.2: one list of nodes, one of elements of both kinds."""
    nodes = "".join(f"{k + 1} {p[0]} {p[1]} {p[2]}\n" for k, p in enumerate(x.tolist()))
    rows = [f"2 2 0 1 {' '.join(str(v + 1) for v in t)}" for t in triangles.tolist()]
    rows += [f"4 2 0 1 {' '.join(str(v + 1) for v in t)}" for t in tets.tolist()]
    elements = "".join(f"{k + 1} {row}\n" for k, row in enumerate(rows))
    return (
        f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(x)}\n{nodes}$EndNodes\n"
        f"$Elements\n{len(rows)}\n{elements}$EndElements\n"
    )


def gmsh_41(x: np.ndarray, triangles: np.ndarray, tets: np.ndarray) -> str:
    """Gmsh 4.1: all nodes in one block of a surface, elements in a block for each kind."""
    tags = "".join(f"{k + 1}\n" for k in range(len(x)))
    places = "".join(f"{p[0]} {p[1]} {p[2]}\n" for p in x.tolist())
    blocks, count, n = "", 0, 0
    for dimension, kind, cells in ((2, 2, triangles), (3, 4, tets)):
        if len(cells):
            rows = (f"{n + k + 1} {' '.join(str(v + 1) for v in c)}\n" for k, c in enumerate(cells.tolist()))
            blocks += f"{dimension} 1 {kind} {len(cells)}\n" + "".join(rows)
            count, n = count + 1, n + len(cells)
    return (
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        f"$Nodes\n1 {len(x)} 1 {len(x)}\n2 1 0 {len(x)}\n{tags}{places}$EndNodes\n"
        f"$Elements\n{count} {n} 1 {n}\n{blocks}$EndElements\n"
    )


def gmsh_22_binary(x: np.ndarray, triangles: np.ndarray, tets: np.ndarray, order: str = "<") -> bytes:
    out = b"$MeshFormat\n2.2 1 8\n" + struct.pack(order + "i", 1) + b"\n$EndMeshFormat\n"
    out += f"$Nodes\n{len(x)}\n".encode()
    out += b"".join(struct.pack(order + "iddd", k + 1, *p) for k, p in enumerate(x.tolist()))
    out += f"\n$EndNodes\n$Elements\n{len(triangles) + len(tets)}\n".encode()
    n = 0
    for kind, cells in ((2, triangles), (4, tets)):
        for row in cells.tolist():  # a block for each element, as some programs write it
            n += 1
            out += struct.pack(order + f"6i{len(row)}i", kind, 1, 2, n, 0, 1, *(v + 1 for v in row))
    return out + b"\n$EndElements\n"


def gmsh_41_binary(x: np.ndarray, triangles: np.ndarray, tets: np.ndarray, order: str = "<") -> bytes:
    """Nodes in two blocks, the first of a curve and with a parameter beside each; a section to skip."""
    out = b"$MeshFormat\n4.1 1 8\n" + struct.pack(order + "i", 1) + b"\n$EndMeshFormat\n"
    out += b"$Entities\n" + struct.pack(order + "4Q", 1, 0, 0, 0) + b"\n$\n\x07\n$EndEntities\n"
    out += b"$Nodes\n" + struct.pack(order + "4Q", 2, len(x), 1, len(x))
    for first, last, head in ((0, 3, (1, 1, 1)), (3, len(x), (2, 1, 0))):
        out += struct.pack(order + "3iQ", *head, last - first)
        out += struct.pack(order + f"{last - first}Q", *range(first + 1, last + 1))
        for p in x[first:last].tolist():
            out += struct.pack(order + ("4d" if head[2] else "3d"), *p, *([0.5] if head[2] else []))
    blocks = [(2, 2, triangles), (3, 4, tets[:2]), (3, 4, tets[2:])]
    blocks = [block for block in blocks if len(block[2])]
    total = sum(len(block[2]) for block in blocks)
    out += b"\n$EndNodes\n$Elements\n" + struct.pack(order + "4Q", len(blocks), total, 1, total)
    n = 0
    for dimension, kind, cells in blocks:
        out += struct.pack(order + "3iQ", dimension, 1, kind, len(cells))
        for row in cells.tolist():
            n += 1
            out += struct.pack(order + f"{1 + len(row)}Q", n, *(v + 1 for v in row))
    return out + b"\n$EndElements\n"


def ply_mixed() -> bytes:
    """Binary polygons of three to five corners, with colours; the list of one is as long as no other's."""
    head = ply_header("binary_little_endian", 6, 3, "".join(f"property uchar {c}\n" for c in RGB), "float")
    x = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1.5, 0), (0, 1, 0)]
    body = b"".join(struct.pack("<3f3B", *p, 10 * k, 255, 0) for k, p in enumerate(x))
    for face in ((0, 1, 5), (1, 2, 3, 4), (1, 4, 5)):
        body += struct.pack(f"<B{len(face)}i", len(face), *face)
    return head.encode() + body
