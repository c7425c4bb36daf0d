"""The documents are true: their code runs, and prints what they say."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import mercer
from mercer.kernels import REGISTRY

ROOT = Path(__file__).parents[1]


def blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", re.sub(r"(?m)^ {3}", "", (ROOT / document).read_text()), re.DOTALL)


def test_readme(capsys):
    everything: dict = {}
    for code in blocks("README.md", "python"):
        exec(code, everything)
    plt.close("all")
    (report,) = re.findall(r"```\n(<FromFunction.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert report in capsys.readouterr().out
    assert everything["gram"].reason in (ROOT / "README.md").read_text()


def test_readme_names_every_kernel():
    text = (ROOT / "README.md").read_text()
    for cls in REGISTRY.values():
        assert cls.__name__ in text, f"add {cls.__name__} to the table of kernels in README.md"


def test_contributing():
    """The kernel of the example works as it is written there."""
    code = blocks("CONTRIBUTING.md", "python")[0]
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
