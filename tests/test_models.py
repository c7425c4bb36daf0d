"""Model files: what is loaded is what was saved, bit for bit, and what is damaged is refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import zipfile
from hashlib import sha256
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris, make_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

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
)  # fmt: skip
from mercer.archives.archive import _digest, _from_npy
from mercer.features import Nystrom, PolynomialMap, PrototypeMap, RandomFourier, SpectralMap
from mercer.io import ModelError, StorageError
from mercer.io.models import dumps, loads, read_manifest
from mercer.io.registry import ESTIMATORS, FORGOTTEN, RECORDS, VALUES, class_of
from mercer.kernels import FromFeatures, FromFunction, Precomputed

from .zoo import FEATURES, KERNELS

X, y = load_iris(return_X_y=True)
X_numbers, t = make_regression(60, 4, random_state=0)
TWO = y < 2
WORDS = np.array(["setosa", "versicolor", "virginica"])[y]


MODELS = {
    "two classes": lambda: SVC(C=10).fit(X[TWO], y[TWO]),
    "three classes": lambda: SVC("rbf(gamma=0.3) + linear", C=10).fit(X, y),
    "one against the rest": lambda: SVC("linear", multiclass="ovr").fit(X, WORDS),
    "labels as objects": lambda: SVC(class_weight={"setosa": 2.0, "versicolor": 1, "virginica": 1.0}).fit(
        X, WORDS.astype(object)
    ),
    "sparse": lambda: SVC().fit(csr_matrix(X), y),
    "sparse array": lambda: SVC().fit(csr_array(X), y),
    "float32": lambda: SVC().fit(X.astype(np.float32), y),
    "qp": lambda: SVC(solver="qp(solver=clarabel)").fit(X[TWO], y[TWO]),
    "hard margin": lambda: SVC("linear", C=float("inf")).fit(X[TWO], y[TWO]),
    "weights": lambda: SVC().fit(X, y, sample_weight=np.arange(150) % 3),
    "logistic": lambda: KernelLogistic().fit(X, WORDS),
    "linear": lambda: LinearSVC(bias="penalised").fit(X, y),
    "ridge": lambda: KernelRidge(alpha=0.1, bias=True).fit(X_numbers, t),
    "ridge of two targets": lambda: KernelRidge("linear + 1").fit(X_numbers, np.column_stack([t, -t])),
    "ridge through landmarks": lambda: KernelRidge(solver="nystrom(landmarks=20)", random_state=0).fit(X_numbers, t),
    "ridge by leave-one-out": lambda: KernelRidge(alpha="loo", loo=True).fit(X_numbers, t),
    "perceptron": lambda: Perceptron(max_epochs=3, trace=True, bias=True).fit(X, y),
    "kernel perceptron": lambda: KernelPerceptron("rbf(gamma=2)", trace=True).fit(X, WORDS),
    "averaged": lambda: KernelPerceptron("linear", "averaged", shuffle=True, random_state=0).fit(X, y),
    "voted": lambda: KernelPerceptron(variant="voted", bias=True, max_epochs=5).fit(X, y),
    "stream": lambda: KernelPerceptron(budget=9).partial_fit(X[::2], y[::2], [0, 1, 2]).partial_fit(X[1::2], y[1::2]),
    "features": lambda: SVC(FromFeatures(PolynomialMap(degree=2).fit(X))).fit(X, y),
    "svr": lambda: SVR(C=100.0, random_state=np.random.default_rng(0)).fit(X_numbers, t),
    "components": lambda: make_pipeline(KernelPCA(3, fit_inverse_transform=True), SVC("linear")).fit(X, y),
    "clusters": lambda: KernelKMeans(3, random_state=0).fit(X),
    "one class": lambda: OneClassSVM(nu=0.2).fit(X),
    "standard": lambda: make_pipeline(StandardScaler(), SVC()).fit(X, y),
    "chain": lambda: make_pipeline(
        MinMaxScaler(),
        MaxAbsScaler(),
        RobustScaler(),
        Normalizer(),
        Nystrom(landmarks=9, random_state=0),
        SVC("linear"),
    ).fit(X, y),
    "fourier": lambda: make_pipeline(RandomFourier(n_components=8, random_state=0), SVR()).fit(X_numbers, t),
    "prototypes": lambda: make_pipeline(PrototypeMap(), SpectralMap("rbf", n_components=2), SVC()).fit(X, y),
}


def values(model, points):
    return model.decision_function(points) if hasattr(model, "decision_function") else model.predict(points)


def points_of(model):
    points = np.random.default_rng(1).normal(size=(40, 4)) * 2 + 3
    first = model.support_vectors_ if hasattr(model, "support_vectors_") else X
    return csr_matrix(points) if not isinstance(first, np.ndarray) else points.astype(first.dtype)


@pytest.mark.digits
@pytest.mark.parametrize("name", MODELS)
def test_loaded_models_predict_the_same_bits(name, tmp_path):
    model = MODELS[name]()
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    points = points_of(model)
    np.testing.assert_array_equal(values(model, points), values(loaded, points), strict=True)
    np.testing.assert_array_equal(model.predict(points), loaded.predict(points), strict=True)
    assert dumps(loaded) == (tmp_path / "model.mercer").read_bytes()
    np.testing.assert_array_equal(values(pickle.loads(pickle.dumps(model)), points), values(model, points))


def test_what_was_learned_comes_back():
    model = SVC(C=10).fit(X, y)
    loaded = loads(dumps(model))
    assert loaded.get_params() == model.get_params()
    assert str(loaded.certificate_) == str(model.certificate_)
    assert loaded.certificate_.parts[1] is loaded.certificates_[1]
    assert loaded.solution_[0].history == model.solution_[0].history
    assert loaded.solution_[0].solver == model.solution_[0].solver
    np.testing.assert_array_equal(loaded.solution_[2].beta, model.solution_[2].beta)
    assert mercer.certify(loaded, X, y).relative_gap < 1e-4
    loaded.fit(X, y)  # it can be trained again


NEWER = ("_TemperatureScaling",)  # than the oldest scikit-learn that is allowed


def test_the_registry_names_classes_that_exist():
    for table in (ESTIMATORS, VALUES, RECORDS, FORGOTTEN):
        for name in table:
            if name in NEWER and not hasattr(import_module(table[name]), name):
                with pytest.raises(ValueError, match="this version of sklearn does not know"):
                    class_of(name, table)
            else:
                assert class_of(name, table).__name__ == name.removeprefix("dropin.")


def test_every_estimator_can_be_saved():
    held = {type(step) for make in MODELS.values() for _, step in getattr(make(), "steps", [("", make())])}
    for name in mercer.estimators.__all__:
        estimator = getattr(mercer.estimators, name)
        if hasattr(estimator, "fit"):
            assert estimator in held, f"add {name} to mercer.io.registry, and to MODELS here"


@pytest.mark.parametrize("phi", FEATURES, ids=repr)
def test_feature_maps(phi):
    fitted = clone(phi).fit(X)
    loaded = loads(dumps(fitted))
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(loaded.kernel_(X[:9]), fitted.kernel_(X[:9]))


@pytest.mark.parametrize("specimen", KERNELS, ids=lambda specimen: repr(specimen.kernel))
def test_kernels(specimen):
    """What is written as text comes back; what is somebody's own code or values is refused."""
    kernel = specimen.kernel
    if isinstance(kernel, FromFeatures) and hasattr(kernel.phi, "transform"):
        points = specimen.points(9)
        np.testing.assert_array_equal(loads(dumps(SVC(kernel))).kernel(points), kernel(points))
    elif "<" not in repr(kernel):
        assert loads(dumps(SVC(kernel))).kernel == kernel
    else:
        with pytest.raises(StorageError, match="cannot hold"):
            dumps(SVC(kernel))


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("ridge")])
def test_standard_deviations(name):
    model = MODELS[name]()
    _, std = model.predict(X_numbers[:9], return_std=True)
    for loaded in (loads(dumps(model)), loads(dumps(MODELS[name]()))):  # with a factor that was made, and without
        np.testing.assert_allclose(loaded.predict(X_numbers[:9], return_std=True)[1], std, rtol=1e-12)


