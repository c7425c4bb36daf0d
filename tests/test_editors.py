"""What editors and notebooks show: types, signatures, documented parameters, short results, one line of progress."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import jedi
import mypy.api
import numpy as np
import pytest
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from numpydoc.docscrape import NumpyDocString
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

import mercer
from mercer import features, progress
from mercer.estimators.contributions import Contributions
from mercer.estimators.ridge_path import RidgePath
from mercer.solution import Certificate, Solution, Solutions, Step
from mercer.solvers import QP

ROOT = Path(__file__).parents[1]
MODULES = ["dropin", "estimators", "explain", "features", "gram", "io", "kernels", "losses", "play", "plot", "solvers"]
MACHINES = ["SVC", "SVR", "OneClassSVM", "KernelLogistic", "LinearSVC", "Perceptron", "KernelPerceptron", "KernelRidge",
            "KernelPCA", "KernelKMeans"]  # fmt: skip
MAPS = [name for name in features.__all__ if name != "FeatureMap"]
RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(60, 2)))
y = (X[:, 0] > X[:, 1]).astype(int)
three = np.digitize(X[:, 0], [0.4, 1.0])


def public_classes():
    """Every class that a public module names, but exceptions and worked solutions, which nobody makes by hand."""
    found = {getattr(mercer, name) for name in mercer.__all__ if inspect.isclass(getattr(mercer, name))}
    for module in MODULES:
        home = importlib.import_module(f"mercer.{module}")
        if module not in ("explain", "dropin"):
            found |= {getattr(home, name) for name in home.__all__ if inspect.isclass(getattr(home, name))}
    found |= {Certificate, Solution, Step, RidgePath}
    return sorted(
        (cls for cls in found if not issubclass(cls, Exception)), key=lambda cls: (cls.__module__, cls.__name__)
    )


def documented(cls, section):
    """The names in a section of its docstring, each with its type; every one has a description."""
    rows = NumpyDocString(inspect.getdoc(cls))[section]
    for row in rows:
        assert row.name.isidentifier() and row.type and "".join(row.desc).endswith("."), (cls, row)
    return {row.name: row.type for row in rows}


# Documentation.


BY_HAND = ("Iterate", "Table", "Evidence")  # results, whose fields have docstrings of their own


@pytest.mark.parametrize("cls", public_classes(), ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented(cls):
    if cls.__name__ in BY_HAND:
        return
    first = inspect.getdoc(cls).split("\n")[0]
    assert len(first) <= 120 and first.rstrip().endswith("."), first
    try:
        parameters = inspect.signature(cls).parameters.values()
    except ValueError:  # one that is built in
        return
    told = documented(cls, "Parameters") or documented(cls, "Attributes")
    if issubclass(cls, Certificate):
        told |= documented(Certificate, "Attributes")
    names = [each.name for each in parameters]
    assert set(names) <= set(told), (cls.__name__, set(names) - set(told))
    for each in parameters:
        if each.default is not each.empty and "default=" in told[each.name]:
            shown = told[each.name].partition("default=")[2].replace('"', "'")
            same = {repr(each.default), repr(each.default).partition("(")[0] + "()"}
            instead = (cls.__name__, each.name) == ("Gaussian", "gamma")  # or sigma
            assert shown in same or instead or float(shown) == each.default, (cls.__name__, each.name, shown)
    if issubclass(cls, BaseEstimator):
        assert list(documented(cls, "Parameters")) == names  # in their order


def fitted(name):
    settings = {"KernelPCA": {"n_components": 2, "fit_inverse_transform": True}, "KernelRidge": {"alpha": "loo"}}
    settings |= {name: {"trace": True, "max_epochs": 3} for name in ("Perceptron", "KernelPerceptron")}
    home = mercer if name in MACHINES else features if name in MAPS else mercer.io
    return getattr(home, name)(**settings.get(name, {})).fit(X, y)


@pytest.mark.parametrize("name", [*MACHINES, *MAPS, "Encoder"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_learned_attribute_is_documented(name):
    machine = fitted(name)
    learned = {key for key, _ in inspect.getmembers(machine) if key.endswith("_") and not key.startswith("_")}
    told = set(documented(type(machine), "Attributes"))
    assert learned <= told
    elsewhere = {
        "feature_names_in_",
        "coef_",
        "trace_",
        "loo_residuals_",
    }  # with data frames, linear kernels, alpha="loo"
    assert told - learned <= elsewhere, told - learned


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [*MACHINES, *MAPS, "Encoder"])
def test_the_html_view_says_what_parameters_mean(name):
    machine = fitted(name)
    view = estimator_html_repr(machine)
    for section in ("Parameters", "Attributes"):
        for row in NumpyDocString(inspect.getdoc(type(machine)))[section]:
            if hasattr(machine, row.name):
                assert f"{row.name}: {row.type}".replace('"', "&quot;") in view, row.name
    assert "param-doc-description" in view


def test_the_html_view_of_pipelines_and_of_what_is_set():
    view = estimator_html_repr(make_pipeline(features.Nystrom(landmarks=7), mercer.SVC(C=3.0)))
    assert "The weight of mistakes, &gt; 0." in view and "How many; at most as many as there are points." in view
    assert (
        view.count("user-set") - estimator_html_repr(make_pipeline(features.Nystrom(), mercer.SVC())).count("user-set")
        == 2
    )
    assert "The weight of mistakes" in mercer.SVC.__doc__


def test_repr_marks_only_what_the_user_has_set():
    assert [repr(getattr(mercer, name)()) for name in MACHINES] == [f"{name}()" for name in MACHINES]
    assert repr(mercer.SVC(mercer.kernels.Gaussian(), C=2.0, bias=True)) == "SVC(C=2.0)"
    assert repr(mercer.SVC().set_params(kernel__gamma=0.5)) == "SVC(kernel=Gaussian(gamma=0.5))"
    assert repr(mercer.SVR(solver=QP())).startswith("SVR(solver=QP(")


# Results.


def test_results_are_short():
    two, several = mercer.SVC().fit(X, y), mercer.SVC().fit(X, three)
    assert repr(two.solution_).startswith("<Solution: converged, relative gap ")
    assert f"{two.support_.size} support vectors" in repr(two.solution_)
    assert repr(several.solution_).startswith("<3 solutions: converged, largest relative gap ")
    assert isinstance(several.solution_, Solutions) and isinstance(several.solution_, tuple)
    carried = two.contributions(X, top=3)
    assert repr(carried) == "<Contributions: the 3 support vectors that carry each of 60 predictions most>"
    indices, values = carried
    path = mercer.KernelRidge(alpha="loo").fit(X, y).path_
    assert repr(path).startswith("<RidgePath of 50 alphas: best alpha ")
    for shown in (two.solution_, several.solution_, carried, path):
        html = shown._repr_html_()
        assert html.startswith("<table>") and html.endswith("</table>") and len(repr(shown)) < 120
        assert html.count("<tr>") == html.count("</tr>") <= 12
    assert f"x_{indices[0, 0]} {values[0, 0]:+.4g}" in carried._repr_html_()
    assert several.solution_._repr_html_().count("<tr>") == 4
    assert "<td>best</td>" in path._repr_html_()
    odd = Contributions(np.zeros((0, 0), int), np.zeros((0, 0)))
    assert "table" in odd._repr_html_() and repr(Solutions()) == "<no solutions>"


def test_solutions_are_saved_as_such(tmp_path):
    machine = mercer.SVC().fit(X, three)
    mercer.save(machine, tmp_path / "model")
    assert repr(mercer.load(tmp_path / "model").solution_) == repr(machine.solution_)


# dir().


@pytest.mark.parametrize("module", MODULES)
def test_dir_shows_nothing_internal(module):
    home = importlib.import_module(f"mercer.{module}")
    assert set(dir(home)) == set(home.__all__) | ({"libsvm", "onnx"} if module == "io" else set())
    for name in dir(home):
        assert getattr(home, name, None) is not None or name in ("libsvm", "onnx")


def test_dir_of_a_machine_is_its_settings_and_methods():
    inner = {"fit", "score", "predict", "decision_function", "pairwise_decision_function", "contributions"}
    of_sklearn = {name for name in dir(BaseEstimator()) if not name.startswith("_")}
    found = {name for name in dir(mercer.SVC()) if not name.startswith("_")}
    assert found - set(mercer.SVC().get_params(deep=False)) - of_sklearn - inner <= {
        "set_callbacks", "set_fit_request", "set_score_request",
    }  # fmt: skip


# Types and signatures.


def test_jedi_sees_signatures(monkeypatch):
    plain = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    monkeypatch.setattr(sys, "meta_path", plain)  # by files, as where the package is installed from a wheel
    project = jedi.Project(ROOT, sys_path=[str(ROOT / "src"), *sys.path], smart_sys_path=False)

    def signature(code):
        script = jedi.Script(code, project=project, environment=jedi.InterpreterEnvironment())
        (found,) = script.get_signatures()
        return found.to_string()

    for name in ("SVC", "KernelRidge"):
        for each in inspect.signature(getattr(mercer, name)).parameters:
            assert f"{each}:" in signature(f"import mercer\nmercer.{name}(")
        assert signature(f"import mercer\nmercer.{name}().fit(").startswith("fit(X: Points, y: Any")
    assert signature("import mercer\nmercer.SVC().fit(1, 2).predict(") == "predict(X: Points) -> Array"
    assert "path: str" in signature("from mercer import load\nload(")


TYPES = {f"mercer.{name}().fit(X, y)": name for name in MACHINES}
TYPES |= {f"mercer.features.{name}().fit(X)": name for name in MAPS}
TYPES |= {f"dropin.{name}().fit(X, y)": name for name in ("SVC", "SVR", "OneClassSVM", "LinearSVC", "KernelRidge")}
TYPES |= {
    "mercer.SVC().fit(X, y).predict(X)": "ndarray",
    "mercer.SVC().fit(X, y).certificate_": "Certificate",
    "dropin.SVC().certificate_": "Certificate",
    "mercer.SVC().fit(X, y).contributions(X)": "Contributions",
    "mercer.kernels.Gaussian(0.5) + mercer.kernels.Linear()": "Kernel",
}
WRONG = ["mercer.SVC(C='large')", "mercer.SVC().fit(X, y, z=1)", "mercer.save()"]


def seen_by_mypy(script):
    """As a user's mypy does, with what `make test` has checked already."""
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    out, _, _ = mypy.api.run([*options, str(script)])
    return out.split("\n")


