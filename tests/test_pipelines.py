"""Model files of pipelines as people write them: equal to the bit, and forged ones are refused or harmless."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import mercer
from mercer import SVC, LinearSVC
from mercer.io import ModelError, StorageError
from mercer.io.consistent_columns import COLUMNS
from mercer.io.consistent_dropin import DROPIN
from mercer.io.consistent_wrappers import WRAPPERS
from mercer.io.models import dumps, loads

from .pipelines import DROPINS, PIPELINES, TEXTS, X, answers, y
from .test_forged_files import forgeries, tried
from .test_models import entries, forged, is_one_sentence

OURS = set(mercer.estimators.__all__)
TWICE = ("columns by a function", "search", "sets of labels", "drop-in, two classes", "drop-in, without intercept")
"""Forged under another name already."""
UNSEEN = {  # what any file could say: it would be another model
    ("columns", "features_ one less"),  # another column had gaps
    ("shapes", "scores_ inf"),  # another column is the best
    ("data frames within", "_sklearn_output_config missing"),  # arrays, for which columns have no names
    ("drop-in, ridge", "X_fit_ of whole numbers"), ("drop-in, ridge", "dual_coef_ wider"),
    ("drop-in, ridge", "dual_coef_ narrower"),  # other points, other targets
    ("several targets", "estimators_ shorter"), ("several targets", "estimators_ longer"),
    ("isotonic", "calibrated_classifiers_ shorter"), ("isotonic", "calibrated_classifiers_ longer"),
    ("sigmoid", "calibrated_classifiers_ shorter"), ("sigmoid", "calibrated_classifiers_ longer"),
}  # fmt: skip


ALL = PIPELINES | {f"drop-in, {name}": model for name, model in DROPINS.items()}


@pytest.mark.digits
@pytest.mark.parametrize("name", ALL)
def test_loaded_pipelines_answer_the_same_bits(name):
    make, points = ALL[name]
    model = make()
    data = dumps(model)
    loaded, true = loads(data), answers(model, points)
    assert set(true) == set(answers(loaded, points))
    for way, values in answers(loaded, points).items():
        np.testing.assert_array_equal(true[way], values, strict=True)
    assert dumps(loaded) == data


def test_a_search_is_saved_as_its_best_estimator():
    loaded = loads(dumps(PIPELINES["search"][0]()))
    assert [name for name, _ in loaded.steps] == ["standardscaler", "svc"]
    with pytest.raises(StorageError, match="best_estimator_"):
        dumps(GridSearchCV(SVC(), {"C": [1]}, refit=False, cv=2).fit(X, y))


def learned_by_others(path, model):
    """Whether a place is within an estimator of scikit-learn's; those of Mercer's are forged elsewhere."""
    node = model
    for key in path:
        if isinstance(node, dict) and isinstance(name := node.get("estimator"), str) and name in OURS:
            return False
        node = node[key]
    return True


@pytest.mark.parametrize("part", range(3))
def test_forged_pipelines(part):
    """Each is refused in one sentence, or it is of no consequence: the answers are the same to the last bit."""
    cases, true = [], {}
    for kind in [kind for kind in ALL if kind not in TWICE][part::3]:
        make, points = ALL[kind]
        points = points[:8]
        data = dumps(make())
        cases.append(((kind, "true"), data, points))
        cases += [((kind, name), other, points) for name, other in forgeries(data, where=learned_by_others)]
    bad = []
    for (kind, name), what, text in tried(cases):
        if name == "true":
            assert what == "answer", (kind, text)
            true[kind] = text
        elif what == "refused":
            assert is_one_sentence(text)
        elif (what, text) != ("answer", true[kind]) and (kind, name) not in UNSEEN:
            bad.append((kind, name, what, text))
    assert not bad
    assert len(cases) > 300


def test_every_rule_is_forged():
    held, rules = set(), COLUMNS | WRAPPERS | DROPIN
    for make, _ in ALL.values():
        text = entries(dumps(make()))["manifest.json"]
        held |= {name for name in rules if json.dumps({"estimator": name})[1:-1].encode() in text}
    assert set(rules) - held == {"_TemperatureScaling"}  # newer than the oldest scikit-learn


def test_functions_and_patterns_of_ones_own_are_refused():
    with pytest.raises(StorageError, match="score_func"):
        dumps(make_pipeline(SelectKBest(lambda X, y: X[0], k=2), SVC()).fit(X, y))
    with pytest.raises(StorageError, match="func"):
        dumps(make_pipeline(FunctionTransformer(lambda X: X), SVC()).fit(X, y))
    with pytest.raises(StorageError, match="token_pattern"):
        dumps(make_pipeline(TfidfVectorizer(token_pattern="(a+)+b|."), LinearSVC()).fit(TEXTS, y))


def reworded(contents, true, other):
    """The file with another text in its manifest, hashes right."""

    def change(manifest):
        manifest["model"] = json.loads(json.dumps(manifest["model"]).replace(true, other, 1))

    return forged(contents, change)


@pytest.mark.parametrize(
    ("true", "other"),
    [
        ('"function": "f_classif"', '"function": "os.system"'),
        ('"type": "float64"', '"type": "object_"'),
        ('"input": "content"', '"input": "filename"'),
        ('"analyzer": "word"', '"analyzer": "callable"'),
        ('"norm": "l2"', '"norm": "l1"'),
    ],
)
def test_what_a_file_may_not_say(true, other):
    for name in ("shapes", "texts", "columns"):
        contents = entries(dumps(PIPELINES[name][0]()))
        if true in json.dumps(json.loads(contents["manifest.json"])):
            with pytest.raises(ModelError) as raised:
                loads(reworded(contents, true, other))
            assert is_one_sentence(str(raised.value))
            return
    raise AssertionError(true)