def test_a_stream_goes_on():
    model = MODELS["stream"]()
    loaded = loads(dumps(model))
    for machine in (model, loaded):
        machine.partial_fit(X[::3], y[::3])
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_precomputed_kernel():
    K = mercer.kernel("rbf(gamma=0.5)")(X)
    model = SVC(Precomputed()).fit(K, y)
    np.testing.assert_array_equal(loads(dumps(model)).decision_function(K), model.decision_function(K))


def test_inseparable_data_keeps_its_proof():
    model = SVC("linear", C=float("inf")).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    loaded = loads(dumps(model))
    assert str(loaded.certificate_) == str(model.certificate_)
    with pytest.raises(ValueError, match="no answer to predict with"):
        loaded.predict([[0.0]])


def test_only_support_vectors_are_stored():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(1400, 20))
    model = SVC("linear", C=0.1).fit(many, many[:, 0] > 0)
    data = dumps(model)
    assert len(model.support_) < 500
    assert len(data) < 8 * 20 * len(model.support_) + 40_000 < many.nbytes
    assert loads(data).support_vectors_.shape == (len(model.support_), 20)


def test_the_same_model_gives_the_same_bytes():
    model = MODELS["three classes"]()
    assert dumps(model) == dumps(pickle.loads(pickle.dumps(model)))


