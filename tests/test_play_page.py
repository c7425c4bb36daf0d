"""The page in a real browser: every gesture by mouse and by keyboard, settings, views, steps, for everybody."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest

from mercer.play.export import document
from mercer.play.link import from_link
from mercer.play.state import fitted, of_points
from mercer.play.worked import worked

from .browser import ask, chromium, opened  # noqa: F401 - a fixture
from .tools import AXE, IN_CI

THREE = "#k=linear&v=1,2,2.5&pts=1,3p2,1p0,1n"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(document(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def three(chromium, url):  # noqa: F811
    with opened(chromium, url + THREE) as page:
        at_rest(page)
        yield page


def at_rest(page, words="Proved"):
    """A change makes the sentence busy at once; it is no longer when it speaks of what is shown."""
    page.locator(".sentence[aria-busy=false]").filter(has_text=words).wait_for()


def until(page, good, what="() => location.hash"):
    """Wait until what the page says is good; give it back. Polling in the page would need eval, which it forbids."""
    end = time.monotonic() + 20
    while not good(value := page.evaluate(what)):
        assert time.monotonic() < end, value
        page.wait_for_timeout(20)
    return value


def points(page, good=lambda rows: True):
    """The points in the address, once they are good."""

    def rows(link):
        return re.findall(r"(-?[\d.]+),(-?[\d.]+)([pnt])", link.partition("pts=")[2])

    return [(float(x), float(y), label) for x, y, label in rows(until(page, lambda link: good(rows(link))))]


def place(page, x, y):
    """Where a point of the three-point picture is on the screen."""
    box = page.locator(".plot").bounding_box()
    return box["x"] + (x + 1.5) / 5 * box["width"], box["y"] + (4.5 - y) / 5 * box["height"]


def undo(page):
    """Once, and wait for it: going back in the history takes its time, and a second press would leave the page."""
    before = page.evaluate("() => location.hash")
    page.get_by_role("button", name="Undo").click()
    until(page, lambda link: link != before)


def mouse_move(page):
    page.mouse.move(*place(page, 0, 1))
    page.mouse.down()
    page.mouse.move(*place(page, 0.5, 1), steps=3)
    page.mouse.up()


def key_focus(page, presses=()):
    page.locator(".point[tabindex='0']").focus()
    for key in presses:
        page.keyboard.press(key)


def mouse_add(page):
    page.mouse.click(*place(page, 1.25, 3.25))


def mouse_relabel(page):
    page.keyboard.down("Shift")
    page.mouse.click(*place(page, 1, 3))
    page.keyboard.up("Shift")


def mouse_delete(page):
    page.keyboard.down("Alt")
    page.mouse.click(*place(page, 1, 3))
    page.keyboard.up("Alt")


def button(name, first):
    def press(page):
        page.mouse.click(*place(page, *first))
        page.get_by_role("button", name=name, exact=True).click()

    return press


GESTURES = {
    "move": (mouse_move, lambda page: key_focus(page, ["ArrowDown", "ArrowLeft", *["Shift+ArrowRight"] * 8])),
    "add": (mouse_add, lambda page: key_focus(page, ["a"])),
    "relabel": (mouse_relabel, lambda page: key_focus(page, ["r"]), button("Relabel", (1, 3))),
    "delete": (mouse_delete, lambda page: key_focus(page, ["Delete"]), button("Delete", (1, 3))),
}
AFTER = {
    "move": [(1, 3, "p"), (2, 1, "p"), (0.5, 1, "n")],
    "add": [(1, 3, "p"), (2, 1, "p"), (0, 1, "n"), (1.25, 3.25, "p")],
    "relabel": [(1, 3, "n"), (2, 1, "p"), (0, 1, "n")],
    "delete": [(2, 1, "p"), (0, 1, "n")],
}
BEFORE = [(1, 3, "p"), (2, 1, "p"), (0, 1, "n")]


def near(found, expected):
    """The same points, but for what a pixel is wide."""
    return len(found) == len(expected) and all(
        a[2] == b[2] and abs(float(a[0]) - b[0]) < 0.02 and abs(float(a[1]) - b[1]) < 0.02
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("gesture", GESTURES)
def test_each_gesture_by_mouse_and_by_keyboard(three, gesture):
    """All ways lead to the same state; Undo and Redo go back and forth, and so does the browser's Back."""
    for way in GESTURES[gesture]:
        way(three)
        points(three, lambda rows: near(rows, AFTER[gesture]))
        undo(three)
        while not near(points(three), BEFORE):  # by keyboard, a move of eight presses is eight gestures
            undo(three)
        three.get_by_role("button", name="Redo").click()
        points(three, lambda rows: not near(rows, BEFORE))
        three.go_back()
        points(three, lambda rows: near(rows, BEFORE))
        three.keyboard.press("Escape")
        at_rest(three)


