#!/usr/bin/env python3
"""Set Pliant up beside this file and run it. Needs Python >= 3.11 and nothing else.

    python3 dev.py demo            drape a tablecloth; leaves drape.html, a picture and report.json here
    python3 dev.py run SCENE       run a scene file (and any further arguments of `pliant run`)
    python3 dev.py view FILE       see a recording, or a scene while it runs, in the browser
    python3 dev.py convert IN OUT  a recording or a mesh in another format
    python3 dev.py lab | bench     experiments and benchmarks
    python3 dev.py info            versions, threads and caches
    python3 dev.py test [ARGS]     format, lint and type checks, then pytest with ARGS
    python3 dev.py lint            the checks alone
    python3 dev.py clean           remove .venv, caches and build folders

The first call makes a virtual environment in .venv and installs what the command needs into it; later
calls start at once, until pyproject.toml or the Python changes.
"""

# Old Pythons must get as far as the message in `check_python`: no syntax newer than 3.6 in this file.
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

MINIMUM = (3, 11)
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "pliant-setup.json"  # what is installed; absent until an installation has succeeded
UNFINISHED = VENV / "pliant-setup-unfinished"  # present while .venv is being changed
LOG = VENV / "pliant-setup.log"

USE = ("cli", "mesh", "render", "video")
DEVELOP = ("cli", "dev", "lab", "mesh", "render", "usd", "video")
PASSED_ON = ("demo", "run", "view", "check", "convert", "lab", "bench", "info")  # commands of `pliant` itself
EXTRAS = dict(dict.fromkeys(PASSED_ON, USE), lab=(*USE, "lab"), test=DEVELOP, lint=DEVELOP)
GRACE = 20.0  # seconds that a child has to end after Ctrl-C before it is made to
INTERRUPTED = 130

NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|name resolution|Name or service not known|Connection refused"
    r"|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Network is unreachable|No route to host"
)
NOT_FOUND = re.compile(r"No matching distribution found for ([A-Za-z0-9_.\-]+)")


class SetupError(Exception):
    """The environment cannot be made; the message says why and what to do."""


def say(text: str) -> None:
    """One line of progress; on stderr, so that `--json` output stays clean."""
    print("dev.py: " + text, file=sys.stderr, flush=True)


# --- the Python that runs this file ----------------------------------------------------------------


def check_python(version: Sequence[Any], command: str) -> None:
    """Raise SetupError if ``version`` is too old, naming a newer Python that is on the PATH."""
    if tuple(version[:2]) >= MINIMUM:
        return
    found = ".".join(str(number) for number in version[:3])
    text = f"Pliant needs Python >= 3.11, found {found} ({sys.executable})."
    for minor in (13, 12, 11, 14):
        other = f"python3.{minor}"
        if shutil.which(other) and _answers(other):
            raise SetupError(f"{text} There is one here: run `{other} dev.py {command}`.")
    raise SetupError(f"{text} Install a newer one from python.org or your system's packages.")


