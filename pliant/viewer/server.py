"""A small web server for this machine alone: a page, and what the page asks for while it is open.

It listens on 127.0.0.1 only and knows a fixed set of addresses; no file can be named in a request. A request
must name this machine as its host (so that no foreign name that points here gets through), and what changes
something must come from the page itself.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from pliant.errors import PliantError

__all__ = ["FIRST_PORT", "PageServer", "open_browser"]

FIRST_PORT = 8321
PORTS = 20  # tried one after the other, unless one is asked for
LONGEST_COMMAND = 1024  # bytes
PATIENCE = 30.0  # seconds that a browser may take nothing before it is given up
LOCAL = {"127.0.0.1", "localhost"}
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class PageServer:
    """Serves one page from the moment it is made, in threads of its own.

    Args:
        page: gives the page's bytes (HTML, UTF-8).
        stream: chunks of bytes for one browser, until it or the caller has had enough; it runs in that
            browser's own thread, and a browser that takes nothing blocks it alone.
        command: takes what the page posts; False refuses it.
        port: a port; None takes the first free one from 8321 on.

    Raises:
        PliantError: the port is taken, or none is free.
    """

    def __init__(
        self,
        page: Callable[[], bytes],
        stream: Callable[[], Iterator[bytes]] | None = None,
        command: Callable[[bytes], bool] | None = None,
        port: int | None = None,
    ) -> None:
        self.page, self.stream, self.command = page, stream, command
        self._server = _listen(self, port)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="pliant page", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def close(self) -> None:
        """Take no more requests."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open_browser(address: str) -> bool:
    """Open a page in the user's browser; False where there is none with a screen."""
    screen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if sys.platform.startswith(("linux", "freebsd", "openbsd")) and not screen:
        return False  # a browser that takes over the terminal would not help
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a browser that stays does not keep the program from ending
    block_on_close = False
    allow_reuse_address = os.name != "nt"  # there it would share a port with whoever has it
    owner: PageServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle is nothing to talk about."""


def _listen(owner: PageServer, port: int | None) -> _Server:
    for number in range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else (port,):
        try:
            server = _Server(("127.0.0.1", number), _Handler)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise PliantError(
                    f"cannot listen on port {number} of this machine: {error.strerror}"
                ) from error
        except OverflowError:
            raise PliantError(f"port {number}: a port is a number from 0 to 65535") from None
        else:
            server.owner = owner
            return server
    if port is None:
        raise PliantError(
            f"the ports {FIRST_PORT} to {FIRST_PORT + PORTS - 1} are all taken; name another one with port"
        )
    raise PliantError(f"port {port} is taken or not allowed; name another one, or none to take a free one")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def version_string(self) -> str:
        return "pliant"

    def do_GET(self) -> None:
        owner = self.server.owner
        if not self._ours():
            self._answer(HTTPStatus.FORBIDDEN)
        elif self.path in ("/", "/index.html"):
            self._answer(HTTPStatus.OK, owner.page(), "text/html; charset=utf-8")
        elif self.path == "/frames" and owner.stream is not None:
            self._stream(owner.stream())
        elif self.path == "/favicon.ico":
            self._answer(HTTPStatus.NO_CONTENT)
        else:
            self._answer(HTTPStatus.NOT_FOUND)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        command = self.server.owner.command
        length = self.headers.get("Content-Length", "")
        if not self._ours() or not self._from_the_page():
            self._answer(HTTPStatus.FORBIDDEN)
        elif self.path != "/command" or command is None:
            self._answer(HTTPStatus.NOT_FOUND)
        elif not (length.isdigit() and int(length) <= LONGEST_COMMAND):
            self._answer(HTTPStatus.BAD_REQUEST)
        else:
            good = command(self.rfile.read(int(length)))
            self._answer(HTTPStatus.NO_CONTENT if good else HTTPStatus.BAD_REQUEST)

    def _ours(self) -> bool:
        """Whether the browser believes to talk to this machine."""
        try:
            return urlsplit(f"//{self.headers.get('Host', '')}").hostname in LOCAL
        except ValueError:
            return False

    def _from_the_page(self) -> bool:
        """Whether a page that we served asks; programs that are no browser send no origin."""
        origin = self.headers.get("Origin")
        return origin is None or urlsplit(origin).netloc == self.headers.get("Host")

    def _head(self, status: HTTPStatus, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (HEADERS | headers).items():
            self.send_header(name, value)
        self.end_headers()

    def _answer(self, status: HTTPStatus, body: bytes = b"", kind: str = "text/plain") -> None:
        if status >= HTTPStatus.BAD_REQUEST:
            body = f"{status.value} {status.phrase}\n".encode()
            self.close_connection = True  # what the request held further is not read
        sized = (
            {}
            if status == HTTPStatus.NO_CONTENT
            else {"Content-Length": str(len(body)), "Content-Type": kind}
        )
        closing = {"Connection": "close"} if self.close_connection else {}
        self._head(status, sized | closing)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _stream(self, chunks: Iterator[bytes]) -> None:
        """Chunks as they come, until the browser goes or there are no more."""
        self.close_connection = True
        headers = {"Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked"}
        self._head(HTTPStatus.OK, headers | {"Connection": "close"})
        if self.command == "HEAD":
            return
        try:
            for chunk in chunks:
                self.wfile.write(b"%x\r\n" % len(chunk) + chunk + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # gone, or asleep for longer than we wait
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()
