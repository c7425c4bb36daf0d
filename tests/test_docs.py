"""The documents are true: their code runs, draws their pictures, and prints what they say."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import solvers
from mercer.cli import main
from mercer.kernels import REGISTRY
from mercer.play.export import document as page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from draw import DOCUMENTS, run  # noqa: E402

pytestmark = pytest.mark.digits


@pytest.mark.parametrize("document", DOCUMENTS)
def test_document(document, tmp_path, monkeypatch, capsys):
    """Its code runs and draws its pictures; what it prints is as shown; its links lead somewhere."""
    if document == "docs/distributed.md":
        pytest.importorskip("distributed", reason="dask is not installed: pip install 'mercer[distributed]'")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / document).read_text()
    names = run(document, tmp_path)
    out = capsys.readouterr().out
    for language, shown in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL):
        assert language or printed(shown, out), f"{document} shows\n{shown}\nbut its code prints\n{out}"
    if "gram" in names:
        assert names["gram"].reason in text
    for link in re.findall(r"\]\(([^):]+)\)", text):
        assert ((ROOT / document).parent / link).exists(), f"{document} links to {link}"
    for picture in re.findall(r"\]\(([^)]+\.png)\)", text):
        assert (tmp_path / Path(picture).name).stat().st_size > 5000


def interrupted(*_, **__):
    """What a server does that somebody ends with Ctrl-C at once."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("document", ["README.md", "docs/command_line.md", "docs/teaching.md"])
def test_lines_of_shell(document, tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "points.csv").write_text("a,b,label\n1,2,x\n0,1,y\n")
    monkeypatch.setattr("mercer.play.server.PlayServer.serve_forever", interrupted)
    monkeypatch.setattr("webbrowser.open", lambda url: url.startswith("http://127.0.0.1:"))
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"(?m)^mercer .*", (ROOT / document).read_text())
    assert len(lines) >= 5
    for line in lines:
        assert main(shlex.split(line, comments=True)[1:]) == 0, line
    written = {name for line in lines for name in re.findall(r"(?:-o|--picture|--export|--record) (\S+)", line)}
    assert written <= {path.name for path in tmp_path.iterdir()}


def test_the_page_to_download_is_the_page_of_today():
    """`python docs/draw.py` writes it."""
    assert (ROOT / "docs" / "play.html").read_text(encoding="utf-8") == page()
    assert (ROOT / "docs" / "play.gif").stat().st_size < 1_000_000


NUMBER = r"\d+(?:\.\d+)?(?:e[+-]\d+)?"


def printed(shown: str, out: str) -> bool:
    """Whether a part of `out` is `shown`, to the letter, but for numbers of which not every CPU finds all digits.

    Those are shown as a bound, <1e-04, or cut off, 62.05…
    """
    number = f"(?:<{NUMBER}|{NUMBER}…?)"
    pattern = f"({NUMBER})".join(map(re.escape, re.split(number, shown)))
    numbers = re.findall(number, shown)
    return any(all(map(agrees, numbers, found.groups())) for found in re.finditer(pattern, out))


def agrees(shown: str, number: str) -> bool:
    if shown.startswith("<"):
        return float(number) < float(shown[1:])
    if shown.endswith("…"):
        digits = shown[:-1].partition(".")[2]
        return abs(float(number) - float(shown[:-1])) <= 10.0 ** -len(digits)
    return number == shown


def test_documents_are_compared():
    out = "3 problems, 0 against 1: within 0.00078%\n primal 11.212167, gap 8.7e-05\n"
    for right in (
        "3 problems, 0 against 1: within <0.01%\n primal 11.21…, gap <1e-04\n",
        "primal 11.212167, gap 8.7e-05",
    ):
        assert printed(right, out)
    for wrong in (
        "1 against 1: within <0.01%", "0 against 1: within <0.0001%", "primal 11.19…", "primal 11.21, gap", "primal 11",
        "primal 11.212167; gap", "gap <1e-05", "gap 8.6e-05", "<4 problems, 1",
    ):  # fmt: skip
        assert not printed(wrong, out), wrong


def test_every_kernel_is_in_the_table():
    text = (ROOT / "docs" / "kernels.md").read_text()
    for cls in REGISTRY.values():
        assert cls.__name__ in text, f"add {cls.__name__} to the table of kernels in docs/kernels.md"


def test_contributing():
    """The kernel of the example works as it is written there."""
    text = re.sub(r"(?m)^ {3}", "", (ROOT / "CONTRIBUTING.md").read_text())
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    before = dict(REGISTRY)
    try:
        exec(
            compile(code, "cauchy.py", "exec", dont_inherit=True),
            {"__name__": "mercer.kernels.cauchy", "__package__": "mercer.kernels"},
        )
        assert mercer.kernel("cauchy(gamma=0.5)")([[0.0], [2.0]])[0, 1] == 1 / 3
        assert mercer.evidence(mercer.kernel("cauchy"), [[0.0], [1.0], [3.0]]).proof
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)


def recipe(title, place):
    """The names that the first block of a recipe defines, as if it stood in a file of that place."""
    text = re.sub(r"(?m)^ {3}", "", (ROOT / "CONTRIBUTING.md").read_text().partition(f"## How to add {title}\n")[2])
    names = {"__name__": place, "__package__": place.rpartition(".")[0]}
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    exec(compile(code, place, "exec", dont_inherit=True), names)
    return names


def test_the_recipes_of_a_loss_and_a_solver(monkeypatch):
    monkeypatch.setattr(solvers.base, "REGISTRY", dict(solvers.base.REGISTRY))  # what is defined here is forgotten
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 2)), generator.normal(size=40)
    pinball = recipe("a loss", "mercer.losses.pinball")["Pinball"](0.25)
    quantile = mercer.solve(mercer.Problem.of("rbf", X, y, pinball, 5.0), tol=1e-6)
    assert quantile.certificate.converged
    below = np.mean(y < mercer.kernel("rbf").resolve(X)(X) @ quantile.beta + quantile.b)
    assert 0.05 < below < 0.45
    ascent = recipe("a solver", "mercer.solvers.ascent")["Ascent"]()
    labels = np.where(y > 0, 1.0, -1.0)
    problem = mercer.Problem.of("rbf", X, labels, bias=False)
    assert mercer.solve(problem, ascent, tol=1e-3).certificate.converged
    with pytest.raises(ValueError, match="Ascent needs a problem without a bias"):
        mercer.solve(mercer.Problem.of("rbf", X, labels), ascent)


def test_the_recipes_of_an_estimator_and_a_native_function():
    X = np.random.default_rng(0).normal(size=(40, 2))
    median = recipe("an estimator", "mercer.estimators.median")["MedianSVR"](C=10.0).fit(X, X[:, 0])
    assert median.certificate_.converged and median.score(X, X[:, 0]) > 0.9
    v = np.array([-2.0, 0.1, 3.0])
    recipe("a native function", "mercer._core.reference.soften")["soften"](v, 0.5)
    assert v.tolist() == [-1.5, 0.0, 2.5]