def test_dragging_is_one_gesture_and_the_picture_follows(three):
    """The boundary moves while the button is held; the state in the address only when it is let go."""
    line = three.locator(".line-zero").first.get_attribute("d")
    three.mouse.move(*place(three, 0, 1))
    three.mouse.down()
    three.mouse.move(*place(three, 0.6, 1.4), steps=4)
    until(three, lambda d: d != line, "() => document.querySelector('.picture .line-zero').getAttribute('d')")
    assert near(points(three), BEFORE)
    three.mouse.up()
    points(three, lambda rows: near(rows, [*BEFORE[:2], (0.6, 1.4, "n")]))
    three.keyboard.press("Control+z")
    points(three, lambda rows: near(rows, BEFORE))
    three.keyboard.press("Control+Shift+z")
    points(three, lambda rows: not near(rows, BEFORE))


def test_a_finger_drags_points_and_scrolls_elsewhere(chromium, url):  # noqa: F811
    with opened(chromium, url + THREE, viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True) as page:
        at_rest(page)
        touch = page.context.new_cdp_session(page)

        def send(kind, *at):
            touch.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [dict(zip("xy", p, strict=True)) for p in at]}
            )

        send("touchStart", place(page, 0, 1))
        for k in range(1, 6):
            send("touchMove", place(page, 0.1 * k, 1 + 0.1 * k))
        send("touchEnd")
        points(page, lambda rows: abs(float(rows[2][0]) - 0.5) < 0.05)
        count = len(points(page))
        start = place(page, 3, 0.5)
        send("touchStart", start)
        for k in range(1, 10):
            send("touchMove", (start[0], start[1] - 15 * k))
        send("touchEnd")
        until(page, lambda y: y > 20, "() => scrollY")
        assert len(points(page)) == count


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ("svr", "follows"), ("oneclass", "encloses"), ("ridge", "squared distances"), ("perceptron", "mistakes"),
        ("svc", "tells"),
    ],
)  # fmt: skip
def test_machines_and_kernels(chromium, url, machine, words):  # noqa: F811
    """Each machine with each kernel: solved, proved, told in a sentence."""
    with opened(chromium, url) as page:
        at_rest(page)
        page.get_by_role("combobox", name="Machine").select_option(machine)
        for kernel in ("linear", "poly", "laplacian", "rbf"):
            page.get_by_role("radio", name=kernel).check()
            at_rest(page, re.compile(f"{words}.*Its margin" if machine == "perceptron" and kernel == "rbf" else words))
            state = from_link(until(page, lambda link, k=kernel: k == "rbf" or f"k={k}" in link))
            assert state.settings["machine"] == machine
            assert state.settings["kernel"] == kernel


def test_settings_travel_in_the_link(three, chromium):  # noqa: F811
    slider = three.get_by_role("slider", name="price of a violation")
    slider.focus()
    for _ in range(3):
        three.keyboard.press("ArrowRight")
    link = until(three, lambda link: "C=" in link)
    C = from_link(link).settings["C"]
    assert C > 10
    three.get_by_role("radio", name="poly").check()
    three.get_by_role("slider", name="degree").fill("4")
    until(three, lambda link: "d=4" in link)
    at_rest(three)
    with opened(chromium, three.url) as other:
        at_rest(other)
        assert other.evaluate("() => location.hash") == three.evaluate("() => location.hash")
        assert other.locator("[data-part=C-value]").inner_text() == three.locator("[data-part=C-value]").inner_text()
        assert other.locator(".sentence").inner_text() == three.locator(".sentence").inner_text()


def test_a_link_in_the_address_of_an_open_page(three):
    """It is shown, with a note where it had to be mended; Undo goes back; a reload loses nothing of the history."""
    three.evaluate("() => { location.hash = '#k=linear&C=1e99&v=0,0,2&pts=1,1p0,0n'; }")
    at_rest(three, "1 circle from 1 square")
    three.get_by_text("1 part of the link was not understood").wait_for()
    undo(three)
    at_rest(three, "2 circles from 1 square")
    key_focus(three, ["Delete"])
    at_rest(three, "1 circle from 1 square")
    three.reload()
    at_rest(three, "1 circle from 1 square")
    three.go_back()
    at_rest(three, "2 circles from 1 square")
    assert near(points(three), BEFORE)


