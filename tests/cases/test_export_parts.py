"""One bad part of several, units of angles, scales; faces, edges and maps of what runs."""

from __future__ import annotations

from pathlib import Path

import exported
import numpy as np
import pytest

import pliant as pl
from pliant.geometry.measures import hinge_angles, triangle_areas
from pliant.geometry.topology import hinges

N = 10


def quarter_cylinder(radius: float = 0.2, width: float = 0.2) -> pl.TriMesh:
    """Ten flat strips over a right angle: each hinge along the axis is folded by 9 degrees."""
    angle = np.linspace(0, np.pi / 2, N + 1)
    flat = pl.shapes.grid(N + 1, 3)
    x = np.tile(angle, 3)
    y = width * np.repeat([0.0, 0.5, 1.0], N + 1)
    place = np.stack([radius * np.sin(x), y, radius * np.cos(x)], axis=1)
    return pl.TriMesh(place, flat.triangles, name="arch")


SCENE = """
[scene]
gravity = [0, 0, 0]
[[cloth]]
shape = { kind = "grid", nx = 5, ny = 5, size = [0.4, 0.3] }
scale = [2, 1, 1]
material = "cotton"
name = "flat"
[[cloth]]
mesh = "arch.obj"
material = "cotton"
bending = "dihedral"
name = "arch"
"""
BROKEN = """
[[cloth]]
mesh = "broken.obj"
material = "cotton"
name = "broken"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pl.write(quarter_cylinder(), tmp_path / "arch.obj")
    (tmp_path / "broken.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\nf 1 3 2\n")
    (tmp_path / "good.toml").write_text(SCENE)
    (tmp_path / "bad.toml").write_text(SCENE + BROKEN)
    return tmp_path


def test_i03_angles_are_radians_and_scales_act_on_each_axis(folder: Path) -> None:
    """I03: 9 degrees are 0.157 rad in the hinges' rest; (2, 1, 1) doubles the area and the mass."""
    scene = pl.load_scene(folder / "good.toml").scene
    flat, arch = scene.bodies
    folds = np.abs(hinge_angles(arch.rest.vertices, hinges(arch.rest.triangles)))
    folded = folds > 1e-6
    np.testing.assert_allclose(folds[folded], np.radians(9), atol=1e-9)
    assert folded.sum() == 2 * (N - 1)
    assert np.isclose(np.radians(9), 0.157, atol=1e-3)
    model = scene.build()
    rest = np.abs(model.blocks["dihedral"].params).reshape(len(model.blocks["dihedral"].ids), -1)
    ninth = np.isclose(rest, np.radians(9), atol=1e-9).any(axis=1)
    assert ninth.sum() == folded.sum()
    assert triangle_areas(flat.rest.vertices, flat.rest.triangles).sum() == pytest.approx(0.8 * 0.3)
    assert model.mass[flat.vertices].sum() == pytest.approx(pl.fabrics.cotton.areal_density * 0.24)


def test_i03_without_gravity_a_curved_cloth_stays_curved(folder: Path) -> None:
    """I03: no default flattens it: after a second no vertex has moved by a nanometre."""
    scene = pl.load_scene(folder / "good.toml").scene
    sim = pl.Simulation(scene, pl.XPBD(substeps=4))
    start = sim.x
    sim.run(seconds=1, progress=False)
    assert np.abs(sim.x - start).max() < 1e-9


def test_i03_a_broken_part_is_named_and_nothing_is_half_loaded(folder: Path) -> None:
    """I03: a scene file with a broken cloth is refused with its line, the mesh file and the element: a scene
    with a part missing would be another one. In Python the part is refused, and the others run."""
    with pytest.raises(pl.SceneFileError, match=r"bad\.toml line \d+.*broken\.obj line 6 \(face 2\)") as told:
        pl.load_scene(folder / "bad.toml")
    assert str(told.value).count("line") == 2
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(pl.shapes.grid(3, 3), pl.fabrics.cotton, name="flat")
    with pytest.raises(pl.MeshError, match=r"broken\.obj line 6"):
        scene.add_cloth(pl.read_mesh(folder / "broken.obj"), pl.fabrics.cotton, name="broken")
    with pytest.raises(pl.SceneError, match="same vertices and faces"):
        scene.add_cloth(pl.shapes.grid(3, 3), pl.fabrics.cotton, rest_mesh=pl.shapes.grid(3, 4))
    scene.add_cloth(quarter_cylinder(), pl.fabrics.cotton, bending="dihedral", name="arch")
    assert [body.name for body in scene.bodies] == ["flat", "arch"]
    assert pl.Simulation(scene).step().status[0] == 0


