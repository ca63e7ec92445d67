"""A small HTTP server on the loopback interface: the page's files and its data, read-only."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import traceback
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from hess.errors import HessError
from hess.viewer.payloads import Library

ADDRESS = "127.0.0.1"
STATIC = Path(__file__).with_name("static")
# A page of another site can make a browser ask us under its own name, after pointing that name
# at 127.0.0.1; only names that cannot be pointed elsewhere are answered. Ports may differ: SSH
# forwards from any.
_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})

_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_WORTH_PACKING = 1_000  # bytes


class Answer(NamedTuple):
    """A response before it is packed."""

    status: HTTPStatus
    kind: str
    body: bytes


class Server(ThreadingHTTPServer):
    """Serves one folder of runs."""

    daemon_threads = True

    def __init__(self, root: Path, port: int):
        if not root.is_dir():
            raise HessError(f"{str(root)!r} is not a folder; give one that `hess train` wrote to")
        self.library = Library(root)
        try:
            super().__init__((ADDRESS, port), Handler)
        except (OSError, OverflowError) as error:
            raise HessError(
                f"cannot listen on port {port} ({error}); choose another with --port"
            ) from error

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server_version = "hess"
    sys_version = ""
    timeout = 60  # seconds until a silent connection is closed
    server: Server

    def do_GET(self) -> None:
        """Answer; an error becomes a message that the page can show."""
        try:
            answer = self._answer()
        except HessError as error:
            answer = _json(HTTPStatus.NOT_FOUND, {"error": str(error)})
        except Exception:  # one request must not end the server
            traceback.print_exc(file=sys.stderr)
            answer = _json(
                HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "an internal error, see the terminal"}
            )
        try:
            self._send(answer)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True  # the page was closed or reloaded

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """A page that asks every few seconds would fill the terminal."""

    def _answer(self) -> Answer:
        if _host_name(self.headers.get("Host", "")) not in _HOSTS:
            return _json(
                HTTPStatus.FORBIDDEN, {"error": "only reachable as 127.0.0.1 or localhost"}
            )
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        library, name, step = self.server.library, query.get("name", ""), query.get("step", "")
        if parts.path == "/api/runs":
            return _json(HTTPStatus.OK, library.runs())
        if parts.path == "/api/run":
            return _json(HTTPStatus.OK, library.run(name))
        if parts.path == "/api/snapshot":
            if not step.isdecimal():
                raise HessError(f"{step!r} is not a step")
            return _json(HTTPStatus.OK, library.snapshot(name, int(step)))
        page = static_files().get("/index.html" if parts.path == "/" else parts.path)
        return page or _json(HTTPStatus.NOT_FOUND, {"error": f"there is no {parts.path!r}"})

    def _send(self, answer: Answer) -> None:
        body, extra = answer.body, dict[str, str]()
        if answer.status == HTTPStatus.OK:
            extra["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            if self.headers.get("If-None-Match") == extra["ETag"]:
                self._head(HTTPStatus.NOT_MODIFIED, extra | {"Content-Length": "0"})
                return
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > _WORTH_PACKING:
            body = gzip.compress(body, 5)
            extra["Content-Encoding"] = "gzip"
        extra |= {"Content-Type": answer.kind, "Content-Length": str(len(body))}
        self._head(answer.status, extra)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, extra: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in (_HEADERS | dict(extra)).items():
            self.send_header(name, value)
        self.end_headers()


def _host_name(host: str) -> str:
    """The Host header without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _json(status: HTTPStatus, value: Any) -> Answer:
    body = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    return Answer(status, "application/json", body)


@cache
def static_files() -> dict[str, Answer]:
    """The files of the page by their path; only these exist, whatever is asked for."""
    found = {}
    for path in STATIC.rglob("*"):
        if path.suffix in _TYPES:
            kind = f"{_TYPES[path.suffix]}; charset=utf-8"
            name = f"/{path.relative_to(STATIC).as_posix()}"
            found[name] = Answer(HTTPStatus.OK, kind, path.read_bytes())
    return found
