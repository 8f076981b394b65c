"""``pliant view``: a recording, or a scene while it is simulated, in the browser."""

from __future__ import annotations

import argparse
import threading
from functools import partial
from pathlib import Path

from pliant.backend.notice import notice
from pliant.backend.threads import set_threads
from pliant.cli import OK
from pliant.cli.report import failed_worlds
from pliant.errors import PliantError
from pliant.io.recording import Recording
from pliant.io.scenes import load_scene
from pliant.simulation import Simulation
from pliant.viewer.html import page_data, page_text
from pliant.viewer.live import LiveView
from pliant.viewer.server import PageServer, open_browser


def run(args: argparse.Namespace) -> int:
    """Show the file until Ctrl-C."""
    path = Path(args.file)
    try:
        if path.suffix.lower() == ".toml":
            _simulate(args)
        else:
            _show(_page(path), args)
    except KeyboardInterrupt:
        notice("closed")
    return OK


def _page(path: Path) -> bytes:
    """The page that shows a recording."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        recording = Recording.load_npz(path)
        return page_text(recording, page_data(recording)).encode("utf-8")
    if suffix != ".html":
        raise PliantError(
            f"{path}: view shows scene files (.toml) and recordings (.npz, .html); other files have programs "
            "of their own"
        )
    try:
        page = path.read_bytes()
    except OSError as error:
        raise PliantError(f"cannot read {path}: {error.strerror}") from error
    if b'id="recording"' not in page:
        raise PliantError(f"{path} is not a page that Pliant wrote")
    return page


def _show(page: bytes, args: argparse.Namespace) -> None:
    with PageServer(lambda: page, port=args.port) as server:
        print(server.address, flush=True)
        if not args.no_open:
            open_browser(server.address)
        notice("Ctrl-C ends it")
        while True:
            threading.Event().wait(1)


def _simulate(args: argparse.Namespace) -> None:
    """Run a scene while a browser looks, and stay until Ctrl-C."""
    file = load_scene(args.file, args.solver)
    if args.threads:
        set_threads(args.threads)
    sim = Simulation(file.scene, file.solver, file.dt, args.worlds or file.worlds, args.dtype or file.dtype)
    if not 0 <= args.world < sim.model.n_worlds:
        raise PliantError(f"--world {args.world}: there are worlds 0 to {sim.model.n_worlds - 1}")
    seconds, pace = args.seconds or file.seconds, args.speed or None
    recording = sim.new_recording(file.title, args.world)
    options = {"paused": args.paused, "port": args.port, "browser": not args.no_open}
    with LiveView(recording, reset=True, pace=pace, **options) as view:
        print(view.address, flush=True)
        notice(f"{file.title}: begins when a browser shows it, pauses at {seconds:g} s; Ctrl-C ends it")
        view.wait_for_browser()
        over = False
        while True:
            if view.turn(sim.time, partial(sim.frame, args.world)) == "reset":
                sim.reset()
                over = False
                continue
            if file.before is not None:
                file.before(sim)
            info = sim.step()
            if failed_worlds(info).size and not over:
                view.pause("a world became non-finite and was frozen")
                over = True
            elif sim.time > seconds - 0.5 * sim.dt and not over:
                view.pause(f"done, {seconds:g} s")
                over = True
