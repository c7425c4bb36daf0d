"""Files that look consistent and are not: hashes right, one number wrong. Each is refused in one sentence, or harmless.

They are loaded and used in a child process, by a machine with compiled code, on enough points for it to be used; a
child that dies is blamed on the file that it had in hand.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

import mercer
from mercer import (
    SVC,
    SVR,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    OneClassSVM,
    Perceptron,
)
from mercer.archives.archive import _from_npy
from mercer.features import GaussianSeries, Nystrom, PolarMap, PolynomialMap, PrototypeMap, RandomFourier, SpectralMap
from mercer.io import Encoder
from mercer.io.codec import Reader
from mercer.io.consistent import RULES
from mercer.io.models import dumps
from mercer.io.registry import ESTIMATORS, VALUES, class_of
from mercer.io.values import TYPES
from mercer.kernels import FromFeatures, Precomputed

from .test_models import entries, forged, is_one_sentence

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(120, 4)))
y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=120), [0.5, 1.0])
t = X @ [1.0, 2.0, 3.0, 4.0]
POINTS = np.abs(np.random.default_rng(1).normal(size=(3000, 4)))  # so many that compiled code is used
VALUES_OF_K = mercer.kernel("rbf(gamma=1)")(X)
TABLE = "a,b,c,d\n" + "\n".join(f"{a},{b},{'pqr'[i % 3]},{i % 2}" for i, (a, b, *_) in enumerate(X.tolist()))


def _piped(*steps):
    return make_pipeline(*steps).fit(X, y)


MODELS = {
    "three classes": (lambda: SVC("rbf(gamma=1)").fit(X, y), POINTS),
    "float32": (lambda: SVC("laplacian(gamma=1)").fit(X.astype(np.float32), y > 0), POINTS.astype(np.float32)),
    "one against the rest": (lambda: SVC("linear", multiclass="ovr").fit(X, y), POINTS),
    "sparse": (lambda: SVC("rbf(gamma=1)").fit(csr_matrix(X * (X > 1)), y), csr_matrix(POINTS * (POINTS > 1))),
    "values": (lambda: SVC(Precomputed()).fit(VALUES_OF_K, y), VALUES_OF_K),
    "features": (lambda: SVC(FromFeatures(PolynomialMap(degree=2).fit(X))).fit(X, y), POINTS),
    "svr": (lambda: SVR("rbf(gamma=1)").fit(X, t), POINTS),
    "one class": (lambda: OneClassSVM("rbf(gamma=1)").fit(X), POINTS),
    "logistic": (lambda: KernelLogistic("rbf(gamma=1)").fit(X, y), POINTS),
    "linear": (lambda: LinearSVC().fit(X, y), POINTS),
    "perceptron": (lambda: Perceptron(max_epochs=3, trace=True).fit(X, y), POINTS),
    "voted": (lambda: KernelPerceptron("rbf(gamma=1)", "voted", max_epochs=2).fit(X, y), POINTS),
    "averaged": (lambda: KernelPerceptron("rbf(gamma=1)", "averaged", max_epochs=2).fit(X, y > 0), POINTS),
    "stream": (lambda: KernelPerceptron("rbf(gamma=1)", budget=9).partial_fit(X, y, [0, 1, 2]), POINTS),
    "ridge": (lambda: KernelRidge("rbf(gamma=1)").fit(X, t), POINTS),
    "ridge in features": (lambda: KernelRidge("poly").fit(X, np.column_stack([t, -t])), POINTS),
    "ridge through landmarks": (lambda: KernelRidge("rbf(gamma=1)", solver="nystrom(landmarks=9)").fit(X, t), POINTS),
    "fourier": (lambda: _piped(StandardScaler(), RandomFourier("rbf(gamma=1)", n_components=7), LinearSVC()), POINTS),
    "nystrom": (lambda: _piped(MinMaxScaler(), Nystrom("rbf(gamma=1)", landmarks=9), LinearSVC()), POINTS),
    "prototypes": (lambda: _piped(RobustScaler(), PrototypeMap(5), PolarMap(), LinearSVC()), POINTS),
    "spectral": (lambda: _piped(GaussianSeries(2), SpectralMap(n_components=3), LinearSVC()), POINTS),
    "components": (lambda: _piped(KernelPCA(3, fit_inverse_transform=True), LinearSVC()), POINTS),
    "clusters": (lambda: KernelKMeans(3, random_state=0).fit(X), POINTS),
    "table": (lambda: make_pipeline(Encoder(missing="fill"), SVC("rbf(gamma=1)")).fit(_table(), y), None),
}  # fmt: skip
DEEP = ("float32", "averaged", "ridge")  # of one problem each, so that their answers are looked at too
UNSEEN = {  # what any file could say
    ("values", "support_ one less"), ("values", "support_ one more"),  # another row of the training
    ("ridge through landmarks", "_spread_ nothing"),  # a fit that was stopped: it has no deviations, and says so
    ("ridge in features", "_spread_ nothing"),  # deviations are found anew from the points, other in their last digits
}  # fmt: skip


def _table():
    from mercer.io.read import table_of

    return table_of(TABLE.encode(), "a table")


# Forgeries.


def arrays_like(value):
    """The array with its numbers, or its lengths, at their extremes."""
    yield "empty", value[:0]
    if value.ndim:
        yield "shorter", value[:-1]
        yield "longer", np.concatenate([value, value[-1:]])
        yield "of more dimensions", value[None]
    if value.ndim == 2:
        yield "narrower", value[:, :-1]
        yield "wider", np.concatenate([value, value[:, -1:]], axis=1)
    if value.dtype.kind in "iu" and value.size:
        numbers = {"negative": -1, "one less": int(value.flat[0]) - 1, "one more": int(value.flat[0]) + 1}
        numbers |= {"large": 10**6, "huge": 2**31 - 1, "beyond": 2**62}
        for name, number in numbers.items():
            changed = value.astype(np.int64)
            changed.flat[0] = number
            yield name, changed
        if value.size > 1:
            changed = value.astype(np.int64)
            changed.flat[0] -= 10**6
            changed.flat[-1] += 10**6
            yield "of the same sum", changed
        yield "of numbers", value.astype(np.float64)
    if value.dtype.kind == "f" and value.size:
        for number in (np.nan, np.inf):
            changed = value.copy()
            changed.flat[-1] = number
            yield str(number), changed
        yield "of whole numbers", np.zeros(value.shape, np.int64)
        yield "of text", value.astype("U5")


def nodes_like(node):
    """What may stand in the place of a value that is no array."""
    yield from (("nothing", None), ("text", "x"), ("NaN", {"float": "nan"}), ("an array", {"few": ["<f8", [1.0] * 11]}))
    if type(node) is int:  # of other numbers, any could be the true one
        yield from (("one more", node + 1), ("one less", node - 1), ("zero", 0), ("negative", -1), ("huge", 10**12))
    for kind in ("tuple", "solutions", "dict", "labels"):
        if isinstance(node, dict) and kind in node:
            items = node[kind]
            yield from (
                ("empty", {kind: []}),
                ("shorter", {kind: items[:-1]}),
                ("longer", {kind: [*items, *items[-1:]]}),
            )
    if isinstance(node, list):
        yield from (("empty", []), ("shorter", node[:-1]), ("longer", [*node, *node[-1:]]))
    if isinstance(node, dict) and "kernel" in node:
        yield from (("values", {"kernel": "precomputed"}), ("unresolved", {"kernel": "rbf(gamma=scale)"}))


def fields_of(node, deep, path=()):
    """The places of all that was learned, by estimators and, if deep, by the answers and proofs that they hold."""
    if isinstance(node, list):
        for place, item in enumerate(node):
            yield from fields_of(item, deep, (*path, place))
    if not isinstance(node, dict):
        return
    for key in ("fitted", "fields"):
        for name, item in node.get(key, {}).items():
            yield (*path, key, name)
            if deep or name not in ("solution_", "certificate_", "certificates_", "path_"):
                yield from fields_of(item, deep, (*path, key, name))
    for key in ("parameters", "steps", "transformer_list", "tuple", "features"):
        yield from fields_of(node.get(key, []), deep, (*path, key))


def forgeries(data, deep=False, where=None):
    """What was forged, and the file, for every field of a model; or for those at places where(path, model) says."""
    contents = entries(data)
    model = json.loads(contents["manifest.json"])["model"]
    stored = {name: _from_npy(array, name) for name, array in contents.items() if name.endswith(".npy")}
    for path in fields_of(model, deep):
        if where is not None and not where(path, model):
            continue
        node = model
        for key in path:
            node = node[key]
        yield f"{path[-1]} missing", changed(contents, path, None, missing=True)
        if isinstance(node, dict) and ({"few", "array", "sparse"} & set(node)):
            value = Reader(lambda name: stored[name]).decode(node)
            for name, other in arrays_like(value):
                yield f"{path[-1]} {name}", changed(contents, path, other)
        for name, other in nodes_like(node):
            yield f"{path[-1]} {name}", changed(contents, path, other)


def changed(contents, path, value, missing=False):
    """The file with another value at a place; arrays that nobody refers to any more are left out."""
    contents = dict(contents)

    def change(manifest):
        node = manifest["model"]
        for key in path[:-1]:
            node = node[key]
        if missing:
            del node[path[-1]]
        elif isinstance(value, np.ndarray):
            buffer = io.BytesIO()
            np.save(buffer, value)
            contents["forged.npy"] = buffer.getvalue()
            manifest["arrays"]["forged.npy"] = {}
            node[path[-1]] = {"array": "forged.npy"}
        else:
            node[path[-1]] = copy.deepcopy(value)
        text = json.dumps(manifest["model"])
        for name in [name for name in manifest["arrays"] if f'"{name}"' not in text]:
            del manifest["arrays"][name], contents[name]

    return forged(contents, change)


CHILD = """
import pickle, sys, warnings
from hashlib import sha256
import mercer, numpy as np
from mercer.io import ModelError
from mercer.io.models import loads
warnings.simplefilter("ignore")

