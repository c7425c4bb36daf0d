"""Films the page for the README: `python docs/film.py` writes docs/play.gif, from a real browser."""

from __future__ import annotations

import io
import math
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import FLAGS  # noqa: E402
from tests.tools import ADVICE, browser  # noqa: E402

from mercer.play.export import document  # noqa: E402

WIDE, FRAMES, PACE, COLOURS = 760, 44, 70, 128


def film(page) -> list[Image.Image]:
    """A point is taken across the other class and back."""
    at = page.locator(".point").nth(5).bounding_box()
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    pictures = [taken(page)] * 8
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(FRAMES):
        angle = 2 * math.pi * k / FRAMES
        page.mouse.move(x + 110 * math.sin(angle), y + 75 * (1 - math.cos(angle)))
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        pictures.append(taken(page))
    page.mouse.up()
    return pictures


def taken(page) -> Image.Image:
    """The page as it is now."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return picture.resize((WIDE, round(WIDE * picture.height / picture.width)), Image.Resampling.LANCZOS)


def with_marks(picture: Image.Image) -> Image.Image:
    """The picture with the colours of small things in large squares, so that they keep theirs."""
    marked = picture.copy()
    for k, colour in enumerate(("#1a67ad", "#b95206", "#27743b", "#6749be", "#0b7a70", "#453a75")):
        marked.paste(colour, (60 * k, 0, 60 * k + 60, 60))
    return marked


def main() -> None:
    """Open the page, film it, write the animation."""
    path = browser() or sys.exit(f"No browser: {ADVICE}.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        file.write_text(document(), encoding="utf-8")
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = chromium.new_page(viewport={"width": 1290, "height": 900})
        page.goto(file.as_uri())
        page.locator(".sentence").filter(has_text="Proved").wait_for()
        pictures = film(page)
        chromium.close()
    palette = with_marks(pictures[0]).quantize(COLOURS, dither=Image.Dither.NONE)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    place = ROOT / "docs" / "play.gif"
    frames[0].save(place, save_all=True, append_images=frames[1:], duration=PACE, loop=0, optimize=True)
    print(f"{place}: {place.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
