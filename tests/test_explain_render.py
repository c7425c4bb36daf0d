"""Worked solutions on paper and screen, and what happens to a damaged one."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mercer import explain
from mercer.explain.formula import Number, Symbol, chain, condition, equals
from mercer.explain.meaning import judge
from mercer.explain.render.drawing import Drawing
from mercer.explain.steps import Section, Solution, Step, say
from mercer.explain.world import World

XOR, XOR_LABELS = [[1, 1], [-1, -1], [-1, 1], [1, -1]], [-1, -1, 1, 1]
SOLUTIONS = {
    "svm": lambda: explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1]),
    "svm named <b> & 50%": lambda: explain.svm([[0, "1/3"], [1, 1]], ["a_<b> & 50% #{x}$", "~c^\\猫"]),
    "svm soft": lambda: explain.svm([[0, 0], [1, 1], [2, 2], [0, 3]], [-1, -1, 1, 1], C="1/3"),
    "svm xor": lambda: explain.svm(XOR, XOR_LABELS, kernel="poly"),
    "svm inseparable": lambda: explain.svm(XOR, XOR_LABELS),
    "svm ties": lambda: explain.svm(XOR, [1, -1, -1, 1]),
    "svm gram": lambda: explain.svm([[2, 1], [1, 2]], [1, -1], kernel="precomputed"),
    "svm chi2": lambda: explain.svm([[2, 1, 0], [1, 2, 4]], [1, -1], kernel="chi2"),
    "svm seven points": lambda: explain.svm([[i, i * i] for i in range(7)], [1, -1, -1, 1, 1, 1, 1]),
    "perceptron": lambda: explain.perceptron([[1, 3], [2, 1], [0, -1], [-1, 1]], [1, 1, -1, -1]),
    "perceptron xor": lambda: explain.perceptron(XOR, XOR_LABELS, kernel="poly", eta="1/2"),
    "ridge": lambda: explain.ridge([[1, 0], [0, 1], [1, 1]], [1, 2, 2], "1/2"),
    "ridge poly": lambda: explain.ridge([[1], [2], [0]], [1, "1/2", 2], "1/2", "poly"),
    "kernel trick": lambda: explain.kernel_trick("poly(degree=3)", [1, 2], ["1/2", -1]),
    "gaussian": lambda: explain.kernel_trick("rbf(gamma=0.5)", 1, "1/2"),
    "lagrangian": lambda: explain.lagrangian("max x*y", ["x + y = 4"]),
    "kkt": lambda: explain.lagrangian("min (x-2)^2 + (y-1)^2", ["x + y <= 2", "x >= 0", "y >= 0"]),
    "local": lambda: explain.lagrangian("min x + y", ["x*y = 4", "x >= 0", "y >= 0"]),
    "ray": lambda: explain.lagrangian("max x*y", []),
    "sheet": lambda: explain.exercise(3).sheet,
    "svm duality": lambda: explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1], C="1/4", detail="duality"),
    "svm program": lambda: explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1], C="1/4", detail="program"),
    "svm features": lambda: explain.svm(XOR, XOR_LABELS, kernel="poly", detail="features"),
    "ridge duality": lambda: explain.ridge([[1], [2]], [1, 2], "1/2", "poly", detail="duality"),
    "perceptron derived": lambda: explain.perceptron([[1, 2], [-1, 1], [2, 0]], [1, -1, -1], detail="derivation"),
    "perceptron in features": lambda: explain.perceptron(XOR, XOR_LABELS, kernel="poly", detail="derivation"),
    "duality": lambda: explain.duality("min exp(-x)", ["x^2/y <= 0", "y > 0"]),
    "subgradient": lambda: explain.subgradient("abs(w1) + 2*abs(w2)", [1, 0], [1, 1]),
    "descent": lambda: explain.descent("w1^2 + 2*w2^2", [3, 1], 4, "1/8"),
    "hinge": lambda: explain.hinge([[1, 3], [2, 1], [0, 1]], [1, 1, -1], "1/2", [1, 0], -1),
    "stochastic": lambda: explain.stochastic([[1, 3], [2, 1], [0, 1]], [1, 1, -1], "1/2", 5),
    "gram": lambda: explain.gram([[1], [-1], [2]], "poly"),
    "functions": lambda: explain.rkhs([(1, [1, 2]), (-2, [0, 1])], kernel="poly(degree=1)"),
    "maps": lambda: explain.maps("sqrt(2)*x", ["x", "-x"], ["x", 0, "x"]),
    "pca": lambda: explain.pca([[0, 0], [1, 0], [0, 2]]),
    "smo": lambda: explain.smo([[1, 3], [2, 1], [0, 1]], [1, 1, -1], C="1/4"),
    "shrinkage": lambda: explain.shrinkage([[1, 0], [0, 1], [1, 1]], [1, 2, 2]),
    "neighbours": lambda: explain.neighbours([0, 1, 3], [1, -1, 1], "3/2"),
    "series": lambda: explain.rbf(3),
}


@pytest.fixture(scope="module", params=list(SOLUTIONS))
def solution(request):
    return SOLUTIONS[request.param]()


def test_every_step_is_checked_or_counted_as_unchecked(solution):
    report = solution.check()
    assert report, str(report)
    assert report.checked == sum(mark is True for mark in solution.marks)
    assert report.unchecked == sum(mark is None for mark in solution.marks)
    assert report.checked + report.unchecked == len(list(solution.steps()))


def test_text(solution):
    text = solution.to_text()
    assert str(solution) == text
    assert solution.title in text
    assert text.count("✓ checked") == sum(mark is True for mark in solution.marks)
    report = solution.check()
    if report.checked:
        assert f"{report.checked} step" in text.splitlines()[-1]
        assert not report.unchecked or f"; {report.unchecked} step" in text.splitlines()[-1]
    for section in solution.sections:
        assert section.title in text


WIDE = [["22/7", "355/113"], ["-17/13", "5/19"], ["3/7", "101/23"], ["-29/11", "-7/17"], ["8/9", "-1/21"], [3, "1/9"]]


@pytest.mark.parametrize(
    "wide",
    [
        lambda: explain.svm(WIDE, [1, -1, 1, -1, 1, -1], C="5/3"),
        lambda: explain.ridge(WIDE[:4], ["1/3", 2, "7/5", "-3/11"], "1/7", "poly(degree=3)"),
        lambda: explain.lagrangian("min " + " + ".join(f"(x - {i}/7)^2" for i in range(1, 12)), ["x >= 22/7"]),
    ],
)
@pytest.mark.parametrize("width", [100, 72])
def test_no_line_of_text_is_too_long(wide, width):
    solution = wide()
    rows = solution.to_text(width).splitlines()
    assert max(map(len, rows)) <= width
    numbers = re.findall(r"\d+", "".join("".join(rows).split()))
    assert sum(map(len, numbers)) >= sum(map(len, re.findall(r"\d+", solution.to_text(10_000)))), "nothing is left out"


def test_text_lines_of_all_kinds(solution):
    assert max(map(len, solution.to_text().splitlines())) <= 100


def test_markdown_is_balanced(solution):
    text = re.sub(r"\\\$", "", solution.to_markdown())
    assert text.count("$$") % 2 == 0
    assert text.replace("$$", "").count("$") % 2 == 0
    for line in text.splitlines():
        if line.startswith("| "):
            cells = re.sub(r"\\\|", "", line)
            assert cells.count("|") >= 3, "no bar inside a cell"


def test_latex_is_balanced(solution):
    text = solution.to_latex()
    assert text.isascii()
    plain = re.sub(r"\\[\\{}$]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert re.findall(r"\\begin\{(\w+\*?)\}", text).__len__() == re.findall(r"\\end\{(\w+\*?)\}", text).__len__()
    assert len(re.findall(r"\\left[^a-z]|\\left\\[lL]", text)) == len(re.findall(r"\\right[^a-z]|\\right\\r", text))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    names = ["svm named <b> & 50%", "svm soft", "svm seven points", "perceptron xor", "gaussian", "kkt"]
    for number, name in enumerate(names):
        path = SOLUTIONS[name]().save(tmp_path / f"s{number}.tex")
        run = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout[-2000:]


class _Balanced(HTMLParser):
    """Knows whether every element is closed, and whether anything is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href") and not value.startswith("#")]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_one_page_that_needs_nothing_else(solution):
    page = solution.to_html()
    parser = _Balanced()
    parser.feed(page)
    assert not parser.open and not parser.fetched
    assert "http" not in page and "<script" not in page
    assert 'name="viewport"' in page and "@media print" in page
    for element in re.findall(r"<math.*?</math>|<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(element)


def test_json_comes_back_and_is_checked_anew(solution):
    again = explain.from_json(solution.to_json())
    assert again == solution
    assert again.check()
    assert again.to_html() == solution.to_html()


def test_notebooks(solution):
    assert solution._repr_html_().startswith("<article")
    assert "$" in solution._repr_latex_() or "?" in solution._repr_latex_()
    assert repr(solution).startswith("<Solution")


def test_the_picture_shows_points_boundary_margins_and_multipliers():
    page = SOLUTIONS["svm"]().to_html()
    picture = re.search(r"<svg.*?</svg>", page, re.DOTALL)[0]
    assert picture.count('class="ring"') == 3 + 1, "of three points, and in the legend"
    shown = ('"boundary"', '"margin plus"', '"margin minus"', "α = 5/8", ">w<", ">m<", ">x₁<", ">x₂<", "class +1")
    assert all(kind in picture for kind in shown)
    assert "<svg" not in SOLUTIONS["svm gram"]().to_html()


def test_pictures_have_the_colours_and_shapes_of_plots():
    from mercer.plot.style import colour, shape

    page = SOLUTIONS["svm"]().to_html()
    assert (shape(0), shape(1)) == ("o", "s"), "of class -1 and +1, in this order"
    assert f".dot.minus {{ fill: {colour(0)}; }}" in page and f".dot.plus {{ fill: {colour(1)}; }}" in page
    assert '<circle class="dot minus"' in page and '<rect class="dot plus"' in page


def test_slacks_and_multipliers_at_c_are_marked():
    solution = SOLUTIONS["svm soft"]()
    drawing = Drawing(solution.picture)
    assert [mark.rings for mark in drawing.marks] == [1, 2, 2, 1]
    assert "α = C = 1/3" in solution.to_svg()
    (slack,) = [curve for curve in drawing.curves if curve.kind == "slack"]
    start, end = slack.places
    assert start == (1, 1), "y f = 0 there"
    assert solution.picture.f(*end) == pytest.approx(-1)
    (length,) = [arrow for arrow in drawing.arrows if arrow.kind == "length"]
    assert solution.picture.f(*length.start) == pytest.approx(0) and solution.picture.f(*length.end) == pytest.approx(1)
    ends = [arrow for arrow in drawing.arrows if arrow.kind == "w"]
    assert len(ends) == 1


@pytest.mark.parametrize(
    "solution",
    [
        explain.svm([[10, 10], [11, 10], [10, 11]], [1, 1, -1], C="1/100"),
        explain.svm([[5, 5], [6, 5], [5, 7]], [1, 1, -1], C="1/50", kernel="poly"),
    ],
    ids=["linear", "poly"],
)
def test_the_window_contains_the_boundary(solution):
    drawing = Drawing(solution.picture)
    boundary = [curve for curve in drawing.curves if curve.kind == "boundary"]
    assert boundary and all(drawing.frame.holds(place) for curve in boundary for place in curve.places)


def test_pictures_in_latex_and_beside_markdown(tmp_path):
    solution = SOLUTIONS["svm soft"]()
    page = solution.to_latex()
    assert r"\begin{tikzpicture}" in page and r"\usepackage{tikz}" in page and r"\draw[boundary]" in page
    assert r"\node[outer ring] at (1,1)" in page
    assert "tikz" not in SOLUTIONS["ridge"]().to_latex()
    solution.save(tmp_path / "soft.md")
    assert "](soft.svg)" in (tmp_path / "soft.md").read_text(encoding="utf-8")
    picture = ElementTree.fromstring((tmp_path / "soft.svg").read_text(encoding="utf-8"))
    assert picture.tag.endswith("svg")
    with pytest.raises(ValueError, match="no picture"):
        SOLUTIONS["ridge"]().to_svg()


def test_lines_of_text_have_at_most_a_hundred_columns(solution):
    assert max(map(len, solution.to_text().splitlines())) <= 100


def test_sections_open_and_close_and_one_after_the_other():
    solution = SOLUTIONS["svm"]()
    page = solution.to_html()
    assert page.count("<details open>") == len(solution.sections) and "<script" not in page
    page = solution.to_html(reveal=True)
    assert page.count("<details>") == len(solution.sections) + 1, "and the picture, which would tell the answer"
    assert "<details open>" not in page
    assert "keydown" in page and "http" not in page
    assert "DejaVu Math TeX Gyre" in page


def test_footnotes_of_two_solutions_on_one_page_do_not_collide():
    names = [set(re.findall(r'id="([^"]+)"', SOLUTIONS[name]()._repr_html_())) for name in ("svm", "ridge")]
    assert all(names) and not names[0] & names[1]


def test_the_short_solution_has_the_seven_steps_of_the_lecture():
    solution = explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1], detail="short")
    assert len(solution.sections) == 7 == len(list(solution.steps()))
    assert all(solution.marks)
    text = solution.to_text()
    order = ("10   5  −3", "5α₁² + 4α₁α₂ + 4α₂²", "∂L/∂α₁ = 2 − 5α₁ − 2α₂", "6/5 − 16/5 α₂ = 0", "(1, 1/2)")
    places = [text.index(piece) for piece in (*order, "= 3/2", "2 / √5")]
    assert places == sorted(places)
    assert solution.answer == SOLUTIONS["svm"]().answer
    assert explain.svm(XOR, XOR_LABELS, kernel="poly", detail="short").check()
    asked = explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1], detail="short", new=[1, 2])
    assert len(asked.sections) == 8 and asked.check() and asked.answer["new"] == (Fraction(1, 2),)
    with pytest.raises(ValueError, match="detail"):
        explain.svm([[0], [1]], [1, -1], detail="long")


