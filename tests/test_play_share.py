"""What can be taken along: the same machine as Python and as a command, tables, pictures, links, animations."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

import mercer
from mercer.cli import main
from mercer.play.link import from_link, to_hash
from mercer.play.record import record
from mercer.play.state import StateError, fitted, read
from mercer.play.steps import steps_of

from .browser import ask, chromium, opened  # noqa: F401 - a fixture
from .test_play_page import at_rest, points, url  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def blank(chromium):  # noqa: F811
    with opened(chromium) as page:
        yield page


EXAMPLES = ("three", "xor", "moons", "rings", "clouds", "wave", "cloud", "perceptron", "ridge")


@pytest.mark.parametrize("name", EXAMPLES)
def test_python_and_command_give_the_same_machine(blank, name, tmp_path, monkeypatch, capsys):
    """Both are run, and compared with each other and with what the page found."""
    told = blank.evaluate(ask("taken"), name)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(told["python"], "page.py", "exec"), names)
    machine = names["machine"]
    (tmp_path / "points.csv").write_text(told["csv"])
    assert main(shlex.split(told["shell"])[1:]) == 0
    other = mercer.load("machine.mercer")
    capsys.readouterr()
    state = from_link(told["link"])
    grid = np.random.default_rng(0).uniform(-2, 2, (50, state.X.shape[1]))
    for model in (machine, other):
        score = getattr(model, "decision_function", model.predict)
        mine = getattr(fitted(state), "decision_function", fitted(state).predict)
        np.testing.assert_allclose(score(grid), mine(grid), rtol=1e-6, atol=1e-6)
    if name != "perceptron":
        found = sum(c.primal for c in getattr(machine, "certificates_", None) or [machine.certificate_])
        assert found == pytest.approx(told["primal"], rel=1e-5)


def test_files_that_the_page_gives(chromium, url):  # noqa: F811
    """PNG, SVG and CSV are what they say; a table that was given is read again to the same points."""
    with opened(chromium, url, accept_downloads=True) as page:
        at_rest(page)

        def taken(button):
            page.locator("summary").last.click()
            with page.expect_download() as download:
                page.get_by_role("button", name=button).click()
            return download.value.suggested_filename, download.value.path().read_bytes()

        name, png = taken("Picture (PNG)")
        assert (name, png[:8]) == ("mercer.png", b"\x89PNG\r\n\x1a\n")
        assert len(png) > 20_000
        name, svg = taken("Picture (SVG)")
        assert name == "mercer.svg"
        assert svg.startswith(b"<svg") and b"data:image/png;base64," in svg and svg.count(b"<g") >= 60
        assert b"class=" not in svg and b"<script" not in svg
        name, csv = taken("Table (CSV)")
        assert name == "points.csv"
        before = points(page, lambda rows: True) or None
        page.locator("summary").first.click()
        page.locator("[data-part=file]").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": csv})
        page.get_by_text("60 points read.").wait_for()
        after = points(page, lambda rows: len(rows) == 60)
        assert before is None or after == before
        table = [line.split(",") for line in csv.decode().split()[1:]]
        assert [(float(x), float(y)) for x, y, _ in table] == [(x, y) for x, y, _ in after]


def test_python_and_command_are_shown_and_the_link_is_copied(chromium, url):  # noqa: F811
    with opened(chromium, url, permissions=["clipboard-read", "clipboard-write"]) as page:
        at_rest(page)
        page.locator("summary").last.click()
        page.get_by_role("button", name="Python").click()
        page.get_by_role("dialog").filter(has_text='SVC("rbf(gamma=1.5)", C=10, tol=1e-6)').wait_for()
        page.get_by_role("button", name="Close").click()
        page.locator("summary").last.click()
        page.get_by_role("button", name="Command line").click()
        page.get_by_role("dialog").filter(has_text="mercer train points.csv").wait_for()
        page.keyboard.press("Escape")
        page.locator("summary").last.click()
        page.get_by_role("button", name="Copy link").click()
        page.get_by_text(re.compile("The link is")).wait_for()
        assert "pts=" in page.evaluate("() => location.hash")


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "pairs", "C": 1.0}, {"method": "pairs", "machine": "svr", "C": 1.0},
        {"method": "pairs", "machine": "oneclass"}, {"method": "subgradient", "C": 1.0},
        {"method": "stochastic", "C": 1.0}, {"method": "subgradient-best", "C": 1.0},
        {"method": "stochastic-best", "C": 1.0}, {"method": "subgradient-best", "C": 100.0, "kernel": "poly"},
        {"method": "stochastic-best", "C": 100.0, "kernel": "laplacian"},
        {"machine": "perceptron", "kernel": "poly", "degree": 4},
    ],
)  # fmt: skip
def test_steps_are_the_same_in_python(blank, settings):
    found = blank.evaluate(ask("steps"), settings)
    mine = steps_of(read(found["state"]))
    theirs = found["steps"][:-1]  # the last only says that this is the end
    assert len(mine) == len(theirs)
    for a, b in list(zip(mine, theirs, strict=True))[:60]:
        np.testing.assert_allclose(a.beta, b["beta"], rtol=1e-6, atol=1e-9 * settings.get("C", 1.0))
        assert a.changed == tuple(b["event"]["points"])
        if b["primal"] is not None and np.isfinite(b["primal"]):
            assert a.primal == pytest.approx(b["primal"], rel=1e-6)
            assert a.dual == pytest.approx(b["dual"], rel=1e-6, abs=1e-9)


def test_animations(tmp_path):
    from PIL import Image

    state = read({"points": [[1, 3, 1], [2, 1, 1], [0, 1, -1]], "kernel": "linear", "machine": "perceptron"})
    count = record(state, tmp_path / "steps.gif", 5)
    with Image.open(tmp_path / "steps.gif") as image:
        assert image.n_frames == count == 5
    assert main(["play", "--link", to_hash(state), "--record", str(tmp_path / "frames"), "--frames", "2"]) == 0
    assert sorted(path.name for path in (tmp_path / "frames").iterdir()) == ["step000.png", "step001.png"]
    with pytest.raises(StateError, match="ends in .gif"):
        record(state, tmp_path / "steps.mp4")
    with pytest.raises(StateError, match="no steps"):
        record(read({"machine": "ridge", "points": [[0, 1, 1]]}), tmp_path / "steps.gif")
