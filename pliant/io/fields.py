"""Typed reading of a scene file's tables; every mistake is an error that names its line and field."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from pliant.errors import PliantError, SceneFileError
from pliant.io.toml_lines import Path as KeyPath
from pliant.io.toml_lines import key_lines

Array = np.ndarray


class _Required:
    """Stands for "no default"."""


REQUIRED = _Required()


def read_toml(file: Path) -> Table:
    """The whole file as a table. Raises SceneFileError where it cannot be read or is not TOML."""
    try:
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise SceneFileError(f"{file}: no such file; check the path") from None
    except OSError as error:
        raise SceneFileError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SceneFileError(f"{file}: not UTF-8 text ({error.reason}); save it as UTF-8") from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at ")
        line = place.removeprefix("line ").split(",")[0]
        where = f"{file} line {line}" if line.isdigit() else f"{file}, at its end"
        raise SceneFileError(f"{where}: not TOML: {what}") from error
    return Table(file, data, (), key_lines(text))


class Table:
    """One table of a scene file.

    file   the scene file; path: keys and item numbers that lead here; lines: of every key
    """

    def __init__(self, file: Path, data: dict[str, Any], path: KeyPath, lines: dict[KeyPath, int]) -> None:
        self.file, self.data, self.path, self.lines = file, data, path, lines

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def label(self, key: str = "") -> str:
        """How messages call a field: ``[[cloth]] material.base``."""
        if not self.path:
            return key
        head = str(self.path[0])
        head = f"[[{head}]]" if len(self.path) > 1 and isinstance(self.path[1], int) else f"[{head}]"
        rest = [str(p) for p in (*self.path[1:], *([key] if key else [])) if not isinstance(p, int)]
        return f"{head} {'.'.join(rest)}".rstrip()

    def fail(self, key: str, message: str) -> NoReturn:
        """Raise SceneFileError at a key of this table, or at the table where it has no such key."""
        path: KeyPath = (*self.path, key)
        while path and path not in self.lines:
            path = path[:-1]
        where = f"{self.file} line {self.lines[path]}" if path else str(self.file)
        label = self.label(key)
        raise SceneFileError(f"{where}: {label}: {message}" if label else f"{where}: {message}")

    @contextmanager
    def at(self, key: str = "") -> Iterator[None]:
        """Errors of the rest of Pliant inside this block are raised at a key."""
        try:
            yield
        except SceneFileError:
            raise
        except PliantError as error:
            try:
                self.fail(key, str(error))
            except SceneFileError as placed:
                raise placed from error

    def only(self, *known: str) -> None:
        """Refuse keys that are not known, suggesting the nearest that is."""
        for key in self.data:
            if key not in known:
                self.fail(key, f"unknown key; {advice(key, known)}")

    def number(
        self,
        key: str,
        default: Any = REQUIRED,
        unit: str = "",
        least: float = -math.inf,
        above: float = -math.inf,
    ) -> Any:
        """A finite number, at least ``least`` and greater than ``above``."""
        value = self.get(key, default)
        if key not in self.data:
            return value
        wanted = f"a number{f' in {unit}' if unit else ''}"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(key, f"must be {wanted}, not {shown(value)}")
        if not math.isfinite(value):
            self.fail(key, f"must be {wanted} that is finite, not {value}")
        if value < least:
            self.fail(key, f"is {value}, it must be at least {least:g}{f' {unit}' if unit else ''}")
        if value <= above:
            self.fail(key, f"is {value}, it must be greater than {above:g}{f' {unit}' if unit else ''}")
        return float(value)

    def whole(self, key: str, default: Any = REQUIRED, least: int = 1) -> Any:
        """A whole number, at least ``least``."""
        value = self.get(key, default)
        if key not in self.data:
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, f"must be a whole number, not {shown(value)}")
        if value < least:
            self.fail(key, f"is {value}, it must be at least {least}")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """true or false."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"must be true or false, not {shown(value)}")
        return value

    def text(self, key: str, default: Any = REQUIRED, choices: Sequence[str] = ()) -> Any:
        """A text, one of ``choices`` if there are any."""
        value = self.get(key, default)
        if key not in self.data:
            return value
        if not isinstance(value, str):
            self.fail(key, f"must be a text in quotes, not {shown(value)}")
        if choices and value not in choices:
            self.fail(key, f'"{value}" is unknown; {advice(value, choices)}')
        return value

    def vector(self, key: str, default: Any = REQUIRED, unit: str = "", length: int = 3) -> Any:
        """A tuple of finite numbers."""
        value = self.get(key, default)
        if key not in self.data:
            return value
        if not is_vector(value, length):
            self.fail(key, f"must be {length} numbers{f' in {unit}' if unit else ''}, not {shown(value)}")
        return tuple(float(v) for v in value)

    def vectors(self, key: str, default: Any = REQUIRED, unit: str = "") -> Any:
        """Rows of three finite numbers, (n, 3)."""
        value = self.get(key, default)
        if key not in self.data:
            return value
        if not isinstance(value, list) or not value:
            self.fail(key, f"must be a list of rows of 3 numbers, not {shown(value)}")
        for k, row in enumerate(value):
            if not is_vector(row, 3):
                self.fail(
                    key, f"row {k + 1} must be 3 numbers{f' in {unit}' if unit else ''}, not {shown(row)}"
                )
        return np.array(value, float)

    def table(self, key: str) -> Table:
        """An inner table; an absent one is empty."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self.fail(key, f"must be a table, not {shown(value)}")
        return Table(self.file, value, (*self.path, key), self.lines)

    def tables(self, key: str) -> list[Table]:
        """An array of tables; an absent one is empty."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.fail(key, f"must be written [[{key}]], one for each")
        return [Table(self.file, v, (*self.path, key, k), self.lines) for k, v in enumerate(value)]

    def get(self, key: str, default: Any = REQUIRED) -> Any:
        """The raw value."""
        if key not in self.data and default is REQUIRED:
            self.fail(key, "is missing")
        return self.data.get(key, default)


def advice(word: str, known: Sequence[str]) -> str:
    """The nearest known word, or all of them."""
    near = get_close_matches(word, known, n=1) or [k for k in known if word in k][:1]
    return f'did you mean "{near[0]}"?' if near else f"choose one of {', '.join(known)}"


def is_vector(value: Any, length: int) -> bool:
    """Whether a value is a list of so many finite numbers."""
    numbers = isinstance(value, list) and len(value) == length
    return numbers and all(
        isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in value
    )


def shown(value: Any) -> str:
    """A value of a scene file in a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'the text "{value[:40]}"'
    if isinstance(value, dict):
        return "a table"
    return repr(value)[:60]