WOODEN = (
    "Wanted is", "Put in, they leave", "The derivative by", "Each of the 1 terms", "has to spare",
    "points with a multiplier", "a mixture of the points", "What each point is, the second derivatives say",
)  # fmt: skip


def test_plain_sentences(solution):
    assert not [words for words in WOODEN if words in solution.to_text(width=999)]


def test_footnotes_on_the_slips_of_lecture_notes():
    text = "".join(SOLUTIONS[name]().to_text(width=999) for name in ("svm soft", "perceptron", "ridge", "kernel trick"))
    for words in (
        "not 1 − yᵢ ⟨𝐰, 𝐱ᵢ⟩", "T − T_0 + 1" if "T_0" in text else "T − T₀ + 1 terms", "over feasible θ only",
        "also over 𝛏", "a polynomial of degree p", "Each mistake adds yᵢ 𝐱ᵢ", "each of the p features",
        "Both halves cancel", "It is 𝐰 that equals this sum",
    ):  # fmt: skip
        assert words in text, words


def damaged(solution: explain.Solution) -> explain.Solution:
    """The same with one number changed: the last one of a relation."""
    tree = json.loads(solution.to_json())

    def change(node) -> bool:
        if isinstance(node, dict):
            if node.get("kind") == "Chain" and node["signs"][-1] == "=" and "number" in node["members"][-1]:
                node["members"][-1] = {"number": "355/113"}
                return True
            return any(change(part) for part in node.values())
        return isinstance(node, list) and any(change(part) for part in node)

    assert change(tree["sections"])
    return explain.from_json(json.dumps(tree))


