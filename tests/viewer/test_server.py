"""The page server: what it gives, to whom, and what it refuses."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from pliant.errors import PliantError
from pliant.viewer import server
from pliant.viewer.server import PageServer

PAGE = b"<!doctype html><title>here</title>"


def ask(
    address: str, body: bytes | None = None, method: str | None = None, **headers: str
) -> tuple[int, bytes]:
    """Status and body of an answer; a redirection would be an error."""
    request = urllib.request.Request(address, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.fixture
def commands() -> list[bytes]:
    return []


@pytest.fixture
def page(commands: list[bytes]) -> Iterator[PageServer]:
    def obey(text: bytes) -> bool:
        commands.append(text)
        return text == b"good"

    with PageServer(lambda: PAGE, lambda: iter([b"one", b"two"]), obey) as running:
        yield running


def test_it_gives_the_page_and_the_stream(page: PageServer) -> None:
    assert ask(page.address) == (200, PAGE)
    assert ask(page.address + "index.html") == (200, PAGE)
    assert ask(page.address, method="HEAD") == (200, b"")
    assert ask(page.address + "frames") == (200, b"onetwo")
    assert ask(page.address + "favicon.ico") == (204, b"")


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "..%2f..%2fetc/passwd",
        "etc/passwd",
        "//etc/passwd",
        "frames/../page",
        "index.html?x",
        "a",
    ],
)
def test_there_is_nothing_else(page: PageServer, path: str) -> None:
    status, body = ask(page.address + path)
    assert status == 404
    assert b"root:" not in body


def test_it_listens_to_this_machine_alone(page: PageServer) -> None:
    assert page.address.startswith("http://127.0.0.1:")
    assert page._server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "[::1", "", "[::1]:80"]
)
def test_a_foreign_name_that_points_here_is_refused(
    page: PageServer, commands: list[bytes], host: str
) -> None:
    for path, body in (("", None), ("frames", None), ("command", b"good")):
        assert ask(page.address + path, body, Host=host)[0] == 403
    assert commands == []


def test_commands_come_from_the_page_or_from_no_browser(page: PageServer, commands: list[bytes]) -> None:
    port = page.address.split(":")[2].strip("/")
    command = page.address + "command"
    assert ask(command, b"good")[0] == 204
    assert ask(command, b"good", Origin=page.address.rstrip("/"))[0] == 204
    near = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
    assert ask(command, b"good", **near)[0] == 204
    assert ask(command, b"bad")[0] == 400
    assert commands == [b"good", b"good", b"good", b"bad"]
    for origin in ("http://evil.example", "null", f"http://localhost:{port}", "http://127.0.0.1:1"):
        assert ask(command, b"good", Origin=origin)[0] == 403
    assert ask(command, b"x" * 2000)[0] == 400
    assert ask(page.address + "frames", b"good")[0] == 404
    assert len(commands) == 4


def test_no_page_may_frame_it_or_keep_it(page: PageServer) -> None:
    with urllib.request.urlopen(page.address, timeout=20) as answer:
        headers = dict(answer.headers)
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


def test_the_next_port_is_taken_where_one_is_busy() -> None:
    with PageServer(lambda: PAGE) as first, PageServer(lambda: b"other") as second:
        assert first.address != second.address
        assert ask(first.address) == (200, PAGE)
        assert ask(second.address) == (200, b"other")


def test_a_port_that_was_asked_for_is_that_one_or_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(PliantError, match=f"port {port} is taken.*name another"):
            PageServer(lambda: PAGE, port=port)
        monkeypatch.setattr(server, "FIRST_PORT", port)
        monkeypatch.setattr(server, "PORTS", 1)
        with pytest.raises(PliantError, match="all taken"):
            PageServer(lambda: PAGE)
    with pytest.raises(PliantError, match="port 70000: a port is"):
        PageServer(lambda: PAGE, port=70_000)


def test_it_ends_and_gives_the_port_back() -> None:
    with socket.socket() as free:  # not one that another test may take in between
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with PageServer(lambda: PAGE, port=port) as first:
        address = first.address
        assert ask(address)[0] == 200
    with pytest.raises(urllib.error.URLError):
        ask(address)
    with PageServer(lambda: PAGE, port=port) as again:
        assert ask(again.address)[0] == 200


def test_a_browser_is_opened_only_where_it_has_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(server.webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(server.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not server.open_browser("a")
    monkeypatch.setenv("DISPLAY", ":0")
    assert server.open_browser("b")
    assert opened == ["b"]
