"""A live view: what browsers are sent, what they may ask for, and that they never hold the simulation up."""

from __future__ import annotations

import json
import socket
import struct
import threading
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import fakes
import numpy as np
import pytest
from test_server import ask

from pliant.io.recording import Recording
from pliant.viewer import live
from pliant.viewer.live import LiveView

Frame = tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray]


class Enough(Exception):  # noqa: N818
    """Raised by a test that has waited long enough."""


def after(calls: int) -> Callable[[], None]:
    """A ``look`` that ends a wait at its given call."""
    left = [calls]

    def look() -> None:
        left[0] -= 1
        if left[0] <= 0:
            raise Enough

    return look


def read_frame(stream: BinaryIO) -> Frame | None:
    """The next frame: header, positions (N, 3), poses (S, 3, 4), strain codes; None at the end."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    words, size = struct.unpack("<II", head)
    header, payload = json.loads(stream.read(words)), stream.read(size)
    n, s = header["vertices"], header["solids"]
    floats = np.frombuffer(payload, "<f4", 3 * n + 12 * s)
    codes = np.frombuffer(payload, np.uint8, n, 4 * len(floats))
    return header, floats[: 3 * n].reshape(n, 3), floats[3 * n :].reshape(s, 3, 4), codes


def order(view: LiveView, act: str, value: float | None = None) -> int:
    return ask(view.address + "command", json.dumps({"do": act, "value": value}).encode())[0]


def frame_of(recording: Recording, k: int) -> live.Frame:
    poses = [(pose[:, 3], pose[:, :3]) for pose in recording.poses[k]]
    strain = recording.strains[k]
    return (
        recording.times[k],
        recording.frames[k],
        np.zeros(recording.n_vertices) if strain is None else strain,
        poses,
    )


@pytest.fixture
def recording() -> Recording:
    return fakes.tablecloth(9, 12)


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveView]:
    monkeypatch.setattr(live, "APART", 0.0)
    monkeypatch.setattr(live, "TICK", 0.01)
    monkeypatch.setattr(
        live, "FAREWELL", 20.0
    )  # on a busy machine a reader may be slow to take the last frame
    with LiveView(fakes.tablecloth(9, 1), reset=True, browser=False) as running:
        yield running


def watch(view: LiveView) -> tuple[threading.Thread, list[Frame]]:
    """A browser that takes every frame that it can get, in a thread of its own."""
    seen: list[Frame] = []

    def read() -> None:
        with urllib.request.urlopen(view.address + "frames", timeout=60) as stream:
            while (frame := read_frame(stream)) is not None:
                seen.append(frame)

    thread = threading.Thread(target=read)
    thread.start()
    return thread, seen


# --- frames ----------------------------------------------------------------------------------------


def test_what_is_sent_is_what_is_simulated(view: LiveView, recording: Recording) -> None:
    with urllib.request.urlopen(view.address + "frames", timeout=60) as stream:
        assert view.wait_for_browser(60)
        first = read_frame(stream)
        assert first is not None
        assert (first[0]["step"], first[0]["state"]) == (0, "running")
        for k in range(1, 12):
            assert view.turn(recording.times[k], lambda k=k: frame_of(recording, k)) == "step"
        view.close(lambda: frame_of(recording, 11))
        frames = []
        while (frame := read_frame(stream)) is not None:
            frames.append(frame)
    header, local, poses, codes = frames[-1]
    assert (header["state"], header["step"], header["time"]) == ("over", 11, pytest.approx(11 / 60))
    centre, radius = view._frame.centre, view._frame.radius
    np.testing.assert_allclose(local * radius + centre, recording.frames[11], atol=2e-7)
    for pose, shown in zip(recording.poses[11], poses, strict=True):
        np.testing.assert_allclose(shown[:, :3], pose[:, :3], atol=1e-7)
        np.testing.assert_allclose(shown[:, 3] * radius + centre, pose[:, 3], atol=1e-6)
    order = np.argsort(recording.strains[11])
    assert (np.diff(codes[order].astype(int)) >= 0).all()
    assert np.ptp(codes) > 50
    assert header["labels"][0].startswith(("−", "≤"))
    assert [f[0]["step"] for f in frames] == sorted(f[0]["step"] for f in frames)


def test_the_first_view_has_room_to_fall(view: LiveView) -> None:
    sheet = fakes.flat_sheet(9, 1)
    sheet.frames[0][:, 2] += 0.8
    with LiveView(sheet, browser=False) as high:
        assert high._points[:, 2].min() == pytest.approx(0, abs=1e-6)
    sheet.frames[0][:, 2] += 100.0
    with LiveView(sheet, browser=False) as far:
        assert far._points[:, 2].min() > 100


def test_the_view_grows_with_what_leaves_it(view: LiveView, recording: Recording) -> None:
    with urllib.request.urlopen(view.address + "frames", timeout=60) as stream:
        view.wait_for_browser(60)
        first = read_frame(stream)
        assert first is not None
        assert "points" not in first[0]
        t, x, strain, poses = frame_of(recording, 1)
        view.turn(t, lambda: (t, x - np.array([0, 0, 3.0]), strain, poses))
        view.close()
        frames = [frame for frame in iter(lambda: read_frame(stream), None) if frame]
    points = [frame[0]["points"] for frame in frames if "points" in frame[0]]
    assert len(points) == 1, "said once"
    lowest = (x[:, 2].min() - 3 - view._frame.centre[2]) / view._frame.radius
    assert np.array(points[0])[:, 2].min() == pytest.approx(lowest, abs=1e-6)


def test_nothing_is_made_while_nobody_looks(view: LiveView, recording: Recording) -> None:
    made = []
    for k in range(1, 11):
        view.turn(recording.times[k], lambda k=k: made.append(k) or frame_of(recording, k))
    assert made == []
    thread, seen = watch(view)
    assert view.wait_for_browser(60)
    view.turn(recording.times[11], lambda: frame_of(recording, 11))
    view.close()
    thread.join(60)
    assert seen[-1][0]["step"] == 11


def test_a_browser_that_takes_nothing_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 frames of 0.5 MB against a browser that reads none: it gets the oldest few and the newest."""
    monkeypatch.setattr(live, "APART", 0.0)
    big = fakes.flat_sheet(200, 1)
    t, x, strain, poses = frame_of(big, 0)
    with (
        LiveView(big, browser=False) as view,
        socket.create_connection(("127.0.0.1", int(view.address[17:-1]))) as lazy,
    ):
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        lazy.sendall(b"GET /frames HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert view.wait_for_browser(60)
        thread, seen = watch(view)
        for k in range(300):
            assert view.turn(t + k, lambda k=k: (t + k, x, strain, poses)) == "step"
        monkeypatch.setattr(live, "FAREWELL", 0.0)
        view.close(lambda: (t + 300, x, strain, poses))
        thread.join(60)
        assert seen[-1][0]["state"] == "over", "another browser saw all to the end"
        got = b"".join(iter(lambda: lazy.recv(1 << 20), b""))
    frames = got.count(b'"state"')
    assert frames < 100, "frames that could not be taken were left out"
    assert b'"step":300' in got
    assert b'"state":"over"' in got


def test_browsers_come_and_go(view: LiveView, recording: Recording) -> None:
    threads, lists = zip(*[watch(view) for _ in range(3)], strict=True)
    with view._changed:
        assert view._changed.wait_for(lambda: view._browsers == 3, 60)
    stream = urllib.request.urlopen(view.address + "frames", timeout=60)
    assert read_frame(stream) is not None
    stream.close()
    for k in range(1, 2000):
        view.turn(k / 60, lambda k=k: frame_of(recording, k % 12))
        if view._browsers == 3:
            break
    assert view._browsers == 3, "the one that went was noticed"
    view.close(lambda: frame_of(recording, 11))
    for thread, seen in zip(threads, lists, strict=True):
        thread.join(60)
        assert seen[-1][0]["state"] == "over"


# --- commands --------------------------------------------------------------------------------------


def test_pause_step_and_run(view: LiveView, recording: Recording) -> None:
    make = lambda: frame_of(recording, 0)  # noqa: E731
    assert order(view, "pause") == 204
    with pytest.raises(Enough):
        view.turn(0.0, make, after(3))
    assert order(view, "step") == 204
    assert order(view, "step") == 204
    assert [view.turn(k / 60, make) for k in range(2)] == ["step", "step"]
    with pytest.raises(Enough):
        view.turn(2 / 60, make, after(3))
    assert order(view, "run") == 204
    assert view.turn(2 / 60, make) == "step"


def test_a_single_step_is_shown_however_soon_it_comes(recording: Recording) -> None:
    """Frames closer than APART are left out while the simulation runs on, but not the last before a wait."""
    with LiveView(fakes.tablecloth(9, 1), paused=True, browser=False) as view:
        with urllib.request.urlopen(view.address + "frames", timeout=60) as stream:
            view.wait_for_browser(60)
            for k in range(3):
                assert order(view, "step") == 204
                view.offer(lambda k=k: frame_of(recording, k))  # the pause is told before the step is made
                assert view.turn(recording.times[k], lambda k=k: frame_of(recording, k)) == "step"
            with pytest.raises(Enough):
                view.turn(recording.times[3], lambda: frame_of(recording, 3), after(3))
            frames = [read_frame(stream)]
            while frames[-1] is not None and frames[-1][0]["step"] < 3:
                frames.append(read_frame(stream))
        assert frames[-1] is not None


def test_a_pause_reaches_the_browser_without_a_step(view: LiveView, recording: Recording) -> None:
    with urllib.request.urlopen(view.address + "frames", timeout=60) as stream:
        view.wait_for_browser(60)
        assert order(view, "pause") == 204
        with pytest.raises(Enough):
            view.turn(0.0, lambda: frame_of(recording, 0), after(3))
        states = []
        while not states or states[-1] != "paused":
            frame = read_frame(stream)
            assert frame is not None
            states.append(frame[0]["state"])


def test_a_new_start(view: LiveView, recording: Recording) -> None:
    make = lambda: frame_of(recording, 0)  # noqa: E731
    for k in range(1, 5):
        view.turn(k / 60, make)
    assert view._step == 4
    assert order(view, "reset") == 204
    assert view.turn(4 / 60, make) == "reset"
    assert view.turn(0.0, make) == "step"
    assert view._step == 0
    with LiveView(fakes.flat_sheet(3, 1), browser=False) as fixed:
        assert order(fixed, "reset") == 400, "a run that is counted does not start anew"


def test_the_pace_is_kept(view: LiveView, monkeypatch: pytest.MonkeyPatch, recording: Recording) -> None:
    """With a clock of our own: at twice real time a step of 0.5 s is due every 0.25 s."""
    clock = [100.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(view._changed, "wait", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    assert order(view, "pace", 2.0) == 204
    due = []
    for k in range(4):
        view.turn(0.5 * k, lambda: frame_of(recording, 0))
        due.append(clock[0] - 100)
    np.testing.assert_allclose(due, [0, 0.25, 0.5, 0.75], atol=1e-9)
    clock[0] += 60  # a long step: what was missed is not caught up
    view.turn(2.0, lambda: frame_of(recording, 0))
    view.turn(2.5, lambda: frame_of(recording, 0))
    np.testing.assert_allclose(clock[0] - 100, 61.0, atol=1e-9)
    assert order(view, "pace") == 204
    view.turn(99.0, lambda: frame_of(recording, 0))
    np.testing.assert_allclose(clock[0] - 100, 61.0, atol=1e-9)


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{", b'"run"', b'{"do": "fly"}', b'{"value": 1}', b'{"do": "pace", "value": 0}',
     b'{"do": "pace", "value": "1"}', b'{"do": "pace", "value": true}', b'{"do": "pace", "value": NaN}'],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(view: LiveView, text: bytes) -> None:
    assert ask(view.address + "command", text)[0] == 400
    assert (view._running, view._pace) == (True, None)


def test_it_can_begin_with_a_pause_and_end_unseen(recording: Recording) -> None:
    with LiveView(fakes.tablecloth(9, 1), paused=True, browser=False) as waiting:
        with pytest.raises(Enough):
            waiting.turn(0.0, lambda: frame_of(recording, 0), after(2))
        with pytest.raises(Enough):
            waiting.wait_for_browser(60, after(2))
        assert not waiting.wait_for_browser(0.01)
        assert ask(waiting.address)[0] == 200
