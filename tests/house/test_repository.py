"""The repository speaks of Pliant alone, carries what it needs and promises what it can install."""

from __future__ import annotations

import ast
import hashlib
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from spine import imports, module_name, parse, sources

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
CORE = {"numpy", "scipy", "numba", "llvmlite"}  # llvmlite is Numba's own
DISTRIBUTION = {
    "PIL": "pillow",
    "pxr": "usd-core",
    "warp": "warp-lang",
}  # where the name to import is not the name to install

# Words about how a text came to be have no place here. They are kept as the first twelve digits of their
# SHA-256, so that this list does not fail its own test; the message of a failure shows the word.
FOREIGN = {
    "3f3af1ecebbd", "1225ae6c1ae6", "d4f0bc5a29de", "8c70b25cbbbe", "94a168d2da57", "d298391b0743",
    "487b91042c7c", "de2187af3fb0", "60965168ce76", "053ea4804ef1", "c857d09db23e", "c70eca6b0f88",
    "7d3194f79e64", "3ea125d0bff3", "5d72436256ad", "386ebc0efd04", "833664992997", "11fb682be0a0",
}  # fmt: skip
MACHINE_PATH = re.compile(r"(?<![\w.~])(/(?:home|root|work|Users)/\w+|[A-Z]:\\\\?Users)")
DOCUMENT = re.compile(r"\b[A-Z]{4,}\.md\b|\bDESIGN(?:\.md)? ?§|\bseed 00\d\b")


def files() -> list[Path]:
    """Text files of the repository that we wrote: tracked, or new and not ignored."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        out = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    suffixes = {".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".json", ".html", ".css", ".js", ".csv", ""}
    paths = [ROOT / line for line in out.splitlines()]
    ours = [p for p in paths if ".min." not in p.name and "LICENSE" not in p.name and p.suffix in suffixes]
    return [path for path in ours if path.is_file()]


def lines() -> Iterator[tuple[str, str]]:
    for path in files():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


def foreign_words(line: str) -> list[str]:
    line = re.sub(r"scope=.session.|start_new_session", "", line)  # pytest's and subprocess's
    words = set(re.findall(r"[A-Za-z]+", line))
    forms = {form for word in words for form in (word, word.lower())}
    return sorted(word for word in forms if hashlib.sha256(word.encode()).hexdigest()[:12] in FOREIGN)


def test_no_word_about_anything_but_pliant() -> None:
    assert len(files()) > 30
    assert [(where, word) for where, line in lines() for word in foreign_words(line)] == []


def test_a_foreign_word_is_found() -> None:
    assert foreign_words("made by an A" + "I") == ["A" + "I"]
    assert foreign_words("two Sess" + "ions") == ["sess" + "ions"]
    assert foreign_words("the aim, ai = aj") == []


def test_no_path_of_some_machine() -> None:
    assert [(where, line) for where, line in lines() if MACHINE_PATH.search(line)] == []


def test_a_path_of_some_machine_is_found() -> None:
    for start in ("/ho" + "me/a/b", "see /wo" + "rk/x", "'C:\\" + "Users\\a'"):
        assert MACHINE_PATH.search(start)
    assert not MACHINE_PATH.search("docs/work/page and ~/home/x")


def test_documents_that_are_named_exist() -> None:
    here = {path.name for path in files()}
    named = [(where, word) for where, line in lines() for word in DOCUMENT.findall(line)]
    assert [(where, word) for where, word in named if word not in here] == []


# --- what can be installed -------------------------------------------------------------------------


def requirement(name: str) -> str:
    return re.split(r"[\[<>=!~; ]", name, maxsplit=1)[0].lower()


def foreign_imports() -> Iterator[tuple[str, str, bool]]:
    """Place, package and laziness of every import from outside the standard library."""
    package = ROOT / "pliant"
    for path in sources(package):
        for imported in imports(path, module_name(path, package)):
            top = imported.target.split(".")[0]
            if top != "pliant" and top not in sys.stdlib_module_names:
                yield f"{path.relative_to(ROOT)}:{imported.line}", top, imported.lazy


def test_the_core_imports_nothing_optional() -> None:
    found = list(foreign_imports())
    assert {"numpy", "numba"} <= {top for _, top, _ in found}
    assert [(where, top) for where, top, lazy in found if top not in CORE and not lazy] == []


def test_every_optional_import_belongs_to_an_extra() -> None:
    offered = {requirement(name) for extra in EXTRAS if extra != "dev" for name in EXTRAS[extra]}
    optional = {(where, top) for where, top, _ in foreign_imports() if top not in CORE}
    assert [
        (where, top) for where, top in optional if DISTRIBUTION.get(top, top).lower() not in offered
    ] == []


def test_errors_name_extras_that_bring_the_package() -> None:
    calls = 0
    for path in sources(ROOT / "pliant"):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("MissingExtraError"):
                package, extra = (a.value if isinstance(a, ast.Constant) else None for a in node.args[1:3])
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                if package is not None and extra is not None:
                    assert package.lower() in {requirement(name) for name in EXTRAS.get(extra, [])}, where
                    calls += 1
    assert calls > 0


def test_the_page_lists_the_extras_that_exist() -> None:
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| ([\w, -]+) \|.*\|$", page, flags=re.MULTILINE))
    assert set(table) == set(EXTRAS)
    for extra in set(EXTRAS) - {"all"}:
        assert set(table[extra].lower().split(", ")) == {requirement(name) for name in EXTRAS[extra]}
    everything = {part for part in EXTRAS if part not in ("all", "bench", "dev")}
    assert EXTRAS["all"] == [f"pliant[{','.join(sorted(everything))}]"]


def test_peers_are_pinned() -> None:
    assert [name for name in EXTRAS["bench"] if not re.fullmatch(r"[\w-]+==[\d.]+(post\d+)?", name)] == []


def test_every_data_file_is_packaged() -> None:
    package = ROOT / "pliant"
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["pliant"]
    packaged = {path for pattern in patterns for path in package.glob(pattern)}
    data = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert package / "py.typed" in data
    assert sorted(path for path in data - packaged if path.suffix != ".py") == []


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {path.parent for path in sources(ROOT / "pliant")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_the_house_is_complete() -> None:
    assert "Copyright Pliant contributors" in (ROOT / "LICENSE").read_text()
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text()
    ci = ROOT / ".ci" / "run"
    assert ci.stat().st_mode & stat.S_IXUSR
    assert subprocess.run(["bash", "-n", str(ci)]).returncode == 0
