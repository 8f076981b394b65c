"""Scene files: what they say is what is simulated; what they get wrong is named with line and field."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from documents import code_blocks

from pliant.errors import SceneFileError
from pliant.geometry import shapes
from pliant.geometry.colliders import Cylinder, Plane, Sphere
from pliant.geometry.mesh import rotation_matrix
from pliant.io.bodies import SHAPES, SOLID_SHAPES
from pliant.io.meshes import write_obj
from pliant.io.obstacles import COLLIDERS
from pliant.io.scenes import KEYS, SceneFile, load_scene
from pliant.io.selections import BOX
from pliant.materials import fabrics
from pliant.simulation import Simulation
from pliant.solvers.newton.solver import Newton
from pliant.solvers.xpbd.solver import PBD, XPBD

CLOTH = '[[cloth]]\nshape = { kind = "grid", nx = 4, ny = 3 }\nmaterial = "cotton"\n'


def scene(folder: Path, text: str, solver: str | None = None) -> SceneFile:
    file = folder / "scene.toml"
    file.write_text(text, encoding="utf-8")
    return load_scene(file, solver)


def error(folder: Path, text: str) -> str:
    with pytest.raises(SceneFileError) as caught:
        scene(folder, text)
    return str(caught.value).removeprefix(f"{folder}/")


FULL = """
[scene]
title = "Everything"
gravity = [0, 0, -1.62]
air_drag = 0.5

[simulation]
dt = 0.01
seconds = 0.5
substeps = 7
iterations = 2
order = "sequential"
relaxation = 0.9
dtype = "float32"
worlds = 3
output = ["a.html", "b.npz"]

[[cloth]]
name = "flag"
mesh = "meshes/flag.obj"
unit = "cm"
material = { base = "wool", thickness = 6e-4, friction = 0.1 }
position = [0, 0, 2]
rotation_axis = [1, 0, 0]
rotation_degrees = 90
pins = [0, { z_min = 2.5, x_max = 0 }]
membrane = "edges"
bending = "dihedral"
velocity = [0, 1, 0]

[[cloth]]
shape = { kind = "disc", radius = 0.5, edge = 0.25 }
material = "denim"
warp_direction = [0, 1, 0]

[[collider]]
kind = "plane"
normal = [0, 1, 1]

[[collider]]
kind = "sphere"
radius = 0.25
position = [1, 0, 0]
friction = 0.2
friction_static = 0.3

[[collider]]
name = "table"
kind = "cylinder"
radius = 1
height = 0.5
rounding = 0.1

[[attachment]]
cloth = "flag"
ids = [3, 2]
targets = [[1, 0, 0], [2, 0, 0]]
stiffness = 50
damping_time = 0.1

