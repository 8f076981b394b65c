"""The table of targets is sound: what it names exists, and the page shows it."""

from __future__ import annotations

import ast
import csv
from importlib import import_module
from pathlib import Path

from conftest import ROOT

from pliant.cli.lab import EXPERIMENTS
from pliant.lab import targets as table
from pliant.lab.conformance import ROWS
from pliant.lab.targets import BANDS, COLUMNS, markdown, targets

PAGE = ROOT / "docs" / "targets.md"


def missing(name: str) -> bool:
    """Whether a test, a row of the conformance suite or an experiment of this name is not there."""
    kind, _, rest = name.partition(":")
    if kind == "conformance":
        return rest not in {row.name for row in ROWS}
    if kind == "lab":
        return rest not in EXPERIMENTS or not hasattr(import_module(f"pliant.lab.{rest}"), "run")
    file, _, function = name.partition("::")
    if not (ROOT / file).is_file():
        return True
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return function not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_table_is_whole() -> None:
    rows = targets()
    assert len(rows) > 60
    ids = [t.id for t in rows]
    assert len(set(ids)) == len(ids)
    for t in rows:
        for column in ("quantity", "setup", "value", "unit", "tolerance", "source"):
            assert getattr(t, column).strip(), (t.id, column)
        assert t.in_band in BANDS, t.id
        assert bool(t.held_by) == (t.in_band in ("yes", "part", "no")), t.id
        assert t.remark or t.in_band == "yes", f"{t.id}: say why not"
    with (Path(table.__file__).parent / "targets.csv").open(encoding="utf-8", newline="") as file:
        assert tuple(next(csv.reader(file))) == COLUMNS


def test_what_holds_a_row_exists() -> None:
    names = [name for t in targets() for name in t.held_by]
    assert len(names) > 50
    assert [name for name in names if missing(name)] == []


def test_what_does_not_exist_is_found() -> None:
    for name in ("conformance:nothing", "lab:nothing", "lab:page", "tests/lab/test_none.py::test_a",
                 "tests/lab/test_targets.py::test_none"):  # fmt: skip
        assert missing(name), name
    assert not missing("tests/lab/test_targets.py::test_what_does_not_exist_is_found")


def test_the_page_shows_the_table() -> None:
    assert markdown() in PAGE.read_text(encoding="utf-8"), "put pliant.lab.targets.markdown() into it"
