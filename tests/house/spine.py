"""Reads Python sources: who imports whom, and in which order the parts of Pliant stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The order in which data flows. A module imports from its own entry and from those before it, no others.
SPINE = (
    "errors", "backend", "geometry", "garments", "materials", "fitting", "laws", "protocol", "state",
    "model", "loads", "bodies", "intake", "alignment", "ties", "build", "scene", "contact", "forces",
    "linear", "diagnostics", "solvers", "io", "progress", "viewer", "checking", "frames", "simulation",
    "sewing", "lab", "bench", "batch", "learn", "cli",
)  # fmt: skip


@dataclass(frozen=True)
class Import:
    """One imported module or name, in full: ``from ..io import recording`` is ``pliant.io.recording``."""

    target: str
    line: int
    lazy: bool  # inside a function


def sources(root: Path) -> list[Path]:
    """Every Python file under ``root``, sorted."""
    return sorted(path for path in root.rglob("*.py") if ".venv" not in path.parts)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(path: Path, module: str) -> Iterator[Import]:
    """Imports of the file ``path``, which is the module ``module``; type-checking-only ones are left out."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    yield from _walk(parse(path), package, lazy=False)


def _walk(node: ast.AST, package: str, lazy: bool) -> Iterator[Import]:
    if isinstance(node, ast.If) and _is_type_checking(node.test):
        for child in node.orelse:
            yield from _walk(child, package, lazy)
        return
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, node.lineno, lazy) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _absolute(node.module or "", node.level, package)
        yield from (Import(f"{base}.{alias.name}", node.lineno, lazy) for alias in node.names)
    elif isinstance(node, ast.Call):
        yield from _dynamic(node, package, lazy)
    inner = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, package, inner)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _absolute(name: str, level: int, package: str) -> str:
    if level == 0:
        return name
    parts = package.split(".")
    base = parts[: len(parts) - (level - 1)]
    return ".".join([*base, *([name] if name else [])])


def _dynamic(call: ast.Call, package: str, lazy: bool) -> Iterator[Import]:
    """``importlib.import_module("…")`` and ``__import__("…")`` with a literal name."""
    function = ast.unparse(call.func)
    first = call.args[0] if call.args else None
    if function.split(".")[-1] not in ("import_module", "__import__") or not isinstance(first, ast.Constant):
        return
    name = str(first.value)
    level = len(name) - len(name.lstrip("."))
    yield Import(_absolute(name.lstrip("."), level, package), call.lineno, lazy)


def module_name(path: Path, root: Path) -> str:
    """Dotted name of ``path`` in the package folder ``root``."""
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def order_violations(root: Path, spine: tuple[str, ...] = SPINE) -> list[str]:
    """What breaks the order in the package folder ``root``, one line each; empty if nothing does."""
    found = []
    for path in sources(root):
        module = module_name(path, root)
        if module == root.name:
            continue  # the public names: lazy, held by the light-import test
        entry = _entry(module)
        where = path.relative_to(root.parent)
        if entry not in spine:
            found.append(f"{where}: the spine has no entry {entry!r}")
            continue
        for imported in imports(path, module):
            if imported.target.split(".")[0] != root.name:
                continue
            problem = _problem(imported.target, entry, root, spine)
            if problem:
                found.append(f"{where}:{imported.line}: {entry} {problem}")
    return found


def _entry(module: str) -> str:
    name = module.split(".")[1]
    return "cli" if name == "__main__" else name


def _problem(target: str, entry: str, root: Path, spine: tuple[str, ...]) -> str | None:
    parts = target.split(".")
    name = parts[1] if len(parts) > 1 else ""
    if name.startswith("__") and name.endswith("__") and name != "__main__":
        return None  # `from pliant import __version__`
    is_module = (root / name).is_dir() or (root / f"{name}.py").is_file()
    if not name or not is_module:
        return None if entry == spine[-1] else f"imports {target}: name the module that defines it"
    other = _entry(target)
    if other not in spine:
        return f"imports {target}, which is not in the spine"
    if spine.index(other) > spine.index(entry):
        return f"imports {target}, which comes after it"
    return None
