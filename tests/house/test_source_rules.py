"""One place knows Numba, nothing trades IEEE arithmetic for speed, files stay readable."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from conftest import ROOT
from rules import (
    FILE_AIM,
    FILE_LIMIT,
    FUNCTION_AIM,
    FUNCTION_LIMIT,
    bare_compilers,
    broken_rules,
    fast_math,
    function_lengths,
    prints,
    too_long,
)
from spine import sources


def test_every_source_keeps_the_rules() -> None:
    assert broken_rules(ROOT / "pliant") == []


def test_the_backend_itself_would_be_caught_elsewhere() -> None:
    caught = [
        path for path in sources(ROOT / "pliant" / "backend") if bare_compilers(ast.parse(path.read_text()))
    ]
    assert caught, "the backend decorates with Numba, so the check must see it"


@pytest.mark.parametrize(
    "text",
    [
        "from numba import njit",
        "from numba import prange, njit as fast",
        "from numba import *",
        "from numba.extending import register_jitable",
        "import numba\n@numba.njit\ndef f(): pass",
        "import numba as nb\nf = nb.vectorize()",
        "import numba.cuda\n@numba.cuda.jit\ndef f(): pass",
        "from numba import cuda\n@cuda.jit(device=True)\ndef f(): pass",
        "def f():\n    import numba\n    return numba.guvectorize",
    ],
)
def test_a_bare_decorator_is_found(text: str) -> None:
    assert bare_compilers(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "from numba import prange",
        "import numba\nnumba.prange(3)",
        "x.jit()",
        "from pliant.backend import law",
    ],
)
def test_other_uses_of_numba_are_left_alone(text: str) -> None:
    assert not bare_compilers(ast.parse(text))


@pytest.mark.parametrize(
    "text", ["f(fastmath=True)", "f(fastmath={'nnan'})", "o = {'fastmath': True}", "o['fastmath'] = flag"]
)
def test_fast_math_is_found(text: str) -> None:
    assert fast_math(ast.parse(text)) == [1]


def test_fast_math_switched_off_is_fine() -> None:
    assert not fast_math(ast.parse("f(fastmath=False)"))


def test_planted_faults_are_named_with_file_and_line(tmp_path: Path) -> None:
    package = tmp_path / "pliant"
    (package / "laws").mkdir(parents=True)
    (package / "cli.py").write_text("print('fine here')\n")
    (package / "laws" / "bad.py").write_text(
        "try:\n    print(1)\nexcept:\n    pass\nfrom numba import njit\n"
    )
    found = broken_rules(package)
    assert [line.split(": ")[0] for line in found] == [f"{Path('pliant/laws/bad.py')}:{n}" for n in (2, 3, 5)]
    assert prints(ast.parse("console.print(1)")) == []


def readable() -> list[Path]:
    folders = ("pliant", "tests", "examples")
    return [ROOT / "dev.py", *(path for folder in folders for path in sources(ROOT / folder))]


def test_files_and_functions_stay_short() -> None:
    files = readable()
    assert len(files) > 20
    for line in too_long(files, ROOT, FILE_AIM, FUNCTION_AIM):
        warnings.warn(f"longer than we like: {line}", stacklevel=1)
    assert too_long(files, ROOT, FILE_LIMIT, FUNCTION_LIMIT) == []


def test_lengths_are_counted_without_the_docstring() -> None:
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    a = 1\n    return a\n\n\ndef g():\n    pass\n'
    assert function_lengths(ast.parse(text)) == [("f", 1, 3), ("g", 10, 2)]


def test_a_long_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("def f():\n" + "    x = 1\n" * 9)
    assert too_long([path], tmp_path, 9, 9) == [
        "long.py: 10 lines (limit 9)",
        "long.py:1: f has 10 lines (limit 9)",
    ]
