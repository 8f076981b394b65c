"""Damaged files end in a sound mesh or in one PliantError, soon; nothing else, and no mesh from garbage.

500 of them run with the tests. All 5,000, in about half a minute::

    PLIANT_MUTATIONS=5000 python3 dev.py test tests/io/test_mutations.py
"""

from __future__ import annotations

import os
import re
import signal
import struct
import time
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from mutations import TOWEL, mutated, originals

import pliant as pl
from pliant.errors import PliantError, PliantWarning
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh

COUNT = int(os.environ.get("PLIANT_MUTATIONS", "500"))
MOST_SECONDS = 2.0
SHARES = 10


def outcome(path: Path) -> str:
    """ "refused", or "read" after a look at what was read. Raises for everything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PliantWarning)
        try:
            found = pl.load_scene(path) if path.suffix == ".toml" else pl.read_mesh(path)
        except PliantError as error:
            message = str(error)
            found = None
    if found is None:
        assert len(message) < 1000
        assert path.name in message or "towel.obj" in message
        return "refused"
    if isinstance(found, TriMesh | TetMesh):
        check_mesh(found)
        check_counts(found, path)
    else:
        check_scene(found)
    return "read"


def check_mesh(mesh: TriMesh | TetMesh) -> None:
    """Finite, in range, all of a piece."""
    n = len(mesh.vertices)
    assert np.isfinite(mesh.vertices).all()
    cells = mesh.triangles if isinstance(mesh, TriMesh) else mesh.tets
    assert len(cells)
    assert cells.min() >= 0
    assert cells.max() < n
    assert -1 <= mesh.file_ids.min() <= mesh.file_ids.max() < n
    assert set(mesh.file_ids.tolist()) >= set(range(n))
    if isinstance(mesh, TetMesh):
        assert np.array_equal(np.unique(cells), np.arange(n))
        assert np.isfinite(mesh.volume)
        assert mesh.volume > 0
        return
    assert np.isfinite(mesh.area)
    if mesh.uv is not None:
        assert np.isfinite(mesh.uv).all()
        assert mesh.uv_triangles is None or mesh.uv_triangles.max() < len(mesh.uv)
    if mesh.colors is not None:
        assert 0 <= mesh.colors.min() <= mesh.colors.max() <= 1
    if mesh.polygons is not None:
        assert sum(len(p) - 2 for p in mesh.polygons) == mesh.n_triangles


def check_counts(mesh: TriMesh | TetMesh, path: Path) -> None:
    """As much as the file says by a count of its own, or has lines for: nothing was dropped on the way."""
    data = path.read_bytes()
    text = data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
    faces = len(mesh.polygons or mesh.triangles) if isinstance(mesh, TriMesh) else 0
    if path.suffix == ".obj":
        plain = [line.split("#")[0].split() for line in text.replace("\\\n", " ").split("\n")]
        points = [line[1:4] for line in plain if line[:1] == ["v"]]
        np.testing.assert_array_equal(mesh.vertices, np.array(points, dtype=np.float64))
        assert faces == sum(line[:1] == ["f"] for line in plain)
    elif path.suffix == ".ply":
        assert f"element vertex {len(mesh.vertices)}" in re.sub(r"[ \t]+", " ", text)
        assert f"element face {faces}" in re.sub(r"[ \t]+", " ", text)
    elif path.suffix == ".stl":
        if len(data) == 84 + 50 * struct.unpack("<I", data[80:84].ljust(4, b"\0"))[0]:
            assert struct.unpack("<I", data[80:84])[0] == faces
        else:
            assert len(re.findall(r"^\s*facet", text, re.MULTILINE | re.IGNORECASE)) == faces
    elif path.suffix == ".msh" and b"\0" not in data:
        section = text[text.index("$Elements") : text.index("$EndElements")].split("\n")[2:]
        rows = [line.split() for line in section if line.strip()]
        if isinstance(mesh, TetMesh):
            assert len(mesh.tets) == sum(len(row) == (9 if "2.2 0 8" in text else 5) for row in rows)
        else:
            assert len(mesh.file_ids) == 8


def check_scene(found: pl.SceneFile) -> None:
    """Whatever is in it is finite."""
    assert np.isfinite([found.dt, found.seconds]).all()
    assert found.dt > 0
    for cloth in found.scene.cloths:
        check_mesh(cloth.mesh)
        assert all(0 <= p < cloth.mesh.n_vertices + cloth.vertices.start for p in cloth.pins)


def on_alarm(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("a damaged file keeps the reader busy")


@pytest.mark.parametrize("share", range(SHARES))
def test_damaged_files_are_read_or_refused_soon(tmp_path: Path, share: int) -> None:
    (tmp_path / "towel.obj").write_bytes(TOWEL)
    before = signal.signal(signal.SIGALRM, on_alarm)
    seen: Counter[tuple[str, str]] = Counter()
    slowest, failed = 0.0, []
    try:
        for seed in range(share, COUNT, SHARES):
            name, content = mutated(seed)
            folder = tmp_path if name == "scene.toml" else tmp_path / "one"
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
            begin = time.process_time()  # of this process alone: the machine may be busy
            signal.setitimer(signal.ITIMER_REAL, 10 * MOST_SECONDS)
            try:
                seen[name.split(".")[1], outcome(folder / name)] += 1
            except Exception as error:
                failed.append(f"seed {seed}, {name}: {type(error).__name__}: {str(error)[:200]}")
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            taken = time.process_time() - begin
            slowest = max(slowest, taken)
            if taken > MOST_SECONDS:
                failed.append(f"seed {seed}, {name}: {taken:.1f} s")
    finally:
        signal.signal(signal.SIGALRM, before)
    print(f"slowest {slowest:.2f} s; " + ", ".join(f"{a} {b} {n}" for (a, b), n in sorted(seen.items())))
    assert failed == []
    assert sum(n for (_, result), n in seen.items() if result == "refused") > 0.5 * sum(seen.values())


def test_the_originals_are_read(tmp_path: Path) -> None:
    """Else every mutation would be refused, and prove nothing."""
    for name, content in originals().items():
        (tmp_path / name).write_bytes(content)
    assert {name: outcome(tmp_path / name) for name in originals()} == dict.fromkeys(originals(), "read")
