"""Snapshots resume bit for bit, or are refused with one clear error and change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.io import snapshots
from pliant.protocol import Status
from tests.falling_cloth import DT, WORLDS, bits, drive, prepare, scene, simulation

# --- resume ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [3, 12])
def test_resume_equals_the_straight_run_bit_for_bit(tmp_path: Path, stop: int) -> None:
    straight = simulation()
    prepare(straight)
    drive(straight, 0, 20)
    assert straight.state.frozen.tolist() == [False, False, False, True, False]

    sim = simulation()
    prepare(sim)
    drive(sim, 0, stop)
    sim.save(tmp_path / "half.npz")
    resumed = simulation(seed=99)
    resumed.load(tmp_path / "half.npz")
    assert bits(resumed) == bits(sim)
    touched = drive(resumed, stop, 20)
    assert max(touched) > 0, "contacts were part of it"
    assert bits(resumed) == bits(straight)
    assert resumed.time == straight.time == pytest.approx(20 * DT)
    last = resumed.step().status, straight.step().status
    assert last[0].tolist() == last[1].tolist()
    assert last[0][3] & Status.FROZEN


def test_a_snapshot_replaces_everything(tmp_path: Path) -> None:
    fresh = simulation()
    fresh.save(tmp_path / "fresh.npz")
    used = simulation()
    prepare(used)
    drive(used, 0, 8)
    assert bits(used) != bits(fresh)
    used.load(tmp_path / "fresh.npz")
    assert bits(used) == bits(fresh)
    assert used.info is None, "what was reported belongs to another state"
    drive(used, 0, 4)
    drive(fresh, 0, 4)
    assert bits(used) == bits(fresh)


def test_a_snapshot_is_not_tied_to_what_follows(tmp_path: Path) -> None:
    sim = simulation()
    prepare(sim)
    sim.save(tmp_path / "a.npz")
    before = (tmp_path / "a.npz").read_bytes()
    kept = bits(sim)
    drive(sim, 0, 3)
    assert (tmp_path / "a.npz").read_bytes() == before
    sim.load(tmp_path / "a.npz")
    assert bits(sim) == kept


def test_numbers_of_numpy_in_a_protocol_are_saved(tmp_path: Path) -> None:
    sim = simulation(solver=pl.XPBD(substeps=np.int64(4)))
    sim.save(tmp_path / "a.npz")
    simulation().load(tmp_path / "a.npz")


# --- refuse ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of the scene above after three steps."""
    path = tmp_path_factory.mktemp("snapshot") / "good.npz"
    sim = simulation()
    prepare(sim)
    drive(sim, 0, 3)
    sim.save(path)
    return path


def refused(sim: pl.Simulation, path: Path, error: type[pl.PliantError], *words: str) -> None:
    """``load`` raises one clear error and changes nothing."""
    prepare(sim)
    before, info = bits(sim), sim.info
    with pytest.raises(error) as caught:
        sim.load(path)
    text = str(caught.value)
    assert path.name in text
    assert "\n" not in text
    for word in words:
        assert word in text, text
    assert bits(sim) == before
    assert sim.info is info


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gravity": (0, 0, -1.62)}, ["gravity"]),
        ({"friction": 0.41}, ["colliders"]),
        ({"radius": 0.101}, ["colliders"]),
        (
            {"material": pl.fabrics.denim},
            ["masses", "thickness", "membrane constraints", "isometric constraints"],
        ),
        ({"material": pl.fabrics.cotton.with_(damping_time=0.0)}, ["membrane constraints"]),
        ({"pins": [0, 4]}, ["pins"]),
        ({"pins": [0]}, ["pins"]),
        ({"height": 0.131}, ["start positions", "attachment targets"]),
        ({"grid": (7, 6)}, ["membrane constraints"]),
        ({"grid": (6, 8)}, ["start positions"]),
        ({"drag": 0.0}, ["air_drag"]),
        ({"stiffness": 51.0}, ["attachment constraints"]),
    ],
)
def test_another_scene_is_refused_by_name(snapshot: Path, changes: dict, words: list[str]) -> None:
    refused(simulation(scene(**changes)), snapshot, pl.PliantError, "belongs to another scene", *words)


