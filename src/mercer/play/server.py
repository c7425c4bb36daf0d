"""`mercer play`: the page on 127.0.0.1, and Python behind it.

Only who knows the token in the address is answered, and only where Host and Origin are this very server: so no other
page of the browser, and no name that leads here, gets a word out of it.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections import OrderedDict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from .answers import answer
from .export import document
from .state import State, StateError, read
from .worked import worked

MOST_BYTES = 1_000_000
_KEPT = 8  # worked solutions that can be asked for again
_PLAIN = "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; form-action 'none'"
"""For worked solutions, which have styles of their own and no script."""


class PlayServer(ThreadingHTTPServer):
    """Serves one page; `url` is its address, token included."""

    daemon_threads = True

    def __init__(self, port: int = 0, state: State | None = None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.token = secrets.token_urlsafe(24)
        self.page = document(state, server=True).encode()
        self.names = {f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"}
        self.lock = Lock()  # one fit at a time
        self.solutions: OrderedDict[str, bytes] = OrderedDict()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that is closed while it waits is no error; all others are told on stderr, as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def keep(self, html: str) -> str:
        """Keep a worked solution; the name under which it can be had."""
        name = secrets.token_urlsafe(12)
        self.solutions[name] = html.encode()
        while len(self.solutions) > _KEPT:
            self.solutions.popitem(last=False)
        return name


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    server_version = "mercer"
    sys_version = ""
    timeout = 60

    def log_message(self, *_: Any) -> None:
        """Nothing is said about requests."""

    def _place(self) -> str | None:
        """What is asked for, behind the token; None where the request is not for us."""
        _, token, *rest = f"{self.path.partition('?')[0]}".split("/", 2)
        known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if self.headers.get("Host") not in self.server.names or not known or not rest:
            return None
        return rest[0]

    def do_GET(self) -> None:
        """The page, or a worked solution."""
        place = self._place()
        if place == "":
            self._send(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8", _headers_of(self.server.page))
        elif place is not None and place.startswith("worked/") and place[7:] in self.server.solutions:
            self._send(HTTPStatus.OK, self.server.solutions[place[7:]], "text/html; charset=utf-8", _PLAIN)
        else:
            self._refuse(HTTPStatus.FORBIDDEN if place is None else HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """A fit, or a worked solution."""
        place = self._place()
        origin = self.headers.get("Origin", "").removeprefix("http://")
        if place is None or origin not in self.server.names:
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        if place not in ("fit", "worked"):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= MOST_BYTES or self.headers.get("Content-Type") != "application/json":
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        try:
            state = read(json.loads(self.rfile.read(length)))
            with self.server.lock:
                reply: dict[str, Any] = answer(state) if place == "fit" else self._worked(state)
        except (StateError, ValueError, RecursionError) as error:
            reply = {"error": str(error)}  # an answer like any other: the page shows it
        self._send(HTTPStatus.OK, json.dumps(reply).encode(), "application/json", "default-src 'none'")

    def _worked(self, state: State) -> dict[str, str]:
        solution = worked(state)
        return {"url": f"worked/{self.server.keep(solution.html)}", "latex": solution.latex}

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, b"", "text/plain", "default-src 'none'")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, rules: str) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": f"{rules}; frame-ancestors 'self'",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _headers_of(page: bytes) -> str:
    """The policy that the page itself carries."""
    head = page.partition(b'Content-Security-Policy" content="')[2]
    return head.partition(b'"')[0].decode()