@pytest.mark.parametrize("name", ["svm", "svm soft", "svm xor", "ridge", "kernel trick"])
def test_a_damaged_step_is_caught_and_said(name):
    bad = damaged(SOLUTIONS[name]())
    report = bad.check()
    assert not report
    assert len(report.failures) == 1
    assert "NOT TRUE to the data: 1 of" in str(report)
    assert "THIS DOES NOT HOLD" in bad.to_text()
    assert "this does not hold" in bad.to_html() and r"\fails" in bad.to_latex()
    assert "NOT TRUE to the data: 1 of" in bad.to_markdown()


def test_relations_are_evaluated_by_what_letters_stand_for():
    x, y = Symbol("x"), Symbol("y", "i")
    assert judge(equals(x, 2)) is None, "a letter that stands for nothing is being defined"
    assert judge(equals(x, 2), World({x: 2})) is True
    assert judge(equals(x, 3), World({x: 2})) is False
    assert judge(condition(x, "=", 3), World({x: 2})) is None, "what is only demanded may turn out not to hold"
    assert judge(chain(y, ">", 0), World(families={Symbol("y"): [1, 2]})) is True
    assert judge(chain(y, ">", 1), World(families={Symbol("y"): [1, 2]})) is False, "for every point"
    assert judge(chain(1, "<", Fraction(1, 2))) is False
    assert judge(equals(Fraction(1, 3), Fraction(333333, 1000000))) is False


