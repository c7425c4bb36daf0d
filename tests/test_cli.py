"""The command line, called in this process: what each verb gives, and what becomes of mistakes."""

from __future__ import annotations

import csv
import json
import signal

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_diabetes, load_iris

import mercer
from mercer.cli import grid, main, train
from mercer.cli.main import VERBS
from mercer.cli.options.explain import EXERCISES
from mercer.cli.options.machine import MACHINES
from mercer.cli.output import in_flags
from mercer.estimators.machine import Machine
from mercer.search import cells
from mercer.solution import Status

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = load_iris().target_names
HEADER = ["sepal length", "sepal width", "petal length", "petal width", "species"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of data, and a trained model."""
    folder = tmp_path_factory.mktemp("cli")
    write(folder / "iris.csv", [HEADER, *([*row, NAMES[k]] for row, k in zip(IRIS.tolist(), SPECIES, strict=True))])
    X, t = load_diabetes(return_X_y=True)
    np.savetxt(folder / "sugar.tsv", np.column_stack([X, t])[:200], delimiter="\t")
    np.savetxt(
        folder / "line.csv", np.column_stack([np.linspace(0, 6, 40), np.sin(np.linspace(0, 6, 40))]), delimiter=","
    )
    write(folder / "other.csv", [HEADER[:4], *IRIS.tolist()])
    write(folder / "gaps.csv", [HEADER[:4], [5, 3, 2, ""]])
    dump_svmlight_file(IRIS, SPECIES, str(folder / "iris.svm"), zero_based=False)
    assert main(["train", str(folder / "iris.csv"), "-o", str(folder / "iris.mercer"), "--quiet", "--json"]) == 0
    return folder


@pytest.fixture
def run(files, capsys, monkeypatch):
    monkeypatch.chdir(files)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


# Training.


def test_train_prints_certificate_and_scores(run, files):
    code, out, err = run("train", "iris.csv", "--kernel", "rbf(gamma=0.5)", "--C", "10", "-o", "a.mercer")
    assert code == 0
    assert "of the best possible" in out and "held out" in out and "Gaussian(gamma=0.5)" in out
    assert "target 'species'" in out and "round" in err
    model = mercer.load(files / "a.mercer")
    assert [type(step).__name__ for _, step in model.steps] == ["Encoder", "StandardScaler", "SVC"]
    assert model[-1].C == 10 and model[-1].verbose is False


def test_train_as_json(run):
    code, out, _ = run("train", "iris.csv", "--json", "--quiet", "--cv", "3", "--seed", "4")
    data = json.loads(out)
    assert code == 0 and data["certificate"]["converged"] and data["certificate"]["relative_gap"] < 1e-4
    assert data["rows"] == 150 and 0.9 < data["cross_validation"]["accuracy"] <= 1


@pytest.mark.parametrize("verb", ["train", "tune"])
def test_where_the_model_goes_is_looked_at_before_training(run, verb):
    for place, words in [("nowhere/m.mercer", "There is no folder nowhere"), (".", "is a folder")]:
        code, out, err = run(verb, "iris.csv", "-o", place)
        assert code == 2 and words in err and "round" not in err and not out


def test_a_one_class_machine_is_evaluated_on_a_column_that_is_named(run, files):
    assert run("train", "iris.csv", "--model", "oneclass", "--drop", "species", "-o", "one.mercer", "--quiet")[0] == 0
    code, _, err = run("evaluate", "one.mercer", "iris.csv")
    assert code == 2 and "by --target" in err
    sides = [1 if species else -1 for species in SPECIES]
    rows = ([*row, side] for row, side in zip(IRIS.tolist(), sides, strict=True))
    write(files / "sides.csv", [[*HEADER[:-1], "side"], *rows])
    code, out, _ = run("evaluate", "one.mercer", "sides.csv", "--target", "side", "--json")
    assert code == 0 and json.loads(out)["labels"] == [-1, 1]


TRAINED = {
    "svc": ["iris.csv", "--class-weight", "balanced"],
    "logistic": ["iris.csv"],
    "linear-svc": ["iris.csv", "--bias", "no"],
    "perceptron": ["iris.csv", "--kernel", "rbf(gamma=1)", "--max-iter", "50"],
    "svr": ["sugar.tsv", "--C", "100", "--epsilon", "5"],
    "ridge": ["sugar.tsv", "--alpha", "0.5"],
    "oneclass": ["iris.csv", "--nu", "0.1", "--drop", "species"],
}


@pytest.mark.parametrize("model", MACHINES)
def test_every_machine(run, model):
    given = TRAINED[model]
    code, out, _ = run("train", *given, "--model", model, "-o", "m.mercer", "--json", "--quiet")
    data = json.loads(out)
    assert code == 0 and data["certificate"]["converged"] and data["certificate"]["words"]
    assert run("inspect", "m.mercer")[0] == 0
    assert run("predict", "m.mercer", given[0])[0] == 0
    if model != "oneclass":
        score = "R2" if given[0] == "sugar.tsv" else "accuracy"
        assert score in data["held_out"]
        code, out, _ = run("evaluate", "m.mercer", given[0], "--json")
        assert code == 0 and json.loads(out)["scores"][score] > 0.1


def test_what_became_of_the_columns_is_told(run, files):
    rows = [[i % 3, "ab"[i % 2], 7, i % 2] for i in range(30)]
    write(files / "kinds.csv", [["n", "letter", "seven", "y"], *rows])
    _, out, _ = run("train", "kinds.csv", "-o", "kinds.mercer", "--quiet")
    words = "n; in categories: letter (2); constant, so left out: seven"
    assert words in out and words in run("inspect", "kinds.mercer")[1]
    told = json.loads(run("train", "kinds.csv", "--json", "--quiet")[1])["columns"]
    assert [column["kind"] for column in told] == ["number", "category", "constant"]
    assert "columns" not in run("train", "iris.csv", "--quiet")[1]  # numbers only


def test_the_program_alone_shows_its_help(run):
    code, out, err = run()
    assert code == 2 and out == "" and err.startswith("examples:")


def test_ridge(run):
    code, out, _ = run(
        "train", "sugar.tsv", "--model", "ridge", "--alpha", "loo", "-o", "r.mercer", "--json", "--quiet"
    )
    assert code == 0 and json.loads(out)["certificate"]["converged"] and json.loads(out)["alpha"] > 0
    assert "alpha" in run("inspect", "r.mercer")[1]
    code, out, _ = run("predict", "r.mercer", "sugar.tsv", "--std")
    assert code == 0 and all(float(row["std"]) > 0 for row in csv.DictReader(out.splitlines()))
    code, out, _ = run("predict", "r.mercer", "sugar.tsv", "--interval", "0.8")
    ends = [(float(row["lower"]), float(row["prediction"]), float(row["upper"])) for row in csv.DictReader(out.split())]
    assert code == 0 and np.mean([low <= f <= high for low, f, high in ends]) > 0.9
    code, _, err = run("predict", "r.mercer", "sugar.tsv", "--interval", "90")
    assert code == 2 and "--interval must be from 0.5 to 1" in err
    code, _, err = run("predict", "iris.mercer", "iris.csv", "--interval", "0.9")
    assert code == 2 and "no intervals" in err
    code, _, err = run("predict", "iris.mercer", "iris.csv", "--std")
    assert code == 2 and "SVC has no standard deviation" in err


def test_perceptrons(run):
    code, out, _ = run("train", "iris.csv", "--model", "perceptron", "--max-iter", "9", "--quiet", "-o", "p.mercer")
    assert code == 4 and "some points are on the wrong side" in out and "may not be separable" in out
    code, out, _ = run("inspect", "p.mercer")
    assert code == 0 and "Perceptron" in out
    code, _, err = run("tune", "iris.csv", "--model", "perceptron")
    assert code == 2 and "neither C nor alpha" in err


def test_machines_without_target(run):
    code, out, _ = run("train", "iris.csv", "--model", "oneclass", "--nu", "0.1", "--drop", "species", "-o", "o.mercer")
    assert code == 0 and "part inside" in out
    code, out, _ = run("predict", "o.mercer", "iris.csv", "--decision")
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 0 and {row["prediction"] for row in rows} == {"-1", "1"}


def test_flags_of_libsvm(run, files):
    code, out, _ = run(
        "train", "iris.svm", "-t", "2", "-g", "0.25", "-c", "8", "-v", "3", "--json", "--quiet", "-o", "s"
    )
    assert code == 0 and json.loads(out)["kernel"] == "Gaussian(gamma=0.25)"
    assert mercer.load(files / "s")[-1].C == 8
    code, out, _ = run("train", "iris.svm", "-t", "1", "-d", "2", "-r", "1", "-g", "0.5", "--json", "--quiet")
    assert json.loads(out)["kernel"] == "Polynomial(degree=2, gamma=0.5, coef0=1.0)"
    code, out, _ = run("train", "iris.svm", "-s", "3", "-p", "1/2", "-t", "0", "-q", "--json")
    assert json.loads(out)["kernel"] == "Linear()" and json.loads(out)["model"] == "svr"


@pytest.mark.parametrize("scale", ["standard", "minmax", "none"])
def test_scaling_is_part_of_the_model(run, files, scale):
    for data in ("iris.csv", "iris.svm"):
        code, _, _ = run(
            "train", data, "--scale", scale, "-o", "scaled", "--quiet", "--test-size", "0.5", "--tol", "1e-3"
        )
        assert code == 0
        assert len(mercer.load(files / "scaled").steps) == (2 if scale == "none" else 3)
    code, _, _ = run("train", "iris.csv", "--kernel", "chi2", "-o", "scaled", "--json", "--quiet")
    assert code == 0 and len(mercer.load(files / "scaled").steps) == 2  # histograms are not shifted


def test_categories_missing_values_and_constants(run, files):
    rng = np.random.default_rng(0)
    rows = [[f"{rng.normal():.3f}", "red" if i % 3 else "blue", 7, "yes" if i % 3 else "no"] for i in range(60)]
    rows[4][0] = ""
    write(files / "mixed.csv", [["size", "colour", "same", "bought"], *rows])
    code, _, err = run("train", "mixed.csv")
    assert code == 3 and "row 5, column 'size' is missing (1 in" in err and "--missing drop" in err
    code, out, err = run("train", "mixed.csv", "--missing", "drop", "--json")
    assert code == 0 and "1 of 60 rows have missing values" in err and json.loads(out)["held_out"]["accuracy"] == 1
    code, out, _ = run("train", "mixed.csv", "--missing", "fill", "-o", "mixed.mercer", "--quiet")
    assert code == 0
    write(files / "new.csv", [["colour", "size"], ["green", "1"], ["red", ""]])
    code, out, err = run("predict", "mixed.mercer", "new.csv")
    assert code == 0 and "row 1, column 'colour': 'green' was not there in training" in err
    assert out.splitlines()[0] == "prediction" and out.splitlines()[2] == "yes"
    code, out, _ = run("inspect", "mixed.mercer", "--json")
    assert {"name": "same", "kind": "constant"} in json.loads(out)["features"]


def test_not_converged(run, files):
    rng = np.random.default_rng(0)
    write(
        files / "noise.csv",
        [[*row, k] for row, k in zip(rng.normal(size=(300, 3)), rng.integers(0, 2, 300), strict=True)],
    )
    code, out, _ = run(
        "train", "noise.csv", "--C", "1e6", "--tol", "1e-9", "--max-iter", "1", "-o", "l.mercer", "--quiet"
    )
    assert code == 4 and "out of iterations" in out
    assert not mercer.load(files / "l.mercer")[-1].certificate_.converged
    code, out, _ = run("train", "noise.csv", "--C", "inf", "--kernel", "linear", "-o", "h.mercer", "--quiet", "--json")
    assert code == 4 and json.loads(out)["certificate"]["status"] == "infeasible"
    code, _, err = run("predict", "h.mercer", "noise.csv")
    assert code == 5 and "no answer to predict with" in err


# The other verbs.


@pytest.mark.digits
def test_predict_gives_a_line_for_each_row(run, files):
    code, out, _ = run("predict", "iris.mercer", "iris.csv", "--decision")
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 0 and len(rows) == 150
    assert list(rows[0]) == ["prediction", "decision setosa", "decision versicolor", "decision virginica"]
    model = mercer.load(files / "iris.mercer")
    scaled = model[1].transform(IRIS)
    np.testing.assert_array_equal(
        [float(row["decision setosa"]) for row in rows], model[-1].decision_function(scaled)[:, 0]
    )
    code, out, err = run("predict", "iris.mercer", "iris.csv", "-o", "out.csv")
    assert code == 0 and out == "" and "150 predictions" in err
    assert (files / "out.csv").read_text().splitlines()[1] == "setosa"
    code, out, _ = run("predict", "iris.mercer", "iris.csv", "--json")
    assert json.loads(out)["prediction"][0] == "setosa"


def test_probabilities(run):
    assert run("train", "iris.csv", "--model", "logistic", "-o", "p.mercer", "--quiet")[0] == 0
    code, out, _ = run("predict", "p.mercer", "iris.csv", "--proba", "--json")
    data = json.loads(out)
    total = sum(np.array(data[f"probability {name}"]) for name in NAMES)
    np.testing.assert_allclose(total, 1)
    code, _, err = run("predict", "iris.mercer", "iris.csv", "--proba")
    assert code == 2 and "SVC has no probabilities" in err and "CalibratedClassifierCV" in err


def test_models_saved_in_python_predict_too(run, files):
    model = mercer.SVC().fit(IRIS, SPECIES)
    mercer.save(model, files / "python.mercer")
    np.savetxt(files / "points.csv", IRIS, delimiter=",")
    code, out, _ = run("predict", "python.mercer", "points.csv")
    assert code == 0 and [int(text) for text in out.split()[1:]] == model.predict(IRIS).tolist()
    code, _, err = run("predict", "python.mercer", "sugar.tsv")
    assert code == 3 and "has 11 columns, but the model was trained on 4" in err
    code, _, err = run("predict", "python.mercer", "iris.csv", "--drop", "1")
    assert code == 3 and "row 1, column 'species': 'setosa' is not a finite number" in err


def test_labels_that_look_like_markup(run, files):
    rows = [[*row, ["[a]", "[/b]", "[red]"][k]] for row, k in zip(IRIS.tolist(), SPECIES, strict=True)]
    write(files / "markup.csv", [HEADER, *rows])
    assert run("train", "markup.csv", "-o", "markup.mercer", "--quiet")[0] == 0
    code, out, _ = run("evaluate", "markup.mercer", "markup.csv")
    assert code == 0 and all(label in out for label in ("[a]", "[/b]", "[red]"))
    code, out, _ = run("inspect", "markup.mercer")
    assert code == 0 and "[/b], [a], [red]" in out


def test_evaluate(run):
    code, out, _ = run("evaluate", "iris.mercer", "iris.csv")
    assert code == 0 and "accuracy" in out and "virginica" in out and "100.0%" in out
    code, out, _ = run("evaluate", "iris.mercer", "iris.csv", "--json")
    data = json.loads(out)
    assert np.sum(data["confusion"]) == 150 and data["labels"] == NAMES.tolist()


def test_tune(run, files):
    code, out, err = run(
        "tune",
        "iris.csv",
        "--steps",
        "3",
        "--cv",
        "3",
        "--picture",
        "grid.png",
        "-o",
        "best.mercer",
        "--C-range",
        1,
        100,
    )
    assert code == 0 and "best" in out and "--kernel" in out and "gamma" in err
    assert (files / "grid.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = run("tune", "iris.csv", "--steps", "3", "--cv", "3", "--C-range", "1", "100", "--json", "--quiet")
    data = json.loads(out)
    best = data["best"]
    assert np.max(data["scores"]) == best["score"] and data["C"] == [1, 10, 100]
    assert mercer.load(files / "best.mercer")[-1].C == best["C"]
    # the same as training each fold anew
    code, out, _ = run(
        "train", "iris.csv", "--C", best["C"], "--kernel", best["kernel"], "--cv", 3, "--json", "--quiet"
    )
    assert abs(json.loads(out)["cross_validation"]["accuracy"] - best["score"]) < 0.02
    code, out, _ = run("tune", "sugar.tsv", "--model", "ridge", "--steps", "2", "--cv", "2", "--json", "--quiet")
    assert code == 0 and "alpha" in json.loads(out)["best"] and json.loads(out)["score"] == "R2"
    code, out, _ = run("tune", "sugar.tsv", "--model", "ridge", "--steps", "3", "--json", "--quiet")
    data = json.loads(out)
    assert code == 0 and data["score"] == "leave-one-out R2" and 0.2 < data["best"]["score"] < 1
    code, out, _ = run("tune", "iris.csv", "--model", "linear-svc", "--steps", "2", "--cv", "2", "--json", "--quiet")
    assert code == 0 and json.loads(out)["best"]["score"] > 0.8
    code, out, _ = run("tune", "iris.csv", "--kernel", "linear", "--steps", "2", "--cv", "2", "--picture", "path.svg")
    assert code == 0 and "<svg" in (files / "path.svg").read_text()
    code, _, err = run("tune", "iris.csv", "--model", "oneclass")
    assert code == 2 and "nothing can be tuned" in err
    code, out, err = run("tune", "sugar.tsv", "--model", "svr", "--time-limit", "1e-9", "--json", "--quiet")
    assert code == 4 and "0 of 25 settings are scored" in err and json.loads(out)["exit"] == 4


def test_interrupted_tuning_keeps_what_is_scored(run, files, monkeypatch):
    """Ctrl-C after the first gamma: the best so far is shown, trained on all rows and written."""
    of_a_gamma = grid._row

    def interrupted(grid, i, *rest):
        if i == 1:
            raise KeyboardInterrupt
        return of_a_gamma(grid, i, *rest)

    monkeypatch.setattr(grid, "_row", interrupted)
    code, out, err = run("tune", "iris.csv", "--steps", 2, "--cv", 2, "-o", "so_far.mercer", "--json")
    data = json.loads(out)
    assert code == 130 and "interrupted: 2 of 4 settings are scored" in err
    assert data["scored"] == 2 and data["certificate"]["converged"]
    assert mercer.load(files / "so_far.mercer")[-1].C == data["best"]["C"]
    monkeypatch.setattr(grid, "_row", lambda *rest: interrupted(rest[0], 1))
    code, out, err = run("tune", "iris.csv", "--json")
    assert code == 130 and json.loads(out)["error"] == "interrupted: 0 of 25 settings are scored"


def test_tuning_of_one_setting_is_not_drawn(run, files):
    """The model is there, and a note stands for the picture."""
    code, out, err = run("tune", "iris.csv", "--steps", 1, "--cv", 2, "--picture", "one.png", "-o", "one.mercer")
    assert code == 0 and "makes no picture" in err and "drawn in" not in out
    assert mercer.load(files / "one.mercer")[-1].certificate_.converged and not (files / "one.png").exists()


@pytest.mark.parametrize(("ended", "expected"), [(grid.Exit.LIMITS, 4), (grid.Exit.INTERRUPTED, 130)])
def test_the_picture_shows_what_is_scored(run, files, monkeypatch, ended, expected):
    """Of two planned gammas one is scored: a line along C, not a map; or a single cell: no picture."""
    of_a_gamma = grid._row
    cells = 2

    def ended_early(grid, i, *rest):
        if i == 0:
            of_a_gamma(grid, i, *rest)
            grid.scored = dict(list(grid.scored.items())[:cells])
        return ended

    monkeypatch.setattr(grid, "_row", ended_early)
    given = ["tune", "iris.csv", "--steps", 2, "--cv", 2, "-o", "part.mercer", "--picture"]
    code, out, _ = run(*given, "part.png")
    assert code == expected and "drawn in  " in out and (files / "part.png").read_bytes().startswith(b"\x89PNG")
    (files / "part.mercer").unlink()
    cells = 1
    code, _, err = run(*given, "none.png")
    assert code == expected and "makes no picture" in err and not (files / "none.png").exists()
    assert mercer.load(files / "part.mercer")[-1].certificate_.converged


def interrupting(number, work=Machine._keep):
    """What keeps the answer of a fit, and Ctrl-C at the end of the one with this number: its solver looks no more."""
    calls = iter(range(1, 1000))

    def interrupted(*given):
        found = work(*given)
        if next(calls) == number:
            signal.raise_signal(signal.SIGINT)
        return found

    return interrupted


def test_ctrl_c_after_the_last_round_of_a_fit_counts(run, files, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cells, "solve_all", interrupting(3, cells.solve_all))
        code, _, err = run("tune", "iris.csv", "--steps", 2, "--cv", 2, "-o", "heeded.mercer")
    assert code == 130 and "interrupted: 2 of 4 settings are scored" in err and (files / "heeded.mercer").exists()
    for number in (1, 2):  # the machine itself, or a fold
        with monkeypatch.context() as patch:
            patch.setattr(Machine, "_keep", interrupting(number))
            code, out, err = run("train", "iris.csv", "--cv", 3, "-o", f"heeded{number}.mercer", "--json")
        assert code == 130 and "fold" not in err and "cross_validation" not in json.loads(out)
        assert mercer.load(files / f"heeded{number}.mercer")[-1].certificate_.converged


def stopped(method, number):
    """The method, and a KeyboardInterrupt in place of its call with this number."""
    calls = iter(range(1, 1000))

    def stops(*given):
        if next(calls) == number:
            raise KeyboardInterrupt
        return method(*given)

    return stops


@pytest.mark.parametrize("where", [(train, "fit", 3), (train, "judged", 3)], ids=["fit", "score"])
def test_interrupted_cross_validation_reports_the_folds_that_are_done(where, run, files, monkeypatch):
    owner, name, number = where  # in the third fold
    words = ("train", "iris.csv", "--cv", 5, "-o", "folds.mercer")
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stopped(getattr(owner, name), number))
        code, out, _ = run(*words, "--json")
    data = json.loads(out)
    assert code == 130 and data["folds"] == 2 and 0.8 < data["cross_validation"]["accuracy"] <= 1
    assert mercer.io.read_manifest(files / "folds.mercer")["notes"]["folds"] == 2
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stopped(getattr(owner, name), number))
        code, out, _ = run(*words)
    assert code == 130 and "(interrupted: of 2 folds)" in out
    assert "folds" not in json.loads(run(*words, "--json")[1])


# What a new user sees.


def test_a_note_is_printed_once(run, files):
    rows = [["size", "colour", "kind"], *([i % 7, ["red", "blue"][i % 2], i % 2] for i in range(30))]
    write(files / "colours.csv", rows)
    assert run("train", "colours.csv", "-o", "colours.mercer", "-q")[0] == 0
    write(files / "pink.csv", [["size", "colour"], [1, "pink"], [2, "red"]])
    code, _, err = run("predict", "colours.mercer", "pink.csv", "--decision")
    assert code == 0 and err.count("'pink' was not there in training") == 1


def test_few_rows_without_a_score(run, files):
    write(files / "four.csv", [["x", "class"], [1, "a"], [2, "b"], [3, "a"], [4, "b"]])
    code, out, err = run("train", "four.csv", "-o", "four.mercer")
    assert code == 0 and "held out" not in out and "4 rows are too few to hold out a part unasked: no score" in err
    assert "too few" not in run("train", "four.csv", "--test-size", 0.5)[2]


def test_advice_is_in_flags(run, files):
    code, out, _ = run("train", "iris.csv", "--max-iter", 1, "--tol", 1e-12, "-o", "early.mercer", "-q")
    assert code == 4 and "raise --max-iter, or --tol if the gap" in out
    assert "raise --max-iter" in run("inspect", "early.mercer")[1]
    for status in Status:
        told = in_flags(str(status))
        assert "mercer.solve" not in told and "max_" not in told and "time_limit" not in told


def test_the_last_line_of_progress_is_the_certificate(run, files):
    code, out, err = run("train", "sugar.tsv", "--model", "svr", "--C", 100, "--test-size", 0, "--json")
    certificate = json.loads(out)["certificate"]
    last = next(line for line in err.split("\n") if line.endswith("converged"))
    assert code == 0 and " round " in last
    assert f"relative gap {certificate['relative_gap']:.1e} " in last
    assert f"primal {certificate['primal']:.6g}  dual {certificate['dual']:.6g} " in last


def test_tune_says_how_to_train_the_best(run):
    _, out, _ = run("tune", "iris.csv", "--kernel", "linear", "--steps", 2, "--cv", 2, "--quiet")
    assert "--kernel 'Linear()'" in out and "--model" not in out
    _, out, _ = run("tune", "iris.csv", "--model", "linear-svc", "--steps", 2, "--cv", 2, "--quiet")
    assert "mercer train iris.csv --model linear-svc --C" in out and "--kernel" not in out


def test_gram(run, files):
    code, out, _ = run("gram", "iris.csv", "--kernel", "rbf(gamma=1) + linear", "--picture", "gram.png")
    assert code == 0 and "positive semidefinite on these points, rank 149" in out and "Bochner" in out
    assert (files / "gram.png").stat().st_size > 10_000
    np.savetxt(files / "K.csv", [[0.0, 1.0], [1.0, 0.0]], delimiter=",")
    code, out, _ = run("gram", "K.csv", "--kernel", "precomputed", "--json")
    data = json.loads(out)
    assert code == 0 and not data["positive_definite"] and data["smallest_eigenvalue"] == -1
    assert run("gram", "iris.csv", "--target", "none", "--drop", "species")[0] == 0
    code, _, err = run("gram", "iris.csv", "--kernel", "precomputed", "--drop", "species")
    assert code == 3 and "square" in err


@pytest.mark.parametrize("kind", ["boundary", "convergence", "alphas", "gram"])
def test_pictures(run, files, kind):
    picture = files / f"{kind}.png"
    code, out, _ = run("plot", "iris.mercer", "--kind", kind, "--on", "iris.csv", "-o", picture.name)
    assert code == 0 and f"drawn in {picture.name}" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_pictures_of_data(run, files):
    columns = ["--features", "petal length", "petal width"]
    assert run("plot", "iris.csv", *columns, "-o", "two.pdf", "--quiet")[0] == 0
    assert run("plot", "line.csv", "--model", "svr", "--kind", "curve", "-o", "curve.png", "--quiet")[0] == 0
    assert run("plot", "iris.csv", "--kind", "gram", "-o", "data.png", "--quiet", "--json")[0] == 0
    for given, code, words in [
        (["iris.mercer", "--kind", "boundary", "-o", "x.png"], 2, "--on TABLE"),
        (["iris.csv", "-o", "x.docx", "--quiet"], 2, "png, pdf or svg"),
        (["iris.csv", "--kind", "curve", "--model", "svc", "-o", "x.png", "--quiet"], 3, "one column"),
        (["iris.csv", "--features", "a", "b", "-o", "x.png"], 3, "no column 'a'"),
        (["nowhere.mercer", "-o", "x.png"], 5, "no file"),
    ]:
        found, _, err = run("plot", *given)
        assert found == code and words in err


@pytest.fixture
def drawn(monkeypatch):
    """The figures, which would be closed at the end of a command."""
    monkeypatch.setattr(plt, "close", lambda which: None)
    yield plt.gcf
    monkeypatch.undo()
    plt.close("all")


def test_names_and_titles_are_no_formulas(run, files, drawn):
    rows = [[a, b, k] for (a, b), k in zip(IRIS[:, :2].tolist(), SPECIES, strict=True)]
    write(files / "dollars.csv", [["b $^$", "$d_{", "k"], *rows])
    given = ["--features", "b $^$", "$d_{", "--title", r"$\frac$", "--quiet"]
    assert run("plot", "dollars.csv", *given, "-o", "dollars.png")[0] == 0
    assert drawn().axes[0].get_title() == r"\$\frac\$"


def test_features_are_drawn_in_the_order_in_which_they_are_named(run, drawn):
    for names in (["petal width", "petal length"], ["4", "3"]):
        assert run("plot", "iris.csv", "--features", *names, "-o", "order.png", "--quiet")[0] == 0
        ax = drawn().axes[0]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("petal width", "petal length")
        assert ax.get_xlim()[1] < 3 < ax.get_ylim()[1]


def test_a_picture_of_a_training_that_did_not_converge(run):
    code, out, err = run("plot", "iris.csv", "--C", "1e6", "--tol", "1e-9", "--max-iter", 1, "-o", "early.png")
    assert code == 4 and "drawn in early.png" in out and "out of iterations" in err


def test_the_picture_of_ridge_says_what_its_scores_are(run, drawn):
    given = ["--model", "ridge", "--steps", 2, "--picture", "loo.png", "--quiet"]
    assert run("tune", "sugar.tsv", *given)[0] == 0
    ax, bar = drawn().axes
    assert ax.get_title() == bar.get_ylabel() == "leave-one-out R2"
    assert run("tune", "sugar.tsv", *given, "--cv", 2)[0] == 0
    ax, bar = drawn().axes
    assert ax.get_title() == "R2 by cross-validation" and bar.get_ylabel() == "mean R2 in cross-validation"


def test_inspect(run):
    code, out, _ = run("inspect", "iris.mercer")
    assert code == 0 and "Encoder -> StandardScaler -> SVC" in out and "petal width" in out and "KKT" in out


THREE = "1,3:+ 2,1:+ 0,1:-"


def test_explain_new_points_short_and_labels_as_text(run, files):
    code, out, _ = run("explain", THREE, "--new", "1,2", "--detail", "short")
    assert code == 0 and "7. The margin m" in out and "8. A new point" in out and "9." not in out
    for kernel in ("linear", "linear + linear"):
        given = ("explain", "0,0:+ 1,1:+ 0,1:- 1,0:-", "--kernel", kernel)
        full, short = (" ".join(run(*given, "--detail", detail)[1].split()) for detail in ("full", "short"))
        assert "No case" in full and "No case" not in short and "cannot be separated" in short
        assert len(short) < 0.5 * len(full)
    code, out, _ = run("explain", THREE, "--new", "1,2", "--new", "1/2,0")
    assert code == 0 and "f(𝐱) > 0: class +1" in out and "f(𝐱) < 0: class −1" in out
    for labels in (("0", "1"), ("1", "2")):
        code, out, _ = run("explain", f"0:{labels[0]} 2:{labels[1]}", "--new", "3")
        assert code == 0 and f"class {labels[1]}" in out
    assert "this is the prediction" in run("explain", "1:1 2:2", "--kind", "ridge", "--new", "3")[1]
    assert "class +1" in run("explain", THREE, "--kind", "perceptron", "--new", "3,3", "--all")[1]
    code, _, err = run("explain", THREE, "--new", "1")
    assert code == 3 and "needs 2 coordinates" in err
    assert run("explain", THREE, "-o", "page.html", "--reveal")[0] == 0
    assert "keydown" in (files / "page.html").read_text(encoding="utf-8")
    code, out, _ = run("explain", THREE, "-o", "three.md", "--json")
    assert json.loads(out)["output"] == ["three.md", "three.svg"]
    assert "](three.svg)" in (files / "three.md").read_text(encoding="utf-8")


def test_gram_of_points_as_text(run, files):
    code, out, _ = run("gram", "1,3 2,1 0,1/2", "--kernel", "linear", "-o", "small.png")
    assert code == 0 and "10    5  3/2" in out and "positive semidefinite, rank 2" in out
    assert "positive definite on" not in out
    code, out, _ = run("gram", THREE, "--kernel", "poly(degree=2)", "--json")
    found = json.loads(out)
    assert found["matrix"][0] == ["121", "36", "16"] and found["rank"] == 3
    assert "0.1353" in run("gram", "0 2", "--kernel", "rbf(gamma=0.5)")[1]
    code, _, err = run("gram", "1,2 3", "--kernel", "linear")
    assert code == 3 and "same number of coordinates" in err


def test_small_machines_print_their_numbers(run, files):
    write(files / "three.csv", [["a", "b", "side"], [1, 3, 1], [2, 1, 1], [0, 1, -1]])
    given = ("three.csv", "--kernel", "linear", "--C", "1000", "--scale", "none", "--tol", "1e-9", "-o", "three.mercer")
    code, out, _ = run("train", *given)
    assert code == 0 and "(1, 0.5)" in out and "-1.5" in out
    assert "0.25 (row 1), 0.375 (row 2), 0.625 (row 3)" in out
    assert "0.25 (row 1), 0.375 (row 2), 0.625 (row 3)" in run("inspect", "three.mercer")[1]
    assert json.loads(run("inspect", "three.mercer", "--json")[1])["multipliers"]["3"] == pytest.approx(0.625)
    assert "of the scaled columns" in run("train", "three.csv", "--kernel", "linear", "--C", "1000")[1]
    assert "(row" not in run("inspect", "iris.mercer")[1], "more than ten are not printed"


def test_plot_a_feature_map_with_its_boundary(run, files):
    write(files / "xor.csv", [["a", "b", "side"], [1, 1, -1], [-1, -1, -1], [-1, 1, 1], [1, -1, 1]])
    assert run("plot", "xor.csv", "--kind", "feature_map", "--scale", "none", "-o", "xor.png")[0] == 0
    assert run("plot", "xor.csv", "--kind", "feature_map", "--map", "polar", "-o", "polar.png")[0] == 0
    code, _, err = run("plot", "iris.mercer", "--kind", "feature_map", "-o", "no.png")
    assert code == 2 and "give a table" in err


def test_explain(run, files):
    code, out, _ = run("explain", "1,3:+ 2,1:+ 0,1:-")
    assert code == 0 and "3/8" in out and "5/8" in out
    for name, start in [("a.html", "<!DOCTYPE html"), ("a.tex", "\\documentclass"), ("a.md", "#"), ("a.json", "{")]:
        assert run("explain", "1,3:+ 2,1:+ 0,1:-", "-o", name)[0] == 0
        assert (files / name).read_text().lstrip().lower().startswith(start.lower())
    write(files / "points.csv", [["a", "b", "label"], [1, 3, 1], [2, 1, 1], [0, 1, -1]])
    code, out, _ = run("explain", "points.csv", "--format", "markdown")
    assert code == 0 and ("3/8" in out or "{3}{8}" in out)
    assert json.loads(run("explain", "1,3:+ 2,1:+ 0,1:-", "--C", "1/2", "--json")[1])
    for given, words in [
        (["1:1 2:3/2 3:2", "--kind", "ridge", "--lambda", "1/2"], "λ"),
        (["0,0:- 0,1:+ 1,0:+ 1,1:-", "--kind", "perceptron", "--kernel", "poly(degree=2)"], "pass"),
        (["1,2 3,4", "--kind", "kernel-trick", "--kernel", "poly(degree=2)"], "144"),
        (["max x*y", "x + y = 4", "--kind", "lagrangian"], "λ"),
    ]:
        code, out, err = run("explain", *given)
        assert code == 0 and words in out.lower(), err
    code, _, err = run("explain", "--exercise", "7", "--answer", "-o", "sheet.html")
    assert code == 0 and "sheet_answer.html" in err
    assert (files / "sheet.html").read_text() != (files / "sheet_answer.html").read_text()
    code, sheet, _ = run("explain", "--exercise", "7")
    assert code == 0 and "Exercise 7" in sheet and sheet == run("explain", "--exercise", "7")[1]
    assert run("explain", "--exercise", "7", "--kind", "ridge", "--json")[0] == 0
    both = json.loads(run("explain", "--exercise", "7", "--answer", "--json")[1])
    assert both["exercise"]["title"] == "Exercise 7: support vector machine" and both["answer"]["answer"]
    for kind in EXERCISES:
        assert "Exercise 7" in run("explain", "--exercise", "7", "--kind", kind)[1]
    found = json.loads(run("explain", "1,3:+ 2,1:-", "-o", "b.html", "--json")[1])
    assert found == {"format": "html", "output": ["b.html"]}
    for given, code, words in [
        ([], 2, "Give points"),
        ([" "], 2, "Give points"),
        (["1,3:+ 2,1:-", "--kind", "xor"], 2, "for --exercise"),
        (["1,3:+ 2,1:-", "-o", "a.bogus"], 2, ".txt, .md, .tex, .html, .json"),
        (["1,3:+ 2,1:-", "--json", "--format", "html"], 2, "contradict"),
        (["1,3:+ 2,1"], 3, "'2,1' is not a point"),
        (["1,3 2,1"], 3, "'1,3 2,1': points need labels, as in '1,3:+ 2,1:-'"),
        (["(1,1)+ (2,2)-"], 3, "'(1,1)+ (2,2)-': there is no such file, and points are written as '1,3:+ 2,1:+ 0,1:-'"),
        (["max x*y", "x + y = 4"], 2, "'max x*y' looks like an objective: add --kind lagrangian."),
        (["1,3:+ 2,1:+"], 3, ""),
        (["1,3:+ 2,x:-"], 3, "x"),
        (["1,3:+ 2,1:-", "--kernel", "laplacian(gamma=1)"], 3, "SVC"),
    ]:
        found, _, err = run("explain", *given)
        assert found == code and words in err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["|w1| + 2|w2|", "--kind", "subgradient", "--at", "1,0", "--vector", "1,1"], "{1} × [−2, 2]"),
        (["w1^2 + 2*w2^2", "--kind", "descent", "--at", "3,1", "--rule", "1/8", "--steps", "2"], "27/16"),
        (["min x^2", "x >= 1", "--kind", "duality"], "duality holds"),
        (["1,2:1 0,1:-2", "1,1:1", "--kind", "rkhs", "--at", "2,2"], "reproducing"),
        (["1,3 2,1 0,1", "--kind", "gram", "--vector", "1,1,1"], "rank(𝐊) = 2"),
        (["sqrt(2)*x", "x,-x", "--kind", "maps"], "2xz"),
        ([THREE, "--kind", "stochastic", "--steps", "3", "--C", "1/2"], "Right in the mean"),
        ([THREE, "--kind", "hinge", "--w", "1,1/2", "--b=-3/2"], "5/8"),
        (["0 1 3", "--kind", "pca"], "14/3"),
        ([THREE, "--kind", "smo", "--C", "1/4"], "(1/10, 3/20, 1/4)"),
        (["3", "--kind", "rbf"], "σ"),
        (["0:+ 1:- 3:+", "--kind", "neighbours", "--at", "3/2"], "nearest"),
        (["1,0:1 1,1:2", "--kind", "shrinkage"], "λ"),
        ([THREE, "--detail", "duality"], "four terms"),
        ([THREE, "--detail", "program"], "ten steps"),
        (["1:1 2:3/2", "--kind", "ridge", "--detail", "duality"], "term by term"),
        (["1,2:+ -1,1:-", "--kind", "perceptron", "--detail", "derivation"], "double sum"),
    ],
)
def test_explain_the_rest_of_the_lecture(run, given, words):
    code, out, err = run("explain", *given)
    assert code == 0 and words in out, err


def test_explain_says_what_is_missing(run):
    assert "--at" in run("explain", "w^2", "--kind", "subgradient")[2]
    assert run("explain", "9**9**9*w", "--kind", "subgradient", "--at", "1")[0] == 3
    assert "number of terms" in run("explain", "many", "--kind", "rbf")[2]
    assert "one text" in run("explain", "w^2", "w", "--kind", "descent", "--at", "1")[2]


def test_convert(run, files):
    code, out, _ = run("convert", "iris.mercer", "--to", "libsvm", "-o", "iris.model")
    assert code == 0 and "svm-scale -r iris.model.range" in out and "0 is setosa" in out
    assert run("convert", "iris.model", "-o", "back.mercer")[0] == 0
    assert mercer.load(files / "back.mercer").support_vectors_.shape[1] == 4
    assert run("convert", "iris.mercer", "-o", "iris.onnx")[0] == 0
    code, out, _ = run("convert", "iris.mercer", "--to", "json")
    assert code == 0 and json.loads(out)["model"]["estimator"] == "Pipeline"
    (files / "broken.model").write_text(
        "svm_type c_svc\nkernel_type magic\nnr_class 2\ntotal_sv 0\nrho 0\nlabel 1 2\nnr_sv 0 0\nSV\n"
    )
    for given, code, words in [
        (["iris.mercer"], 2, "convert: Say what to convert to: --to mercer, libsvm, onnx or json."),
        (["iris.mercer", "-o", "m.pkl"], 2, "m.pkl: the ending tells none of .mercer (mercer), .model (libsvm), "),
        (["iris.mercer", "--to", "onnx"], 2, "-o FILE"),
        (["broken.model", "-o", "b"], 5, "magic"),
        (["iris.csv", "-o", "b.mercer"], 5, "text, not a file of Mercer"),
    ]:
        found, _, err = run("convert", *given)
        assert found == code and words in err


# Mistakes.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train"], "the following arguments are required: DATA."),
        (["train", "iris.csv", "--model", "magic"], "invalid choice"),
        (["train", "iris.csv", "--C", "0"], "not a number greater than 0"),
        (["train", "iris.csv", "--C", "nan"], "not a number greater than 0"),
        (["train", "iris.csv", "--memory", "lots"], "not an amount of memory"),
        (["train", "iris.csv", "--memory", "1kB", "--quiet"], "at least 6.8 kB"),
        (["train", "iris.csv", "--model", "logistic", "--memory", "17kB", "--quiet"], "kB"),
        (["train", "iris.csv", "--C", "1/0"], "not a number greater than 0"),
        (["tune", "iris.csv", "--picture", "grid.bogus"], "png, pdf or svg"),
        (["tune", "iris.csv", "--picture", "nowhere/grid.png"], "no folder nowhere"),
        (["gram", "iris.csv", "--picture", "."], "is a folder"),
        (["predict", "iris.mercer", "iris.csv", "-o", "nowhere/out.csv"], "no folder nowhere"),
        (["train", "iris.csv", "--cv", "1"], "whole number, 2 or more"),
        (["train", "iris.csv", "--test-size", "1.5"], "a part between 0 and 1"),
        (["train", "iris.csv", "--test-size", "0.5", "--cv", "3"], "give one of the two"),
        (["train", "iris.csv", "--kernel", "rbf(gama=1)"], "no parameter 'gama'"),
        (["train", "iris.csv", "--kernel", "rbf", "-t", "0"], "give one of them"),
        (["train", "iris.csv", "-t", "3"], "sigmoid"),
        (["train", "iris.csv", "-s", "1"], "left out"),
        (["train", "iris.csv", "--modle", "svc"], "Did you mean --model?"),
        (["predict", "iris.mercer", "iris.csv", "more"], "more is not understood. See mercer predict --help."),
        (["train", "iris.csv", "-t", "4"], "for Python"),
        (["train", "iris.csv", "--kernel", "linear", "-g", "2"], "has no gamma"),
        (["train", "iris.csv", "--nu", "0.5"], "no setting of svc"),
        (["train", "iris.csv", "--target", "none"], "cannot learn without a target"),
        (["train", "sugar.tsv", "--model", "svr", "--C", "inf"], "for svc"),
        (["train", "iris.csv", "--delimiter", "ab"], "one character"),
        (["train", "iris.csv", "-o", "nowhere/m.mercer", "--quiet"], "no folder nowhere"),
        (["train", "iris.csv", "-o", "-"], "not to stdout"),
        (["tune", "iris.csv", "-o", "-"], "not to stdout"),
        (["convert", "iris.mercer", "--to", "libsvm", "-o", "-"], "not to stdout"),
        (["tune", "iris.csv", "--gamma-range", "2", "1"], "from low to high"),
        (["train", "iris.csv", "--memory", "5XB"], "number of bytes. See mercer train --help."),
        (["nothing"], "invalid choice"),
    ],
)
def test_usage(run, arguments, words):
    code, out, err = run(*arguments, "--json")
    assert code == 2 and words in err
    assert json.loads(out) == {"error": err.partition(": ")[2].strip(), "exit": 2}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "nowhere.csv"], "no file nowhere.csv"),
        (["train", "iris.csv", "--target", "colour"], "no column 'colour'. It has: 'sepal length'"),
        (["train", "iris.csv", "--target", "Specie"], "Did you mean 'species'?"),
        (["gram", "iris.csv", "--kernel", "precomputed"], "column 'species': 'setosa' is not a finite number"),
        (["train", "iris.csv", "--target", "petal width"], "numbers that are not whole"),
        (["train", "iris.csv", "--model", "svr"], "row 1: the target 'species' is 'setosa', and numbers are wanted"),
        (["train", "iris.mercer"], "is a model file, not a table"),
        (["train", "iris.csv", "--cv", "200"], "too few for 200 folds"),
        (["train", "sugar.tsv", "--kernel", "chi2", "--model", "svr", "--scale", "standard"], "needs entries >= 0"),
        (["evaluate", "iris.mercer", "sugar.tsv"], "the model was trained on 4"),
        (["evaluate", "iris.mercer", "other.csv"], "no column 'species', the target of this model"),
        (
            ["predict", "iris.mercer", "gaps.csv"],
            "row 1, column 'petal width' is missing (1 in this column): write a value",
        ),
    ],
)
def test_bad_data(run, arguments, words):
    code, _, err = run(*arguments)
    assert code == 3 and words in err
    code, out, _ = run(*arguments, "--json")
    assert words in json.loads(out)["error"] and json.loads(out)["exit"] == 3


def test_targets_that_are_no_classes(run, files):
    write(files / "ids.csv", [["a", "id"], *([i % 7, i] for i in range(40))])
    code, _, err = run("train", "ids.csv")
    assert code == 3 and "40 different values in 40 rows, too many for classes" in err
    write(files / "one.csv", [["a", "k"], *([i % 7, "x"] for i in range(40))])
    code, _, err = run("train", "one.csv")
    assert code == 3 and "only one class" in err
    write(files / "gone.csv", [["a", "k"], *([i % 7, "xy"[i % 2] if i != 3 else ""] for i in range(40))])
    code, _, err = run("train", "gone.csv")
    assert code == 3 and "row 4: the target 'k' is missing" in err
    write(files / "long.csv", [["a", "k"], *([i % 7, 10**20 + i % 2] for i in range(40))])
    code, _, err = run("train", "long.csv")
    assert code == 3 and "more than 15 digits" in err
    write(files / "frame.csv", [["", "a", "k"], *([i, i % 7, "xy"[i % 2]] for i in range(40))])
    code, _, err = run("train", "frame.csv")
    assert code == 3 and "column 1 has no name" in err
    assert run("train", "frame.csv", "--drop", "", "--quiet")[0] == 0


def test_unsafe_models(run, files):
    data = bytearray((files / "iris.mercer").read_bytes())
    data[len(data) // 2] ^= 1
    (files / "damaged.mercer").write_bytes(data)
    for verb in (["inspect"], ["convert", "--to", "json"]):
        code, _, err = run(verb[0], "damaged.mercer", *verb[1:])
        assert code == 5 and "mercer " + verb[0] in err and err.count("\n") == 1
    for verb in ("predict", "evaluate"):
        assert run(verb, "damaged.mercer", "iris.csv")[0] == 5
        assert run(verb, "iris.csv", "iris.csv")[0] == 5
        assert run(verb, ".", "iris.csv")[0] == 5


@pytest.mark.parametrize("verb", VERBS)
def test_help_begins_with_examples(run, verb):
    code, out, _ = run(verb, "--help")
    assert code == 0 and out.startswith(f"examples:\n  mercer {verb}")
    assert run("--help")[1].startswith("examples:")


@pytest.mark.parametrize("machine", [["--kernel", "linear", "-c", "inf"], ["--model", "perceptron"]], ids=" ".join)
def test_inseparable_classes_are_shown_to_be(run, files, machine):
    """In rows of the table and in its own units, whatever the scaling."""
    rows = [[10, 1, "a"], [30, 5, "a"], [10, 5, "b"], [30, 1, "b"]]
    write(files / "xor.csv", [["x", "z", "y"], *rows])
    code, out, _ = run("train", "xor.csv", *machine, "--quiet")
    assert code == 4 and "the hulls of the two classes meet" in out and "nothing useful" not in out
    assert "0.5 row 3 + 0.5 row 4 = (20, 3)" in out and "0.5 row 1 + 0.5 row 2 = (20, 3)" in out
