"""Held-out accuracy of SVC with each kernel's name alone, on data as it comes, standardised, and from 0 to 1.

    python benchmarks/scales.py                     # digits and breast cancer, which come with scikit-learn
    python benchmarks/scales.py --data FOLDER       # and spambase, from a folder with load.py

Each is to be within 0.03 of rbf, or better; what is not is marked. exp_chi2 needs entries >= 0. Three tenths of rows
are held out; the accuracy is the mean over three such splits. The last column is the largest standard deviation of a
column over the least, from 1,000 on worth a ScaleWarning.
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from mercer import SVC
from mercer.estimators import ScaleWarning

NAMES = ["rbf", "laplacian", "matern", "rational_quadratic", "exp_chi2"]
SCALERS = {"raw": FunctionTransformer(), "standard": StandardScaler(), "0 to 1": MinMaxScaler(clip=True)}
SPLITS = 3
NEAR = 0.03


def spambase(folder: Path) -> tuple[Any, Any]:
    """All rows, in float64."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    X, y, X_test, y_test = loader.load("spambase")
    return np.vstack([X, X_test]).astype(float), np.concatenate([y, y_test])


def accuracy(name: str, scaler: Any, X: Any, y: Any) -> float:
    """The mean over the splits."""
    scores = []
    for seed in range(SPLITS):
        A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        scores.append(make_pipeline(clone(scaler), SVC(name, tol=1e-3)).fit(A, a).score(B, b))
    return float(np.mean(scores))


def main() -> None:
    """A line for each data set and scaling."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with load.py and spambase")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ScaleWarning)
    sets = {"digits": load_digits(return_X_y=True), "breast cancer": load_breast_cancer(return_X_y=True)}
    if options.data is not None:
        sets["spambase"] = spambase(options.data)
    print(f"{'data':14} {'scaled':9}" + "".join(f"{name:>20}" for name in NAMES) + f"{'scales apart':>14}")
    far = 0
    for data, (X, y) in sets.items():
        for scaled, scaler in SCALERS.items():
            names = NAMES[:-1] if scaled == "standard" else NAMES
            found = {name: accuracy(name, scaler, X, y) for name in names}
            marks = {name: "*" if value < found["rbf"] - NEAR else " " for name, value in found.items()}
            far += list(marks.values()).count("*")
            shown = clone(scaler).fit_transform(X)
            deviations = shown.std(axis=0)[np.ptp(shown, axis=0) > 0]
            cells = [f"{found[name]:.4f}{marks[name]}" if name in found else "-" for name in NAMES]
            apart = deviations.max() / deviations.min()
            print(f"{data:14} {scaled:9}" + "".join(f"{cell:>20}" for cell in cells) + f"{apart:14.0f}", flush=True)
    print(f"{far} below rbf by more than {NEAR}")


if __name__ == "__main__":
    main()
