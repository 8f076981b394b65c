"""Scene files that say what acts on bodies: air, pressure, ties."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import SceneFileError
from pliant.io.scenes import SceneFile, load_scene


def scene(folder: Path, text: str) -> SceneFile:
    path = folder / "scene.toml"
    path.write_text(text, encoding="utf-8")
    return load_scene(path)


AIRY = """
[scene]
air_density = 1.1
wind = [1, 2, 3]
[[cloth]]
name = "pillow"
shape = { kind = "pillow", nx = 3, ny = 4, size = [0.3, 0.4] }
material = "cotton"
bending = "none"
drag_coefficient = 0.6
skin_friction = 0.02
[[cloth]]
name = "sail"
shape = { kind = "grid", nx = 3, ny = 3 }
material = "cotton"
[[pressure]]
cloth = "pillow"
pressure = 50
gas = true
volume = 0.01
ambient = 9e4
[[pressure]]
cloth = "sail"
pressure = 2
open = true
"""


GLUED = """
[[cloth]]
name = "shirt"
shape = { kind = "grid", nx = 3, ny = 3 }
material = "cotton"
[[cloth]]
name = "badge"
shape = { kind = "grid", nx = 2, ny = 2, size = [0.2, 0.2] }
material = "denim"
position = [0, 0, 0.01]
[[attachment]]
cloth = "badge"
ids = [3, 0]
to = "shirt"
stiffness = 70
gap = 0.002
[[attachment]]
cloth = "badge"
ids = [1, 2]
to = "shirt"
onto = [4, 0]
"""


def test_ties_arrive(tmp_path: Path) -> None:
    glued, sewn = scene(tmp_path, GLUED).scene.ties
    assert (glued.body.name, glued.other.name, glued.stiffness) == ("badge", "shirt", 70)
    assert sorted(glued.particles.tolist()) == [9, 12]
    np.testing.assert_array_equal(glued.gaps, 0.002)
    assert sewn.particles.tolist() == [10, 11]
    assert (sewn.corners[sewn.weights == 1]).tolist() == [4, 0]


def test_a_collider_carries_an_attachment(tmp_path: Path) -> None:
    text = (
        GLUED.split("[[attachment]]")[0]
        + """
[[collider]]
name = "hand"
kind = "sphere"
radius = 0.05
position = [1, 0, 0]
motion = { velocity = [0, 0, 1] }
[[attachment]]
cloth = "shirt"
ids = [0]
frame = "hand"
"""
    )
    made = scene(tmp_path, text).scene
    assert made.attachments[0].frame is made.colliders[0]
    with pytest.raises(SceneFileError, match='frame: "foot" is unknown'):
        scene(tmp_path, text.replace('frame = "hand"', 'frame = "foot"'))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('to = "shirt"\nstiffness', 'to = "coat"\nstiffness', '[[attachment]] to: "coat" is unknown'),
        ('to = "shirt"\nstiffness', "stiffness", 'gap: needs a body: to = "name"'),
        ("onto = [4, 0]", "onto = [4]", "onto: has 1 entries for 2 ids"),
        (
            "onto = [4, 0]",
            "targets = [[0, 0, 0], [0, 0, 0]]",
            "targets: belongs to points in space",
        ),
    ],
)
def test_mistakes_about_ties_are_placed(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(SceneFileError, match=re.escape(message)):
        scene(tmp_path, GLUED.replace(old, new))


def test_air_and_pressure_arrive(tmp_path: Path) -> None:
    made = scene(tmp_path, AIRY).scene
    assert (made.air_density, made.wind.tolist()) == (1.1, [1, 2, 3])
    assert (made.cloths[0].air.drag_coefficient, made.cloths[0].air.skin_friction) == (0.6, 0.02)
    gas, side = made.pressures
    assert (gas.body.name, gas.pressure, gas.gas, gas.volume, gas.ambient) == ("pillow", 50, True, 0.01, 9e4)
    assert (side.body.name, side.pressure, side.gas, side.open) == ("sail", 2, False, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gas = true\n", "gas = 1\n", r"line \d+: \[\[pressure\]\] gas: must be true or false, not 1"),
        ("open = true\n", "", r'line \d+: \[\[pressure\]\]: .*"sail" is not closed'),
        ("air_density = 1.1", "air_density = 0", r"line \d+: \[scene\]: wind without air"),
    ],
)
def test_mistakes_about_air_and_pressure_are_placed(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(SceneFileError, match=message):
        scene(tmp_path, AIRY.replace(old, new))