def test_manifest_is_for_people(tmp_path):
    model = make_pipeline(StandardScaler(), SVC("rbf(gamma=0.5)", C=3)).fit(X, WORDS)
    mercer.save(model, tmp_path / "m", notes={"target": "species"})
    manifest = read_manifest(tmp_path / "m")
    assert manifest["schema"] == 1 and manifest["notes"] == {"target": "species"}
    assert set(manifest["versions"]) == {"mercer", "numpy", "scipy", "scikit-learn"}
    _, svc = (step["tuple"][1] for step in manifest["model"]["parameters"]["steps"])
    assert svc["parameters"]["C"] == 3
    assert svc["fitted"]["kernel_"] == {"kernel": "Gaussian(gamma=0.5)"}
    assert svc["fitted"]["classes_"] == {"few": ["<U10", ["setosa", "versicolor", "virginica"]]}
    assert all(len(entry["sha256"]) == 64 for entry in manifest["arrays"].values())


def test_what_cannot_be_stored():
    function = FromFunction(lambda x, z: float(x @ z))
    for model in (SVC(function).fit(X, y), SVC(2 * function).fit(X, y), make_pipeline(pytest, SVC())):
        with pytest.raises(StorageError, match="model file cannot hold"):
            dumps(model)
    with pytest.raises(StorageError, match="holds an estimator or a pipeline, not ndarray"):
        dumps(X)
    for notes in ({"a": X}, {"a": float("inf")}):
        with pytest.raises(StorageError, match="what JSON can hold"):
            dumps(SVC(), notes)


class Imposter(SVC):
    """Not the class of that name."""


Imposter.__name__ = "SVC"


def test_a_class_of_the_same_name_is_not_stored():
    with pytest.raises(StorageError, match="model file cannot hold"):
        dumps(Imposter().fit(X, y))


