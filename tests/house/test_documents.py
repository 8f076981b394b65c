"""What the pages show is true: their code runs, their scene files parse, their links lead somewhere."""

from __future__ import annotations

import re
import tomllib
import warnings
from pathlib import Path

import pytest
from conftest import ROOT
from documents import anchors, code_blocks, links, run_python

PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.exists()]
EVERY_PAGE = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
MOST_NOT_RUN = 6  # blocks tagged `no-run`, all pages together


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def has_python(page: Path) -> bool:
    return any(block.language == "python" for block in code_blocks(read(page)))


@pytest.mark.parametrize("page", [page for page in PAGES if has_python(page)], ids=name)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(page, code_blocks(read(page)))


def test_few_blocks_are_left_out() -> None:
    blocks = [
        (page, block) for page in PAGES for block in code_blocks(read(page)) if block.language == "python"
    ]
    skipped = [f"{name(page)}:{block.line}" for page, block in blocks if "no-run" in block.tags]
    if skipped:
        warnings.warn(f"Python blocks that are not run: {', '.join(skipped)}", stacklevel=1)
    assert len(blocks) > len(skipped)
    assert len(skipped) <= MOST_NOT_RUN


def test_readme_shows_code_that_runs() -> None:
    assert has_python(ROOT / "README.md")


def test_scene_files_in_pages_parse() -> None:
    scenes = 0
    for page in PAGES:
        for block in code_blocks(read(page)):
            if block.language == "toml" and re.search(r"^\[scene\]|^\[\[cloth\]\]", block.text, re.MULTILINE):
                assert tomllib.loads(block.text), f"{name(page)}:{block.line}"
                scenes += 1
    assert scenes > 0, "no page shows a scene file"


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(read(page)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), f"{name(page)} links to {target}, which does not exist"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(read(there)), f"{name(page)} links to {target}: no such heading"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    reached, queue = {index}, [index]
    while queue:
        page = queue.pop()
        targets = {(page.parent / t.partition("#")[0]).resolve() for t in links(read(page)) if ":" not in t}
        new = {t for t in targets if t.suffix == ".md" and t.exists()} - reached
        reached |= new
        queue += new
    lost = [
        name(page)
        for page in PAGES
        if page not in reached and page.name not in ("README.md", "0000-template.md")
    ]
    assert lost == []


def test_decision_records_are_numbered_and_shaped_alike() -> None:
    records = sorted((ROOT / "docs" / "adr").glob("*.md"))
    numbers = [int(re.match(r"(\d{4})-[a-z0-9-]+\.md$", record.name).group(1)) for record in records]  # type: ignore
    assert numbers == list(range(len(records)))
    for record in records[1:]:
        text = read(record)
        assert text.startswith(f"# {int(record.name[:4])}. "), record.name
        for heading in ("## Context", "## Decision", "## Consequences"):
            assert f"\n{heading}\n" in text, f"{record.name} has no {heading}"


PAGE = """# Title

```python
a = 1
```

   ```python no-run
   raise SystemExit
   ```

````markdown
```python
never
```
````

```python
b = a + 1
```
"""


def test_blocks_are_found_with_their_tags_and_lines() -> None:
    found = [(b.language, b.tags, b.line) for b in code_blocks(PAGE)]
    assert found == [("python", (), 4), ("python", ("no-run",), 8), ("markdown", (), 12), ("python", (), 18)]


def test_blocks_share_one_namespace_and_errors_name_the_line(tmp_path: Path) -> None:
    assert run_python(tmp_path / "page.md", code_blocks(PAGE)) == 2
    bad = code_blocks(PAGE.replace("a + 1", "1 / 0"))
    with pytest.raises(ZeroDivisionError) as caught:
        run_python(tmp_path / "page.md", bad)
    assert caught.traceback[-1].lineno == 18 - 1  # pytest counts from 0
    assert str(caught.traceback[-1].path).endswith("page.md")


def test_an_open_block_is_refused() -> None:
    with pytest.raises(ValueError, match="line 3"):
        code_blocks("a\n\n```python\nx = 1\n")


def test_links_and_anchors_are_read() -> None:
    text = "# A heading, with: marks\n[one](a.md) `[no](b.md)` ![p](c.png)\n```\n[no](d.md)\n```\n[two](#x)\n"
    assert links(text) == ["a.md", "c.png", "#x"]
    assert anchors(text) == {"a-heading-with-marks"}
