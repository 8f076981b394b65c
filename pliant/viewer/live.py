"""A running simulation in the browser: frames go out, commands come in, and neither waits for the other.

The simulation offers its state after every step. It is taken only when a browser looks and the last picture
is old enough, and every browser is sent the newest when it is ready for one: a slow browser, several or none
make no difference to the simulation. What a frame looks like on the wire is said at :func:`packed`.
"""

from __future__ import annotations

import json
import math
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.io.recording import Recording
from pliant.viewer.captions import json_text
from pliant.viewer.colours import TAILS, StrainScale, scale_between
from pliant.viewer.framing import Framing, backdrops, framing, grown
from pliant.viewer.html import page_data, page_text
from pliant.viewer.server import PageServer, open_browser

__all__ = ["Frame", "LiveView", "packed"]

Frame = tuple[float, np.ndarray, np.ndarray, Sequence[tuple[np.ndarray, np.ndarray]]]
"""Time [s], positions (N, 3) [m], strain (N,) and poses of the colliders, as Recording.add takes them."""

APART = 1 / 60  # seconds between two frames that are sent
TICK = 0.1  # seconds after which a wait looks whether it was interrupted
LAG = 0.25  # seconds that the simulation may be late before the clock is set anew
PACES = (0.05, 20.0)
FAREWELL = 2.0  # seconds that a browser has to fetch the last frame


@dataclass(frozen=True)
class _Shot:
    """One frame as it is sent, but for what each browser may know already."""

    number: int
    header: dict[str, Any]
    payload: bytes


