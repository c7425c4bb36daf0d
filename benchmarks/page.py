"""From the pointer's event to the painted frame, in a real browser on one core: prints one line per case.

A point is dragged across both moons, 240 moves.
`python benchmarks/page.py [svc svr oneclass ridge]`; a browser is found as in the tests.
"""

from __future__ import annotations

import itertools
import math
import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402
from tests.browser import ASSETS, FLAGS  # noqa: E402
from tests.tools import ADVICE, browser  # noqa: E402

from mercer.play.export import document  # noqa: E402

CASES = list(itertools.product(sys.argv[1:] or ("svc", "svr"), (60, 250), (10, 1000), (0.16, 0.35)))
MOVES = 240


def links(page) -> dict[tuple, str]:
    """A link for each case, made by the page's own modules."""
    page.route("http://127.0.0.1/**", serve)
    page.goto("http://127.0.0.1/")
    code = """async (cases) => {
      const { moons } = await import('/examples.js'), { makeState, toHash } = await import('/state.js');
      return cases.map(([machine, n, C, noise]) => toHash(makeState({ machine, C, gamma: 1.5 }, { x: 0, y: 0, half: 2 },
        moons(n, noise).filter((p) => Math.abs(p.x) < 2 && Math.abs(p.y) < 2))));
    }"""
    return dict(zip(CASES, page.evaluate(code, [list(case) for case in CASES]), strict=True))


def serve(route) -> None:
    """The modules, straight from the package."""
    path = ASSETS / route.request.url.rpartition("/")[2]
    body = path.read_text() if path.is_file() else "<!doctype html>"
    route.fulfill(body=body, content_type="text/javascript" if path.suffix == ".js" else "text/html")


def drag(page) -> list[dict]:
    """The frames of one long drag."""
    page.evaluate((Path(__file__).parent / "page.js").read_text().partition("\n")[2])
    box, at = page.locator(".plot").bounding_box(), page.locator(".point").nth(5).bounding_box()
    x, y, r = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] * 0.3
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    page.mouse.down()
    for k in range(MOVES):
        page.mouse.move(x + r * math.cos(k / 17), y + r * math.sin(k / 13))
    page.mouse.up()
    return page.evaluate("window.log")[5:]


def quantile(values: list[float], part: float) -> float:
    """The value below which this part of them lies."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> None:
    """All cases, one after the other."""
    path = browser() or sys.exit(f"No browser: {ADVICE}.")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # browser and driver share it
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        file.write_text(document())
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        print(f"Chromium {chromium.version}, one core, heat map 112 x 112")
        print("machine points C noise | ms: median p95 max | solve, draw median | gap worst | frames, above 1e-3")
        for case, link in links(chromium.new_page()).items():
            page = chromium.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.as_uri() + link)
            page.locator(".sentence").filter(has_text="Proved").wait_for()
            frames = drag(page)
            times = [frame["painted"] - frame["cause"] for frame in frames]
            gaps = [frame["relative"] for frame in frames]
            print(
                f"{' '.join(map(str, case)):18} | {statistics.median(times):5.1f} {quantile(times, 0.95):5.1f} "
                f"{max(times):5.1f} | {statistics.median(f['solve'] for f in frames):.1f}, "
                f"{statistics.median(f['draw'] for f in frames):.1f} | {max(gaps):.0e} | {len(frames)}, "
                f"{sum(gap > 1e-3 for gap in gaps)}"
            )
            page.close()
        chromium.close()


if __name__ == "__main__":
    main()