def test_views(chromium, url):  # noqa: F811
    """Gram matrix and feature space: two coordinates, three that turn, or kernel PCA."""
    with opened(chromium, url) as page:
        at_rest(page)
        page.locator("[data-part=gram]").hover(position={"x": 60, "y": 40})
        page.get_by_text(re.compile("The row of the circle at")).wait_for()
        page.get_by_role("tab", name="Feature space").click()
        page.get_by_text("Kernel PCA").wait_for()
        page.get_by_role("button", name="Rings").click()
        page.get_by_text("three coordinates").wait_for()
        at_rest(page)
        canvas = "() => document.querySelector('.space').toDataURL()"
        before = page.evaluate(canvas)
        page.get_by_role("slider", name="Turn").fill("80")
        until(page, lambda data: data != before, canvas)
        page.get_by_role("button", name="Three points").click()
        page.get_by_text("the plane itself").wait_for()
        page.keyboard.press("Tab")
        page.get_by_role("tab", name="Feature space").focus()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("tab", name="Gram matrix", selected=True).wait_for()


def test_three_classes(chromium, url):  # noqa: F811
    with opened(chromium, url) as page:
        page.get_by_role("button", name="Three classes").click()
        at_rest(page, "triangles apart")
        assert page.locator(".line-zero").first.get_attribute("d")
        page.get_by_role("combobox", name="Machine").select_option("perceptron")
        page.locator("[data-part=empty]").filter(has_text="two classes").wait_for()


def test_nothing_and_one_class(chromium, url):  # noqa: F811
    with opened(chromium, url + "#v=0,0,2&pts=") as page:
        page.get_by_text("Click anywhere to place a point.").wait_for()
        box = page.locator(".plot").bounding_box()
        page.mouse.click(box["x"] + 100, box["y"] + 100)
        page.get_by_text("a boundary needs both.").first.wait_for()
        page.keyboard.down("Shift")
        page.mouse.click(box["x"] + 300, box["y"] + 300)
        page.keyboard.up("Shift")
        at_rest(page)


def test_keyboard_alone_from_nothing(chromium, url):  # noqa: F811
    """An empty picture is reached by Tab, and points are added there; one that was let go is found again."""
    with opened(chromium, url + "#v=0,0,2&pts=") as page:
        page.get_by_text("Click anywhere to place a point.").wait_for()
        page.get_by_role("button", name="Dark").focus()
        for _ in range(9):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.matches('.picture')"):
                break
        page.keyboard.press("a")
        points(page, lambda rows: len(rows) == 1)
        page.locator(".point:focus").wait_for()
        page.keyboard.press("Shift+A")
        at_rest(page)
        assert [label for *_, label in points(page)] == ["p", "n"]
        page.locator(".point:focus").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Shift+ArrowLeft")
        points(page, lambda rows: float(rows[0][0]) < 0)


def test_three_classes_meet_in_a_point(chromium, url):  # noqa: F811
    """No boundary goes on where the third class wins: its ends are met by the other two, or lie on the rim."""
    with opened(chromium, url) as page:
        page.get_by_role("button", name="Three classes").click()
        at_rest(page, "triangles apart")
        size = page.locator(".plot").bounding_box()["width"]
        lines = page.locator(".picture .line-zero").get_attribute("d").split("M")[1:]
        open_lines = [re.findall(r"-?[\d.]+ -?[\d.]+", line) for line in lines if not line.endswith("Z")]
        ends = [tuple(map(float, end.split())) for line in open_lines for end in (line[0], line[-1])]
        within = [end for end in ends if all(0 < value < size for value in end)]
        assert len(within) == 6  # two places where three meet
        for x, y in within:
            assert sum(max(abs(x - u), abs(y - v)) < size / 112 for u, v in within) == 3  # in one cell of the field


def test_a_fourth_class_is_left_out_and_told(chromium, url):  # noqa: F811
    with opened(chromium, url) as page:
        page.locator("summary").first.click()
        page.get_by_label("Rows of two numbers").fill("0,0,a\n1,0,b\n0,1,c\n1,1,d\n2,1,d\n2,2,a")
        page.get_by_role("button", name="Use these rows").click()
        page.get_by_text("4 points read. 2 rows of further classes left out: the page tells three apart.").wait_for()
        assert [label for *_, label in points(page, lambda rows: len(rows) == 4)] == ["p", "n", "t", "p"]


def step_count(page):
    return page.locator("[data-part=step-count]").inner_text()


