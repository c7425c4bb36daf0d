"""Scores on the command line: by scikit-learn's names, and the command that tune prints."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris

import mercer
from mercer.cli import main
from mercer.io.read import read_table


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two classes with names, three classes, numbers."""
    folder = tmp_path_factory.mktemp("scores")
    X, y = load_breast_cancer(return_X_y=True)
    rows = [f"{a},{b},{c},{('good', 'ill')[k]}" for (a, b, c), k in zip(X[:160, :3].tolist(), 1 - y, strict=False)]
    (folder / "two.csv").write_text("a,b,c,state\n" + "\n".join(rows))
    X, y = load_iris(return_X_y=True)
    np.savetxt(folder / "three.csv", np.column_stack([X, y]), delimiter=",", fmt="%g")
    np.savetxt(folder / "numbers.csv", X, delimiter=",", fmt="%g")
    return folder


@pytest.fixture
def run(files, capsys, monkeypatch):
    monkeypatch.chdir(files)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_cross_validation_by_names(run):
    code, out, _ = run("train", "two.csv", "--cv", 3, "--scoring", "f1,roc_auc", "--scoring", "neg_log_loss", "--json",
                       "--quiet", "--model", "logistic")  # fmt: skip
    found = json.loads(out)["cross_validation"]
    assert code == 0
    assert list(found) == ["f1", "roc_auc", "neg_log_loss", "standard deviation of f1"]
    assert 0.5 < found["f1"] < 1 and found["roc_auc"] > 0.9 and found["neg_log_loss"] < 0
    code, out, _ = run("train", "two.csv", "--scoring", "precision", "--json", "--quiet")
    assert list(json.loads(out)["held_out"]) == ["precision"]


def test_evaluate_prints_what_makes_sense(run, files):
    assert run("train", "two.csv", "--model", "logistic", "-o", "two.mercer", "--quiet", "--json")[0] == 0
    code, out, _ = run("evaluate", "two.mercer", "two.csv", "--json", "--quiet", "--scoring", "matthews_corrcoef")
    data = json.loads(out)
    assert code == 0
    assert list(data["scores"]) == ["accuracy", "balanced accuracy", "F1", "AUC", "log-loss", "matthews_corrcoef"]
    model, table = mercer.load(files / "two.mercer"), read_table("two.csv")
    rest, y, _ = table.split("state")
    share = model.predict_proba(rest)[:, 1]
    assert model[-1].classes_.tolist() == ["good", "ill"]
    assert data["scores"]["AUC"] == pytest.approx(metrics.roc_auc_score(y == "ill", share))
    assert data["scores"]["F1"] == pytest.approx(metrics.f1_score(y == "ill", share > 0.5))
    assert data["scores"]["log-loss"] == pytest.approx(metrics.log_loss(y == "ill", share))
    # without probabilities there is an AUC of two classes, and none of three
    for name, wanted in (("two.csv", ["F1", "AUC"]), ("three.csv", ["mean F1"])):
        run("train", name, "-o", "m.mercer", "--quiet", "--json")
        _, out, _ = run("evaluate", "m.mercer", name, "--json", "--quiet")
        assert list(json.loads(out)["scores"])[2:] == wanted
    out = run("evaluate", "m.mercer", "three.csv", "--quiet", "--scoring", "balanced_accuracy,f1_macro")[1]
    assert out.count("accuracy") == 2 and "f1_macro" in out and "mean F1" not in out  # each number once


def test_mistakes_as_table_and_as_picture(run, files):
    run("train", "three.csv", "-o", "three.mercer", "--quiet", "--json")
    code, out, _ = run("evaluate", "three.mercer", "three.csv", "--picture", "mistakes.svg")
    assert code == 0 and "rows: the truth; columns: the prediction" in out
    assert "<svg" in (files / "mistakes.svg").read_text()
    run("train", "numbers.csv", "--model", "ridge", "-o", "numbers.mercer", "--quiet", "--json")
    code, _, err = run("evaluate", "numbers.mercer", "numbers.csv", "--picture", "no.svg")
    assert code == 2 and "predicts numbers" in err and not (files / "no.svg").exists()
    code, out, _ = run(
        "evaluate", "numbers.mercer", "numbers.csv", "--json", "--quiet", "--scoring", "neg_median_absolute_error"
    )
    assert code == 0 and json.loads(out)["scores"]["neg_median_absolute_error"] < 0