def test_what_is_the_same_scene() -> None:
    here = snapshots.scene_summary(scene().build(WORLDS, "float32"))
    again = snapshots.scene_summary(scene().build(WORLDS, "float64"))
    assert snapshots.scene_differences(here, again) == []
    told = json.loads(json.dumps(here))
    assert snapshots.scene_differences(here, told) == []
    rounded = {k: [v[0], v[1], v[2] * (1 + 1e-12), v[3]] for k, v in here.items()}
    assert snapshots.scene_differences(here, rounded) == [], "the last digits may differ between machines"
    swapped = dict(here, pins=snapshots.scene_summary(scene(pins=[5, 1]).build(WORLDS))["pins"])
    assert snapshots.scene_differences(here, swapped) == ["pins"]
    a, b = snapshots._summary(([1.0, 2.0, 3.0],)), snapshots._summary(([1.0, 3.0, 2.0],))
    assert snapshots.scene_differences({"x": a}, {"x": b}) == ["x"], "an exchange shows"
    assert snapshots.scene_differences(here, {k: v for k, v in here.items() if k != "gravity"}) == ["gravity"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dt": DT / 2}, ["dt: 0.01666", "there", "here"]),
        ({"solver": pl.XPBD(substeps=5)}, ["substeps: 4 there, 5 here"]),
        ({"solver": pl.XPBD(substeps=4, order="jacobi")}, ["order"]),
        ({"solver": pl.PBD(substeps=4)}, ["solver", "XPBD", "PBD"]),
        ({"dtype": "float64"}, ["dtype: 'float32' there, 'float64' here"]),
    ],
)
def test_another_protocol_is_refused_by_name(snapshot: Path, changes: dict, words: list[str]) -> None:
    refused(
        simulation(**changes), snapshot, pl.ProtocolError, "another protocol", "any_protocol=True", *words
    )


def test_another_number_of_worlds_is_refused(snapshot: Path) -> None:
    sim = simulation(worlds=6)
    before = sim.state.x
    with pytest.raises(pl.PliantError, match="worlds"):
        sim.load(snapshot)
    with pytest.raises(pl.PliantError, match="shape"):
        sim.load(snapshot, any_protocol=True)
    assert np.array_equal(sim.state.x, before)


def test_another_protocol_or_scene_can_be_asked_for(snapshot: Path) -> None:
    sim, same = simulation(scene(friction=0.1), dt=DT / 2), simulation()
    sim.load(snapshot, any_protocol=True)
    same.load(snapshot)
    assert bits(sim) == bits(same)
    with pytest.raises(pl.PliantError, match=r"float32.*float64"):
        simulation(dtype="float64").load(snapshot, any_protocol=True)


def rewritten(path: Path, change: Callable[[dict], None]) -> Callable[[Path], None]:
    """A writer of ``path``'s snapshot with its arrays (and its head, as a dict) changed."""

    def write(target: Path) -> None:
        with np.load(path) as file:
            arrays: dict = dict(file)
        head = json.loads(str(arrays["head"]))
        arrays["head"] = head
        change(arrays)
        arrays["head"] = (
            np.array(json.dumps(arrays["head"])) if isinstance(arrays.get("head"), dict) else None
        )
        np.savez(target, **{k: v for k, v in arrays.items() if v is not None})

    return write


def test_another_version_is_refused(snapshot: Path, tmp_path: Path) -> None:
    rewritten(snapshot, lambda a: a["head"].update(version=snapshots.VERSION + 1))(tmp_path / "new.npz")
    refused(simulation(), tmp_path / "new.npz", pl.ProtocolError, f"version {snapshots.VERSION + 1}")


