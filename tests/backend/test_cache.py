"""The kernel cache: never stale, never shared wrongly, never in the way."""

from __future__ import annotations

import ast
import os
import time
from pathlib import Path

import pytest
from conftest import ROOT
from spine import imports, module_name, parse, sources

from pliant.backend import cache
from pliant.backend.cache import KERNEL_FOLDERS, KernelFile, Turn, source_hash, view_hashes
from pliant.backend.jit import _stamp
from tests.backend.copies import RIGHT, Copy, copied, ended

NOWHERE = Path(os.devnull) / "x"
"""No folder can be made below a file, not even by root."""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy whose probe has been compiled once, in double precision."""
    copy = copied(tmp_path_factory.mktemp("warm"))
    first = copy.call()
    assert first.result == RIGHT
    assert len(first.lines("compiling probe")) == 1
    assert len(copy.kernels()) >= 2
    return copy


# --- which sources count ---------------------------------------------------------------------------


def test_a_law_edited_in_another_file_changes_the_result(warm: Copy) -> None:
    kernel = warm.folder / "pliant" / "solvers" / "probe.py"
    before = kernel.stat().st_mtime_ns, kernel.read_bytes()
    warm.edit("laws/distance.py", "return length - rest_length,", "return length - 2.0 * rest_length,")
    edited = warm.call()
    assert edited.result == [x - 1.5 for x in RIGHT]
    assert edited.lines("compiling")
    assert (kernel.stat().st_mtime_ns, kernel.read_bytes()) == before, "the kernel's own file was not touched"
    warm.edit("laws/distance.py", "return length - 2.0 * rest_length,", "return length - rest_length,")
    back = warm.call()
    assert back.result == RIGHT
    assert back.err == "", "code of the first state is still there"


def compiled_functions(path: Path) -> list[ast.FunctionDef]:
    """Functions of a source under one of our decorators."""
    functions = [node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef)]
    return [
        f for f in functions if {"kernel", "law"} & {ast.unparse(d).split("(")[0] for d in f.decorator_list}
    ]


def test_every_source_that_reaches_a_kernel_is_hashed() -> None:
    """By the package's hash, or, for kernels of other folders, by that of the folder they are in."""
    package = ROOT / "pliant"
    count = 0
    for path in sources(package):
        functions = compiled_functions(path)
        used = {node.id for f in functions for node in ast.walk(f) if isinstance(node, ast.Name)}
        count += len(functions)
        own = path.relative_to(package).parts[0]
        assert not functions or own in KERNEL_FOLDERS or _stamp(path.parent), path
        for imported in imports(path, module_name(path, package)):
            name = imported.target.split(".")
            if name[0] == "pliant" and name[-1] in used:
                beside = own == name[1] and len(name) == 4  # package, folder, file, function
                assert name[1] in KERNEL_FOLDERS or beside, (
                    f"{path}: a kernel uses {imported.target}, which is not hashed"
                )
    assert count > 50


def test_the_hash_sees_every_byte_and_name(tmp_path: Path) -> None:
    (tmp_path / "laws").mkdir()
    (tmp_path / "viewer").mkdir()
    law = tmp_path / "laws" / "a.py"
    law.write_text("x = 1\n")
    first = source_hash(tmp_path)
    (tmp_path / "viewer" / "b.py").write_text("no kernel here")
    assert source_hash(tmp_path) == first
    law.write_text("x = 2\n")
    assert source_hash(tmp_path) != first
    law.write_text("x = 1\n")
    assert source_hash(tmp_path) == first
    law.rename(law.with_name("c.py"))
    assert source_hash(tmp_path) != first


def test_an_edit_is_seen_by_what_can_see_it() -> None:
    """Parts of the package, and solvers among themselves: who uses whom in a kernel, and the hashes."""
    package = ROOT / "pliant"
    parts = view_hashes(package)
    assert set(KERNEL_FOLDERS) < set(parts)
    for path in sources(package / "solvers"):
        used = {n.id for f in compiled_functions(path) for n in ast.walk(f) if isinstance(n, ast.Name)}
        own = path.relative_to(package / "solvers").parts
        for imported in imports(path, module_name(path, package)):
            name = imported.target.split(".")
            other = name[:2] == ["pliant", "solvers"] and (package / "solvers" / name[2]).is_dir()
            if other and name[-1] in used:
                assert len(own) > 1, f"{path}: a kernel of all solvers uses {imported.target}"
                assert own[0] == name[2], f"{path}: a kernel uses {imported.target} of another solver"


def test_kernels_that_do_not_see_an_edit_are_kept(tmp_path: Path) -> None:
    copy = copied(tmp_path)
    copy.call()
    before = {p.name for p in copy.kernels()}
    folders = {p.parent for p in copy.kernels()}
    assert any(name.startswith("pliant.laws.") for name in before)
    copy.edit("solvers/base.py", "The contract of a solver", "The contract of every solver")
    again = copy.call()
    assert again.result == RIGHT
    assert again.lines("compiling probe"), "the probe sees its own folder"
    kept = {p.name for p in copy.kernels() if p.parent not in folders}
    assert {name for name in before if name.startswith("pliant.laws.")} <= kept
    copy.edit("laws/distance.py", "return length - rest_length,", "return length - 2.0 * rest_length,")
    assert copy.call().result == [x - 1.5 for x in RIGHT]


# --- several processes -----------------------------------------------------------------------------