@pytest.mark.parametrize("scale", ["[2, 0, 1]", "-1", '"big"', "[1, 2]"])
def test_i03_a_scale_that_makes_no_sense_is_refused(folder: Path, scale: str) -> None:
    text = SCENE.replace("[2, 1, 1]", scale)
    (folder / "scaled.toml").write_text(text)
    line = text.splitlines().index(f"scale = {scale}") + 1
    with pytest.raises(pl.SceneFileError, match=rf"line {line}.*scale"):
        pl.load_scene(folder / "scaled.toml")


def seamed() -> pl.TriMesh:
    """A sheet of 3 x 3 whose file lists the middle column twice: a seam, closed."""
    flat = pl.shapes.grid(3, 3)
    ids = np.array([0, 1, 3, 4, 6, 7, 1, 2, 4, 5, 7, 8])
    return pl.TriMesh(flat.vertices, flat.triangles, ids, flat.vertices[:, :2], name="seamed")


def sides(part: pl.Cloth | pl.Solid) -> set[tuple[int, ...]]:
    """The sides of all triangles, each once."""
    t = part.triangles.tolist()
    return {tuple(sorted((face[k], face[k - 1]))) for face in t for k in range(3)}


def test_i06_faces_edges_and_maps_index_positions() -> None:
    """I06: everything that is needed to draw a running body, or to make a graph of it, is an array."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(4, 4), pl.fabrics.cotton)
    cloth = scene.add_cloth(seamed(), pl.fabrics.cotton, position=(0, 0, 1), pins=[0, 7])
    body = scene.add_solid(pl.shapes.ball(0.1, 2), pl.SolidMaterial(1000, 1e5, 0.3), position=(3, 0, 1))
    sim = pl.Simulation(scene, pl.XPBD(substeps=2), worlds=3)
    before = {
        key: getattr(cloth, key).copy() for key in ("triangles", "edges", "uv", "file_vertices", "fixed")
    }
    for moment in ("start", "later", "reset"):
        if moment == "later":
            sim.run(steps=5, progress=False)
            assert np.abs(cloth.x[2][4] - cloth.mesh.vertices[4]).max() > 1e-3
        if moment == "reset":
            sim.reset()
        for part in (cloth, body):
            x, world = part.x[2], sim.x[2]
            np.testing.assert_array_equal(world[part.vertices], x)
            assert part.triangles.max() < len(x)
            listed = set(map(tuple, part.edges.tolist()))
            assert sides(part) <= listed
            assert len(listed) == len(part.edges)
        assert sides(cloth) == set(map(tuple, cloth.edges.tolist()))
        for key, value in before.items():
            np.testing.assert_array_equal(getattr(cloth, key), value, err_msg=f"{key} at {moment}")
    file_x = sim.x[2][cloth.file_ids]  # in the file's order: the seam's vertices are there twice
    np.testing.assert_allclose(file_x[[1, 3, 5]], file_x[[6, 8, 10]])
    np.testing.assert_array_equal(cloth.file_ids[cloth.file_vertices], np.arange(16, 25))
    assert cloth.fixed.tolist() == [0, 2]  # vertices 0 and 7 of the file
    np.testing.assert_allclose(cloth.uv, cloth.mesh.vertices[cloth.triangles][..., :2])
    assert body.uv is None
    assert body.fixed.size == 0
    inside = np.cross(*(body.x[2][body.triangles][:, k] - body.x[2][body.triangles][:, 0] for k in (1, 2)))
    assert (np.einsum("fi,fi->f", inside, body.x[2][body.triangles].mean(axis=1) - [3, 0, 1]) > 0).all()


def test_i06_a_repaired_mesh_has_the_same_maps(tmp_path: Path) -> None:
    """I06: after repair the file's numbers lead to the particles that took their place."""
    wide = pl.shapes.grid(3, 3, (2.0, 2.0))
    source = seamed()
    open_seam = pl.TriMesh(
        wide.vertices[source.file_ids],
        np.array([[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4], [6, 7, 9], [6, 9, 8], [8, 9, 11], [8, 11, 10]]),
        name="open",
    )
    mended = pl.repair_mesh(open_seam).mesh
    scene = pl.Scene()
    cloth = scene.add_cloth(mended, pl.fabrics.cotton, pins=[7])
    sim = pl.Simulation(scene)
    assert cloth.x.shape == (1, 9, 3)
    np.testing.assert_allclose(sim.x[0][cloth.file_ids], open_seam.vertices)
    np.testing.assert_allclose(cloth.x[0][cloth.fixed], open_seam.vertices[[7]])
    assert len(cloth.edges) == 16
    pl.write(sim.new_recording(), tmp_path / "a.pc2")  # and a cache fits the mesh with the open seam
    np.testing.assert_allclose(exported.read_pc2(tmp_path / "a.pc2").points[0], open_seam.vertices)