CHANGES: dict[str, Callable[[dict], None]] = {
    "no head": lambda a: a.update(head=None),
    "no protocol": lambda a: a["head"].pop("protocol"),
    "no scene": lambda a: a["head"].pop("scene"),
    "no random numbers": lambda a: a["head"].pop("rng"),
    "garbled random numbers": lambda a: a["head"].update(rng={"bit_generator": "PCG64"}),
    "an unknown field": lambda a: a["head"]["protocol"].update(colour="red"),
    "a garbled scene": lambda a: a["head"].update(scene=5),
    "no positions": lambda a: a.pop("state/x"),
    "no time": lambda a: a.pop("state/time"),
    "no factors": lambda a: a.pop("control/scale_membrane"),
    "short forces": lambda a: a.update({"control/f_ext": a["control/f_ext"][:, :3]}),
    "no colliders": lambda a: a.update({"control/collider_start": a["control/collider_start"][:0]}),
    "one frozen flag": lambda a: a.update({"state/frozen": a["state/frozen"][:1]}),
    "flat positions": lambda a: a.update({"state/x": a["state/x"].ravel()}),
    "double positions": lambda a: a.update({"state/x": a["state/x"].astype(float)}),
    "not a number": lambda a: a["state/x"].__setitem__((0, 0, 0, 0), np.nan),
    "time not a number": lambda a: a.update({"state/time": np.array(np.nan)}),
    "words": lambda a: a.update({"state/time": np.array("late")}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_snapshot_with_something_wrong_is_refused(snapshot: Path, tmp_path: Path, what: str) -> None:
    path = tmp_path / "good.npz"
    rewritten(snapshot, CHANGES[what])(path)
    sim = simulation()
    prepare(sim)
    before = bits(sim)
    with pytest.raises(pl.PliantError, match="snapshot"):
        sim.load(path)
    assert bits(sim) == before


def test_the_writer_of_wrong_snapshots_writes_right_ones(snapshot: Path, tmp_path: Path) -> None:
    rewritten(snapshot, lambda a: None)(tmp_path / "same.npz")
    simulation().load(tmp_path / "same.npz")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.9, 0.999])
def test_a_truncated_snapshot_is_refused(snapshot: Path, tmp_path: Path, share: float) -> None:
    whole = snapshot.read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: int(share * len(whole))])
    refused(simulation(), tmp_path / "cut.npz", pl.PliantError, "is not a snapshot of Pliant, or is damaged")


def test_flipped_bytes_are_noticed_or_do_no_harm(snapshot: Path, tmp_path: Path) -> None:
    whole, path, refusals = snapshot.read_bytes(), tmp_path / "flipped.npz", 0
    sim, good = simulation(), simulation()
    good.load(snapshot)
    rng = np.random.default_rng(1)
    for at in rng.integers(0, len(whole), 60):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        before = bits(sim)
        try:
            sim.load(path)
        except pl.PliantError:
            refusals += 1
            assert bits(sim) == before
        else:  # in a part of the file that says nothing, such as a time stamp
            assert bits(sim) == bits(good)
    assert refusals > 40


def test_other_files_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.savez(tmp_path / "objects.npz", head=np.array([{"a": 1}], dtype=object))
    (tmp_path / "text.npz").write_text("solid ascii")
    (tmp_path / "random.npz").write_bytes(np.random.default_rng(0).bytes(2000))
    recording = simulation().new_recording()
    recording.save_npz(tmp_path / "recording.npz")
    for path in sorted(tmp_path.iterdir()):
        refused(simulation(), path, pl.PliantError, "is not a snapshot of Pliant")
    refused(simulation(), tmp_path / "none.npz", pl.PliantError, "no such file")
    refused(simulation(), tmp_path, pl.PliantError, "is not a snapshot of Pliant")


def test_saving_is_whole_or_nothing(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    sim = simulation()
    sim.save(path)
    before = path.read_bytes()

    def interrupted(file: object, **arrays: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    monkeypatch.setattr(snapshots.np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sim.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    with pytest.raises(pl.PliantError, match="choose a folder that can be written"):
        sim.save(tmp_path / "none" / "a.npz")
