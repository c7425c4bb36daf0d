"""What the tests of the page need besides Python: a browser, and node with tsc and axe-core.

`python tests/tools.py` installs what is missing, where it may: Debian's chromium for root, tsc and axe-core by npm.
What it may not, it names in one line. Where CI=true, what is missing is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ADVICE = "install Debian's chromium (apt-get install chromium), Chrome, or run: playwright install chromium"
TSC, AXE = ROOT / "node_modules" / ".bin" / "tsc", ROOT / "node_modules" / "axe-core" / "axe.min.js"
IN_CI = os.environ.get("CI") == "true"


@cache
def browser() -> str | None:
    """The path of a browser: one of the system, or Playwright's own."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found:
        return found
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def _from_debian(*packages: str) -> None:
    """Install packages where that may be done: by root, with apt-get."""
    if shutil.which("apt-get") is None or getattr(os, "geteuid", lambda: 1)() != 0:
        return
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", *command], check=False, env=quiet)


def _install() -> list[str]:
    """Install what is missing; what is still missing then, each with its advice."""
    if browser() is None:
        _from_debian("chromium")
        browser.cache_clear()
    if shutil.which("npm") is None and IN_CI:
        _from_debian("nodejs", "npm")
    if npm := shutil.which("npm"):
        options = ["--no-package-lock", "--no-audit", "--no-fund", "--silent"]
        subprocess.run([npm, "install", *options], cwd=ROOT, check=False)
    missing = [] if browser() else [f"no browser: {ADVICE}"]
    if not (shutil.which("node") and TSC.exists() and AXE.exists()):
        missing.append("no node, tsc or axe-core: install node and npm, then run npm install --no-package-lock")
    return missing


if __name__ == "__main__":
    lacking = _install()
    for line in lacking:
        print(f"The tests of the page: {line}.", file=sys.stderr)
    sys.exit(1 if lacking and IN_CI else 0)
