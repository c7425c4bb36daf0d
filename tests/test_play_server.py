"""`mercer play`: who is answered and who is not; what Python finds; that nothing from outside becomes markup."""

from __future__ import annotations

import base64
import http.client
import json
import signal
import subprocess
import sys
import threading
from contextlib import closing
from urllib.parse import quote

import numpy as np
import pytest

from mercer.cli import main
from mercer.play.answers import CELLS, answer
from mercer.play.export import as_data, document
from mercer.play.link import from_link, to_hash
from mercer.play.server import MOST_BYTES, PlayServer
from mercer.play.state import MOST_POINTS, StateError, fitted, of_points, read
from mercer.play.worked import worked

from .browser import ask, chromium, opened  # noqa: F401 - a fixture
from .test_play_page import at_rest, points, until

EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'&"


@pytest.fixture(scope="module")
def server():
    with PlayServer() as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def request(server, method="GET", path=None, body=None, **headers):
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)) as connection:
        connection.request(method, f"/{server.token}/" if path is None else path, body, given)
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()


def asking(server, state, what="fit", **headers):
    own = {"Origin": server.url.rpartition("/")[0].rpartition("/")[0], "Content_Type": "application/json"}
    status, _, content = request(server, "POST", f"/{server.token}/{what}", json.dumps(state), **{**own, **headers})
    return status, json.loads(content) if content else None


def test_only_the_page_and_only_with_its_token(server):
    status, headers, content = request(server)
    assert status == 200
    assert b"<title>Mercer" in content
    assert "default-src 'none'; script-src 'sha256-" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    for path in ("/", "/wrong/", f"/{server.token[:-1]}/", f"/{server.token}", "/favicon.ico"):
        assert request(server, path=path)[0] == 403, path
    for path in ("page.js", "../", "..%2f", "worked/", "worked/x", "fit"):
        assert request(server, path=f"/{server.token}/{path}")[0] == 404, path


def test_host_and_origin_are_checked(server):
    """A name that leads here, and a page from elsewhere, get nothing."""
    for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1"):
        assert request(server, Host=host)[0] == 403, host
    assert request(server, Host=f"localhost:{server.server_port}")[0] == 200
    state = of_points([[1, 3], [2, 1], [0, 1]], ["+", "+", "-"]).to_plain()
    assert asking(server, state)[0] == 200
    for origin in ("http://evil.example", "null", "", f"https://127.0.0.1:{server.server_port}"):
        assert asking(server, state, Origin=origin)[0] == 403, origin
    assert asking(server, state, Content_Type="text/plain")[0] == 400
    assert asking(server, state, what="elsewhere")[0] == 404
    assert asking(server, state, Content_Length=str(MOST_BYTES + 1))[0] == 400  # before any of it is read


