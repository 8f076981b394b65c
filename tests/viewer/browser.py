"""Opens a page in headless Chromium by command line alone, and reports what it says and shows."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--enable-logging=stderr",
)


def find() -> str:
    """Path of the browser; skips the test without one, or fails where PLIANT_REQUIRE_BROWSER=1."""
    named = os.environ.get("PLIANT_CHROMIUM")
    found = named if named else next((path for name in NAMES if (path := shutil.which(name))), None)
    reason = f"no browser ({', '.join(NAMES)}, or PLIANT_CHROMIUM={named})"
    if found and shutil.which(found):
        if importlib.util.find_spec("PIL"):
            return found
        reason = "no Pillow to read the browser's picture with"
    if os.environ.get("PLIANT_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True)
class Page:
    """What a page said and showed.

    Attributes:
        state: the hook ``window.pliant`` as the page published it.
        dom: the document at the end.
        console: errors and warnings that the browser logged.
        picture: (h, w, 3) uint8.
        requests: addresses that the page itself asked the network for, in order; not what the browser asks
            for on its own account.
    """

    state: dict[str, Any]
    dom: str
    console: list[str]
    picture: np.ndarray
    requests: tuple[str, ...] = ()

    def data(self, name: str) -> Any:
        """JSON that a probe left in ``data-<name>`` of the root element."""
        match = re.search(rf'<html[^>]* data-{name}="([^"]*)"', self.dom)
        assert match, f"the page holds no data-{name}: {self.dom[:300]}"
        return json.loads(html.unescape(match.group(1)))


def open_page(
    path: Path, folder: Path, fragment: str = "", size: tuple[int, int] = (640, 480), probe: str = ""
) -> Page:
    """Open a file from disk with no network.

    Args:
        path: the page.
        folder: an empty folder for the profile and the picture.
        fragment: what follows ``#``.
        size: of the window.
        probe: JavaScript that runs when the page is ready.
    """
    if probe:
        text = path.read_text("utf-8")
        path = folder / "probed.html"
        path.write_text(probed(text, probe), "utf-8")
    return visit(path.resolve().as_uri() + ("#" + fragment if fragment else ""), folder, size)


def probed(text: str, probe: str) -> str:
    """A page with a script that runs when it is ready.

    It waits with messages, not with a timer: the browser's made-up clock runs to the next timer whenever
    nothing else is to be done, and on a busy machine it would run out while the page is unpacked.
    """
    script = (
        "<script>(() => { const wait = new MessageChannel(); wait.port1.onmessage = () => {"
        "if (!window.pliant.ready) { wait.port2.postMessage(0); return; } wait.port1.close();"
        f"{probe} }}; wait.port2.postMessage(0); }})();</script>"
    )
    return text.replace("</body>", script + "</body>")


def visit(address: str, folder: Path, size: tuple[int, int] = (640, 480)) -> Page:
    """Open an address: a file, or one of this machine."""
    executable = find()
    shot, log = folder / "shot.png", folder / "net.json"
    command = [
        executable,
        *FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={size[0]},{size[1]}",
        "--virtual-time-budget=4000",
        "--dump-dom",
        f"--screenshot={shot}",
        f"--log-net-log={log}",
        address,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    page = Page(
        {}, done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line], np.zeros(0)
    )
    from PIL import Image

    with Image.open(shot) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    return Page(page.data("pliant"), page.dom, page.console, pixels, requests_in(log))


def requests_in(log: Path) -> tuple[str, ...]:
    """Addresses in a log of the browser's network that a page was the origin of."""
    data = json.loads(log.read_text("utf-8"))
    start = data["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [event["params"] for event in data["events"] if event["type"] == start and "params" in event]
    return tuple(p["url"] for p in asked if p.get("initiator", "not an origin") != "not an origin")
