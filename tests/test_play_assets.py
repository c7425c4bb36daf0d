"""The files of the page: types, what runs without a browser, what is in the wheel, what the joined module is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from mercer.play.bundle import asset
from mercer.play.export import document
from mercer.play.state import RANGES, read

from .browser import ASSETS, require_browser
from .test_native_build import build
from .test_native_build import sources as sources
from .tools import IN_CI, ROOT, TSC


def required(tool, name):
    if not tool:
        (pytest.fail if IN_CI else pytest.skip)(f"{name} is missing: install node and npm, run npm install.")


def test_types():
    """Strict JSDoc types, checked by tsc."""
    required(TSC.exists() and shutil.which("node"), "tsc")
    done = subprocess.run([TSC, "-p", ROOT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def node(code):
    required(shutil.which("node"), "node")
    done = subprocess.run(
        ["node", "--input-type=module", "-e", code], cwd=ASSETS, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_state_and_solve_run_without_a_browser():
    found = node(
        "import { Machine } from './solve.js'; import { EXAMPLES } from './examples.js'; const m = new Machine();"
        "m.follow(EXAMPLES.three()); const { primal, dual } = m.descend(1e-9, 1000);"
        "console.log(JSON.stringify({ primal, dual, w: m.weights, b: m.parts[0].bias, beta: [...m.parts[0].beta] }));"
    )
    assert found["beta"] == pytest.approx([1 / 4, 3 / 8, -5 / 8])
    assert (found["w"], found["b"]) == (pytest.approx({"x": 1, "y": 0.5}), pytest.approx(-1.5))
    assert found["primal"] == pytest.approx(5 / 8)


def test_numbers_are_written_whole():
    values = [0, 5 / 8, -3.442323456, 32.344190001, 1234567890.5, 1234567890123, -2.5e-7, None]
    code = "import { seven } from './figures.js'; console.log(JSON.stringify(VALUES.map((v) => seven(v ?? Infinity))));"
    assert node(code.replace("VALUES", json.dumps(values))) == [
        "0", "0.6250000", "−3.442323", "32.34419", "1234567891", "1.234568e12", "−2.500000e−7", "∞"
    ]  # fmt: skip


def test_ranges_are_the_same_in_python():
    table = node("import { SETTINGS } from './state.js'; console.log(JSON.stringify(SETTINGS));")
    for name, row in table.items():
        if "low" in row:
            assert RANGES[name] == (row["low"], row["high"], row["start"]), name
        else:
            assert read({}).settings[name] == row["start"], name


def test_every_word_is_in_the_table():
    """Markup has no words of its own, and asks for none that there are not."""
    texts = node("import { TEXTS } from './texts.js'; console.log(JSON.stringify(TEXTS));")
    markup = asset("page.html")
    for key in re.findall(r'data-(?:text|label|title)="(\w+)"', markup):
        assert texts.get(key), key
    words = re.sub(r"<[^>]*>", "", markup).split()
    assert words == ["Mercer"]


def test_the_wheel_contains_the_page(sources, tmp_path):
    """Built without a compiler, unpacked, and asked for the page without the source beside it."""
    empty = tmp_path / "empty"
    empty.mkdir()
    done = build(sources, tmp_path, PATH=str(empty))
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "wheels").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "unpacked")
    assert {f"mercer/play/assets/{path.name}" for path in ASSETS.iterdir()} <= names
    alone = 'sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]'
    code = "from mercer.play.export import document; print(mercer.__file__); print(len(document()))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{alone}\nimport mercer\n{code}"],
        cwd=tmp_path / "unpacked", capture_output=True, text=True, check=True,
    )  # fmt: skip
    place, length = done.stdout.split()
    assert place.startswith(str(tmp_path))
    assert int(length) == len(document())


def test_a_missing_browser_is_told_in_one_line(monkeypatch):
    """Skipped elsewhere; a failure in CI."""
    from . import browser as module

    monkeypatch.setattr(module, "browser", lambda: None)
    for in_ci, kind in ((True, pytest.fail.Exception), (False, pytest.skip.Exception)):
        monkeypatch.setattr(module, "IN_CI", in_ci)
        with pytest.raises(kind, match="install Debian's chromium") as told:
            require_browser()
        assert "\n" not in str(told.value)
