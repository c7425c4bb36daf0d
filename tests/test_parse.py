"""The parser: the same object as the Python expression, or an error that shows where."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer.kernels import REGISTRY, Centered, Constant, Gaussian, Linear, Matern, Normalized, Polynomial, Precomputed
from mercer.parse import ParseError, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*rbf(gamma=0.5) + linear()*poly(degree=2)", 2 * Gaussian(gamma=0.5) + Linear() * Polynomial(degree=2)),
        ("rbf", Gaussian()),
        ("rbf()", Gaussian()),
        ("Gaussian(gamma='scale')", Gaussian("scale")),
        ("rbf(gamma=median)", Gaussian("median")),
        ('rbf(gamma="median")', Gaussian("median")),
        ("rbf(1e-3)", Gaussian(0.001)),
        ("rbf(.5)", Gaussian(0.5)),
        ("rbf(gamma = 1/2)", Gaussian(0.5)),
        ("1/3*linear + poly(coef0=1 / 3)", (1 / 3) * Linear() + Polynomial(coef0=1 / 3)),
        ("poly(3, coef0=-1)", Polynomial(3, coef0=-1)),
        ("poly(3, 2,)", Polynomial(3, 2)),
        ("linear + 1", Linear() + 1),
        ("1 + linear", Constant(1) + Linear()),
        ("linear*2", 2 * Linear()),
        ("2*3*linear", 6 * Linear()),
        ("(linear + rbf(1))**2*3", 3 * (Linear() + Gaussian(1)) ** 2),
        ("linear + (linear + linear)", Linear() + (Linear() + Linear())),
        ("normalized(poly(degree=3) + linear)", Normalized(Polynomial(3) + Linear())),
        ("Normalised(kernel=rbf(gamma=2))", Normalized(Gaussian(2))),
        ("centered(rbf)", Centered(Gaussian())),
        ("rational_quadratic(alpha=2)", mercer.kernels.RationalQuadratic(alpha=2)),
        ("precomputed()", Precomputed()),
        ("  matern ( nu = 2.5 , length_scale = 3 )  ", Matern(2.5, 3)),
        ("exp_chi2(gamma=2)", mercer.kernels.ExpChi2(2)),
    ],
)
def test_the_same_as_python(text, expected):
    assert mercer.kernel(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty. It may be built from: "),
        ("   ", "is empty"),
        ("rfb(gamma=1)", "no kernel 'rfb'. Did you mean rbf?"),
        ("gausian()", "Did you mean gaussian"),
        ("zzz", "It may be: "),
        ("rbf(gama=1)", "rbf has no parameter 'gama'. Did you mean gamma?"),
        ("rbf(gamma=-1)", "gamma must be a finite number greater than 0"),
        ("rbf(gamma=wide)", "'auto' or 'median', not 'wide'"),
        ("rbf(1, 2)", "argument"),
        ("rbf(gamma=1, gamma=2)", "'gamma' is given twice"),
        ("poly(degree=2, 3)", "cannot follow one with a name"),
        ("rbf(", "expected at the end"),
        ("rbf(gamma=", "expected at the end"),
        ("rbf)", "')' is not expected here"),
        ("(rbf", "')' is expected at the end"),
        ("rbf rbf", "'rbf' is not expected here"),
        ("rbf + ", "a name or a number is expected at the end"),
        ("rbf ** linear", "the exponent must be a number"),
        ("rbf ** 2.5", "must be a whole number"),
        ("2 ** 3 * rbf", "a number cannot be raised"),
        ("-2*rbf", "must be a finite number of at least 0"),
        ("3", "a number alone is not a kernel"),
        ("2 + 3", "a number alone"),
        ("rbf(gamma=1/0)", "a number that is not zero is expected after /"),
        ("1/linear", "expected after /"),
        ("linear/2", "'/' is not expected here"),
        ("rbf; import os", "';' is not understood"),
        ("__import__('os')", "no kernel '__import__'"),
        ("rbf^2", "a power is written **"),
        ("rbf.gamma", "'.' is not understood"),
        ("(" * 200 + "rbf" + ")" * 200, "more than 50 levels"),
        ("+".join(["linear"] * 500), "more than 100 operations"),
        ("rbf + " * 5000 + "rbf", "characters long"),
        ("normalized(3)", "needs a kernel, not 3"),
        ("normalized(gamma=rbf)", "no parameter 'gamma'. It may be: kernel"),
        ("rbf(gamma='a)", "is not understood"),
        ("9" * 5000 + "*rbf", "finite number"),
    ],
)
def test_errors_show_where(text, message):
    with pytest.raises(ParseError) as caught:
        mercer.kernel(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_the_place_is_marked():
    with pytest.raises(ParseError) as caught:
        mercer.kernel("2*linear() + rfb(gamma=1)")
    _, line, mark = str(caught.value).splitlines()
    assert line[mark.index("^") :].startswith("rfb")


def test_not_a_text():
    with pytest.raises(TypeError, match="text such as .rbf. or a function of two matrices, not 3"):
        mercer.kernel(3)
    with pytest.raises(TypeError, match="not the class Linear"):
        mercer.kernel(Linear)
    kernel = Linear()
    assert mercer.kernel(kernel) is kernel


def test_other_registries():
    """What solvers and step rules will need: words bare or quoted, numbers, nested objects, any class."""

    def build(**named):
        return named

    registry = {"qp": build, "inversetime": build}
    assert parse("qp(solver=clarabel)", registry, "solver") == {"solver": "clarabel"}
    assert parse("qp(step=inverse_time(eta=0.1, t0=10), verbose=true, C=inf, seed=none)", registry) == {
        "step": {"eta": 0.1, "t0": 10},
        "verbose": True,
        "C": float("inf"),
        "seed": None,
    }
    with pytest.raises(ParseError, match="there is no solver 'qpp'. Did you mean qp"):
        parse("qpp()", registry, "solver")


@given(st.text(alphabet="rbflinear()+*, =0.5'\"-_\n", max_size=40) | st.text(max_size=20))
@settings(max_examples=500, deadline=None)
def test_any_text_gives_a_kernel_or_a_clear_error(text):
    try:
        kernel = mercer.kernel(text)
    except ParseError:
        return
    assert mercer.kernel(repr(kernel)) == kernel


def test_every_registered_name_is_plain():
    assert all(name == name.lower() and "_" not in name for name in REGISTRY)
