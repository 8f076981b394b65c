"""The command line: ``pliant demo | run | check | view | convert | lab | bench | info``.

Results go to stdout, talk to stderr. Exit codes: 0 fine, 1 an error of Pliant (one line says which) or
a mesh with trouble, 2 wrong usage, 3 a world became non-finite, 130 stopped with Ctrl-C after what was made
so far had been written.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from pliant import __version__
from pliant.backend.notice import quietly
from pliant.errors import PliantError

OK, ERROR, USAGE, NOT_FINITE, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    parser = make_parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    try:
        with quietly(getattr(args, "quiet", False)):
            return int(import_module(f".{args.command}", __name__).run(args))
    except PliantError as error:
        return complain(str(error), ERROR)
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:  # `pliant info | head`: not ours to complain about
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR


def complain(text: str, code: int) -> int:
    """One line on stderr, whatever ``--quiet`` says; returns the exit code."""
    sys.stderr.write(f"pliant: {text}\n")
    return code


def make_parser() -> argparse.ArgumentParser:
    """What ``pliant --help`` describes."""
    parser = argparse.ArgumentParser(
        prog="pliant",
        description="Cloth and soft bodies in Python, in SI units.",
        epilog="Exit codes: 0 fine, 1 error, 2 wrong usage, 3 a world became non-finite, 130 Ctrl-C.",
    )
    parser.add_argument("--version", action="version", version=f"pliant {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add_demo(commands)
    _add_run(commands)
    _add_view(commands)
    _add_convert(commands)
    _add_check(commands)
    _add_long_runs(commands)
    info = commands.add_parser("info", help="versions, caches, threads and extras", description=INFO)
    info.add_argument("--json", action="store_true", help="print JSON")
    return parser


SOLVERS = ("xpbd", "pbd", "pd", "newton", "mgpbd")
INFO = "Which Pliant, Python and packages are in use, where compiled kernels are kept, what is missing."
DEMO = """Drape a round cotton tablecloth over a round table and let its edge fall free. Leaves drape.html
(open it in a browser: turn, play, scrub), drape.png (a contact sheet) and report.json (protocol, material,
residuals, energies, times)."""
RUN = """Simulate a scene file (docs/scene-files.md lists what it may say). Options given here win over the
file's own."""

CONVERT = """Write a recording or a mesh in the format that OUT's suffix names: .obj, .ply, .stl, .vtp, .vtu
(one frame, or one file for each where the name has ####), .pvd, .pc2, .mdd, .glb, .usd, .usda, .usdc; of a
recording also pictures (.html, .png, .mp4, ...). docs/exporting.md says what each keeps."""
CHECK = """Say what is wrong with a mesh: how much, where, and the cure. Exit code 0 for a clean mesh, 1
for one with errors or warnings; with --repair, for what is left after it."""
VIEW = """Show a recording in the browser, or a scene while it is simulated: turn, pause, step, restart. The
page is served to this machine alone."""


def _add_check(commands: argparse._SubParsersAction) -> None:
    check = commands.add_parser("check", help="what is wrong with a mesh, and mend it", description=CHECK)
    check.add_argument("file", metavar="FILE", help="a mesh, of triangles or tetrahedra")
    check.add_argument("--unit", metavar="U", help="what one unit of the file means: m, cm, mm, dm, in, ft")
    check.add_argument(
        "--repair",
        metavar="OUT",
        help="write the repaired mesh (.obj, .ply, .stl, .vtp, .vtu, .glb, ...), in m",
    )
    check.add_argument(
        "--picture",
        metavar="TROUBLE.png",
        help="draw the mesh with what is wrong marked (needs the extra render)",
    )
    check.add_argument("--json", action="store_true", help="print JSON")


def _add_long_runs(commands: argparse._SubParsersAction) -> None:
    from pliant.cli.bench import WORKLOADS
    from pliant.cli.lab import CHOICES

    lab = commands.add_parser(
        "lab",
        help="experiments against closed forms",
        description="; ".join(map(": ".join, CHOICES.items())),
    )
    lab.add_argument("experiment", choices=tuple(CHOICES), help="which one")
    lab.add_argument("--quick", action="store_true", help="fewer settings, shorter runs")
    lab.add_argument(
        "--out", metavar="DIR", help="write report.html, report.json and a CSV for each plot there"
    )
    lab.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    bench = commands.add_parser(
        "bench", help="benchmarks", description="; ".join(map(": ".join, WORKLOADS.items()))
    )
    bench.add_argument("workload", nargs="?", choices=tuple(WORKLOADS), help="which one (default: list them)")
    bench.add_argument("arguments", nargs=argparse.REMAINDER, help="the workload's own arguments")


