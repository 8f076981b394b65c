"""Shapes without stress that are not the shape of the start: other files, flat panels, sewn ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshWarning
from pliant.geometry import topology
from tests.cases.scenes import fabric
from tests.geometry import flaws

Array = np.ndarray


def test_another_file_may_give_the_shape_at_rest(data: Any) -> None:
    """A shirt that starts on the body and was cut flat: rest lengths and mass are those of the flat one."""
    start = pl.read_mesh(data / "diffcloth/tshirt1900.obj", unit="dm")
    flat = pl.read_mesh(data / "diffcloth/tshirt1900-flattened.obj", unit="dm")
    assert isinstance(start, pl.TriMesh)
    assert isinstance(flat, pl.TriMesh)
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(start, fabric(), rest_mesh=flat, membrane="edges", bending="none")
    model = scene.build()
    assert model.mass.sum() == pytest.approx(0.2 * flat.area, rel=1e-12)
    springs = model.blocks["distance"]
    lengths = np.linalg.norm(flat.vertices[springs.ids[:, 0]] - flat.vertices[springs.ids[:, 1]], axis=1)
    np.testing.assert_allclose(springs.params[:, 0], lengths, rtol=1e-12)
    np.testing.assert_array_equal(model.x_rest, start.vertices)
    assert cloth.rest.area == pytest.approx(flat.area)


def test_polygons_may_be_cut_along_other_diagonals_at_rest(tmp_path: Any) -> None:
    """Two files of the same quadrilaterals, folded in one: the start decides on the cut."""
    quad = "v 0 0 0\nv 1 0 0\nv {0} 1 0\nv 0 1 0\nf 1 2 3 4\n"
    (tmp_path / "start.obj").write_text(quad.format("0.2"))
    (tmp_path / "rest.obj").write_text(quad.format("1") + "# square\n")
    start, rest = pl.read_mesh(tmp_path / "start.obj"), pl.read_mesh(tmp_path / "rest.obj")
    assert isinstance(start, pl.TriMesh)
    bent = pl.TriMesh(
        start.vertices, [[0, 1, 3], [1, 2, 3]], polygons=((0, 1, 2, 3),), triangle_polygon=[0, 0]
    )
    cloth = pl.Scene().add_cloth(bent, fabric(), rest_mesh=rest)
    np.testing.assert_array_equal(cloth.rest.triangles, bent.triangles)
    assert cloth.rest.area == pytest.approx(1.0)


def test_panel_coordinates_may_give_the_shape_at_rest() -> None:
    """A tube rolled from a flat panel: with the panel's 2-D coordinates at rest it springs open."""
    panel = pl.shapes.grid(13, 5, (0.6, 0.2))
    angle = 1.5 * np.pi * panel.vertices[:, 0] / 0.6
    r = 0.6 / (1.5 * np.pi)
    x = np.stack([r * np.sin(angle), panel.vertices[:, 1], -r * np.cos(angle)], axis=1)
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=2.0)
    cloth = scene.add_cloth(
        pl.TriMesh(x, panel.triangles), fabric(500.0, bending_rigidity=5e-3, damping_time=5e-3),
        rest_mesh=panel.vertices[:, :2],
    )  # fmt: skip
    sim = pl.Simulation(scene, pl.XPBD(substeps=20))
    assert sim.model.mass.sum() == pytest.approx(0.2 * 0.12, rel=1e-12)
    before = np.ptp(cloth.x[0], axis=0)
    sim.run(seconds=3, progress=False)
    assert np.ptp(cloth.x[0], axis=0)[0] > 0.58 > before[0] + 0.1
    with pytest.raises(pl.SceneError, match=r"rest_mesh has shape \(7, 2\); it must be \(65, 2\)"):
        scene.add_cloth(panel, fabric(), rest_mesh=panel.vertices[:7, :2])
    with pytest.raises(pl.SceneError, match="same vertices and faces as mesh, in the same order"):
        scene.add_cloth(panel, fabric(), rest_mesh=pl.shapes.grid(5, 13))


