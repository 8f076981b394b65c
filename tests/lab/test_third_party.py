"""The solver that the page on conformance shows passes the suite, and is short."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT
from documents import code_blocks

import pliant as pl
from pliant.lab.conformance import check_solver

PAGE = ROOT / "docs" / "conformance.md"


def shown() -> tuple[str, dict[str, Any]]:
    """Source of the class on the page, and what it defines."""
    (block,) = [b for b in code_blocks(PAGE.read_text(encoding="utf-8")) if "class Resolving" in b.text]
    source = block.text.partition("\nnames = ")[0]
    names: dict[str, Any] = {"__name__": "shown"}
    exec(compile(source, str(PAGE), "exec", dont_inherit=True), names)
    return source, names


def test_the_solver_of_the_page_passes() -> None:
    source, names = shown()
    assert len(source.strip().splitlines()) <= 66
    report = check_solver(names["Resolving"](), ["float64"], [5])
    assert report.ok, "\n".join(f"{r.name}: {r.finding}" for r in report.failures)
    assert report.count("passed") > 35


def test_it_resolves() -> None:
    """Ten thousand times the stiffness asks for more substeps, up to the most."""
    solver = shown()[1]["Resolving"]()
    counts = []
    for factor in (1e-3, 1.0, 1e4):
        scene = pl.Scene()
        fabric = pl.fabrics.cotton.with_(youngs_modulus=factor * pl.fabrics.cotton.youngs_modulus)
        scene.add_cloth(pl.shapes.grid(5, 5, (0.5, 0.5)), fabric)
        counts.append(solver.protocol(scene.build(1), 1 / 60).substeps)
    assert 1 <= counts[0] < counts[1] < counts[2] == 40
    model = scene.build(1)
    workspace = solver.init(model)
    with pytest.raises(pl.SolverError, match="Resolving: dt is"):
        solver.step(model, model.state(), model.control(), workspace, 0.0)