def test_tune_maximises_what_it_is_told(run):
    given = ("tune", "two.csv", "--steps", 3, "--cv", 3, "--json", "--quiet", "--C-range", 0.01, 100)
    code, out, _ = run(*given, "--scoring", "recall,precision")
    data = json.loads(out)
    best = data["best"]
    assert code == 0 and data["score"] == "recall"
    assert best["score"] == pytest.approx(np.nanmax(data["scores"]))
    assert list(best["scores"]) == ["recall", "precision"]
    assert best["scores"]["recall"] == best["score"]
    _, out, _ = run(*given, "--scoring", "precision")
    other = json.loads(out)
    assert other["score"] == "precision" and other["scores"] != data["scores"]
    code, out, _ = run("tune", "numbers.csv", "--model", "ridge", "--steps", 2, "--scoring", "neg_mean_absolute_error",
                       "--json", "--quiet")  # fmt: skip
    data = json.loads(out)
    assert code == 0 and data["score"] == "neg_mean_absolute_error" and data["best"]["score"] < 0


@pytest.mark.digits
@pytest.mark.parametrize(
    "given",
    [
        ("two.csv", "--class-weight", "balanced", "--scale", "minmax", "--seed", 3),
        ("three.csv", "--kernel", "laplacian + linear", "--target", 5),
        ("numbers.csv", "--model", "svr", "--epsilon", 0.05, "--drop", 1),
        ("numbers.csv", "--model", "ridge", "--bias", "no"),
        ("two.csv", "--model", "linear-svc", "--scoring", "f1"),
    ],
    ids=str,
)
def test_the_command_that_tune_prints_gives_the_same_model(given, run, files):
    code, out, _ = run("tune", *given, "--steps", 2, "--cv", 2, "-o", "tuned.mercer", "--quiet")
    assert code == 0
    (line,) = (line for line in out.splitlines() if line.startswith("to train it"))
    tuned = (files / "tuned.mercer").read_bytes()
    words = shlex.split(line.removeprefix("to train it"))
    assert words[0] == "mercer"
    (files / "tuned.mercer").unlink()
    assert run(*words[1:], "--quiet")[0] == 0
    a, b = (mercer.io.models.loads(data) for data in (tuned, (files / "tuned.mercer").read_bytes()))
    assert repr(a[-1]) == repr(b[-1])
    for name in ("dual_coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(a[-1], name), getattr(b[-1], name))


def test_gamma_has_a_long_name(run):
    _, out, _ = run("train", "three.csv", "--gamma", "0.5", "--json", "--quiet")
    assert json.loads(out)["kernel"] == "Gaussian(gamma=0.5)"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("train", "two.csv", "--scoring", "f2"), "has no such score. Did you mean"),
        (("train", "three.csv", "--scoring", "f1"), "--scoring f1 cannot be had here"),
        (("tune", "two.csv", "--scoring", "neg_log_loss"), "--scoring neg_log_loss cannot be had here: SVC has none"),
        (("evaluate", "two.mercer", "two.csv", "--scoring", "nonsense"), "has no such score"),
    ],
)
def test_scores_that_cannot_be(given, said, run, files):
    if not (files / "two.mercer").exists():
        run("train", "two.csv", "-o", "two.mercer", "--quiet", "--json")
    code, _, err = run(*given)
    assert code == 2
    assert said in err


def test_tune_gives_the_scores_of_search_with_steps_fitted_inside_each_fold(run, files):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from mercer.cli.scores import folds

    code, out, _ = run("tune", "three.csv", "--steps", 3, "--scale-steps", 2, "--cv", 3, "--json", "--quiet")
    data = json.loads(out)
    assert code == 0 and len(data["C"]) == 3 and len(data["gamma"]) == 2
    table, y, _ = mercer.io.read_table(files / "three.csv").split(None)
    cut = folds("labels", y, table.n, 3, 0)
    machine = make_pipeline(mercer.io.Encoder(), StandardScaler(), mercer.SVC())
    for i, gamma in enumerate(data["gamma"]):
        for j, C in enumerate(data["C"]):
            machine.set_params(svc__C=C, svc__kernel__gamma=gamma, svc__tol=1e-8)
            scores = [machine.fit(table.take(a), y[a]).score(table.take(b), y[b]) for a, b in cut]
            assert data["scores"][i][j] == pytest.approx(np.mean(scores))
