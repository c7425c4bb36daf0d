"""A real browser for the tests of the page.

Nothing but 127.0.0.1 is reached: every other request is refused, counted, and fails the test; so does any error in the
console. The modules are served under http://127.0.0.1/assets/ straight from the package; what tests ask them, under
/probes/.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from .tools import ADVICE, IN_CI, browser

ASSETS = Path(__file__).parents[1] / "src" / "mercer" / "play" / "assets"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PROBES = Path(__file__).parent / "play"
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
BLANK = "http://127.0.0.1/assets/"


def ask(name: str) -> str:
    """A call of a function in tests/play/probes.js."""
    return f"async (given) => (await import('/probes/probes.js')).{name}(given)"


def require_browser() -> str:
    """Its path; without one the test is skipped with one line, and fails in CI."""
    path = browser()
    if path is None:
        (pytest.fail if IN_CI else pytest.skip)(f"No browser for the tests of the page: {ADVICE}.")
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser, one for all tests of a file."""
    path = require_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@contextmanager
def opened(chromium: Any, url: str = BLANK, **options: Any) -> Iterator[Any]:
    """A page of its own; errors in the console and requests to elsewhere fail at the end."""
    options.setdefault("viewport", {"width": 1280, "height": 860})
    context = chromium.new_context(**options)
    errors: list[str] = []
    elsewhere: list[str] = []

    def answer(route: Any) -> None:
        place = urlsplit(route.request.url)
        if place.scheme in ("file", "blob", "data", "about"):
            route.continue_()
        elif place.hostname != "127.0.0.1":
            elsewhere.append(route.request.url)
            route.abort()
        elif place.port is None:
            folder, _, name = place.path.removeprefix("/").partition("/")
            path = {"assets": ASSETS, "probes": PROBES}[folder] / name
            body = path.read_text() if path.is_file() else "<!doctype html><title>blank</title>"
            route.fulfill(body=body, content_type=KINDS.get(path.suffix, "text/html"))
        else:
            route.continue_()

    context.route("**/*", answer)
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    try:
        yield page
    finally:
        context.close()
    assert errors == []
    assert elsewhere == []
