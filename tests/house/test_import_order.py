"""Data flows one way: a module imports only what stands before it in the spine."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from spine import SPINE, order_violations, sources

PACKAGE = ROOT / "pliant"


def test_no_module_imports_what_comes_after_it() -> None:
    assert len(sources(PACKAGE)) > 10
    assert order_violations(PACKAGE) == []


def test_the_spine_names_only_what_may_exist() -> None:
    assert len(set(SPINE)) == len(SPINE)
    names = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert names - {"__init__", "__main__"} <= set(SPINE)


def plant(folder: Path, files: dict[str, str]) -> Path:
    root = folder / "demo"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


GOOD = {
    "__init__.py": "def __getattr__(name):\n    from .high import thing\n    return thing\n",
    "low.py": "import math\n",
    "mid/__init__.py": "from demo import low, __version__\nfrom . import inner\n",
    "mid/inner.py": "from ..low import x\nfrom .other import y\n",
    "mid/other.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..high import thing\n",
    "high.py": "import demo.mid.inner\n",
    "__main__.py": "import demo\nfrom demo import anything\n",
    "cli.py": "",
}
ORDER = ("low", "mid", "high", "cli")


def test_a_clean_package_passes(tmp_path: Path) -> None:
    assert order_violations(plant(tmp_path, GOOD), ORDER) == []


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("low.py", "import demo.mid\n", 1),
        ("low.py", "import os, demo.high as h\n", 1),
        ("low.py", "from demo.high import thing\n", 1),
        ("low.py", "from demo import mid\n", 1),
        ("low.py", "from . import high\n", 1),
        ("low.py", "def f():\n    from .high import thing\n", 2),
        ("low.py", "class A:\n    def f(self):\n        import demo.high\n", 3),
        ("low.py", "try:\n    from .mid.inner import y\nexcept ImportError:\n    pass\n", 2),
        ("low.py", "if 1:\n    pass\nelse:\n    from .mid import y\n", 4),
        ("low.py", "import importlib\nx = importlib.import_module('demo.high')\n", 2),
        ("low.py", "import importlib\nx = importlib.import_module('.high', __package__)\n", 2),
        ("low.py", "import demo\n", 1),
        ("low.py", "from demo import Thing\n", 1),
        ("mid/inner.py", "from ..high import thing\n", 1),
        ("mid/__init__.py", "from .. import high\n", 1),
        ("mid/deep/leaf.py", "from ...high import thing\n", 1),
        ("high.py", "from .cli import main\n", 1),
        ("high.py", "import demo.__main__\n", 1),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, name: str, text: str, line: int) -> None:
    found = order_violations(plant(tmp_path, {**GOOD, "mid/deep/__init__.py": "", name: text}), ORDER)
    assert len(found) == 1
    assert found[0].startswith(f"{Path('demo') / name}:{line}: ")


def test_a_part_outside_the_spine_is_found(tmp_path: Path) -> None:
    found = order_violations(plant(tmp_path, {**GOOD, "extra.py": ""}), ORDER)
    assert found == [f"{Path('demo/extra.py')}: the spine has no entry 'extra'"]