def _add_demo(commands: argparse._SubParsersAction) -> None:
    demo = commands.add_parser("demo", help="drape a tablecloth", description=DEMO)
    demo.add_argument("--out", metavar="DIR", default=".", help="folder for the results (default: here)")
    demo.add_argument("--seconds", type=_positive, metavar="S", help="simulated time [s] (default: 4)")
    demo.add_argument("--quick", action="store_true", help="a coarse mesh for half a second")
    _add_talk(demo)


def _add_run(commands: argparse._SubParsersAction) -> None:
    run = commands.add_parser("run", help="run a scene file", description=RUN)
    run.add_argument("scene", metavar="SCENE.toml", help="the scene file")
    run.add_argument("--solver", choices=SOLVERS, help="another solver than the file's")
    run.add_argument(
        "--out",
        metavar="FILE",
        action="append",
        help="what to write: .html (a page to turn and play), .png (a contact sheet), .mp4 (a film), .npz "
        "(the data), .json (the report), exports (.glb, .usd, .pc2, .obj, ...; docs/exporting.md); may be "
        "given several times (default: the file's output, else SCENE.html and .png)",
    )
    run.add_argument(
        "--seconds", type=_positive, metavar="S", help="time to simulate, from the snapshot on [s]"
    )
    run.add_argument("--worlds", type=_count, metavar="W", help="copies of the scene")
    run.add_argument("--world", type=int, metavar="I", default=0, help="the copy to record (default: 0)")
    run.add_argument("--dtype", choices=("float64", "float32"), help="precision")
    run.add_argument("--threads", type=_count, metavar="N", help="threads (default: the cores)")
    run.add_argument("--save", metavar="FILE.npz", help="write a snapshot at the end")
    run.add_argument("--resume", metavar="FILE.npz", help="start from a snapshot of the same scene")
    _add_talk(run)


def _add_view(commands: argparse._SubParsersAction) -> None:
    view = commands.add_parser("view", help="see a recording or a running scene", description=VIEW)
    view.add_argument("file", metavar="FILE", help="a scene (.toml) or a recording (.npz, .html)")
    view.add_argument("--no-open", action="store_true", help="print the address, open no browser")
    view.add_argument("--port", type=int, metavar="N", help="port (default: the first free one from 8321 on)")
    view.add_argument("--quiet", action="store_true", help="no notices")
    scene = view.add_argument_group("for a scene")
    scene.add_argument("--paused", action="store_true", help="wait for the page's run button")
    scene.add_argument(
        "--speed",
        type=_speed,
        metavar="X",
        default=1.0,
        help="times real time, at most; 0: no limit (default: 1)",
    )
    scene.add_argument("--solver", choices=SOLVERS, help="another solver than the file's")
    scene.add_argument("--seconds", type=_positive, metavar="S", help="when to pause [s]")
    scene.add_argument("--worlds", type=_count, metavar="W", help="copies of the scene")
    scene.add_argument("--world", type=int, metavar="I", default=0, help="the copy to show (default: 0)")
    scene.add_argument("--dtype", choices=("float64", "float32"), help="precision")
    scene.add_argument("--threads", type=_count, metavar="N", help="threads (default: the cores)")


def _add_convert(commands: argparse._SubParsersAction) -> None:
    convert = commands.add_parser("convert", help="another format", description=CONVERT)
    convert.add_argument("source", metavar="IN", help="a recording (.npz, .html) or a mesh")
    convert.add_argument("target", metavar="OUT", help="the file to write; #### in its name numbers frames")
    convert.add_argument(
        "--fps", type=_positive, metavar="N", help="frames per second (default: as recorded)"
    )
    convert.add_argument("--up", choices=("y", "z"), help="axis that points up in OUT (default: z; .glb: y)")
    convert.add_argument("--unit", metavar="U", help="unit of OUT: m, cm, mm, dm, in, ft (default: m)")
    convert.add_argument(
        "--from-unit",
        dest="source_unit",
        metavar="U",
        help="unit of a mesh file IN (default: what the file says, else m)",
    )
    convert.add_argument("--frame", type=int, metavar="K", help="only frame K; -1 is the last")
    convert.add_argument("--no-colliders", action="store_true", help="leave colliders out")
    convert.add_argument("--quiet", action="store_true", help="no progress, no notices")


def _add_talk(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument("--quiet", action="store_true", help="no progress, no notices")


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number greater than 0")
    return value


def _speed(text: str) -> float:
    value = float(text)
    if value != 0 and not 0.05 <= value <= 20:
        raise argparse.ArgumentTypeError(f"{text} is neither 0 nor between 0.05 and 20")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return value
