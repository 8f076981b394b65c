"""Scenes: what add_cloth chooses by itself, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneError
from pliant.geometry.measures import deformation_gradients

WOVEN = pl.fabrics.cotton.with_(name="poplin", weft_modulus=5e5, shear_modulus=2e4)
GRID = pl.shapes.grid(4, 4)


def laws(scene: pl.Scene) -> set[str]:
    return set(scene.build().blocks)


def test_the_fabric_chooses_the_membrane() -> None:
    for material, membrane, law in (
        (pl.fabrics.cotton, "triangles", "membrane"),
        (WOVEN, "orthotropic", "orthotropic"),
    ):
        scene = pl.Scene()
        cloth = scene.add_cloth(GRID, material, warp_direction=(1, 0, 0))
        assert cloth.membrane == membrane
        assert laws(scene) == {law, "isometric"}


def test_an_isotropic_fabric_may_be_taken_as_woven_in_any_direction() -> None:
    scene = pl.Scene()
    scene.add_cloth(GRID, pl.fabrics.cotton, membrane="orthotropic")
    assert "orthotropic" in laws(scene)


@pytest.mark.parametrize("membrane", ["triangles", "edges"])
def test_a_woven_fabric_is_not_taken_as_isotropic_in_silence(membrane: str) -> None:
    with pytest.raises(SceneError, match=rf'"poplin" is woven .*membrane="{membrane}" is isotropic'):
        pl.Scene().add_cloth(GRID, WOVEN, membrane=membrane, warp_direction=(1, 0, 0))
    plain = WOVEN.with_(weft_modulus=None, shear_modulus=None)
    assert pl.Scene().add_cloth(GRID, plain, membrane=membrane).membrane == membrane


def test_a_woven_fabric_needs_to_know_where_its_warp_runs() -> None:
    with pytest.raises(SceneError, match=r"poplin.*give warp_direction.*\(1, 0, 0\)"):
        pl.Scene().add_cloth(GRID, WOVEN)
    assert pl.Scene().add_cloth(GRID, WOVEN, membrane="none").membrane == "none"


def test_the_warp_is_the_first_axis_of_the_rows() -> None:
    """Stretched along y alone, the first column of F sees it all, the second nothing."""
    scene = pl.Scene()
    scene.add_cloth(GRID, WOVEN.with_(poisson_ratio=0.0), warp_direction=(0, 1, 0), bending="none")
    sim = pl.Simulation(scene)
    sim.state.set_x(sim.model.x_rest * [1.0, 1.1, 1.0])
    part = sim.model.parts[0]
    f = deformation_gradients(sim.x[0], part.triangles, part.inv_rest_matrix)
    np.testing.assert_allclose(np.linalg.norm(f, axis=1), [[1.1, 1.0]] * len(f))


def test_a_limit_comes_with_any_membrane_but_none() -> None:
    limited = pl.fabrics.cotton.with_(strain_limit=0.04)
    for membrane in ("triangles", "orthotropic", "edges", "none"):
        scene = pl.Scene()
        scene.add_cloth(pl.shapes.equilateral((1.0, 1.0), 0.3), limited, membrane=membrane, bending="none")
        assert ("strain_limit" in laws(scene)) == (membrane != "none")
        if membrane != "none":
            block = scene.build().blocks["strain_limit"]
            assert (block.params[:, 4] == 1.04).all()
            assert (block.compliance == 0.0).all()


def test_a_curved_rest_shape_needs_a_law_that_knows_it() -> None:
    tube = pl.shapes.tube(0.1, 0.2, 8, 3)
    scene = pl.Scene()
    scene.add_cloth(tube, pl.fabrics.cotton)
    with pytest.raises(SceneError, match=r'curved .*45.0 degrees.*bending="curved".*bending="dihedral"'):
        scene.build()
    for bending in ("curved", "dihedral"):
        scene = pl.Scene()
        scene.add_cloth(tube, pl.fabrics.cotton, bending=bending)
        assert bending in laws(scene)