def test_two_processes_compile_at_the_same_time(tmp_path: Path) -> None:
    copy = copied(tmp_path)
    meet = (
        "import os, pathlib, time, pliant.solvers.probe\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "(here / f'{os.getpid()}.ready').touch()\n"
        "while len(list(here.glob('*.ready'))) < 3: time.sleep(0.001)"
    )
    trio = [copy.start(dtype, meet) for dtype in ("float64", "float64", "float32")]
    runs = [ended(process) for process in trio]
    assert [run.result for run in runs] == [RIGHT, RIGHT, RIGHT]
    assert sum(len(run.lines("compiling probe")) for run in runs) == 2, "one for each precision"
    assert not list(copy.cache.rglob("*.part"))
    again = [copy.call(dtype) for dtype in ("float64", "float32")]
    assert [(run.result, run.err) for run in again] == [(RIGHT, ""), (RIGHT, "")]


def test_one_waits_for_the_other_and_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first, second = Turn(tmp_path / "k.kernel", "k"), Turn(tmp_path / "k.kernel", "k", patience=0.2)
    assert not first.take()
    start = time.monotonic()
    assert second.take()
    assert time.monotonic() - start >= 0.2, "it waited, then went ahead"
    assert capfd.readouterr().err == "pliant: waiting for another process that compiles k ...\n"
    second.give()
    first.give()
    third = Turn(tmp_path / "k.kernel", "k")
    assert not third.take(), "a turn that was given is free"
    third.give()


def test_where_nothing_can_be_locked_everyone_goes_ahead() -> None:
    turn = Turn(NOWHERE / "k.kernel", "k")
    assert not turn.take()
    turn.give()


# --- disks -----------------------------------------------------------------------------------------


def test_a_kernel_file_is_whole_or_absent(tmp_path: Path) -> None:
    file = KernelFile(tmp_path / "deep" / "a.kernel")
    assert file.read() is None
    file.write(b"one")
    file.write(b"second")
    assert file.read() == b"second"
    whole = file.path.read_bytes()
    for damaged in (whole[:-1], whole[:10], b"", whole[:40].replace(b"s", b"S", 1), whole + b"x"):
        file.path.write_bytes(damaged)
        assert file.read() is None
    assert [path.name for path in file.path.parent.iterdir()] == ["a.kernel"]
    with pytest.raises(OSError):
        KernelFile(NOWHERE / "a.kernel").write(b"one")


def test_damaged_files_are_compiled_again(warm: Copy) -> None:
    files = warm.kernels()
    good = [path.read_bytes() for path in files]
    for path, content in zip(files, good, strict=True):
        path.write_bytes(content[: len(content) // 2])
    run = warm.call()
    assert run.result == RIGHT
    assert len(run.lines("compiling probe")) == 1
    assert warm.call().err == ""


def test_no_folder_that_can_be_written(tmp_path: Path) -> None:
    copy = copied(tmp_path)
    run = copy.call(NUMBA_CACHE_DIR=str(NOWHERE), TMPDIR=str(tmp_path))
    assert run.result == RIGHT
    assert len(run.lines("no kernel cache can be written")) == 1
    assert str(NOWHERE) in run.err
    assert not list(tmp_path.glob("pliant-kernels-*")), "the temporary folder went with the process"


@pytest.mark.skipif(os.name == "nt", reason="environment of POSIX")
@pytest.mark.parametrize("home", [{"XDG_CACHE_HOME": str(NOWHERE)}, {"HOME": str(NOWHERE)}])
def test_a_home_that_cannot_be_written(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for key in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(key, raising=False)
    for key, value in home.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    folder = cache.cache_folder.__wrapped__()
    assert folder.parent == tmp_path
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("pliant: no kernel cache can be written")


def test_not_even_a_temporary_folder(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(NOWHERE))
    monkeypatch.setattr(cache.tempfile, "mkdtemp", lambda prefix: NOWHERE.mkdir())
    folder = cache.cache_folder.__wrapped__()
    assert not folder.exists()
    assert capfd.readouterr().err.count("\n") == 1


def test_a_disk_that_fills_up_is_no_error(warm: Copy) -> None:
    full = (
        "import pathlib\n"
        "def full(self, *a): raise OSError(28, 'No space left on device')\n"
        "pathlib.Path.write_bytes = full\n"
        "import pliant.backend.cache as c\n"
        f"c.cache_folder = lambda: pathlib.Path({str(warm.folder)!r})\n"
    )
    run = warm.call(before=full)
    assert run.result == RIGHT
    assert len(run.lines("could not be kept")) == 1
    assert len(run.lines("No space left on device")) == 1


def test_folders_not_used_for_long_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    root = tmp_path / "pliant"
    n = cache.KEPT_FOLDERS + 3
    for k in range(n):
        (root / f"{k}-numba0.1").mkdir(parents=True)
        os.utime(root / f"{k}-numba0.1", (1000 + k, 1000 + k))
    (root / "keepsake").mkdir()
    folder = cache.cache_folder.__wrapped__()
    left = {path.name for path in root.iterdir()}
    assert left == {folder.name, "keepsake", *(f"{k}-numba0.1" for k in range(3, n))}
    os.utime(folder, (5, 5))
    assert cache.cache_folder.__wrapped__() == folder
    assert time.time() - folder.stat().st_mtime < 60, "a folder in use counts as used"