[[motion]]
cloth = "flag"
ids = [0]
times = [1, 2]
offsets = [[0, 0, 1], [0, 2, 1]]
"""


@pytest.fixture
def full(tmp_path: Path) -> SceneFile:
    (tmp_path / "meshes").mkdir()
    write_obj(tmp_path / "meshes" / "flag.obj", shapes.equilateral((100.0, 100.0), 20.0))
    return scene(tmp_path, FULL)


def test_every_key_arrives(full: SceneFile) -> None:
    assert (full.title, full.dt, full.seconds, full.worlds, full.dtype) == (
        "Everything",
        0.01,
        0.5,
        3,
        "float32",
    )
    assert full.solver == XPBD(substeps=7, iterations=2, order="sequential", relaxation=0.9)
    assert full.outputs == [Path("a.html"), Path("b.npz")]
    assert full.scene.gravity.tolist() == [0, 0, -1.62]
    assert full.scene.air_drag == 0.5
    flag, disc = full.scene.cloths
    assert (flag.name, disc.name) == ("flag", "disc")
    assert flag.material == fabrics.wool.with_(name="wool, changed", thickness=6e-4, friction=0.1)
    assert (flag.membrane, flag.bending, flag.velocity.tolist()) == ("edges", "dihedral", [0, 1, 0])
    plain = shapes.equilateral((1.0, 1.0), 0.2).vertices
    placed = plain @ rotation_matrix([np.pi / 2, 0, 0]).T + [0, 0, 2]
    np.testing.assert_allclose(flag.mesh.vertices, placed, atol=1e-12)
    left_top = np.flatnonzero((plain[:, 1] > 0.499) & (plain[:, 0] < 1e-9))
    assert 1 < len(left_top) < 6
    assert flag.pins.tolist() == sorted({0, *left_top.tolist()})
    assert disc.material is fabrics.denim
    assert disc.warp_direction is not None
    assert disc.warp_direction.tolist() == [0, 1, 0]
    plane, ball, table = full.scene.colliders
    assert (plane.shape, ball.shape, table.shape) == (Plane((0, 1, 1)), Sphere(0.25), Cylinder(1, 0.5, 0.1))
    assert (ball.position.tolist(), ball.friction, ball.friction_static) == ([1, 0, 0], 0.2, 0.3)
    assert table.name == "table"
    (held,) = full.scene.attachments
    assert held.particles.tolist() == [3, 2]
    assert held.targets.tolist() == [[1, 0, 0], [2, 0, 0]]
    assert (held.stiffness, held.damping_time) == (50, 0.1)


def test_defaults_are_those_of_the_classes(tmp_path: Path) -> None:
    file = scene(tmp_path, CLOTH)
    assert file.title == "scene"
    assert (file.dt, file.worlds, file.dtype, file.outputs) == (1 / 60, 1, "float64", [])
    assert file.solver == XPBD()
    assert file.before is None
    assert file.scene.gravity.tolist() == [0, 0, -9.81]
    (cloth,) = file.scene.cloths
    assert (cloth.pins.tolist(), cloth.membrane, cloth.bending) == ([], "triangles", "isometric")


def test_a_woven_fabric_and_a_curved_rest_shape(tmp_path: Path) -> None:
    text = (
        '[[cloth]]\nshape = { kind = "tube", radius = 0.1, height = 0.2, n = 8, m = 3 }\n'
        'material = { base = "cotton", weft_modulus = 5e5, shear_modulus = 2e4, strain_limit = 0.05 }\n'
        'bending = "curved"\n'
    )
    (cloth,) = scene(tmp_path, text + "warp_direction = [0, 0, 1]\n").scene.cloths
    assert (cloth.membrane, cloth.bending, cloth.material.strain_limit) == ("orthotropic", "curved", 0.05)
    assert re.match(r"scene.toml line 1: .*give warp_direction", error(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "mesh"),
    [
        ('kind = "grid", nx = 4, ny = 3, size = [2, 1], pattern = "left"', shapes.grid(4, 3, (2, 1), "left")),
        ('kind = "equilateral", size = [1, 1], edge = 0.3', shapes.equilateral((1, 1), 0.3)),
        ('kind = "unstructured", size = [1, 1], edge = 0.3, seed = 4', shapes.unstructured((1, 1), 0.3, 4)),
        ('kind = "disc", radius = 1, edge = 0.3', shapes.disc(1, 0.3)),
        ('kind = "annulus", inner = 0.5, outer = 1, edge = 0.3', shapes.annulus(0.5, 1, 0.3)),
        ('kind = "tube", radius = 1, height = 2, n = 5, m = 4', shapes.tube(1, 2, 5, 4)),
    ],
)
def test_every_shape(tmp_path: Path, text: str, mesh: object) -> None:
    cloth = '[[cloth]]\nbending = "dihedral"\nmaterial = "cotton"\nshape = {' + text + "}\n"
    made = scene(tmp_path, cloth).scene.cloths[0].mesh
    np.testing.assert_array_equal(made.vertices, mesh.vertices)
    np.testing.assert_array_equal(made.triangles, mesh.triangles)


def test_another_solver_takes_what_it_has(tmp_path: Path) -> None:
    text = CLOTH + '[simulation]\nsolver = "pbd"\nstiffness = 0.5\nsubsteps = 3\n'
    assert scene(tmp_path, text).solver == PBD(substeps=3, stiffness=0.5)
    assert scene(tmp_path, text, "xpbd").solver == XPBD(substeps=3)
    assert scene(tmp_path, text, "newton").solver == Newton(substeps=3)
    own = CLOTH + '[simulation]\nsolver = "newton"\ntolerance = 1e-6\nmax_iterations = 7\n'
    assert scene(tmp_path, own).solver == Newton(tolerance=1e-6, max_iterations=7)


def test_pins_move_as_the_keyframes_say(full: SceneFile) -> None:
    sim = Simulation(full.scene, full.solver, full.dt, full.worlds, full.dtype)
    flag = full.scene.cloths[0]
    start = flag.mesh.vertices[flag.file_ids[0]]
    assert full.before is not None
    for time, offset in ((0.5, (0, 0, 0.5)), (1.0, (0, 0, 1)), (1.5, (0, 1, 1)), (9.0, (0, 2, 1))):
        sim.state.time = time - sim.dt
        full.before(sim)
        slot = np.flatnonzero(sim.model.pin_ids == flag.file_ids[0])[0]
        there = sim.control.pin_targets[0, slot, :, 0]
        np.testing.assert_allclose(there, start + offset, atol=1e-6)


def test_a_moved_pin_arrives(tmp_path: Path) -> None:
    text = CLOTH.replace('"cotton"', '"cotton"\npins = [0, 3]') + (
        "[simulation]\nsubsteps = 2\ndt = 0.05\n[[motion]]\ntimes = [0.2]\noffsets = [[0, 0.1, 0.2]]\n"
    )
    file = scene(tmp_path, text)
    sim = Simulation(file.scene, file.solver, file.dt)
    start = sim.x[0, [0, 3]]
    sim.run(seconds=0.1, before=file.before, progress=False)
    np.testing.assert_allclose(sim.x[0, [0, 3]], start + np.array([0, 0.05, 0.1]), atol=1e-12)


# ---- mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[cloth]\n", "scene.toml line 1: not TOML: Expected ']]'"),
        ("a = [1,\n", "scene.toml, at its end: not TOML"),
        ("", "scene.toml: there is no cloth and no solid; begin one with [[cloth]] or [[solid]]"),
        (CLOTH + "[scnee]\n", 'scene.toml line 4: scnee: unknown key; did you mean "scene"?'),
        (CLOTH + "pin = [0]\n", 'scene.toml line 4: [[cloth]] pin: unknown key; did you mean "pins"?'),
        (CLOTH.replace("cotton", "coton"), '"coton" is unknown; did you mean "cotton"?'),
        (CLOTH.replace('"cotton"', "7"), "line 3: [[cloth]] material: must be a text in quotes, not 7"),
        ('[[cloth]]\nshape = { kind = "grid", nx = 4, ny = 3 }\n', "line 1: [[cloth]] material: is missing"),
        ('[[cloth]]\nmaterial = "wool"\n', 'line 1: [[cloth]] mesh: give either mesh = "file.obj" or shape'),
        (CLOTH.replace("nx = 4", "nx = 4.5"), "line 2: [[cloth]] shape.nx: must be a whole number, not 4.5"),
        (CLOTH.replace("nx = 4", "nx = 1"), "line 2: [[cloth]] shape.nx: is 1, it must be at least 2"),
        (CLOTH.replace("nx = 4", "n = 4"), 'line 2: [[cloth]] shape.n: unknown key; did you mean "ny"?'),
        (CLOTH.replace("grid", "gird"), 'shape.kind: "gird" is unknown; did you mean "grid"?'),
        (CLOTH + 'unit = "cm"\n', "line 4: [[cloth]] unit: belongs to a mesh"),
        (CLOTH + "\n# a comment\npins = [0,\n 99]\n", "line 6: [[cloth]] pins: vertex 99 does not exist"),
        (CLOTH + "pins = [0.5]\n", "pins: must hold vertex numbers or boxes like {z_min = 0.9}, not 0.5"),
        (CLOTH + "pins = []\n", "line 4: [[cloth]] pins: is empty"),
        (
            CLOTH + "pins = [\n 0,\n { z_mim = 1 }]\n",
            "line 6: [[cloth]] pins.z_mim: unknown key; did you",
        ),
        (
            CLOTH + "pins = {z_min = 5}\n",
            "line 4: [[cloth]] pins: selects no vertex; the cloth spans x -0.5",
        ),
        (CLOTH + "pins = {z_min = '1'}\n", 'pins.z_min: must be a number in m, not the text "1"'),
        (CLOTH + "position = [0, 0]\n", "line 4: [[cloth]] position: must be 3 numbers in m, not [0, 0]"),
        (CLOTH + "velocity = [0, 0, nan]\n", "velocity: must be 3 numbers in m/s, not [0, 0, nan]"),
        (CLOTH + "rotation_axis = [1, 0, 0]\n", "rotation_axis: needs rotation_degrees beside it"),
        (CLOTH + 'membrane = "triangle"\n', 'membrane: "triangle" is unknown; did you mean "triangles"?'),
        (
            CLOTH + "[simulation]\ndt = '16 ms'\n",
            "line 5: [simulation] dt: must be a number in s, not the",
        ),
        (CLOTH + "[simulation]\ndt = 0\n", "line 5: [simulation] dt: is 0, it must be greater than 0 s"),
        (
            CLOTH + "[simulation]\ndt = inf\n",
            "dt: must be a number in s that is finite, not inf",
        ),
        (CLOTH + "[simulation]\nworlds = true\n", "worlds: must be a whole number, not true"),
        (
            CLOTH + "[simulation]\nstiffness = 1\n",
            'stiffness: the solver "xpbd" has no stiffness',
        ),
        (
            CLOTH + "[simulation]\nrelaxation = 3\n",
            "line 4: [simulation]: XPBD: relaxation is 3.0, it",
        ),
        (CLOTH + "[simulation]\noutput = 3\n", "line 5: [simulation] output: must be a file name"),
        (
            CLOTH + '[[collider]]\nkind = "cone"\n',
            'kind: "cone" is unknown; choose one of plane, sphere, cyl',
        ),
        (CLOTH + '[[collider]]\nkind = "sphere"\n', "line 4: [[collider]] radius: is missing"),
        (
            CLOTH + '[[collider]]\nkind = "sphere"\nradius = -1\n',
            "line 6: [[collider]] radius: is -1, it must",
        ),
        (CLOTH + '[[collider]]\nkind = "plane"\nradius = 1\n', "line 6: [[collider]] radius: unknown key"),
        (CLOTH + '[[collider]]\nkind = "plane"\nnormal = [0,0,0]\n', "line 4: [[collider]]: Plane: normal"),
        (CLOTH + "[collider]\nkind = 'plane'\n", "line 4: collider: must be written [[collider]]"),
        (CLOTH + "[[attachment]]\n", "line 4: [[attachment]] ids: is missing"),
        (CLOTH + "[[attachment]]\nids = [0]\ntargets = [[0, 0]]\n", "targets: row 1 must be 3 numbers in m"),
        (
            CLOTH + "[[attachment]]\nids = [0]\ncloth = 'gird'\n",
            'cloth: "gird" is unknown; did you mean "grid',
        ),
        (
            CLOTH + "[[motion]]\ntimes = [0]\noffsets = [[0, 0, 0]]\n",
            'cloth: "grid" has no pins to move',
        ),
        (
            CLOTH + "pins = [0]\n[[motion]]\nids = [1]\ntimes = [0]\noffsets = [[0, 0, 0]]\n",
            "line 6: [[motion]] ids: vertex 1 is not pinned",
        ),
        (
            CLOTH + "pins = [0]\n[[motion]]\ntimes = [1, 1]\n",
            "line 6: [[motion]] times: must begin at 0",
        ),
        (
            CLOTH + "pins = [0]\n[[motion]]\ntimes = [1, 2]\noffsets = [[0, 0, 0]]\n",
            "line 7: [[motion]] offsets: has 1 rows for 2 times",
        ),
        (
            CLOTH.replace('"cotton"', "{ thickness = 1e-3 }"),
            'line 3: [[cloth]] material.areal_density: is missing; give it, or a base = "cotton"',
        ),
        (
            CLOTH.replace('"cotton"', '{ base = "wool", poisson_ratio = 1.5 }'),
            'line 3: [[cloth]] material: material "wool, changed": poisson_ratio is 1.5',
        ),
        (
            CLOTH.replace('"cotton"', '{ base = "wool", young = 1 }'),
            'line 3: [[cloth]] material.young: unknown key; did you mean "youngs_modulus"?',
        ),
        ('[[cloth]]\nmesh = "no.obj"\nmaterial = "wool"\n', "line 2: [[cloth]] mesh: "),
        (
            '[[cloth]]\nshape = { kind = "sphere", radius = 1, subdivisions = 1 }\nmaterial = "wool"\n'
            '[[cloth]]\nmesh = "no.obj"\nunit = "mile"\n',
            'line 6: [[cloth]] unit: "mile" is unknown',
        ),
    ],
)
def test_mistakes_are_named_with_line_and_field(tmp_path: Path, text: str, message: str) -> None:
    assert message in error(tmp_path, text)


def test_a_missing_file_and_one_that_is_not_text(tmp_path: Path) -> None:
    with pytest.raises(SceneFileError, match="no such file"):
        load_scene(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SceneFileError, match="not UTF-8"):
        load_scene(tmp_path / "binary.toml")


def test_the_mistake_of_a_mesh_file_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "bad.obj").write_text("v 0 0 0\nf 1 2 3\n")
    message = error(tmp_path, '[[cloth]]\nmaterial = "wool"\nmesh = "bad.obj"\n')
    assert message.startswith("scene.toml line 3: [[cloth]] mesh: ")
    assert "bad.obj line 2" in message


# ---- the page


def test_the_page_lists_every_key() -> None:
    page = (ROOT / "docs" / "scene-files.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`\[*([a-z_]+)\b", page))
    shapes = (*SHAPES.values(), *SOLID_SHAPES.values(), *COLLIDERS.values(), BOX)
    known = {key for keys in (*KEYS.values(), *shapes) for key in keys}
    assert known - listed == set()


@pytest.mark.parametrize("page", ["README.md", "docs/scene-files.md"])
def test_scene_files_in_the_pages_load(page: str, tmp_path: Path) -> None:
    blocks = [b.text for b in code_blocks((ROOT / page).read_text(encoding="utf-8")) if b.language == "toml"]
    assert blocks
    for text in blocks:
        assert scene(tmp_path, text).scene.n_particles > 80


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
def test_a_cloth_may_have_a_shape_at_rest_and_open_seams(tmp_path: Path) -> None:
    quads = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 0 0\nv 2 0 {0}\nv 2 1 {0}\nv 1 1 0\n"
    faces = "f 1 2 3\nf 1 3 4\nf 5 6 7\nf 5 7 8\n"
    (tmp_path / "folded.obj").write_text(quads.format(1) + faces)
    (tmp_path / "panels.obj").write_text(quads.format(0) + faces)
    text = '[[cloth]]\nmesh = "folded.obj"\nunit = "cm"\nmaterial = "cotton"\nrest_mesh = "panels.obj"\n'
    (cloth,) = scene(tmp_path, text).scene.cloths
    assert cloth.mesh.n_vertices == 6
    assert cloth.mesh.bounds[1].tolist() == pytest.approx([0.02, 0.01, 0.01])
    assert cloth.rest.bounds[1].tolist() == pytest.approx([0.02, 0.01, 0.0])
    (cloth,) = scene(tmp_path, text + "weld = false\n").scene.cloths
    assert cloth.mesh.n_vertices == 8
    assert re.search("line 5: .*rest_mesh.*no such file", error(tmp_path, text.replace("panels", "none")))
    assert re.search("weld: must be true or false", error(tmp_path, text + "weld = 1\n"))