def test_perceptron_step_by_step(chromium, url):  # noqa: F811
    """Forward, back, slider, play; primal and dual side by side; a question and its answers."""
    with opened(chromium, url) as page:
        page.get_by_role("button", name="Perceptron").click()
        page.get_by_text("Nothing is learned yet").wait_for()
        forward = page.get_by_role("button", name="One step", exact=True)
        forward.click()
        page.get_by_text("Pass 1: point 1 is on the wrong side").wait_for()
        assert page.locator("[data-part=side-primal]").inner_text().startswith("w = (1.1, 2.2)")
        assert page.locator("[data-part=side-dual]").inner_text() == "α1\u00a0=\u00a01"
        page.get_by_role("button", name="One step back").click()
        page.get_by_text("Nothing is learned yet").wait_for()
        page.get_by_role("slider", name="Step").fill("4")
        page.get_by_text("After step 4 of 11").wait_for()
        page.get_by_role("button", name="What happens next?").click()
        page.get_by_text("Which point is the next mistake?").wait_for()
        assert "It is point" not in page.locator("[data-part=quiz]").inner_text()  # hidden until asked
        page.get_by_role("spinbutton", name="Your answer").fill("7")
        page.get_by_role("button", name="Check").click()
        page.get_by_text("Not so. It is point 2.").wait_for()
        page.get_by_role("button", name="What happens next?").click()
        page.get_by_role("spinbutton", name="Your answer").fill("2")
        page.keyboard.press("Enter")
        page.get_by_text("Right. It is point 2.").wait_for()
        forward.click()
        page.get_by_text("Pass 2: point 2 is on the wrong side").wait_for()
        page.get_by_role("button", name="Play").click()
        page.get_by_text(re.compile("^step [7-9] of 11$")).wait_for()
        page.get_by_role("button", name="Pause").click()
        until(page, lambda link: f"s={step_count(page).split()[1]}&" in link)
        page.get_by_role("button", name="To the end").click()
        page.get_by_text("A pass without a mistake: done after 10 mistakes.").wait_for()


QUESTIONS = {
    "pairs": ("Two points will change", "They are points"),
    "subgradient": ("How many points will push", "It is "),
    "stochastic": ("is drawn. Does it push", "y f ="),
    "subgradient-best": ("How many points will push", "It is "),
    "stochastic-best": ("is drawn. Does it join", "y f ="),
}


def test_steps_of_an_svm(chromium, url):  # noqa: F811
    """The bar closes from step to step; the answer to a question is hidden until it is asked for."""
    with opened(chromium, url) as page:
        at_rest(page)
        page.get_by_role("button", name="Show the steps").click()
        for method, (question, answer) in QUESTIONS.items():
            page.get_by_role("combobox", name="Method").select_option(method)
            page.get_by_text("Nothing is learned yet").wait_for()
            assert page.locator(".point text").count() == 60  # questions are about numbers
            page.get_by_role("button", name="What happens next?").click()
            quiz = page.locator("[data-part=quiz]")
            quiz.filter(has_text=question).wait_for()
            assert answer not in quiz.inner_text()
            page.get_by_role("button", name="Tell me").click()
            quiz.filter(has_text=answer).wait_for()
            page.get_by_role("button", name="One step", exact=True).click()
            page.get_by_text("After step 1 of").wait_for()
            page.get_by_role("button", name="To the end").click()
            open_ended = method in ("subgradient", "stochastic")  # steps of 1/t
            page.get_by_text("Best steps close it" if open_ended else "have met").wait_for()
        page.get_by_role("button", name="Solve at once").click()
        at_rest(page)


