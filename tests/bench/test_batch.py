"""The batch benchmark measures what it says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pliant.bench import batch, machine
from pliant.bench.batch import edge_strains, hanging_cloth, line_fit, main, measure, summary, table


@pytest.fixture(scope="module")
def run() -> dict:
    return measure("edges", 5, n=5, substeps=2, seconds=0.5)


def test_one_batch(run: dict) -> None:
    assert (run["membrane"], run["worlds"], run["blocks"]) == ("edges", 5, 2)
    low, high = run["rate range"]
    assert 0 < low <= run["rate"] <= high
    assert 0 < run["share of cores"] < 2, "short steps are timed coarsely"
    assert run["worlds equal"]
    assert run["ok"]
    assert 0 < run["strain mean"] < run["strain max"] < 0.5
    assert run["seconds simulated"] == pytest.approx(0.5)
    json.dumps(run)


def test_the_workload_is_the_one_that_is_described() -> None:
    sim = hanging_cloth("triangles", 2)
    model = sim.model
    assert model.n_particles == 33**2
    assert model.mass.sum() == pytest.approx(0.2)
    assert batch.MATERIAL.membrane_stiffness == pytest.approx(1000)
    x = model.x_rest
    assert np.ptp(x, axis=0) == pytest.approx([1, 1, 0])
    assert x[model.pin_ids].tolist() == [[-0.5, -0.5, 0], [0.5, -0.5, 0]]
    assert set(model.blocks) == {"membrane", "isometric"}
    assert set(hanging_cloth("edges", 2).model.blocks) == {"distance", "isometric"}
    assert sim.protocol.to_dict() | {"dt": 1 / 60, "substeps": 20, "iterations": 1, "dtype": "float32"} == (
        sim.protocol.to_dict()
    )


def test_strains_of_a_known_shape() -> None:
    sim = hanging_cloth("edges", 2, n=3)
    x = sim.x.copy()
    x[1] *= 1.25
    sim.state.set_x(x)
    mean, largest = edge_strains(sim)
    assert mean == pytest.approx([0, 0.25], abs=1e-6)
    assert largest == pytest.approx([0, 0.25], abs=1e-6)


def test_memory_is_counted_once() -> None:
    sim = hanging_cloth("edges", 3, n=4)
    class_free = {"a": np.zeros(1000), "b": [np.zeros(500)]}
    shared = class_free["a"][10:20]
    assert machine.array_bytes(class_free) == 12000
    assert machine.array_bytes(class_free, shared, class_free) == 12000
    state = machine.array_bytes(sim.state)
    assert state >= 2 * sim.state.x_lanes.nbytes
    assert machine.array_bytes(sim.state, sim.workspace) > state + 4 * sim.state.x_lanes.nbytes


def test_memory_grows_with_the_number_of_worlds_alone() -> None:
    def size(worlds: int) -> int:
        sim = hanging_cloth("triangles", worlds, n=5)
        return machine.array_bytes(sim.state, sim.control, sim.workspace)

    a, b, c = (size(w) for w in (16, 64, 256))
    assert (c - b) == pytest.approx((b - a) * 4, rel=1e-12), "a + b W, exactly, at full lanes"
    assert b > a


def test_a_line_through_batch_sizes() -> None:
    fit = line_fit([64, 256, 1024], [3 + 64 / 4, 3 + 256 / 4, 3 + 1024 / 4])
    assert fit is not None
    assert fit["a MiB"] == pytest.approx(3)
    assert fit["b KiB"] == pytest.approx(256)
    assert fit["off MiB"] == pytest.approx(0, abs=1e-9)
    assert line_fit([64], [1.0]) is None


def made_up(membrane: str, worlds: int, rate: float, run: dict) -> dict:
    return run | {"membrane": membrane, "worlds": worlds, "rate": rate}


def test_verdicts(run: dict) -> None:
    good = [made_up("edges", w, 5000.0, run) for w in (64, 256)]
    slow = [made_up("triangles", w, 2000.0, run) for w in (64, 256)]
    falls = [made_up("triangles", 64, 3000.0, run), made_up("triangles", 256, 2600.0, run)]
    assert summary(good)["edges"]["fast enough"]
    assert summary(good)["edges"]["does not fall"]
    assert not summary(slow)["triangles"]["fast enough"]
    assert not summary(falls)["triangles"]["does not fall"]
    text = table({"machine": machine.machine(), "runs": good + slow, "summary": summary(good + slow)})
    assert "bar of 4000 world-steps/s: reached" in text
    assert "bar of 2500 world-steps/s: MISSED" in text


def test_the_command_keeps_a_record(
    tmp_path: Path, run: dict, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def instead(membrane: str, worlds: int, threads: int | None) -> dict:
        assert threads is None
        return made_up(membrane, worlds, 1e4, run)

    monkeypatch.setattr(batch, "in_own_process", instead)
    assert main(["--worlds", "16", "32", "--json", "--record", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    (kept,) = tmp_path.glob("batch-*.json")
    assert json.loads(kept.read_text()) == told
    assert [(r["membrane"], r["worlds"]) for r in told["runs"]] == [
        ("triangles", 16), ("triangles", 32), ("edges", 16), ("edges", 32),
    ]  # fmt: skip
    assert {"processor", "threads", "numba", "numpy", "python", "pliant", "date", "load"} <= set(
        told["machine"]
    )
    monkeypatch.setattr(batch, "in_own_process", lambda m, w, t: made_up(m, w, 1.0, run))
    assert main(["--worlds", "16"]) == 1, "a bar was missed"
