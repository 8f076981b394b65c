"""The runner measures who behaves and says of the others what became of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pliant.bench import runner
from pliant.bench.contestants import Contestant, entries_of
from pliant.bench.runner import Result, compare, environment
from pliant.bench.workloads import Cloth


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """All of ``faulty.py`` side by side: nine frames of a tiny sheet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        patch.setattr(runner, "PATIENCE", 10.0)
        found = [("faulty", e) for e in entries_of("faulty")]
        return {r.name: r for r in compare(found, Cloth(5, seconds=0.15), limit=4.0)}


def test_who_behaves_is_measured(results: dict[str, Result]) -> None:
    good = results["good"]
    assert good.failure is None
    assert [len(turn) for turn in good.turns] == [1, 5, 3]
    assert len(good.counted) == 8
    assert good.quality["mean strain"] == good.quality["max strain"] == 0
    frame = good.frame()
    assert 0 < frame["quartile 1"] <= frame["median"] <= frame["quartile 3"]
    assert frame["processor"] >= 0
    assert good.start > 0
    assert good.memory > 10
    assert good.version == np.__version__
    assert good.remark is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("crashes", "crashed (exit code 7): Warning: about to go"),
        ("dies", "crashed (killed by signal 6)"),
        ("hangs", "no answer within 4 s"),
        ("hangs at once", "no answer within 10 s"),
        ("loses a vertex", "positions are not finite after frame 3"),
        ("explodes", "exploded: a vertex is 4000 m away after frame 3"),
        ("complains", "ValueError: the matrix is"),
        ("refuses", "ImportError: libnothing.so.1: cannot open shared object file"),
    ],
)
def test_who_fails_is_shown_with_the_reason(results: dict[str, Result], name: str, reason: str) -> None:
    result = results[name]
    assert result.failure is not None
    assert result.failure.startswith(reason)
    assert result.quality == {}, "nothing is judged that did not run to the end"
    assert result.remark == ("Warning: about to go" if name == "crashes" else None)


def test_a_slow_one_is_stopped_and_its_times_are_kept() -> None:
    result = Result("slow", "numpy", turns=[[9.0], [1.0] * 5], busy=[[9.0], [0.5] * 5])
    runner.rounds([result], [_Nobody()], Cloth(5, seconds=1.0), 4.0, lambda text: None)  # type: ignore[list-item]
    assert result.failure == "over the limit of 4 s: 1 of 60 frames"
    assert (result.frame()["median"], result.frame()["processor"]) == (1.0, 0.5)


class _Nobody:
    def end(self) -> None:
        pass


def test_threads_are_given_to_all_alike_unless_an_entry_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    plain = Contestant("a", "cloth", "numpy", "", refuse)
    alone = Contestant("b", "cloth", "numpy", "", refuse, environment={"OMP_NUM_THREADS": "1"})
    assert "OMP_NUM_THREADS" not in environment(plain, None)
    assert environment(plain, 3)["OMP_NUM_THREADS"] == environment(plain, 3)["NUMBA_NUM_THREADS"] == "3"
    assert environment(alone, 3)["OMP_NUM_THREADS"] == "1"


def refuse(work: object) -> Result:
    raise AssertionError
