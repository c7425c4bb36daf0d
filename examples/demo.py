"""What `make demo` shows: tables become certified models, a picture of one, and a worked solution by hand."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC

OUT = Path("out")


def trained(X_train: Any, X_test: Any, y_train: Any, y_test: Any) -> Pipeline:
    """A pipeline, trained; what it took, how it does on the test set, and how good the answer is, are printed."""
    pipeline = make_pipeline(StandardScaler(), SVC("rbf(gamma=scale)", C=10))
    start = time.perf_counter()
    pipeline.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    machine = pipeline[-1]
    right = pipeline.score(X_test, y_test)
    print(f"  machine          {machine!r} after scaling")
    print(f"  test accuracy    {100 * right:.1f}% of {len(y_test)} that it has not seen")
    print(f"  time             {1000 * seconds:.0f} ms to train on {len(y_train)} and to certify the answer")
    print(f"  support vectors  {len(machine.support_)}\n")
    print("The certificate (primal: what this machine costs; dual: no machine costs less):\n")
    print(machine.certificate_, "\n")
    return pipeline


def main() -> None:
    """Train, test, certify, save, draw, and solve an exercise exactly."""
    OUT.mkdir(exist_ok=True)
    X, y = load_digits(return_X_y=True)
    print(f"{len(y)} handwritten digits of 8 x 8 pixels; which are they?\n")
    trained(*train_test_split(X, y, random_state=0, stratify=y))

    table = load_breast_cancer()
    y = table.target_names[table.target]
    print(f"A table of {len(y)} tumours, {table.data.shape[1]} measurements of each; which are malignant?\n")
    X_train, X_test, y_train, y_test = train_test_split(table.data, y, random_state=0, stratify=y)
    pipeline = trained(X_train, X_test, y_train, y_test)

    model, picture = OUT / "tumours.mercer", OUT / "tumours.png"
    mercer.save(pipeline, model)
    assert np.array_equal(mercer.load(model).decision_function(X_test), pipeline.decision_function(X_test))
    ax = mercer.plot.boundary(pipeline, X_train, y_train, title="Tumours, an SVC in the plane of largest variance")
    ax.figure.savefig(picture, dpi=150)

    exercise = mercer.explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1])
    worked = exercise.save(OUT / "worked_solution.html")
    print("Written:")
    print(f"  {model}         the model, scaling included: mercer.load, or `mercer predict {model} TABLE`")
    print(f"  {picture}            boundary, margins and support vectors")
    print(f"  {worked}   three points, solved by hand in fractions: {str(exercise.check()).lower()}")


if __name__ == "__main__":
    main()
