"""From a file into a scene and out again: the file's own vertices, faces and texture, however it is split."""

from __future__ import annotations

import warnings
from pathlib import Path

import exported
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.errors import MeshWarning


def split_sheet(seed: int, copies: int, textured: bool) -> tuple[np.ndarray, list[list[int]], np.ndarray]:
    """A bent sheet of quads and triangles whose vertices are in the file up to ``copies`` times, shuffled.

    Places (n_file, 3), faces by the file's numbers, texture coordinates (n_file, 2), one pair for each.
    """
    rng = np.random.default_rng(seed)
    nx, ny = 4, 3
    at = [(i, j) for j in range(ny) for i in range(nx)]
    x = np.array([(0.1 * i, 0.13 * j, 0.02 * i * j) for i, j in at])
    faces: list[list[int]] = []
    for j in range(ny - 1):
        for i in range(nx - 1):
            a = j * nx + i
            quad = [a, a + 1, a + nx + 1, a + nx]
            faces += [quad] if rng.random() < 0.5 else [quad[:3], [quad[0], quad[2], quad[3]]]
    number: dict[tuple[int, int], int] = {}
    split = [[number.setdefault((v, int(rng.integers(copies))), len(number)) for v in f] for f in faces]
    order = rng.permutation(len(number))
    place = np.empty((len(number), 3))
    for (v, _), k in number.items():
        place[order[k]] = x[v]
    uv = np.round(rng.random((len(number), 2)), 6) if textured else np.zeros((0, 2))
    return place, [[int(order[k]) for k in face] for face in split], uv


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), copies=st.integers(1, 3), textured=st.booleans())
def test_a_scene_gives_a_file_back_as_it_lists_it(
    tmp_path: Path, seed: int, copies: int, textured: bool
) -> None:
    place, faces, uv = split_sheet(seed, copies, textured)
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in place.tolist()]
    lines += [f"vt {a!r} {b!r}" for a, b in uv.tolist()]
    lines += ["f " + " ".join(f"{v + 1}/{v + 1}" if textured else f"{v + 1}" for v in f) for f in faces]
    (tmp_path / "a.obj").write_text("\n".join(lines) + "\n")
    scene = pl.Scene()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)
        cloth = scene.add_cloth(pl.read_mesh(tmp_path / "a.obj"), pl.fabrics.cotton, bending="dihedral")
    assert cloth.mesh.n_vertices == 12
    np.testing.assert_array_equal(cloth.in_file_order(cloth.mesh.vertices), place)
    recording = pl.Recording("a", 0.1, [pl.Simulation(scene).new_recording().parts[0]])
    moved = cloth.mesh.vertices + np.random.default_rng(seed).normal(size=(12, 3))
    recording.add(0.0, moved)
    for name in ("b.obj", "b.pc2", "b.vtp"):
        pl.write(recording, tmp_path / name)
    found = exported.read_obj(tmp_path / "b.obj")
    want = moved.astype(np.float32)[cloth.file_ids]
    np.testing.assert_array_equal(found.points[0].astype(np.float32), want)
    assert found.faces == faces
    if textured:
        pairs = [found.more["uv"][rows].tolist() for rows in found.more["uv_faces"]]
        assert pairs == [uv[face].tolist() for face in faces]
    np.testing.assert_array_equal(exported.read_pc2(tmp_path / "b.pc2").points[0], want)
    vtp = exported.read_vtk_xml(tmp_path / "b.vtp")
    np.testing.assert_array_equal(vtp.points[0], want)
    assert vtp.faces == faces
