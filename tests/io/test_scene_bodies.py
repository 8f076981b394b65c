"""Solids and meshes to collide with in scene files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.io.meshes import write_obj
from tests.io.test_scenes import error, scene

BEAM = """
[[solid]]
name = "beam"
shape = { kind = "bar", size = [0.4, 0.1, 0.1], cells = [4, 1, 1] }
material = { base = "foam", youngs_modulus = 2e4 }
position = [0, 0, 0.4]
rotation_degrees = 90
pins = { y_max = -0.199 }
law = "neo_hookean"
contact_radius = 1e-3
"""


def test_a_solid_is_what_its_table_says(tmp_path: Path) -> None:
    file = scene(tmp_path, BEAM)
    (beam,) = file.scene.solids
    assert (beam.name, beam.law, beam.skin) == ("beam", "neo_hookean", 1e-3)
    assert beam.material.youngs_modulus == 2e4
    assert beam.material.density == pl.solids.foam.density
    np.testing.assert_allclose(beam.mesh.bounds, [[-0.05, -0.2, 0.35], [0.05, 0.2, 0.45]], atol=1e-12)
    np.testing.assert_array_equal(beam.pins, np.flatnonzero(beam.mesh.vertices[:, 1] < -0.199))
    sim = pl.Simulation(file.scene, file.solver, file.dt)
    assert sim.run(steps=3, progress=False).ok()


def test_a_solid_from_a_file_and_what_acts_on_it(tmp_path: Path) -> None:
    """Pressure, pins that move and a tie name it by ``solid``; with one body the name may be left out."""
    x, t = pl.shapes.ball(0.1, 2).vertices, pl.shapes.ball(0.1, 2).tets
    nodes = "".join(f"{i + 1} {a} {b} {c}\n" for i, (a, b, c) in enumerate(x))
    cells = "".join(f"{i + 1} 4 0 {' '.join(str(k + 1) for k in row)}\n" for i, row in enumerate(t))
    head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    text = f"{head}$Nodes\n{len(x)}\n{nodes}$EndNodes\n$Elements\n{len(t)}\n{cells}$EndElements\n"
    (tmp_path / "ball.msh").write_text(text)
    body = '[[solid]]\nname = "ball"\nmesh = "ball.msh"\nscale = 2\nmaterial = "rubber"\npins = [0]\n'
    acting = "[[pressure]]\n{}pressure = 10\n[[motion]]\n{}times = [1]\noffsets = [[0, 0, 1]]\n"
    cloth = (
        '[[cloth]]\nshape = { kind = "grid", nx = 3, ny = 3 }\nmaterial = "wool"\nposition = [0, 0, 0.2]\n'
    )
    tie = '[[attachment]]\ncloth = "grid"\nids = [4]\nto = "ball"\n'
    alone = scene(tmp_path, body + acting.format("", ""))
    named = 'solid = "ball"\n'
    both = scene(tmp_path, body + cloth + acting.format(named, named) + tie)
    for file in (alone, both):
        (ball,) = file.scene.solids
        np.testing.assert_allclose(np.linalg.norm(ball.mesh.vertices, axis=1).max(), 0.2)
        assert file.scene.pressures[0].body is ball
        assert file.before is not None
    assert len(both.scene.ties) == 1


def test_a_mesh_to_collide_with(tmp_path: Path) -> None:
    mesh = pl.shapes.sphere(10.0, 1)
    write_obj(tmp_path / "stone.obj", mesh.vertices, mesh.triangles)
    collider = '[[collider]]\nkind = "mesh"\nmesh = "stone.obj"\nunit = "cm"\nscale = 2\nside = "both"\n'
    (stone,) = scene(tmp_path, BEAM + collider).scene.colliders
    assert isinstance(stone.shape, pl.MeshCollider)
    assert stone.shape.sides == ("both",)
    np.testing.assert_allclose(np.linalg.norm(stone.shape.mesh.vertices, axis=1), 0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[solid]]\nmaterial = "foam"\n', "give either mesh"),
        ('[[solid]]\nmaterial = "cotton"\nshape = { kind = "ball", radius = 1 }\n', "one of"),
        ('[[solid]]\nmaterial = "foam"\nshape = { kind = "grid", nx = 2, ny = 2 }\n', "ball"),
        ('[[solid]]\nmaterial = "foam"\nmesh = "flat.obj"\n', "holds a surface; a solid needs tetrahedra"),
        (
            '[[solid]]\nmaterial = "foam"\nshape = { kind = "bar", size = [1, 1, 1], cells = [1, 1.5, 1] }\n',
            "three whole numbers",
        ),
        (
            '[[solid]]\nmaterial = { density = 5 }\nshape = { kind = "ball", radius = 1 }\n',
            "youngs_modulus: is missing",
        ),
        (BEAM + '[[pressure]]\npressure = 1\ncloth = "beam"\n', "the scene has no cloth"),
        (BEAM + '[[pressure]]\npressure = 1\ncloth = "a"\nsolid = "beam"\n', "name one body"),
        (BEAM + '[[collider]]\nkind = "mesh"\n', "give either mesh"),
        (BEAM + '[[collider]]\nkind = "sphere"\nradius = 1\nside = "both"\n', "side"),
    ],
)
def test_mistakes_about_solids_are_named(tmp_path: Path, text: str, message: str) -> None:
    write_obj(tmp_path / "flat.obj", np.eye(3), np.array([[0, 1, 2]]))
    assert message in error(tmp_path, text)
