"""Files as people have them: checked soon, repaired where that can be, and then simulated."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshWarning
from pliant.geometry.mesh import TriMesh

NOT_CLEAN = {  # what is wrong with a file, beside crossings, sizes and notes
    "diffpd/spot.obj": {"non_manifold": 5, "unused": 225},
    "trimesh/cubevt.obj": {"split_seam": 16},
    "trimesh/tube.obj": {"split_seam": 68, "near_degenerate": 2},
    "trimesh/not_convex.obj": {"non_manifold": 12, "split_seam": 244},
    "trimesh/joined_tetrahedra.obj": {"non_manifold": 3, "double_sided": 1},
    "mujoco/bag.obj": {"non_manifold": 48},
    "diffcloth/dress-v5k-f10k.obj": {"near_degenerate": 3, "edge_spread": 2},
    "trimesh/wallhole.obj": {"split_seam": 57},
}
FILES = [
    *NOT_CLEAN, "bullet3/cloth_z_up.obj", "diffcloth/tshirt1900.obj", "diffcloth/skirt1252.obj",
    "mujoco/cap.obj", "mujoco/spot.obj", "trimesh/quadknot.obj", "trimesh/two_objects.obj",
    "trimesh/negative_indices.obj", "trimesh/polygonfaces.obj", "trimesh/rabbit.obj",
    "libuipc/ball.msh", "libuipc/link.msh",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_checked_mended_and_simulated(data: Path, name: str) -> None:
    begin = time.process_time()
    mesh = pl.read_mesh(data / name)
    report = pl.check_mesh(mesh)
    assert time.process_time() - begin < 2.0
    json.dumps(report.to_dict())
    told = {
        f.name: f.count
        for f in report.findings
        if f.severity != "note" and f.name not in ("self_intersection", "units")
    }
    assert told == NOT_CLEAN.get(name, {})
    repair = pl.repair_mesh(mesh)
    assert pl.repair_mesh(repair.mesh).changes == ()
    left = {f.name for f in pl.check_mesh(repair.mesh, self_intersections=False).findings}
    assert not left & {
        "non_manifold",
        "duplicate",
        "double_sided",
        "split_seam",
        "unused",
        "winding",
        "degenerate",
    }
    scene = pl.Scene()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "(?!.*crack).*", MeshWarning)  # nothing is left to be changed
        if isinstance(repair.mesh, TriMesh):
            scene.add_cloth(repair.mesh, pl.fabrics.cotton, bending="dihedral")
        else:
            scene.add_solid(
                repair.mesh, pl.SolidMaterial(density=1000, youngs_modulus=1e5, poisson_ratio=0.3)
            )
    sim = pl.Simulation(scene, pl.XPBD(substeps=2))
    assert sim.step().ok()
    assert np.isfinite(sim.x).all()
