"""The live page in a real browser: it shows what runs, its buttons act, and it outlives the simulation."""

from __future__ import annotations

import threading

import browser
import fakes
import numpy as np
import pytest
from test_live import frame_of

from pliant.viewer import live
from pliant.viewer.live import LiveView

PUSHED = fakes.pushed_sheet(9, 9)
# The browser's clock is a made-up one that runs out in no time, but it stands still while a request of the
# old kind is unanswered: one for the frames, which ends with the run.
PROBE = """
  const seen = [], act = (id) => document.getElementById(id).click(), root = document.documentElement;
  let last = -1, stage = 0;
  new MutationObserver(() => {
    if (pliant.received === last) return;
    last = pliant.received;
    seen.push([pliant.state, pliant.time]);
    root.dataset.seen = JSON.stringify(seen);
    root.dataset.x = JSON.stringify(pliant.positions());
    root.dataset.solids = JSON.stringify(pliant.solids());
    root.dataset.words = JSON.stringify(document.getElementById("counter").textContent);
    if (pliant.state === "running" && stage === 0) { stage = 1; act("play"); }
    if (pliant.state === "paused" && stage === 1) { stage = 2; act("step"); }
    if (pliant.state === "paused" && stage === 2 && pliant.time > 0.5) { stage = 3; act("restart"); }
  }).observe(root, { attributes: true, attributeFilter: ["data-pliant"] });
  const hold = new XMLHttpRequest();
  hold.open("GET", "frames");
  hold.send();
"""


class Machine:
    """A simulation whose n-th step is frame n of a recording; its time counts whole seconds."""

    def __init__(self, view: LiveView) -> None:
        self.view, self.step, self.told = view, 0, []

    def frame(self) -> live.Frame:
        return float(self.step), *frame_of(PUSHED, self.step)[1:]

    def run(self) -> None:
        """One step at the page's wish, a new start, then all steps there are."""
        self.view.wait_for_browser(80)
        while True:
            what = self.view.turn(float(self.step), self.frame)
            self.told.append((what, self.step))
            if what == "reset":
                break
            self.step += 1
            if self.step == 8:  # the page's own pause comes long before
                return
        for self.step in range(9):
            self.view.offer(self.frame)
        self.view.close(self.frame)


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> tuple[browser.Page, Machine]:
    browser.find()
    first = fakes.pushed_sheet(9, 9)
    for kept in (first.times, first.frames, first.strains, first.poses):
        del kept[1:]
    patch = pytest.MonkeyPatch()
    patch.setattr(live, "FAREWELL", 60.0)
    view = LiveView(first, reset=True, pace=0.05, browser=False)
    view._page = browser.probed(view._page.decode(), PROBE).encode()
    machine = Machine(view)
    thread = threading.Thread(target=machine.run)
    thread.start()
    try:
        page = browser.visit(view.address, tmp_path_factory.mktemp("live"))
        thread.join(90)
    finally:
        patch.undo()
    assert not thread.is_alive()
    return page, machine


def test_the_page_is_ready_and_complains_of_nothing(visited: tuple[browser.Page, Machine]) -> None:
    page, _ = visited
    assert page.state["ready"] is True
    assert page.state["live"] is True
    assert page.state["errors"] == []
    assert page.console == []


def test_its_buttons_pause_step_and_restart(visited: tuple[browser.Page, Machine]) -> None:
    page, machine = visited
    steps = [step for what, step in machine.told if what == "step"]
    assert machine.told[-1][0] == "reset"
    assert steps == list(range(len(steps)))
    assert 1 <= len(steps) <= 3  # at a twentieth of real time the next step is 20 s away
    states = [state for state, _ in page.data("seen")]
    assert "paused" in states
    assert states[-1] == "over"


def test_the_last_frame_is_on_the_screen(visited: tuple[browser.Page, Machine]) -> None:
    page, _ = visited
    shown = np.reshape(page.data("x"), (-1, 3))
    np.testing.assert_allclose(shown, PUSHED.frames[8], atol=1e-6)
    poses = np.reshape(page.data("solids"), (2, 3, 4))
    np.testing.assert_allclose(poses, PUSHED.poses[8], atol=1e-5)
    assert page.data("words").startswith("8.000 s")
    assert "the run is over" in page.dom
    h, w = page.picture.shape[:2]
    middle = page.picture[h // 5 : 3 * h // 5, w // 6 : 5 * w // 6].astype(int)
    assert (middle[..., 2] - middle[..., 0] > 25).mean() > 0.1