def test_writes_are_atomic(tmp_path):
    path = tmp_path / "model.mercer"
    mercer.save(SVC().fit(X, y), path)
    before = path.read_bytes()
    with pytest.raises(StorageError):
        mercer.save(SVC(FromFunction(lambda x, z: float(x @ z))).fit(X, y), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(IsADirectoryError, match="folder"):
        mercer.save(SVC().fit(X, y), tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        mercer.save(SVC().fit(X, y), tmp_path / "nowhere" / "m")


def test_writing_leaves_links_and_pipes_what_they_are(tmp_path):
    machine = SVC().fit(X, y)
    (tmp_path / "link").symlink_to("real")
    mercer.save(machine, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and mercer.load(tmp_path / "real").support_.size
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    mercer.save(machine, tmp_path / "pipe")
    assert os.read(reader, 4) == b"PK\x03\x04" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


# Damage.


def is_one_sentence(error):
    return "\n" not in str(error) and len(str(error)) < 400 and not isinstance(error, MemoryError)


def same_or_refused(data, points, expected):
    """Whether the file was refused; a model that is loaded must be the same."""
    try:
        model = loads(data)
    except ModelError as error:
        return is_one_sentence(error)
    np.testing.assert_array_equal(values(model, points), expected)
    return False


@pytest.mark.parametrize("name", ["standard", "sparse", "hard margin", "voted", "ridge"])
def test_random_damage(name):
    model = MODELS[name]()
    data = dumps(model)
    points = points_of(model)
    expected = values(model, points)
    rng = random.Random(0)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(data)
        kind = rng.randrange(5)
        start, length = rng.randrange(len(data)), rng.randrange(1, 64)
        if kind == 0:
            damaged[start] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del damaged[start:]
        elif kind == 2:
            damaged[start : start + length] = rng.randbytes(length)
        elif kind == 3:
            del damaged[start : start + length]
        else:
            other = rng.randrange(len(data))
            damaged[start : start + length] = data[other : other + length]
        refused += same_or_refused(bytes(damaged), points, expected)
    assert refused > 2400
    assert not same_or_refused(data, points, expected)


def entries(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(contents, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def forged(contents, change):
    """The file with a changed manifest, all hashes right again."""
    manifest = json.loads(contents["manifest.json"])
    del manifest["sha256"]
    change(manifest)
    for name in manifest["arrays"]:
        if name in contents:
            data = contents[name]
            manifest["arrays"][name] = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
    manifest["sha256"] = _digest(manifest)
    return packed({**contents, "manifest.json": json.dumps(manifest).encode()})


def places(node, path=()):
    """Every place in a tree of JSON."""
    yield path
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from places(node[key], (*path, key))


JUNK = [None, True, -1, 0, 10**30, 1e308, "", "x" * 200, "os.system", [], {}, [[]], {"array": "00-mean_.npy"},
        {"same": 0}, {"same": -1}, {"kernel": "rbf(gamma=1)"}, {"estimator": "SVC", "parameters": {}, "fitted": {}},
        {"sparse": [10**12, {"few": ["<u1", [1]]}, {"few": ["<f8", [1.0]]}]}, {"few": ["<U999999999", ["a"]]},
        {"few": ["O", [1]]}, {"tuple": [1, 2]}, {"dict": [[[], 1]]}, {"status": "CONVERGED"}, {"float": "nan"},
        {"value": "Certificate", "fields": {}}, {"estimator": "Pipeline", "parameters": {"steps": [], "memory": None,
        "verbose": False, "transform_input": None}, "fitted": {}}]  # fmt: skip


@pytest.mark.parametrize("name", ["standard", "sparse", "voted", "perceptron", "ridge"])
def test_forged_manifests(name):
    """Somebody who also forges the hashes gets a clean error, or a model that fails or predicts cleanly."""
    model = MODELS[name]()
    contents = entries(dumps(model))
    points = points_of(model)
    spots = list(places(json.loads(contents["manifest.json"])["model"]))
    rng = random.Random(1)

    def change(manifest):
        for _ in range(rng.randrange(1, 3)):
            *way, last = rng.choice(spots[1:])
            node = manifest["model"]
            try:
                for key in way:
                    node = node[key]
                if isinstance(node, dict) is not isinstance(last, str):
                    continue
                if rng.random() < 0.3:
                    del node[last]
                else:
                    node[last] = rng.choice(JUNK)
            except (LookupError, TypeError):
                pass  # an earlier change took it away

    loaded = wordy = huge = 0
    for _ in range(1000):
        try:
            forgery = loads(forged(contents, change))
        except ModelError as error:
            wordy += not is_one_sentence(error)
            continue
        loaded += 1
        try:
            forgery.predict(points)
        except Exception as error:  # a model that makes no sense says so when it is used
            huge += isinstance(error, MemoryError)
    assert loaded < 700 and not wordy and not huge


@pytest.mark.parametrize("name", ["three classes", "voted"])
def test_forged_arrays(name):
    """Arrays exchanged, cut, or of other shapes, with the hashes made right."""
    model = MODELS[name]()
    contents = entries(dumps(model))
    names = [name for name in contents if name.endswith(".npy")]
    rng = random.Random(2)
    huge = 0
    for _ in range(300):
        other = dict(contents)
        a, b = rng.sample(names, 2)
        other[a], other[b] = contents[b], contents[a]
        if rng.random() < 0.5:
            buffer = io.BytesIO()
            shape = rng.choice([(), (0,), (27,), (2, 27), (27, 4), (4, 27), (1, 1), (3,), (0, 5)])
            filled = rng.choice([np.float64(0), np.float64(np.nan), np.float32(1e30), np.int64(-5), np.str_("ab")])
            np.save(buffer, np.full(shape, filled))
            other[a] = buffer.getvalue()
        try:
            forgery = loads(forged(other, lambda manifest: None))
            forgery.predict(X)
        except Exception as error:
            huge += isinstance(error, MemoryError)
    assert not huge


def header(shape, dtype="<f8", order=False):
    text = f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "data",
    [
        header("(10**12,)"),
        header("(1000000000000,)"),
        header("(1000000000000, 1000000000000)"),
        header("(-1, -8)") + bytes(64),
        header("(True,)") + bytes(8),
        header("(1,)", "|O") + bytes(8),
        header("(1,)", ">f8") + bytes(8),
        header("(1,)", "<c16") + bytes(16),
        header("(1,)", "<M8[s]") + bytes(8),
        header("(99999999999999999999,)", "<U0"),
        header("(1,)", "<U1") + b"\xff\xff\xff\xff",
        header("(2,)") + bytes(17),
        header("__import__('os').abort()"),
        b"\x93NUMPY\x01\x00\xff\xff",
        b"\x93NUMPY\x03\x00" + bytes(100),
        b"",
    ],
)
def test_arrays_that_are_not_what_they_say(data):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        _from_npy(data, "a.npy")
    assert not isinstance(caught.value, MemoryError)
    contents = entries(dumps(MODELS["two classes"]()))
    name = next(name for name in contents if name.endswith(".npy"))
    with pytest.raises(ModelError):
        loads(forged({**contents, name: data}, lambda manifest: None))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The model is empty."),
        (b"a,b\n1,2\n", "The model is text, not a file of Mercer: mercer train and mercer.save write those."),
        (b"svm_type c_svc\nkernel_type rbf\n", "is a model file of LIBSVM: mercer convert reads it"),
        (pickle.dumps(SVC()), "is a pickle, which can run any code"),
        (b"\x1f\x8b" + bytes(100), "is compressed: unpack it first."),
        (b"\x08\x0a\x12\x08skl2onnx" + bytes(100), "is an ONNX model"),
        (bytes(range(256)), "is no file of Mercer: mercer train"),
        (packed({"X.npy": b"", "y.npy": b""}), "is an archive of NumPy's arrays, not a file of Mercer."),
        (packed({"schema.json": b"{}"}), "is a file of skops, which skops.io.load reads."),
        (packed({"readme.txt": b""}), "is an archive that Mercer has not written."),
    ],
    ids=["empty", "table", "libsvm", "pickle", "gzip", "onnx", "binary", "npz", "skops", "zip"],
)
def test_files_of_other_kinds(data, words):
    with pytest.raises(ModelError) as caught:
        loads(data)
    assert words in str(caught.value) and is_one_sentence(caught.value)


def test_files_that_end_too_early():
    data = dumps(MODELS["two classes"]())
    for length in (4, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(ModelError, match=r"^The model is damaged, or its end is missing: [^.]*\.$"):
            loads(data[:length])
    middle = data.index(b"dual_coef_") if b"dual_coef_" in data else 500
    with pytest.raises(ModelError, match=r"^The model is damaged, or its end is missing: [^.]*\.$"):
        loads(data[:middle] + b"X" + data[middle + 1 :])


def test_unsafe_archives():
    contents = entries(dumps(MODELS["two classes"]()))
    with pytest.raises(ModelError, match="compressed"):
        loads(packed(contents, zipfile.ZIP_DEFLATED))
    with pytest.raises(ModelError, match="not those of its manifest"):
        loads(packed({**contents, "../../evil.py": b"import os"}))
    with pytest.raises(ModelError, match="nothing refers to"):
        loads(forged({**contents, "more.npy": b""}, lambda manifest: manifest["arrays"].update({"more.npy": {}})))
    with pytest.raises(ModelError, match="schema 2, and this version"):
        loads(forged(contents, lambda manifest: manifest.update(schema=2)))
    with pytest.raises(ModelError, match="not that of a model"):
        loads(packed({"manifest.json": b"[]"}))
    for broken in (b"[1, 2", b"\xff\xfe{}"):
        with pytest.raises(ModelError, match="its manifest is no JSON text"):
            loads(packed({"manifest.json": broken}))
    with pytest.raises(ModelError, match="nested|recursion"):
        loads(packed({"manifest.json": b"[" * 100_000}))
    with pytest.raises(ModelError, match="missing"):
        loads(forged(contents, lambda manifest: manifest["model"].update(estimator="os.system")))
    with pytest.raises(ModelError, match="not one that is learned"):
        loads(forged(contents, lambda manifest: manifest["model"]["fitted"].update(predict="x")))
    with pytest.raises(ModelError, match="is text, not a file of Mercer"):
        loads(b"not a zip")
    doubled = io.BytesIO()
    with zipfile.ZipFile(doubled, "w") as archive:
        archive.writestr("manifest.json", b"{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("manifest.json", b"{}")
    with pytest.raises(ModelError, match="two entries"):
        loads(doubled.getvalue())