class LiveView:
    """Shows a simulation while it runs.

    Args:
        recording: with the frame that the page begins with.
        reset: whether the page may ask for a new start.
        pace: simulated seconds in a second, at most; None is as fast as it can. The page may change it.
        paused: begin with a pause.
        port, browser: where to listen; whether to open the user's browser.

    Raises:
        PliantError: no port is free, or not the one that was asked for.
    """

    def __init__(
        self,
        recording: Recording,
        reset: bool = False,
        pace: float | None = None,
        paused: bool = False,
        port: int | None = None,
        browser: bool = True,
    ) -> None:
        self._changed = threading.Condition()
        self._running, self._over, self._steps, self._again = not paused, False, 0, False
        self._may_reset, self._pace, self._note = (
            reset,
            pace,
            "" if paused else "the first step may take a while",
        )
        self._anchor: tuple[float, float] | None = None
        self._past: deque[tuple[float, float]] = deque(maxlen=240)
        self._browsers, self._served, self._fresh = 0, 0, False
        self._shot: _Shot | None = None
        self._sent_at, self._shown = -math.inf, -math.inf
        self._frame = _with_room_to_fall(recording)
        self._points, self._points_version = self._frame.points, 0
        self._scale = _RunningScale()
        self._step = 0
        self._time = recording.times[-1]
        data = page_data(recording, exact=True, frame=self._frame, live={"reset": reset, "pace": pace})
        self._page = page_text(recording, data).encode("utf-8")
        poses = [(pose[:, 3], pose[:, :3]) for pose in recording.poses[-1]]
        strain = recording.strains[-1]
        x = recording.frames[-1]
        self._take((self._time, x, np.zeros(len(x)) if strain is None else strain, poses))
        self._server = PageServer(lambda: self._page, self._stream, self._obey, port)
        self.opened = browser and open_browser(self.address)

    @property
    def address(self) -> str:
        """What to open in a browser of this machine."""
        return self._server.address

    # ---- the simulation's side

    def wait_for_browser(self, seconds: float = math.inf, look: Callable[[], None] | None = None) -> bool:
        """Wait until a browser shows the page; ``look`` is called now and then and may raise."""
        end = time.monotonic() + seconds
        with self._changed:
            while not self._served and time.monotonic() < end:
                self._changed.wait(min(TICK, max(end - time.monotonic(), 0)))
                if look is not None:
                    look()
        return self._served > 0

    def turn(self, time_now: float, make: Callable[[], Frame], look: Callable[[], None] | None = None) -> str:
        """Wait until the next step is due and say what to do: ``"step"`` or ``"reset"``.

        Args:
            time_now: of the simulation, s.
            make: gives the present frame, if one is wanted.
            look: is called now and then during the wait and may raise.
        """
        self._at(time_now)
        self.offer(make)
        while True:
            with self._changed:
                if self._again:
                    self._again, self._anchor, self._note, self._fresh = False, None, "", True
                    self._scale = _RunningScale()
                    return "reset"
                if self._steps:
                    self._steps -= 1
                    return "step"
                wait = self._due() if self._running else math.inf
                if wait <= 0:
                    return "step"
                idle = wait > APART  # time enough to show what is not shown yet
                if not self._wanted(idle):
                    self._changed.wait(min(wait, TICK))
            if look is not None:
                look()
            self.offer(make, idle)

    def offer(self, make: Callable[[], Frame], idle: bool = False) -> None:
        """After a step or a change of state: show the present frame if anybody wants to see it now."""
        with self._changed:
            wanted = self._wanted(idle)
        if wanted:
            self._take(make())

    def _wanted(self, idle: bool) -> bool:
        """Whether a frame is due; the lock is held. A simulation that waits shows its last step at once."""
        late = idle or time.monotonic() - self._sent_at >= APART
        return self._fresh or (self._browsers > 0 and self._shown != self._time and late)

    def _at(self, time_now: float) -> None:
        """Take note of a step, or of a new start."""
        if time_now > self._time:
            self._step += 1
            self._past.append((time.monotonic(), time_now))
            if self._step == 1:
                self._note = ""
        elif time_now < self._time:
            self._step = 0
            self._past.clear()
        self._time = time_now

    def pause(self, note: str) -> None:
        """Stop before the next step, as if the page had asked for it, and say why."""
        with self._changed:
            self._running, self._note, self._fresh = False, note, True
            self._changed.notify_all()

    def close(self, make: Callable[[], Frame] | None = None) -> None:
        """Show the last frame, say that the run is over, and take no more requests."""
        if make is not None:
            self._take(make())
        with self._changed:
            self._over = True
            if self._shot is not None:
                self._shot = _Shot(
                    self._shot.number + 1, self._shot.header | self._state(), self._shot.payload
                )
            self._changed.notify_all()
            end = time.monotonic() + FAREWELL
            while self._browsers and time.monotonic() < end:
                self._changed.wait(TICK)
        self._server.close()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _due(self) -> float:
        """Seconds until the next step; the lock is held."""
        if self._pace is None:
            return 0.0
        now = time.monotonic()
        if self._anchor is None:
            self._anchor = now, self._time
            return 0.0
        ahead = (self._time - self._anchor[1]) / self._pace - (now - self._anchor[0])
        if ahead < -LAG:
            self._anchor = now, self._time
        return ahead

    def _rate(self) -> float:
        """Simulated seconds in a second, over the last half second or so."""
        if len(self._past) < 2:
            return 0.0
        end = self._past[-1]
        start = next(p for p in self._past if end[0] - p[0] <= 0.5)
        if start is end:
            start = self._past[-2]
        return (end[1] - start[1]) / max(end[0] - start[0], 1e-9)

    def _state(self) -> dict[str, Any]:
        state = "over" if self._over else "running" if self._running else "paused"
        return {"state": state, "note": self._note, "pace": self._pace}

    def _take(self, frame: Frame) -> None:
        """Make the frame that browsers are sent next."""
        t, x, strain, poses = frame
        self._at(float(t))
        x = np.asarray(x, np.float64)
        grown_points = grown(self._points, x, self._frame.radius)
        scale = self._scale.take(np.asarray(strain, np.float64))
        local = (x - self._frame.centre) / self._frame.radius
        rows = np.empty((len(poses), 3, 4))
        for k, (position, rotation) in enumerate(poses):
            rows[k, :, :3], rows[k, :, 3] = rotation, (position - self._frame.centre) / self._frame.radius
        codes = np.rint(255 * scale.position(strain)).astype(np.uint8)
        payload = local.astype("<f4").tobytes() + rows.astype("<f4").tobytes() + codes.tobytes()
        with self._changed:
            if grown_points is not None:
                self._points, self._points_version = grown_points, self._points_version + 1
            header = {"time": float(t), "step": self._step, "rate": self._rate(), **self._state()}
            header |= {"labels": scale.labels(), "vertices": len(x), "solids": len(poses)}
            self._shot = _Shot(self._shot.number + 1 if self._shot else 0, header, payload)
            self._sent_at, self._shown, self._fresh = time.monotonic(), float(t), False
            self._changed.notify_all()

    # ---- the browsers' side

    def _stream(self) -> Iterator[bytes]:
        """Frames for one browser: always the newest, as soon as it can take one."""
        number, version = -1, 0
        with self._changed:
            self._browsers += 1
            self._served += 1
            self._fresh = True
            self._changed.notify_all()
        try:
            while True:
                with self._changed:
                    while self._shot is None or (self._shot.number == number and not self._over):
                        self._changed.wait()
                    shot, over, points = self._shot, self._over, self._points
                    newer, version = version != self._points_version, self._points_version
                if shot.number != number:
                    number = shot.number
                    local = (points - self._frame.centre) / self._frame.radius
                    extra = {"points": local.tolist()} if newer else {}
                    yield packed(shot.header | extra, shot.payload)
                if over:
                    return
        finally:
            with self._changed:
                self._browsers -= 1
                self._changed.notify_all()

    def _obey(self, text: bytes) -> bool:
        """Do what a page posts: ``{"do": "run" | "pause" | "step" | "reset" | "pace", "value": number}``."""
        try:
            order = json.loads(text)
            act, value = order["do"], order.get("value")
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        with self._changed:
            if act == "pace" and (value is None or _is_pace(value)):
                self._pace = None if value is None else float(value)
            elif act in ("run", "pause"):
                self._running, self._note = act == "run", ""
            elif act == "step":
                self._running, self._steps = False, min(self._steps + 1, 100)
            elif act == "reset" and self._may_reset:
                self._again = True
            else:
                return False
            self._anchor, self._fresh = None, True
            self._changed.notify_all()
        return True


