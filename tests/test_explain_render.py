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
    assert picture.count('class="ring"') == 3
    assert all(kind in picture for kind in ('"boundary"', '"margin plus"', '"margin minus"', "α = 5/8"))
    assert "<svg" not in SOLUTIONS["svm gram"]().to_html()


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
    exercises = [explain.exercise(seed, kind) for seed in range(5)]
    assert len({str(e.sheet).partition("\n")[2] for e in exercises}) == 5
    assert explain.exercise(2, kind) == exercises[2]
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
def test_the_examples_are_up_to_date():
    folder = Path(__file__).parents[1] / "examples" / "worked"
    spec = importlib.util.spec_from_file_location("worked_examples", folder / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert len(make.EXAMPLES) >= 4
    for name, solve in make.EXAMPLES.items():
        solution = solve()
        writers = {
            ".html": solution.to_html,
            ".tex": solution.to_latex,
            ".md": solution.to_markdown,
            ".txt": solution.to_text,
        }
        for suffix in make.FORMATS:
            written = (folder / f"{name}{suffix}").read_text(encoding="utf-8")
            assert written == writers[suffix](), "run python examples/worked/make.py"


def test_one_sentence_where_sympy_is_missing():
    code = (
        "import sys; sys.modules['sympy'] = None\n"
        "import mercer.explain\n"
        "try: mercer.explain.svm([[0], [1]], [1, -1])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Worked solutions need SymPy: pip install 'mercer[explain]'."