def answer(data, points):
    model = loads(data)
    ways = [way for way in ("decision_function", "predict_proba", "predict") if hasattr(model, way)]
    ask = getattr(model, ways[0])
    found = [np.asarray(ask(points))]
    if type(model) is mercer.KernelRidge:
        found.append(model.predict(points[:50], return_std=True)[1])
    return sha256(b"".join(part.tobytes() for part in found)).hexdigest()

for name, data, points in pickle.load(sys.stdin.buffer):
    print(name, end="\\t", flush=True)
    try:
        print("answer", answer(data, points), sep="\\t", flush=True)
    except ModelError as error:
        print("refused", error, sep="\\t", flush=True)
    except Exception as error:
        print("raised", repr(error).replace("\\n", " "), sep="\\t", flush=True)
"""


def tried(cases):
    """(name, what became of it, details) of each file, all used in one child process, or in more where one dies."""
    found = []
    while len(found) < len(cases):
        left = [(str(number), *case[1:]) for number, case in enumerate(cases)][len(found) :]
        child = subprocess.run(
            [sys.executable, "-c", CHILD], input=pickle.dumps(left), capture_output=True, timeout=300
        )
        lines = [line.split("\t") for line in child.stdout.decode().split("\n") if line]
        assert lines, child.stderr.decode()[-500:]
        if len(lines[-1]) < 3:  # it died with this file in hand
            lines[-1] = [lines[-1][0], "crashed", str(child.returncode)]
        found += [(cases[int(number)][0], what, text) for number, what, text in lines]
    return found


COUNTS = ("n_support_", "n_features_in_", "_n_features_out", "_seen", "_held", "signs", "kinds_", "_sequence")
"""Fields of which no other value can be true."""


@pytest.mark.parametrize("half", [0, 1])
def test_forged_fields(half):
    """Each is refused in one sentence, or it is of no consequence: the scores are the same to the last bit."""
    cases, true = [], {}
    for kind in list(MODELS)[half::2]:
        make, points = MODELS[kind]
        points = _table() if points is None else points
        data = dumps(make())
        cases.append(((kind, "true"), data, points))
        cases += [((kind, name), other, points) for name, other in forgeries(data, kind in DEEP)]
    for (kind, name), what, text in tried(cases):
        if name == "true":
            assert what == "answer", (kind, text)
            true[kind] = text
        elif what == "refused":
            assert is_one_sentence(text)
        else:
            assert (kind, name) in UNSEEN or (what, text) == ("answer", true[kind]), (kind, name, what, text)
            assert name.split()[0] not in COUNTS, (kind, name)
    assert len(cases) > 1500


def test_a_child_that_dies_is_noticed(monkeypatch):
    data = dumps(MODELS["svr"][0]())
    dying = "    import os; data or os.abort()\n    model = loads(data)"
    monkeypatch.setattr(sys.modules[__name__], "CHILD", CHILD.replace("    model = loads(data)", dying))
    found = tried([("a", b"", POINTS), ("b", data, POINTS)])
    assert [(name, what) for name, what, _ in found] == [("a", "crashed"), ("b", "answer")]


def test_every_class_has_a_rule():
    assert set(RULES) == set(ESTIMATORS)
    for name in VALUES:
        for annotation in class_of(name, VALUES).__dataclass_fields__.values():
            assert str(annotation.type).removesuffix(" | None") in TYPES, f"{name}.{annotation.name}"
