"""A recording comes back from disk bit for bit, and refuses what it cannot show."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.errors import PliantError
from pliant.io.recording import Part, Recording, Solid, written_whole

TRIANGLES = np.array([[0, 1, 2], [2, 1, 3]], dtype=np.int32)
QUAD = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
QUAD_TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)


def two_parts(frames: int = 0, seed: int = 0, strain: bool = True) -> Recording:
    recording = Recording(
        title="two sheets, ½ m apart",
        dt=1 / 60,
        parts=[Part("left", 0, 4, TRIANGLES), Part("right", 4, 8, TRIANGLES)],
        solids=[Solid("floor", QUAD, QUAD_TRIANGLES)],
        meta={"protocol": {"dt": 1 / 60, "substeps": 20}, "report": {"energy": [1.0, float("nan")]}},
    )
    rng = np.random.default_rng(seed)
    for i in range(frames):
        recording.add(i / 60, rng.normal(size=(8, 3)), rng.normal(size=8) if strain and i % 2 == 0 else None)
    return recording


def assert_equal(a: Recording, b: Recording) -> None:
    assert (a.title, a.dt, a.times) == (b.title, b.dt, b.times)
    assert len(a) == len(b)
    for x, y in zip(a.frames, b.frames, strict=True):
        assert x.dtype == y.dtype == np.float32
        assert x.tobytes() == y.tobytes()
    for s, t in zip(a.strains, b.strains, strict=True):
        assert (s is None) == (t is None)
        assert s is None or s.tobytes() == t.tobytes()
    for p, q in zip(a.parts, b.parts, strict=True):
        assert (p.name, p.start, p.stop) == (q.name, q.start, q.stop)
        assert q.triangles.dtype == np.int32
        np.testing.assert_array_equal(p.triangles, q.triangles)
    for p, q in zip(a.solids, b.solids, strict=True):
        assert p.name == q.name
        np.testing.assert_array_equal(p.vertices, q.vertices)
        np.testing.assert_array_equal(p.triangles, q.triangles)
    assert json.dumps(a.meta) == json.dumps(b.meta)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames=st.integers(0, 4), seed=st.integers(0, 9), strain=st.booleans())
def test_npz_round_trip_is_exact(tmp_path, frames, seed, strain):
    recording = two_parts(frames, seed, strain)
    recording.save_npz(tmp_path / "r.npz")
    assert_equal(recording, Recording.load_npz(tmp_path / "r.npz"))


def moving(frames: int = 3) -> Recording:
    """A recording whose floor rises by 1 m a frame while it turns by a right angle about z."""
    recording = two_parts()
    for i in range(frames):
        c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][i % 4]
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
        recording.add(i, np.zeros((8, 3)), poses=[(np.array([0, 0, float(i)]), turn)])
    return recording


def test_colliders_are_where_their_poses_say(tmp_path):
    recording = moving()
    np.testing.assert_array_equal(recording.placed(None)[0].vertices, QUAD)
    corner = recording.placed(1)[0].vertices[0]  # (-1, -1, 0), a quarter turn on, 1 m up
    np.testing.assert_allclose(corner, [1, -1, 1])
    assert recording.moves().tolist() == [True]
    recording.save_npz(tmp_path / "r.npz")
    again = Recording.load_npz(tmp_path / "r.npz")
    assert np.stack(again.poses).tobytes() == np.stack(recording.poses).tobytes()
    assert again.poses[0].shape == (1, 3, 4)


def test_without_poses_a_collider_stays_where_it_was():
    still, moved = two_parts(3), moving(2)
    assert still.moves().tolist() == [False]
    assert still.placed(2)[0] is still.solids[0]
    moved.add(2, np.zeros((8, 3)))
    np.testing.assert_array_equal(moved.poses[2], moved.poses[1])


def test_bad_poses_are_refused_whole():
    recording = two_parts()
    with pytest.raises(PliantError, match="0 poses for 1 solids"):
        recording.add(0.0, np.zeros((8, 3)), poses=[])
    with pytest.raises(PliantError, match='the pose of solid "floor" is not finite'):
        recording.add(0.0, np.zeros((8, 3)), poses=[(np.full(3, np.nan), np.eye(3))])
    assert len(recording) == len(recording.poses) == 0


def test_a_recording_of_the_first_format_is_read(tmp_path):
    """Format 1 held no poses: colliders stand where their vertices are."""
    recording = two_parts(3, seed=1)
    recording.save_npz(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as archive:
        arrays = {name: archive[name] for name in archive if name != "poses"}
    header = json.loads(arrays["header"].tobytes()) | {"format": 1}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez_compressed(tmp_path / "old.npz", **arrays)
    old = Recording.load_npz(tmp_path / "old.npz")
    assert_equal(old, recording)
    assert len(old.poses) == 3
    np.testing.assert_array_equal(old.placed(2)[0].vertices, QUAD)


def test_frames_are_copies():
    recording = two_parts()
    x = np.ones((8, 3), dtype=np.float32)
    recording.add(0.0, x)
    x[:] = 7
    assert (recording.frames[0] == 1).all()


def test_numpy_values_in_meta_are_kept_as_numbers(tmp_path):
    recording = two_parts(1)
    recording.meta = {"n": np.int64(3), "x": np.arange(2.0), "path": tmp_path}
    recording.save_npz(tmp_path / "r.npz")
    assert Recording.load_npz(tmp_path / "r.npz").meta == {"n": 3, "x": [0.0, 1.0], "path": str(tmp_path)}


def test_meta_that_cannot_be_written_is_named(tmp_path):
    recording = two_parts(1)
    recording.meta = {"solver": object()}
    with pytest.raises(PliantError, match=r"meta .* object; use numbers"):
        recording.save_npz(tmp_path / "r.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("x", "strain", "message"),
    [
        (np.zeros((7, 3)), None, r"frame 0 .*x must have shape \(8, 3\), got \(7, 3\)"),
        (np.zeros((8, 3)), np.zeros(3), r"strain must have shape \(8,\)"),
        (np.where(np.arange(24).reshape(8, 3) == 16, np.nan, 0), None, r'vertex 5 \(part "right"\)'),
    ],
)
def test_bad_frames_are_refused_whole(x, strain, message):
    recording = two_parts()
    with pytest.raises(PliantError, match=message):
        recording.add(0.0, x, strain)
    assert len(recording) == len(recording.times) == len(recording.strains) == 0


def test_a_time_that_is_not_finite_is_refused():
    with pytest.raises(PliantError, match="time is not finite"):
        two_parts().add(float("nan"), np.zeros((8, 3)))


def test_time_does_not_go_back():
    recording = two_parts(2)
    recording.add(recording.times[-1], np.zeros((8, 3)))
    with pytest.raises(PliantError, match="time went back"):
        recording.add(0.0, np.zeros((8, 3)))
    assert len(recording) == 3


def test_bad_geometry_is_named():
    with pytest.raises(
        PliantError, match=r'part "a": triangle 1 refers to \[2, 1, 3\], there are 3 vertices'
    ):
        Part("a", 0, 3, TRIANGLES)
    with pytest.raises(PliantError, match=r'solid "b": vertices must have shape'):
        Solid("b", np.zeros((4, 2)), TRIANGLES)
    with pytest.raises(PliantError, match=r'solid "plane": vertex 0 is not finite'):
        Solid("plane", np.full((4, 3), np.inf), TRIANGLES)


def test_loading_something_else_says_so(tmp_path):
    with pytest.raises(PliantError, match="no such file"):
        Recording.load_npz(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("not a zip")
    with pytest.raises(PliantError, match="not a Pliant recording"):
        Recording.load_npz(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(PliantError, match="not a Pliant recording"):
        Recording.load_npz(tmp_path / "other.npz")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(PliantError, match="not a Pliant recording"):
        Recording.load_npz(tmp_path / "array.npy")


def test_a_later_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.io.recording.FORMAT", 99)
    two_parts(1).save_npz(tmp_path / "r.npz")
    monkeypatch.undo()
    with pytest.raises(PliantError, match="format 99"):
        Recording.load_npz(tmp_path / "r.npz")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "file.bin"
    target.write_bytes(b"old")

    def fail_half_way() -> None:
        with written_whole(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_half_way()
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.bin"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(PliantError, match=r"cannot write .*nowhere"):
        two_parts(1).save_npz(tmp_path / "nowhere" / "r.npz")


def test_repr_diagnoses():
    text = repr(two_parts(3))
    assert "3 frames" in text
    assert "8 vertices" in text
    assert "2 parts" in text