def test_a_solution_without_data_is_checked_for_contradictions_only():
    words = Section(
        "Sums", (Step(say("One and one is {}.", equals(Number(Fraction(1)) + 1, 3))), Step(say("No more.")))
    )
    report = Solution("Sums", (words,)).check()
    assert len(report.failures) == 1 and report.unchecked == 1


def test_no_step_can_be_changed():
    solution = SOLUTIONS["lagrangian"]()
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.title = "another"


def test_files_by_their_ending(tmp_path):
    solution = SOLUTIONS["lagrangian"]()
    for suffix in (".txt", ".md", ".tex", ".html", ".json"):
        assert solution.save(tmp_path / f"solution{suffix}").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="ending"):
        solution.save(tmp_path / "solution.pdf")
    with pytest.raises(ValueError, match="no worked solution"):
        explain.from_json("{}")


@pytest.mark.parametrize("kind", ["svm", "soft", "xor", "perceptron", "ridge", "kernel-trick", "lagrangian"])
def test_exercises_are_new_for_each_seed_and_have_small_answers(kind, tmp_path):
    exercises = [explain.exercise(seed, kind) for seed in range(2)]
    assert len({str(e.sheet).partition("\n")[2] for e in exercises}) == 2
    assert explain.exercise(1, kind) == exercises[1]
    for e in exercises:
        assert e.answer.check()
        answer = e.answer.answer
        numbers = answer.get("alpha", answer.get("a", [answer.get("value")]))
        assert all(Fraction(str(v)).denominator <= 12 for v in numbers)
        assert "α" not in str(e.sheet) and "ring" not in re.sub(
            r"<style.*?</style>", "", e.sheet.to_html(), flags=re.DOTALL
        )
    sheet, answer = exercises[0].save(tmp_path)
    assert sheet != answer and sheet.exists() and answer.exists()


def test_exercise_errors():
    with pytest.raises(ValueError, match="kind must be one of"):
        explain.exercise(1, "nothing")
    with pytest.raises(TypeError, match="whole number"):
        explain.exercise(1.5)


@pytest.mark.digits
def test_the_examples_are_up_to_date(tmp_path):
    folder = Path(__file__).parents[1] / "examples" / "worked"
    spec = importlib.util.spec_from_file_location("worked_examples", folder / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert len(make.EXAMPLES) >= 4
    for name, solve in make.EXAMPLES.items():
        solution = solve()
        for suffix in make.FORMATS:
            solution.save(tmp_path / f"{name}{suffix}")
    for path in tmp_path.iterdir():
        written = (folder / path.name).read_text(encoding="utf-8")
        assert written == path.read_text(encoding="utf-8"), "run python examples/worked/make.py"


def test_one_sentence_where_sympy_is_missing():
    code = (
        "import sys; sys.modules['sympy'] = None\n"
        "import mercer.explain\n"
        "try: mercer.explain.svm([[0], [1]], [1, -1])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Worked solutions need SymPy: pip install 'mercer[explain]'."
