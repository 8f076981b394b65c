"""Reads Markdown: fenced code blocks and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>[^`]*)$")
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")


@dataclass(frozen=True)
class CodeBlock:
    """One fenced block; ``line`` is that of its first line of text, from 1."""

    language: str
    tags: tuple[str, ...]
    text: str
    line: int


def code_blocks(markdown: str) -> list[CodeBlock]:
    """Fenced blocks in order. An unclosed fence is a ValueError naming its line."""
    found, lines, i = [], markdown.splitlines(), 0
    while i < len(lines):
        opening = FENCE.match(lines[i])
        i += 1
        if not opening:
            continue
        start, body = i, []
        while i < len(lines) and not _closes(lines[i], opening["ticks"]):
            body.append(lines[i].removeprefix(opening["indent"]))
            i += 1
        if i == len(lines):
            raise ValueError(f"line {start}: this code block is never closed")
        i += 1
        words = opening["info"].split()
        text = "\n".join(body) + "\n"
        found.append(CodeBlock(words[0] if words else "", tuple(words[1:]), text, start + 1))
    return found


def _closes(line: str, ticks: str) -> bool:
    line = line.strip()
    return len(line) >= len(ticks) and set(line) == {ticks[0]}


def run_python(path: Path, blocks: list[CodeBlock]) -> int:
    """Run the Python blocks of one page in order, in one namespace; returns how many ran."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for block in blocks:
        if block.language == "python" and "no-run" not in block.tags:
            # Blank lines in front make tracebacks name the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
            exec(code, namespace)
            ran += 1
    return ran


def links(markdown: str) -> list[str]:
    """Targets of the links outside code."""
    prose, inside = [], ""
    for line in markdown.splitlines():
        fence = FENCE.match(line)
        if inside:
            inside = "" if _closes(line, inside) else inside
        elif fence:
            inside = fence["ticks"]
        else:
            prose.append(re.sub(r"`[^`]*`", "", line))
    return [match["target"] for match in LINK.finditer("\n".join(prose))]


def anchors(markdown: str) -> set[str]:
    """Names that a link may use after `#`."""
    titles = re.findall(r"^#+ +(.+?) *$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
