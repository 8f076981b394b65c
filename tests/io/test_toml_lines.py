"""Every key of a TOML text is given the line on which it stands."""

from __future__ import annotations

import tomllib

from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.io.toml_lines import key_lines

TRICKY = '''# [[cloth]] in a comment
title = """a
[x] = 3 ""\\"
"""""
"quoted key" = 'x # no comment'
dotted.inner = 1
[ a . b ]
k = [ # one
  { p = 1, q = "}" }, [2,
  3],
]
[[t]]
x = 1979-05-27T07:32:00Z
[t.sub]
y = { z.w = true, e = "\\"" }
[[t]]
[[t.items]]
v = \'\'\'
\'\'\'
w = 1e6
'''


def test_lines_of_keys_in_a_tricky_file() -> None:
    tomllib.loads(TRICKY)
    lines = key_lines(TRICKY)
    expected = {
        ("title",): 2, ("quoted key",): 5, ("dotted", "inner"): 6, ("a", "b"): 7, ("a", "b", "k"): 8,
        ("a", "b", "k", 0, "q"): 9, ("a", "b", "k", 1): 9, ("a", "b", "k", 1, 1): 10, ("t", 0): 12,
        ("t", 0, "x"): 13, ("t", 0, "sub", "y", "z", "w"): 15, ("t", 0, "sub", "y", "e"): 15, ("t", 1): 16,
        ("t", 1, "items", 0): 17, ("t", 1, "items", 0, "v"): 18, ("t", 1, "items", 0, "w"): 20,
    }  # fmt: skip
    assert {path: lines[path] for path in expected} == expected
    assert key_lines(TRICKY.replace("\n", "\r\n")) == lines


def paths(value: object, path: tuple = ()) -> set[tuple]:
    here = {path} if path else set()
    if isinstance(value, dict):
        return here.union(*(paths(v, (*path, k)) for k, v in value.items()))
    if isinstance(value, list):
        return here.union(*(paths(v, (*path, k)) for k, v in enumerate(value)))
    return here


def test_every_key_of_a_file_has_a_line() -> None:
    for text in (TRICKY, *(p.read_text() for p in sorted((ROOT / "examples").glob("*.toml")))):
        assert paths(tomllib.loads(text)) == set(key_lines(text))


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=6)
LEAF = st.integers(-9, 9) | st.booleans() | TEXT
VALUE = st.recursive(
    LEAF, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3), max_leaves=8
)


def written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(k)} = {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + "".join(f"  {written(v)}, # [\n" for v in value) + "]"
    return str(value)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(TEXT, VALUE, max_size=4))
def test_any_file_has_a_line_for_every_key(data: dict) -> None:
    text = "".join(f"{written(k)} = {written(v)}\n" for k, v in data.items())
    assert tomllib.loads(text) == data
    assert paths(data) == set(key_lines(text))