def test_the_exported_solution_is_hidden_when_it_is_no_longer_that_of_the_points(chromium, tmp_path):  # noqa: F811
    state = of_points([[1, 3], [2, 1], [0, 1]], ["+", "+", "-"])
    path = tmp_path / "three.html"
    path.write_text(document(state, worked(state)), encoding="utf-8")
    with opened(chromium, path.as_uri()) as page:
        at_rest(page)
        page.get_by_role("button", name="Show the steps").click()
        page.get_by_role("button", name="Solve it exactly").click()
        page.frame_locator("iframe").get_by_role("heading", name="Support vector machine").wait_for()
        for width, parts in ((1280, (".plot", ".transport", "iframe")), (900, (".plot", "iframe"))):
            page.set_viewport_size({"width": width, "height": 860})
            until(page, lambda wide: wide <= 0, "() => document.documentElement.scrollWidth - innerWidth")
            for left, right in pairwise(page.locator(part).bounding_box() for part in parts):  # side by side
                assert left["x"] + left["width"] < right["x"]
                assert left["y"] < right["y"] + right["height"] and right["y"] < left["y"] + left["height"]
        page.get_by_role("button", name="LaTeX").click()
        page.get_by_role("dialog").filter(has_text="documentclass").wait_for()
        page.get_by_role("button", name="Close", exact=True).click()
        key_focus(page, ["Shift+ArrowUp"])
        page.locator("iframe").wait_for(state="hidden")
        page.get_by_role("button", name="Solve it exactly").wait_for(state="hidden")
        page.get_by_text("The exact solution of these points comes from Python").wait_for()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Solve it exactly").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(chromium, url, scheme, width):  # noqa: F811
    if not AXE.exists():
        (pytest.fail if IN_CI else pytest.skip)("axe-core is missing: run npm install --no-package-lock.")
    with opened(chromium, url, color_scheme=scheme, viewport={"width": width, "height": 800}) as page:
        at_rest(page)
        page.evaluate(AXE.read_text())

        def press(name):
            page.get_by_role("button", name=name).click()

        for act in (
            lambda: None,
            lambda: (press("Perceptron"), press("What happens next?")),
            lambda: (press("A wave"), page.get_by_role("tab", name="Feature space").click()),
            lambda: page.locator("summary").last.click(),
        ):
            act()
            at_rest(page, "")
            found = page.evaluate(
                "() => axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html + ' '"
                " + n.failureSummary).join(' / ')))"
            )
            assert found == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_many_points_are_solved_in_a_worker(chromium, url):  # noqa: F811
    """Without Python too: the page stays quick, and the answer is proved like any other."""
    rows = [(x / 13 - 1, y / 13 - 1) for x in range(25) for y in range(25)]
    odd = [(7 * k) % 5 == 0 for k in range(len(rows))]
    labels = ["p" if x * x + y * y + 0.2 * flip < 0.5 else "n" for (x, y), flip in zip(rows, odd, strict=True)]
    pts = "".join(f"{x:.3f},{y:.3f}{label}" for (x, y), label in zip(rows, labels, strict=True))
    with opened(chromium, f"{url}#C=1&v=0,0,2&pts={pts}") as page:
        at_rest(page)
        assert len(page.workers) == 1
        value = float(page.locator("[data-part=primal]").inner_text())
        assert value == pytest.approx(
            fitted(from_link(page.evaluate("() => location.hash"))).certificate_.primal, rel=1e-5
        )
        key_focus(page, ["ArrowRight", "Delete"])
        at_rest(page)
        assert len(points(page, lambda rows: len(rows) == 624)) == 624


def test_a_worker_that_breaks_down_keeps_nobody_waiting(chromium):  # noqa: F811
    with opened(chromium) as page:
        told = page.evaluate(ask("brokenWorker"))
    assert ["out of memory" in text for text in told] == [True, True]


def test_motion_is_reduced_where_that_is_asked_for(chromium, url):  # noqa: F811
    with opened(chromium, url, reduced_motion="reduce") as page:
        at_rest(page)
        style = "() => getComputedStyle(document.querySelector('.hint circle')).animationName"
        assert page.evaluate(style) == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_hide_nothing(chromium, url, scheme):  # noqa: F811
    """Where the system forces its colours, what is chosen, the bar and the shapes can still be told."""
    with opened(chromium, url, forced_colors="active", color_scheme=scheme) as page:
        at_rest(page)

        def colour(part, name="backgroundColor"):
            return page.evaluate("([part, name]) => getComputedStyle(document.querySelector(part))[name]", [part, name])

        paper = colour("body")
        for part in (".from-left", ".from-right", ".chips [aria-current=true]", ".kernels :checked + span"):
            assert colour(part) != paper, part
        assert colour(".from-left") != colour(".from-right")
        assert colour(".chips [aria-current=true]") != colour(".chips [aria-current=false]")
        assert len({colour(f".adds .{name}", "fill") for name in ("plus", "minus", "third")}) == 3


def test_a_first_visitor_sees_what_to_do(chromium, url):  # noqa: F811
    """Headline, plot and an invitation on a point are in the first screen; that goes with the first gesture."""
    with opened(chromium, url) as page:
        at_rest(page)
        assert page.get_by_role("heading", level=1).inner_text() == "Drag a point. The boundary and its proof follow."
        hint = page.locator(".hint")
        assert hint.is_visible()
        box = page.locator(".plot").bounding_box()
        assert box["y"] + box["height"] < 860
        page.mouse.click(box["x"] + 40, box["y"] + 40)
        hint.wait_for(state="hidden")