def _answers(python: str) -> bool:
    """Whether ``python`` starts at all: version managers put names on the PATH that do not."""
    try:
        return subprocess.call([python, "-c", ""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def base_python() -> str:
    """The interpreter outside any virtual environment, so that .venv can be remade from within itself."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def venv_python() -> Path:
    return VENV / "Scripts" / "python.exe" if os.name == "nt" else VENV / "bin" / "python"


# --- children --------------------------------------------------------------------------------------


def call(argv: List[str], log: Optional[Path] = None, grace: Optional[float] = GRACE, **kw: Any) -> int:
    """Run a child and return its exit code; output goes to ``log`` if given.

    Ctrl-C reaches the child as well: wait for it to clean up (``grace`` seconds, None for ever), then
    raise KeyboardInterrupt.
    """
    sys.stdout.flush()
    with open(log, "ab") if log else contextlib.nullcontext() as stream:
        child = subprocess.Popen(argv, stdout=stream, stderr=stream, **kw)
        interrupted = False
        while True:
            try:
                code = child.wait(timeout=grace if interrupted else None)
                break
            except KeyboardInterrupt:
                interrupted = True
            except subprocess.TimeoutExpired:
                child.kill()
    if interrupted:
        raise KeyboardInterrupt
    return 128 - code if code < 0 else code


def become(argv: List[str]) -> int:
    """Hand over to ``argv``: signals, terminal and exit code are then entirely its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # exec there returns to the shell at once
        return call(argv, grace=None)
    os.execv(argv[0], argv)


# --- the virtual environment -----------------------------------------------------------------------


def ensure(extras: Tuple[str, ...]) -> Path:
    """Python of an environment in which Pliant is installed with at least ``extras``."""
    if installed_extras() is None or not set(extras) <= set(installed_extras() or ()):
        try:
            with lock():
                have = installed_extras()  # another process may have done the work meanwhile
                if have is None or not set(extras) <= set(have):
                    set_up(extras)
        except OSError as error:
            raise SetupError(
                f"cannot write {VENV}: {error}. Copy the folder to where you may write."
            ) from error
    return venv_python()


def key() -> str:
    """What an installation depends on besides the extras."""
    text = json.dumps([sys.version_info[:3], sys.platform, str(ROOT)])
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + text.encode()).hexdigest()


def installed_extras() -> Optional[Tuple[str, ...]]:
    """Extras of the finished installation in .venv; None if there is none for this source and Python."""
    try:
        stamp: Dict[str, Any] = json.loads(STAMP.read_text(encoding="utf-8"))
        whole = not UNFINISHED.exists() and venv_python().exists() and stamp["key"] == key()
        return tuple(stamp["extras"]) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def set_up(extras: Tuple[str, ...]) -> None:
    """Make or repair .venv and install Pliant with ``extras``."""
    if VENV.exists() and not (healthy() and not UNFINISHED.exists()):
        say("the .venv here is incomplete or from another Python: making it again (some seconds)")
        remove(VENV)
    extras = tuple(sorted(set(extras) | set(installed_extras() or ())))
    made = not VENV.exists()
    VENV.mkdir(exist_ok=True)
    UNFINISHED.touch()  # stays behind if we are interrupted from here on
    LOG.write_bytes(b"")
    if made:
        make_venv()
    if STAMP.exists():
        STAMP.unlink()
    install(extras)
    STAMP.write_text(json.dumps({"key": key(), "extras": extras}), encoding="utf-8")
    UNFINISHED.unlink()


def healthy() -> bool:
    """Whether .venv has a working Python of our version, with pip."""
    code = "import sys, pip; print(tuple(sys.version_info[:2]))"
    try:
        out = subprocess.run(
            [str(venv_python()), "-I", "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return out.returncode == 0 and out.stdout.decode().strip() == str(tuple(sys.version_info[:2]))


def make_venv() -> None:
    """Make .venv; without ensurepip (Debian splits it off) pip comes from the pip that runs us."""
    say("making a virtual environment in .venv (about 5 s)")
    missing = (
        "this Python cannot make virtual environments. Install its venv package, on Debian and Ubuntu "
        f"`apt install python3-venv` (or python3.{sys.version_info[1]}-venv), then run this again."
    )
    if importlib.util.find_spec("venv") is None:
        raise SetupError(missing)
    make = [base_python(), "-m", "venv"]
    if importlib.util.find_spec("ensurepip") is not None:
        if call([*make, str(VENV)], log=LOG) == 0:
            return
        raise_from_log("python -m venv failed")
    if importlib.util.find_spec("pip") is None:
        raise SetupError(missing)
    if call([*make, "--without-pip", str(VENV)], log=LOG) != 0:
        raise SetupError(missing)
    say("fetching pip for .venv (about 5 s)")
    pip = [sys.executable, "-m", "pip", "--python", str(venv_python())]
    if call([*pip, "install", "pip"], log=LOG, env=pip_environment()) != 0:
        raise_from_log("pip could not install itself into .venv; " + missing)


def install(extras: Tuple[str, ...]) -> None:
    """Install Pliant in place, with ``extras``, into .venv."""
    names = ", ".join(extras)
    say(f"installing NumPy, SciPy, Numba and the extras {names} (about 1 minute; longer on a slow network)")
    start = time.time()
    # Without a ready-made wheel these four would compile for an hour, or fail obscurely.
    wheels = "--only-binary=numpy,scipy,numba,llvmlite"
    pip = [str(venv_python()), "-m", "pip", "install", wheels, "--retries", "2", "--editable"]
    # From within the folder: its path may hold characters that a requirement may not.
    if call([*pip, f".[{','.join(extras)}]"], log=LOG, cwd=str(ROOT), env=pip_environment()) != 0:
        raise_from_log("pip could not install Pliant")
    say(f"installed in {time.time() - start:.0f} s")


def pip_environment() -> Dict[str, str]:
    """Settings under which pip asks nothing and installs into .venv, whatever the user's defaults are."""
    fixed = {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    dropped = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH")
    return dict({name: value for name, value in os.environ.items() if name not in dropped}, **fixed)


def raise_from_log(what: str) -> None:
    """Raise SetupError with the cause that the log shows."""
    UNFINISHED.unlink()  # pip ended by itself and left a consistent state
    text = LOG.read_text(encoding="utf-8", errors="replace")
    missing = NOT_FOUND.search(text)
    if NO_NETWORK.search(text):
        why = "the package index cannot be reached. Check the network or proxy, then run this again"
    elif missing:
        python = ".".join(str(number) for number in sys.version_info[:2])
        why = f"there is no ready-made {missing.group(1)} for Python {python} on {sys.platform}"
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")] or lines[-3:]
        why = " ".join(errors[:3]) or "no output"
    raise SetupError(f"{what}: {why}. Full output: {LOG}")


class lock:  # noqa: N801  (used as a statement)
    """While one process sets .venv up, others wait. Without fcntl (Windows) there is no lock."""

    def __enter__(self) -> "lock":
        whose = f"{ROOT} {getattr(os, 'getuid', int)()}"
        name = hashlib.sha256(whose.encode()).hexdigest()[:16]
        self.stream = open(Path(tempfile.gettempdir()) / f"pliant-setup-{name}.lock", "a")
        try:
            import fcntl
        except ImportError:
            return self
        try:
            fcntl.flock(self.stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another dev.py is setting .venv up: waiting for it (about 1 minute)")
            fcntl.flock(self.stream, fcntl.LOCK_EX)
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()  # also unlocks


def remove(path: Path) -> None:
    """Remove a file, a link or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


# --- commands --------------------------------------------------------------------------------------


def checks(python: Path) -> List[Tuple[str, str, List[str]]]:
    """Name, expected duration and command of each check."""
    module = [str(python), "-m"]
    return [
        ("ruff check", "a second", [*module, "ruff", "check", "."]),
        ("ruff format", "a second", [*module, "ruff", "format", "--check", "."]),
        ("mypy", "10 to 60 s the first time", [*module, "mypy"]),
    ]


def run_steps(steps: List[Tuple[str, str, List[str]]]) -> int:
    """Run every step even if an earlier one failed; print a summary; 0 only if all passed."""
    results: List[Tuple[str, int, float]] = []
    interrupted = False
    for number, (name, wait, argv) in enumerate(steps, 1):
        say(f"[{number}/{len(steps)}] {name} ({wait})")
        start = time.time()
        try:
            code = call(argv, cwd=str(ROOT))
        except KeyboardInterrupt:
            code, interrupted = INTERRUPTED, True
        results.append((name, code, time.time() - start))
        if interrupted:
            break
    print()
    for name, code, seconds in results:
        print(f"{name:<12} {'ok' if code == 0 else f'FAILED (exit code {code})':<24} {seconds:7.1f} s")
    failed = [code for _, code, _ in results if code != 0]
    verdict = "interrupted" if interrupted else "failed" if failed else "all ok"
    print(f"{verdict}: {len(results) - len(failed)} of {len(steps)} steps ok", flush=True)
    return INTERRUPTED if interrupted else max(failed, default=0)


def from_root(argument: str) -> str:
    """A test path given relative to the current folder, made to work from the root."""
    path = Path(argument.split("::")[0])
    inside = Path.cwd() != ROOT and not argument.startswith("-") and path.exists()
    return str(Path.cwd() / argument) if inside else argument


def clean() -> int:
    """Remove everything that this file, the build and the tests leave behind."""
    doomed = [VENV, ROOT / "build", ROOT / "dist", *ROOT.glob("*.egg-info")]
    doomed += [ROOT / f".{name}" for name in ("pytest_cache", "mypy_cache", "ruff_cache", "hypothesis")]
    doomed = [path for path in doomed if path.exists() or path.is_symlink()]
    for path in doomed:
        remove(path)
    caches = [path for path in ROOT.rglob("__pycache__") if path.is_dir()]
    for path in caches:
        remove(path)
    names = [path.name for path in doomed] + ([f"{len(caches)} __pycache__"] if caches else [])
    say("removed " + ", ".join(names) if names else "nothing to remove")
    return 0


def dispatch(command: str, rest: List[str]) -> int:
    """Run one command; returns its exit code."""
    if command == "clean":
        return clean()
    python = ensure(EXTRAS[command])
    if command in PASSED_ON:
        # -P: a folder named pliant where the user happens to be must not hide the real one
        return become([str(python), "-P", "-m", "pliant", command, *rest])
    steps = checks(python)
    if command == "test":
        wait = "some minutes; kernels compile the first time"
        workers = ["-n", str(min(4, os.cpu_count() or 1)), "--dist", "loadfile"]
        pytest = [str(python), "-m", "pytest", *workers, *(from_root(argument) for argument in rest)]
        steps.append(("pytest", wait, pytest))
    return run_steps(steps)


def main(argv: List[str]) -> int:
    """Entry point: prints what is wrong in one line, never a traceback for a foreseeable cause."""
    command, rest = (argv[0], argv[1:]) if argv else ("", [])
    if command in ("-h", "--help", "help", ""):
        print((__doc__ or "").strip())
        return 0 if command else 2
    if command != "clean" and command not in EXTRAS:
        say(f"no command {command!r}; there are {', '.join([*EXTRAS, 'clean'])}. See python3 dev.py --help.")
        return 2
    try:
        check_python(sys.version_info, command)
        return dispatch(command, rest)
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
