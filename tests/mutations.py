"""Damaged input files by number: the same seed always gives the same file, whatever the machine."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from conftest import ROOT
from mesh_files import (
    BOX,
    TETS,
    gmsh_22,
    gmsh_22_binary,
    gmsh_41,
    gmsh_41_binary,
    ply_ascii,
    ply_binary,
    ply_mixed,
    stl_ascii,
    stl_binary,
)

from pliant.geometry import shapes
from pliant.geometry.tetmesh import TetMesh

NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+(\.\d*)?([eE][-+]?\d+)?(?![\w.])")
INSTEAD = [
    b"nan", b"inf", b"1e400", b"-1", b"0", b"1", b"2", b"1e30", b"1e-30", b"999999999", b"2147483648",
    b"-9e18", b"99999999999999999999", b"", b"0,5", b"1_0", b"0x7", b"x", b"--2", b"3.7",
]  # fmt: skip
SCENE = b"""# A sheet and a shirt between two colliders.
[scene]
title = "Two"
gravity = [0.0, 0.0, -9.81]
air_drag = 0.5
wind = [1.0, 0.0, 0.0]

[simulation]
solver = "xpbd"
dt = 0.01
seconds = 2
substeps = 10
iterations = 3

[[cloth]]
name = "sheet"
shape = { kind = "grid", nx = 9, ny = 7, size = [1.0, 0.8], pattern = "cross" }
material = { base = "cotton", areal_density = 0.3, bending_rigidity = 2e-5 }
position = [0, 0, 1]
rotation_axis = [1, 0, 0]
rotation_degrees = 30
pins = [0, 8, { x_min = 0.4, y_max = 0.1 }]

[[cloth]]
name = "towel"
mesh = "towel.obj"
unit = "cm"
material = "wool"
velocity = [0, 2, 0]

[[cloth]]
name = "disc"
shape = { kind = "disc", radius = 0.3, edge = 0.1 }
material = "denim"
bending = "dihedral"

[[collider]]
kind = "sphere"
radius = 0.3
position = [0.2, 0.4, 0.6]
friction = 0.4

[[collider]]
kind = "box"
size = [0.4, 0.3, 0.2]
rounding = 0.01
motion = { times = [0.5, 1.5], positions = [[0, 0, 0], [0, 0, 0.5]] }

[[attachment]]
cloth = "disc"
ids = [0]
targets = [[0.0, 0.0, 0.3]]
stiffness = 0.5

[[motion]]
cloth = "sheet"
times = [0, 1.0]
offsets = [[0, 0, 0], [0.1, 0, 0.2]]
"""
TOWEL = b"""# a towel, with texture and colours
mtllib none.mtl
o towel
v 0 0 0 1 0 0
v 20 0 0 0 1 0
v 40 0 1 0 0 1
v 0 30 0 1 1 0
v 20 30 2 1 0 1
v 40 30 0 0 1 1
v 20 60 0 0.5 0.5 0.5
vt 0 0
vt 0.5 0
vt 1 0
vt 0 0.5
vt 0.5 0.5
vt 1 0.5
vt 0.5 1
vn 0 0 1
g one
f 1/1/1 2/2/1 5/5/1 4/4/1
usemtl blue
f -6/-6 -5/-5 -2/-2 -3/-3
f 4/4/1 5/5/1 \\
  6/6/1 7/7/1
"""


@cache
def originals() -> dict[str, bytes]:
    """Small sound files of every format: name and content."""
    sheet = shapes.unstructured((1.0, 0.7), 0.3, seed=4)
    skin = TetMesh(BOX, TETS).triangles
    quads = "".join(f"v {x} {y} {z}\n" for x, y, z in BOX.tolist())
    quads += "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 2 4 8 6\nf 4 3 7 8\nf 3 1 5 7\n"
    return {
        "towel.obj": TOWEL,
        "box.obj": quads.encode(),
        "sheet.obj": (ROOT / "examples" / "napkin.obj").read_bytes(),
        "ascii.ply": ply_ascii(sheet),
        "binary.ply": ply_binary(sheet),
        "big.ply": ply_binary(sheet, ">"),
        "mixed.ply": ply_mixed(),
        "ascii.stl": stl_ascii(shapes.grid(3, 3)).encode(),
        "binary.stl": stl_binary(shapes.grid(3, 3)),
        "two.msh": gmsh_22(BOX, skin, TETS).encode(),
        "four.msh": gmsh_41(BOX, skin, TETS).encode(),
        "skin.msh": gmsh_41(BOX, skin, TETS[:0]).encode(),
        "two_binary.msh": gmsh_22_binary(BOX, skin, TETS),
        "four_binary.msh": gmsh_41_binary(BOX, skin, TETS),
        "scene.toml": SCENE,
    }


def mutated(seed: int) -> tuple[str, bytes]:
    """Name and content of a damaged file; some seeds leave it sound."""
    rng = np.random.default_rng(seed)
    names = sorted(originals())
    name = names[seed % len(names)]
    content = originals()[name]
    for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))):
        content = _WAYS[int(rng.integers(len(_WAYS)))](content, rng)
    return name, content


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if out:
            out[int(rng.integers(len(out)))] = int(rng.integers(256))
    return bytes(out)


def _cut_short(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def _line_gone(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    del lines[int(rng.integers(len(lines)))]
    return b"\n".join(lines)


def _line_twice(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    k = int(rng.integers(len(lines)))
    return b"\n".join([*lines[: k + 1], *lines[k:]])


def _lines_exchanged(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    i, k = (int(v) for v in rng.integers(len(lines), size=2))
    lines[i], lines[k] = lines[k], lines[i]
    return b"\n".join(lines)


def _number_replaced(data: bytes, rng: np.random.Generator) -> bytes:
    found = list(NUMBER.finditer(data))
    if not found:
        return data
    at = found[int(rng.integers(len(found)))]
    return data[: at.start()] + INSTEAD[int(rng.integers(len(INSTEAD)))] + data[at.end() :]


def _sections_exchanged(data: bytes, rng: np.random.Generator) -> bytes:
    a, b, c, d = sorted(int(v) for v in rng.integers(len(data) + 1, size=4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _inserted(data: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + rng.integers(256, size=int(rng.integers(1, 9)), dtype=np.uint8).tobytes() + data[at:]


_WAYS = (
    _flipped, _cut_short, _line_gone, _line_twice, _lines_exchanged, _number_replaced, _number_replaced,
    _sections_exchanged, _inserted,
)  # fmt: skip
