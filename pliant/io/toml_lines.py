"""On which line of a TOML text each key stands: what ``tomllib`` does not tell.

The text must already have been accepted by ``tomllib``; only its outline is followed here.
"""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS = ('"""', "'''", '"', "'")
_SPACE = " \t\r\n"


def key_lines(text: str) -> dict[Path, int]:
    """Line (from 1) of every table and key, by its path: ``("cloth", 0, "material", "base")``.

    Items of arrays have the line on which they begin.
    """
    return _Outline(text).lines


class _Outline:
    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}
        table: Path = ()
        while self.skip(_SPACE):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                path = table + self.key()
                self.note(path)
                self.past("=")
                self.value(path)

    def skip(self, what: str) -> bool:
        """Go past characters of ``what`` and comments; False at the end of the text."""
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text[self.at] in what:
                self.at += 1
            else:
                return True
        return False

    def past(self, mark: str) -> None:
        self.skip(_SPACE)
        assert self.text.startswith(mark, self.at)
        self.at += len(mark)

    def note(self, path: Path) -> None:
        line = self.text.count("\n", 0, self.at) + 1
        for k in range(1, len(path) + 1):
            self.lines.setdefault(path[:k], line)

    def header(self) -> Path:
        double = self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        self.skip(_SPACE)
        path = self.inside(self.key())
        if double:
            count = self.counts.get(path, 0)
            self.counts[path] = count + 1
            path = (*path, count)
        self.note(path)
        self.past("]]" if double else "]")
        return path

    def inside(self, key: Path) -> Path:
        """A header's key with the number of the last item after each array of tables on its way."""
        path: Path = ()
        for k, part in enumerate(key):
            path = (*path, part)
            if path in self.counts and k < len(key) - 1:
                path = (*path, self.counts[path] - 1)
        return path

    def key(self) -> Path:
        parts: list[str | int] = []
        while True:
            self.skip(_SPACE)
            if self.text[self.at] in "\"'":
                start = self.at
                self.string()
                parts.append(tomllib.loads(f"k = {self.text[start : self.at]}")["k"])
            else:
                found = _BARE.match(self.text, self.at)
                assert found is not None
                parts.append(found[0])
                self.at = found.end()
            self.skip(" \t")
            if self.text[self.at] != ".":
                return tuple(parts)
            self.at += 1

    def value(self, path: Path) -> None:
        self.skip(_SPACE)
        mark = self.text[self.at]
        if mark in "\"'":
            self.string()
        elif mark == "[":
            self.items(path)
        elif mark == "{":
            self.members(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def items(self, path: Path) -> None:
        self.at += 1
        count = 0
        while self.skip(_SPACE + ",") and self.text[self.at] != "]":
            self.note((*path, count))
            self.value((*path, count))
            count += 1
        self.at += 1

    def members(self, path: Path) -> None:
        self.at += 1
        while self.skip(_SPACE + ",") and self.text[self.at] != "}":
            inner = path + self.key()
            self.note(inner)
            self.past("=")
            self.value(inner)
        self.at += 1

    def string(self) -> None:
        """Go past a string of any of the four kinds."""
        quote = next(q for q in _STRINGS if self.text.startswith(q, self.at))
        self.at += len(quote)
        while not self.text.startswith(quote, self.at):
            self.at += 2 if quote[0] == '"' and self.text[self.at] == "\\" else 1
        self.at += len(quote)
        if len(quote) == 3:  # up to two quotes may stand directly before the closing ones
            while self.at < len(self.text) and self.text[self.at] == quote[0]:
                self.at += 1
