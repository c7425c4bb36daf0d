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


def _install() -> list[str]:
    """Install what is missing; what is still missing then, each with its advice."""
    missing = []
    if browser() is None and shutil.which("apt-get") and getattr(os, "geteuid", lambda: 1)() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], check=False, env=quiet
        )
        browser.cache_clear()
    if browser() is None:
        missing.append(f"no browser: {ADVICE}")
    npm = shutil.which("npm")
    if npm and not (TSC.exists() and AXE.exists()):
        subprocess.run(
            [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"], cwd=ROOT, check=False
        )
    if not (shutil.which("node") and TSC.exists() and AXE.exists()):
        missing.append("no node, tsc or axe-core: install node and npm, then run npm install --no-package-lock")
    return missing


if __name__ == "__main__":
    lacking = _install()
    for line in lacking:
        print(f"The tests of the page: {line}.", file=sys.stderr)
    sys.exit(1 if lacking and IN_CI else 0)