@pytest.mark.parametrize(
    "change",
    [
        {"machine": EVIL}, {"kernel": EVIL}, {"text": EVIL * 9}, {"C": "1"}, {"C": -1}, {"C": 1e9}, {"gamma": True},
        {"C": float("nan")},
        {"degree": 99}, {"points": [[0, 0, 1]] * (MOST_POINTS + 1)}, {"points": [[0, 1e9, 1]]}, {"points": [[0, 0, 7]]},
        {"points": [EVIL]}, {"points": {"a": 1}}, {"kernel": "text", "text": "__import__('os')"},
        {"kernel": "text", "text": EVIL},
        {"kernel": "text", "text": "precomputed"}, {"points": []},
    ],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(server, change):
    state = of_points([[1, 3], [2, 1], [0, 1]], ["+", "+", "-"]).to_plain()
    status, reply = asking(server, {**state, **change})
    assert status == 200
    assert set(reply) == {"error"}
    assert reply["error"]


def test_ctrl_c_ends_it():
    command = [sys.executable, "-m", "mercer", "play", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "", "")


def unpacked(text):
    return np.frombuffer(base64.b64decode(text))


@pytest.mark.parametrize(
    "change",
    [{"machine": m} for m in ("svc", "svr", "oneclass", "ridge", "perceptron")] + [{"three": True}],
)  # fmt: skip
def test_answers_are_those_of_the_machine(change):
    """beta, F, b and the field that are sent make up the f of Mercer's machine."""
    rng = np.random.default_rng(0)
    rows = [[*map(float, rng.normal(size=2)), [1, -1, 2][k % (3 if "three" in change else 2)]] for k in range(30)]
    given = {
        "points": rows,
        "kernel": "text",
        "text": "rbf(gamma=0.5) + 0.1*linear",
        "machine": change.get("machine", "svc"),
    }
    state = read(given)
    reply, model = answer(state), fitted(state)
    K = unpacked(reply["K"]).reshape(30, 30)
    for part in reply["parts"]:
        rows_of = part["rows"]
        np.testing.assert_allclose(K[np.ix_(rows_of, rows_of)] @ unpacked(part["beta"]), unpacked(part["F"]), atol=1e-9)
    assert [unpacked(field).size for field in reply["fields"]] == (
        [CELLS + 2] if state.regression else [(CELLS + 2) ** 2] * len(reply["parts"])
    )
    if state.settings["machine"] == "svc" and len(reply["parts"]) == 1:
        f = unpacked(reply["parts"][0]["F"]) + reply["parts"][0]["bias"]
        np.testing.assert_allclose(f, model.decision_function(state.X))
        assert reply["primal"] == model.certificate_.primal
    assert reply["relative"] <= 1e-6 or state.settings["machine"] == "perceptron"


def test_python_behind_the_page(server, chromium):  # noqa: F811
    """Kernels as text, many points and exact solutions come from Python; what it refuses is told in its words."""
    with opened(chromium, server.url) as page:
        at_rest(page)
        page.get_by_role("radio", name="as text").check()
        at_rest(page, "This kernel tells")
        primal = page.locator("[data-part=primal]").inner_text()
        text = page.get_by_role("textbox", name="Kernel as text")
        text.fill("2*laplacian(gamma=1) + linear**2")
        text.press("Enter")
        until(page, lambda value: value != primal, "() => document.querySelector('[data-part=primal]').textContent")
        at_rest(page, "This kernel tells")
        state = from_link(page.evaluate("() => location.hash"))
        value = float(page.locator("[data-part=primal]").inner_text())
        assert value == pytest.approx(fitted(state).certificate_.primal, rel=1e-5)
        text.fill("rbf(gamma=")
        text.press("Enter")
        page.locator(".sentence").filter(has_text="Python could not solve this").wait_for()
        page.get_by_role("button", name="Three points").click()
        at_rest(page)
        page.get_by_role("button", name="Solve it exactly").click()
        page.frame_locator("iframe").get_by_role("heading", name="Support vector machine").wait_for()
        page.get_by_role("button", name="Close the solution").first.click()
        rng = np.random.default_rng(1)
        rows = "\n".join(f"{x:.3f},{y:.3f},{'a' if x * y > 0 else 'b'}" for x, y in rng.uniform(-2, 2, (600, 2)))
        page.locator("summary").first.click()
        paste(page, rows)
        with page.expect_response("**/fit") as sent:
            page.get_by_role("button", name="Use these rows").click()
        assert sent.value.status == 200
        at_rest(page, "tells")
        assert len(points(page, lambda rows: len(rows) == 600)) == 600


def paste(page, text):
    """At once: typed in, many rows take seconds."""
    page.get_by_label("Rows of two numbers").evaluate("(area, text) => { area.value = text; }", text)


@pytest.mark.parametrize("machine", ["svc", "perceptron", "ridge"])
def test_worked_solutions_stand_beside_the_picture_of_the_page(machine):
    """On the screen without a picture of their own, and checked all the same; on paper with it."""
    found = worked(read({"machine": machine, "kernel": "linear", "points": [[1, 3, 1], [2, 1, 1], [0, 1, -1]]}))
    assert "<figure" not in found.html
    assert "steps are checked by machine" in found.html
    assert ("tikzpicture" in found.latex) == (machine != "ridge")


def test_links_are_the_same_in_python(chromium):  # noqa: F811
    with opened(chromium) as page:
        for link in page.evaluate(ask("links")):
            assert to_hash(from_link(link)) == link
    with pytest.raises(StateError):
        from_link("#k=nothing&v=0,0,2&pts=0,0p")


FIELDS = ("m", "k", "t", "C", "g", "d", "c", "e", "n", "l", "w", "s", "v", "pts")


def test_no_field_of_a_link_becomes_markup(chromium, tmp_path):  # noqa: F811
    """Script in every field, one by one and in all at once: nothing runs, defaults stand in, and a note says so."""
    path = tmp_path / "page.html"
    path.write_text(document(), encoding="utf-8")
    good = {"v": "0,0,2", "pts": "1,1p0,0n"}
    links = [{**good, field: quote(EVIL)} for field in FIELDS] + [dict.fromkeys(FIELDS, EVIL)]
    hashes = ["#" + "&".join(f"{key}={value}" for key, value in link.items()) for link in [good, *links]]
    with opened(chromium, "about:blank") as page:
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        notice = page.locator("[data-part=notice]")

        def harmless(link):
            notice.filter(has_text="of the link").wait_for()
            assert page.locator(".mercer-play img, .mercer-play script").count() == 0
            assert page.evaluate("() => document.scripts.length") == 1
            if good["pts"] in link:
                at_rest(page, "1 circle")

        for link in (hashes[-1], hashes[-2]):  # as the page is opened
            page.goto("about:blank")
            page.goto(path.as_uri() + link)
            harmless(link)
        for link in hashes[1:]:  # and as it stands open
            page.evaluate("(link) => { location.hash = link; }", hashes[0])
            notice.wait_for(state="hidden")
            page.evaluate("(link) => { location.hash = link; }", link)
            harmless(link)


def test_no_table_becomes_markup_and_no_script_runs(chromium, tmp_path):  # noqa: F811
    path = tmp_path / "page.html"
    path.write_text(document(), encoding="utf-8")
    with opened(chromium, path.as_uri()) as page:
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        at_rest(page)
        page.locator("summary").first.click()
        many = "\n".join(f"{k % 50},{k % 7},{EVIL if k % 2 else 'b'}" for k in range(MOST_POINTS + 10))
        paste(page, f"{EVIL},{EVIL}\n1e99,2,a\n{EVIL}\nnan,1,a\n{many}")
        page.get_by_role("button", name="Use these rows").click()
        page.get_by_text("2000 points read.").wait_for()
        page.get_by_text("10 rows beyond the first 2,000 left out").wait_for()
        assert page.locator(".mercer-play img, .mercer-play script").count() == 0
    # The policy itself: script that gets into the page all the same does not run.
    page = chromium.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(path.as_uri())
    page.evaluate("() => document.body.insertAdjacentHTML('beforeend', '<img src=data:, onerror=\"window.ran = 1\">')")
    page.evaluate(
        "() => document.body.append(Object.assign(document.createElement('script'), { text: 'window.ran = 1' }))"
    )
    until(page, lambda count: len(refused) >= 2, "() => 0")
    assert all("Content Security Policy" in text for text in refused)
    assert page.evaluate("() => window.ran") is None
    page.close()


def test_data_in_the_page_ends_no_script():
    assert "<" not in as_data({"html": "</script><script>alert(1)</script>", "a": "<!--"})
    assert json.loads(as_data({"html": EVIL})) == {"html": EVIL}


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["play", "--export", "page.html"]) == 0
    assert main(["play", "1,3:+ 2,1:+ 0,1:-", "--export", "page.html", "--json"]) == 0  # over a page of ours
    assert json.loads(capsys.readouterr().out)["worked"] is True
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["play", "--export", "notes.txt"]) == 2
    assert main(["play", "--link", "#k=nothing&pts=0,0p", "--export", "page.html"]) == 3
    assert main(["play", "a.csv", "--link", "#", "--export", "page.html"]) == 2
    assert main(["play", "--record", "a.gif"]) == 2
    (tmp_path / "wide.csv").write_text("a,b,c,label\n1,2,3,x\n")
    assert main(["play", "wide.csv", "--export", "page.html"]) == 3
    assert "two columns" in capsys.readouterr().err