def seen_by_pyright(script):
    asked = subprocess.run([sys.executable, "-m", "pyright", "--version"], capture_output=True, text=True)
    if not asked.stdout.startswith("pyright "):
        pytest.skip("pyright fetches itself from the network on first use, which was not possible here")
    (script.parent / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT / "src")]}))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(script.parent)]
    return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")


@pytest.mark.parametrize("look", [seen_by_mypy, seen_by_pyright])
def test_checkers_see_types(look, tmp_path):
    begin = "import mercer, numpy\nfrom mercer import dropin\nX, y = numpy.zeros((3, 2)), numpy.zeros(3)\n"
    script = tmp_path / "script.py"
    script.write_text(begin + "\n".join([*(f"reveal_type({each})" for each in TYPES), *WRONG]))
    lines = look(script)
    revealed = [line for line in lines if "Revealed type" in line or " - information: Type of " in line]
    assert len(revealed) == len(TYPES), lines
    for line, (expression, wanted) in zip(revealed, TYPES.items(), strict=True):
        assert wanted in line.rpartition(" is ")[2], (expression, line)
    assert sum(" error: " in line for line in lines) == len(WRONG), lines


# Progress.


class Kept(DisplayPublisher):
    """What a notebook would be sent."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def publish(self, data, metadata=None, *, transient=None, update=False, **more):
        self.sent.append((data, transient, update))


def test_one_live_line_in_notebooks(monkeypatch, capsys):
    import rich.console

    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(progress, "_LIVE", 0.0)
    shell = InteractiveShell.instance()
    monkeypatch.setattr(shell, "display_pub", Kept())
    try:
        mercer.SVC(verbose=True).fit(X, three)
        sent = shell.display_pub.sent
    finally:
        InteractiveShell.clear_instance()
    assert [update for _, _, update in sent] == [False, *[True] * (len(sent) - 1)] and len(sent) > 1
    assert len({transient["display_id"] for _, transient, _ in sent}) == 1
    assert "3 of 3 problems solved" in sent[-1][0]["text/plain"]
    assert capsys.readouterr().err == ""