def test_a_rest_shape_goes_through_welding_where_it_agrees() -> None:
    """Seams joined in the start shape may be at one place at rest, too; a start must agree."""
    sheet = flaws.sheet()
    cut, source = flaws.seamed(sheet)
    flat = sheet.vertices[source] * [1.1, 1.1, 0.0]
    scene = pl.Scene()
    with pytest.warns(MeshWarning):
        cloth = scene.add_cloth(cut, fabric(), rest_mesh=flat, start=cut.vertices * 0.9)
    np.testing.assert_allclose(cloth.rest.vertices, sheet.vertices * [1.1, 1.1, 0.0])
    np.testing.assert_allclose(cloth.mesh.vertices, sheet.vertices * 0.9)
    with pytest.raises(
        pl.SceneError, match=r"start has vertices \d+ and \d+ at places .* m apart.*weld=False"
    ):
        scene.add_cloth(cut, fabric(), start=cut.vertices + np.arange(cut.n_vertices)[:, None])


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
@pytest.mark.parametrize("bending", ["isometric", "curved", "dihedral"])
def test_panels_that_are_cut_apart_sew_up_to_the_whole_sheet(bending: str) -> None:
    """Two flat panels, one moved and turned in the plane: sewn along the seam they drape as the whole."""
    sheet = pl.shapes.unstructured((0.5, 0.4), 0.06, seed=3)
    cut, source = flaws.seamed(sheet)
    flat = sheet.vertices[source, :2]
    piece = topology.components(cut.triangles, cut.n_vertices)
    assert piece.max() == 1
    c, s = np.cos(0.7), np.sin(0.7)
    panels = np.where((piece == 1)[:, None], flat @ np.array([[c, s], [-s, c]]) + [1.0, -2.0], flat)
    ends = []
    for mesh, rest in ((sheet, None), (cut, panels)):
        scene = pl.Scene()
        cloth = scene.add_cloth(
            mesh, fabric(200.0, bending_rigidity=1e-4), rest_mesh=rest, bending=bending, position=(0, 0, 0.15)
        )
        scene.add_collider(pl.Sphere(0.12))
        sim = pl.Simulation(scene, pl.XPBD(substeps=10))
        assert sim.model.mass.sum() == pytest.approx(0.2 * sheet.area, rel=1e-9)
        hinges = sim.model.blocks[bending]
        assert len(hinges) == len(sheet.edges) - len(topology.boundary_edges(sheet.triangles))
        sim.run(steps=12, progress=False)
        ends.append(cloth.in_file_order(cloth.x[0])[: sheet.n_vertices])
    assert np.ptp(ends[0][:, 2]) > 0.05
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
    apart = pl.Scene()
    apart.add_cloth(cut, fabric(), rest_mesh=panels, membrane="edges")
    with pytest.raises(pl.SceneError, match="vertices at several places"):
        apart.build()


def test_a_tube_sewn_from_one_panel_is_the_same_all_around() -> None:
    """A panel rolled up and closed, with places of its own at rest: the seam is no special place."""
    n = 12
    panel = pl.shapes.grid(n + 1, 4, (0.6, 0.3), pattern="left")
    ids = (np.arange(4)[:, None] * n + np.arange(n + 1) % n).ravel()
    angle = 2 * np.pi * np.arange(n) / n
    r = 0.6 / n / (2 * np.sin(np.pi / n))
    heights = panel.vertices[:: n + 1, 1]
    x = np.concatenate(
        [np.stack([r * np.cos(angle), r * np.sin(angle), 0 * angle + z], axis=1) for z in heights]
    )
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=2.0)
    cloth = scene.add_cloth(
        pl.TriMesh(x, ids[panel.triangles]),
        fabric(500.0, bending_rigidity=2e-3, damping_time=5e-3),
        rest_mesh=pl.TriMesh(panel.vertices, panel.triangles),
    )
    sim = pl.Simulation(scene, pl.XPBD(substeps=40))
    assert cloth.mesh.n_vertices == 4 * n
    assert cloth.rest.n_vertices == 4 * (n + 1)
    assert sim.model.mass.sum() == pytest.approx(0.2 * 0.18, rel=1e-12)
    assert np.ptp(sim.model.mass.reshape(4, n), axis=1).max() < 1e-15
    stencils = sim.model.blocks["isometric"].in_file_order()
    assert len(stencils) == 3 * n * 2 + 2 * n
    kinds = np.unique(np.round(np.sort(stencils.params, axis=1), 9), axis=0)
    assert len(kinds) <= 3, "one kind for each direction of an edge"
    sim.run(seconds=1.0, progress=False)
    radius = np.linalg.norm(cloth.x[0][:, :2] - cloth.x[0][:, :2].mean(axis=0), axis=1).reshape(4, n)
    np.testing.assert_allclose(radius, r, rtol=3e-3)
