"""Rules that every source file of Pliant keeps, read off its syntax tree."""

from __future__ import annotations

import ast
from pathlib import Path

from spine import parse, sources

COMPILERS = {
    "njit", "jit", "jit_module", "vectorize", "guvectorize", "stencil", "cfunc",
    "register_jitable", "overload", "overload_method", "intrinsic", "generated_jit",
}  # fmt: skip
PRINTERS = {"cli", "__main__", "simulation", "lab", "bench"}  # parts that talk to a person

FILE_AIM, FILE_LIMIT = 400, 450
FUNCTION_AIM, FUNCTION_LIMIT = 60, 90


def part(path: Path, package: Path) -> str:
    """The entry of the spine that ``path`` belongs to."""
    return Path(path.relative_to(package).parts[0]).stem


def bare_compilers(tree: ast.Module) -> list[int]:
    """Lines that reach for one of Numba's decorators directly, under whatever name."""
    names: set[str] = set()  # local names that stand for numba, or for something inside it
    lines: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.asname or "numba" for a in node.names if a.name.split(".")[0] == "numba"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            names |= {a.asname or a.name for a in node.names}
            lines += [node.lineno for a in node.names if a.name in COMPILERS | {"*"}]
    for node in ast.walk(tree):
        reaches = isinstance(node, ast.Attribute) and node.attr in COMPILERS
        if reaches and ast.unparse(node.value).split(".")[0] in names:
            lines.append(node.lineno)
    return sorted(set(lines))


def fast_math(tree: ast.Module) -> list[int]:
    """Lines that switch fastmath on (or to anything but a literal False)."""
    lines = []
    for node in ast.walk(tree):
        values: list[ast.expr | None] = []
        if isinstance(node, ast.keyword) and node.arg == "fastmath":
            values = [node.value]
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            values = [v for k, v in pairs if isinstance(k, ast.Constant) and k.value == "fastmath"]
        elif isinstance(node, ast.Assign) and any(
            ast.unparse(t).endswith("fastmath']") for t in node.targets
        ):
            values = [node.value]
        lines += [v.lineno for v in values if not (isinstance(v, ast.Constant) and v.value is False) and v]
    return lines


def bare_excepts(tree: ast.Module) -> list[int]:
    return [
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.type is None
    ]


def prints(tree: ast.Module) -> list[int]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


def broken_rules(package: Path) -> list[str]:
    """One line for each place in ``package`` that breaks a rule."""
    found = []
    for path in sources(package):
        tree, where, entry = parse(path), path.relative_to(package.parent), part(path, package)
        broken = [(line, "fastmath changes results between widths; leave it off") for line in fast_math(tree)]
        broken += [(line, "bare except: name what you expect") for line in bare_excepts(tree)]
        if entry != "backend":
            cure = "bare Numba decorator: use those of pliant.backend"
            broken += [(line, cure) for line in bare_compilers(tree)]
        if entry not in PRINTERS:
            broken += [
                (line, "print in a library: return it, raise it or use warnings") for line in prints(tree)
            ]
        found += [f"{where}:{line}: {why}" for line, why in sorted(broken)]
    return found


def function_lengths(tree: ast.Module) -> list[tuple[str, int, int]]:
    """Name, line and length of each function: its lines from `def` on, without the docstring."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            first = node.body[0]
            if ast.get_docstring(node) is not None:
                length -= (first.end_lineno or first.lineno) - first.lineno + 1
            found.append((node.name, node.lineno, length))
    return found


def too_long(files: list[Path], root: Path, file_limit: int, function_limit: int) -> list[str]:
    """Files and functions over the limits, one line each."""
    found = []
    for path in files:
        where, lines = path.relative_to(root), len(path.read_text(encoding="utf-8").splitlines())
        if lines > file_limit:
            found.append(f"{where}: {lines} lines (limit {file_limit})")
        for name, line, length in function_lengths(parse(path)):
            if length > function_limit:
                found.append(f"{where}:{line}: {name} has {length} lines (limit {function_limit})")
    return found
