"""``pliant check``: what it says, its exit codes, the repaired file, the picture."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.checking.picture import MARKS, picture
from pliant.cli import ERROR, OK, main
from pliant.geometry.mesh import TriMesh
from pliant.io.meshes import write_obj
from tests.geometry import flaws


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str, str]:
    code = main(["check", *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_clean_mesh_is_met_with_one_word_and_zero(here: Path, capsys: pytest.CaptureFixture) -> None:
    write_obj("a.obj", flaws.sheet())
    code, out, err = said(capsys, "a.obj")
    assert (code, err) == (OK, "")
    assert out.splitlines()[0].startswith(
        "a.obj: 49 vertices, 72 triangles, 1 piece, 1 boundary loop, box 0.6 ×"
    )
    assert out.splitlines()[1:] == ["clean"]


def test_trouble_is_told_and_a_repair_offered_that_works(here: Path, capsys: pytest.CaptureFixture) -> None:
    cut, _ = flaws.seamed(flaws.rewound(flaws.sheet()))
    write_obj("my shirt.obj", flaws.with_strays(cut))
    code, out, err = said(capsys, "my shirt.obj")
    assert (code, err) == (ERROR, "")
    lines = out.splitlines()
    assert len(lines) < 24
    assert sum("warning" in line for line in lines[1:4]) == 3
    assert "to repair: pliant check 'my shirt.obj' --repair 'my shirt-repaired.obj'" in lines
    assert lines[-1] == "nothing is left"
    code, out, _ = said(capsys, "my shirt.obj", "--repair", "b.obj")
    assert code == OK
    assert "vertices joined with others" in out
    assert "vertices left out that nothing uses" in out
    again = pl.read_mesh("b.obj")
    assert isinstance(again, TriMesh)
    assert (again.n_vertices, again.n_triangles) == (49, 72)
    assert again.area == pytest.approx(flaws.sheet().area, rel=1e-12)
    code, out, _ = said(capsys, "b.obj")
    assert (code, out.splitlines()[1:]) == (OK, ["clean"])


def test_what_repair_leaves_keeps_the_exit_code_at_one(here: Path, capsys: pytest.CaptureFixture) -> None:
    mesh = flaws.crossed()
    write_obj("a.obj", mesh)
    code, out, _ = said(capsys, "a.obj")
    assert code == ERROR
    assert out.splitlines()[-1] == "nothing of it can be repaired by itself"
    write_obj("b.obj", flaws.with_strays(mesh))
    code, out, _ = said(capsys, "b.obj", "--repair", "c.obj")
    assert code == ERROR
    assert out.splitlines()[-1] == "c.obj; left: self_intersection"


def test_json_says_the_same(here: Path, capsys: pytest.CaptureFixture) -> None:
    write_obj("a.obj", flaws.doubled(flaws.sheet()))
    code, out, _ = said(capsys, "a.obj", "--json")
    data = json.loads(out)
    assert code == ERROR
    assert data["report"]["findings"][0]["name"] == "double_sided"
    assert data["report"]["findings"][0]["count"] == 72
    assert data["repair"]["changes"][0]["count"] == 72
    assert data["repair"]["left"] == []
    write_obj("a.obj", flaws.sheet())
    assert json.loads(said(capsys, "a.obj", "--json")[1])["repair"] is None


def test_a_unit_is_taken_and_carried_into_the_offer(here: Path, capsys: pytest.CaptureFixture) -> None:
    write_obj("a.obj", flaws.with_strays(flaws.sheet()).transformed(scale=100.0))
    code, out, _ = said(capsys, "a.obj")
    assert "60 m long" in out
    assert 'unit="cm"' in out
    code, out, _ = said(capsys, "a.obj", "--unit", "cm", "--repair", "b.obj")
    assert code == OK
    assert pl.read_mesh("b.obj").length == pytest.approx(flaws.sheet().length)
    assert "--unit cm --repair" in said(capsys, "a.obj", "--unit", "cm")[1]


def test_files_of_which_no_mesh_can_be_made_are_told_of_too(
    here: Path, capsys: pytest.CaptureFixture
) -> None:
    x, triangles = flaws.cap()
    write_obj("cap.obj", x, triangles)
    code, out, _ = said(capsys, "cap.obj", "--repair", "b.obj")
    assert code == OK
    assert "1 triangle without area [33]" in out
    assert pl.check_mesh(pl.read_mesh("b.obj")).ok
    x[3, 1] = np.nan
    write_obj("nan.obj", x, triangles)
    code, out, err = said(capsys, "nan.obj")
    assert code == ERROR
    assert "1 coordinates are not finite" in out
    assert "repair is not possible: nan: vertex 3 is at" in out
    code, _, err = said(capsys, "nan.obj", "--repair", "c.obj")
    assert code == ERROR
    assert "nothing was written" in err
    assert not Path("c.obj").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.obj"], "none.obj: no such file"),
        (["page.obj"], "page.obj line 1"),
        (["a.obj", "--unit", "km"], "unit 'km' is unknown"),
        (["a.obj", "--repair", "a.obj"], "would overwrite the mesh that is checked"),
        (["a.obj", "--repair", "b.doc"], r"b\.doc"),
        (["a.obj", "--picture", "none/a.png"], "there is no folder"),
    ],
)
def test_mistakes_are_one_line(
    here: Path, capsys: pytest.CaptureFixture, arguments: list[str], words: str
) -> None:
    write_obj("a.obj", flaws.sheet())
    Path("page.obj").write_text("<html>\n")
    code, out, err = said(capsys, *arguments)
    assert (code, out) == (ERROR, "")
    assert err.startswith("pliant: ")
    assert len(err.splitlines()) == 1
    assert re.search(words, err), err


def test_a_body_is_checked_as_well(here: Path, data: Path, capsys: pytest.CaptureFixture) -> None:
    code, out, _ = said(capsys, str(data / "libuipc/ball.msh"))
    assert (code, out.splitlines()[-1]) == (OK, "clean")
    assert "7056 tetrahedra, 1568 triangles" in out


def test_a_body_that_falls_apart_is_mended_and_keeps_its_tetrahedra(
    here: Path, capsys: pytest.CaptureFixture
) -> None:
    bar = pl.shapes.bar((0.4, 0.1, 0.1), (4, 1, 1))
    nodes = bar.vertices[bar.tets].reshape(-1, 3)
    text = [f"{len(nodes)} 3 0 0\n", *(f"{k} {x} {y} {z}\n" for k, (x, y, z) in enumerate(nodes.tolist()))]
    Path("bar.node").write_text("".join(text))
    rows = np.arange(len(nodes)).reshape(-1, 4)
    Path("bar.ele").write_text(
        "".join(
            [f"{len(rows)} 4 0\n", *(f"{k} {' '.join(map(str, r))}\n" for k, r in enumerate(rows.tolist()))]
        )
    )
    code, out, _ = said(capsys, "bar.ele")
    assert code == ERROR
    assert "nodes at the place of others: the body falls apart there" in out
    assert "--repair bar-repaired.vtu" in out
    assert "of a body only .vtu keeps the tetrahedra" in said(capsys, "bar.ele", "--repair", "b.obj")[2]
    assert said(capsys, "bar.ele", "--repair", "b.vtu")[0] == OK
    body = pl.read_mesh("b.vtu")
    assert isinstance(body, pl.TetMesh)
    assert (body.n_vertices, body.n_tets) == (bar.n_vertices, bar.n_tets)
    assert body.volume == pytest.approx(0.004, rel=1e-6)
    assert said(capsys, "b.vtu")[0] == OK


# ---- the picture


def coloured(image: np.ndarray, k: int) -> int:
    """Pixels of the mesh's picture near a mark's colour; the key below it does not count."""
    inside = image[70:660].astype(int)
    return int((np.abs(inside - MARKS[k]).sum(axis=2) < 40).sum())


def test_the_picture_marks_what_the_report_names_in_its_colour(
    here: Path, capsys: pytest.CaptureFixture
) -> None:
    pytest.importorskip("PIL")
    clean = flaws.sheet(9)
    blank = picture(clean.vertices, clean.triangles, pl.check_mesh(clean))
    assert all(coloured(blank, k) < 20 for k in range(4))
    mesh = flaws.with_strays(flaws.rewound(clean, 0.2))
    mesh = TriMesh(np.minimum(mesh.vertices, 0.28), mesh.triangles)
    report = pl.check_mesh(mesh)
    assert [f.name for f in report.findings] == ["unused", "winding"]
    image = picture(mesh.vertices, mesh.triangles, report)
    assert image.dtype == np.uint8
    assert coloured(image, 0) > 50
    assert coloured(image, 1) > 300
    assert image.shape[0] > blank.shape[0]  # a line more in the key
    write_obj("a.obj", mesh)
    code, _, _ = said(capsys, "a.obj", "--picture", "trouble.png")
    assert code == ERROR
    assert Path("trouble.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("name", ["fins", "crossed", "cap", "body", "nan", "ball"])
def test_pictures_of_any_trouble_can_be_drawn(name: str) -> None:
    pytest.importorskip("PIL")
    x, ids = flaws.cap()
    if name in ("fins", "crossed"):
        mesh = getattr(flaws, name)()
        x, ids = mesh.vertices, mesh.triangles
    elif name == "body":
        body = pl.shapes.bar((1.0, 0.2, 0.2), (10, 2, 2))
        x, ids = body.vertices.copy(), body.tets
        x[np.isclose(x[:, 0], -0.4), 0] = -0.4999
    elif name == "nan":
        x[3, 1] = np.nan
    else:
        x, ids = pl.shapes.sphere(0.3, 2).vertices, pl.shapes.sphere(0.3, 2).triangles
    report = pl.check_mesh((x, ids))
    image = picture(x, ids, report, (320, 240))
    assert image.shape[1] == 320
    assert image.std() > 5
    if name == "nan":
        with pytest.raises(pl.MeshError, match="no triangle has three corners"):
            picture(x * np.nan, ids, report)
