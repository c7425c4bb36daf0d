"""The page in a notebook: the module's own interface in a browser, and the widget in Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
import traitlets

import mercer
from mercer.play.bundle import asset, widget
from mercer.play.state import read

from .browser import BLANK, ask, chromium, opened  # noqa: F401 - a fixture
from .test_play_page import at_rest, until

X = [[1.0, 3.0], [2.0, 1.0], [0.0, 1.0]]


@pytest.fixture
def playground():
    from mercer.play import Playground

    return Playground(X, ["yes", "yes", "no"], kernel="linear")


def mounted(page, state):
    page.evaluate(ask("mount"), [widget(), asset("page.css"), state])
    at_rest(page)


def test_points_and_settings_are_shared(chromium, playground):  # noqa: F811
    """A drag in the browser is in Python; what Python sets is in the browser; neither comes back as news."""
    with opened(chromium, BLANK) as page:
        mounted(page, playground.state)
        page.locator(".point[tabindex='0']").focus()
        page.keyboard.press("Shift+ArrowRight")
        state = until(page, lambda state: state["points"][0][0] > 1, "() => model.get('state')")
        assert page.evaluate("() => model.saved") == 1
        playground.state = state  # as the notebook would
        np.testing.assert_array_equal(playground.X, [[1.03, 3], X[1], X[2]])
        assert playground.y.tolist() == ["yes", "yes", "no"]
        assert playground.certificate.relative_gap <= 1e-6
        value = playground.certificate.primal
        at_rest(page)
        assert float(page.locator("[data-part=primal]").inner_text()) == pytest.approx(value, rel=1e-5)
        playground.X = [[1, 3], [2, 2], [0, 1]]
        playground.set_params(C=0.5)
        page.evaluate("(state) => model.set('state', state)", json.loads(json.dumps(playground.state)))
        until(page, lambda text: text == "0.5", "() => document.querySelector('[data-part=C-value]').textContent")
        at_rest(page)
        assert page.evaluate("() => model.saved") == 1
        value = float(page.locator("[data-part=primal]").inner_text())
        assert value == pytest.approx(playground.certificate.primal, rel=1e-5)
        page.get_by_role("button", name="Undo").click()
        until(page, lambda text: text == "10", "() => document.querySelector('[data-part=C-value]').textContent")
        page.evaluate("() => end()")
        assert page.evaluate("() => Object.values(model.listeners).flat().length") == 0


def test_questions_to_python(chromium, playground):  # noqa: F811
    """A kernel as text is fitted by the widget in Python, by messages."""
    replies: list = []
    playground.send = replies.append
    with opened(chromium, BLANK) as page:
        mounted(page, playground.state)
        page.get_by_role("radio", name="as text").check()
        (message,) = until(page, lambda sent: sent, "() => model.sent")
        playground._asked(playground, message, [])
        page.evaluate("(reply) => model.tell(reply)", replies.pop())
        page.locator(".sentence").filter(has_text="This kernel tells").wait_for()
        page.get_by_role("radio", name="linear").check()
        page.get_by_role("button", name="Solve it exactly").click()
        message = until(page, lambda sent: len(sent) == 2, "() => model.sent")[1]
        playground._asked(playground, message, [])
        page.evaluate("(reply) => model.tell(reply)", replies.pop())
        page.frame_locator("iframe").get_by_role("heading", name="Support vector machine").wait_for()


def test_in_python(playground):
    assert isinstance(playground.estimator, mercer.SVC)
    assert playground.estimator is playground.estimator
    np.testing.assert_allclose(playground.estimator.coef_, [[1, 0.5]], atol=1e-4)
    first = playground.estimator
    playground.state = {**playground.state, "step": 3}  # says nothing about the machine
    assert playground.estimator is first
    with pytest.raises(traitlets.TraitError, match="C is a number"):
        playground.state = {**playground.state, "C": -1}
    replies: list = []
    playground.send = replies.append
    playground._asked(playground, {"number": 1, "what": "fit", "state": {"C": "<script>"}}, [])
    playground._asked(playground, "nonsense", [])
    assert [set(reply) for reply in replies] == [{"number", "error"}]


def test_regression_and_one_class():
    from mercer.play import Playground

    wave = Playground(np.linspace(-1, 1, 9)[:, None], np.linspace(0, 1, 9), machine="ridge", kernel="rbf", alpha=0.5)
    assert wave.X.shape == (9, 1)
    assert wave.estimator.alpha == 0.5
    assert wave.certificate.relative_gap < 1e-9
    lone = Playground(X, machine="oneclass", nu=0.5, kernel="rbf(gamma=2) + linear")
    assert lone.y is None
    assert lone.state["kernel"] == "text"
    assert read(lone.state).settings["nu"] == 0.5
    assert lone.certificate.converged