def packed(header: dict[str, Any], payload: bytes) -> bytes:
    """A frame on the wire: two lengths (uint32), a JSON header, the payload; all little-endian.

    The payload holds positions (vertices, 3) and poses (solids, 12) as float32 in the page's units, then the
    place of each vertex's strain on the scale as a byte.
    """
    words = json_text(header).encode("utf-8")
    return struct.pack("<II", len(words), len(payload)) + words + payload


def _is_pace(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and PACES[0] <= value <= PACES[1]


class _RunningScale:
    """The scale of all strains so far."""

    def __init__(self) -> None:
        self.low = self.high = self.least = self.most = 0.0

    def take(self, strain: np.ndarray) -> StrainScale:
        """Add a frame; the scale that spans it and those before."""
        if len(strain):
            low, high = np.quantile(strain, TAILS)
            self.low, self.high = min(self.low, float(low)), max(self.high, float(high))
            self.least, self.most = min(self.least, float(strain.min())), max(self.most, float(strain.max()))
        return scale_between(self.low, self.high, self.least, self.most)


def _with_room_to_fall(recording: Recording) -> Framing:
    """The view of a recording that has only begun: down to a floor, where one is near."""
    start = framing(recording)
    x = recording.frames[-1].astype(np.float64)
    fallen = [np.zeros((0, 3))]
    for plane in backdrops(recording, start, None):
        if plane is None or not len(x):
            continue
        normal = np.cross(plane.u, plane.v)
        if abs(normal[2]) > 0.7:
            height = (x - plane.origin) @ normal / normal[2]
            if 0 < height.max() < 4 * start.radius:
                fallen.append(x - height[:, None] * np.array([0, 0, 1.0]))
    return framing(recording, np.concatenate(fallen))
