"""HTML: one self-contained page with MathML, for a screen of any width and for paper."""

from __future__ import annotations

from hashlib import sha256
from html import escape

from ..chart import Chart
from ..picture import Picture
from ..steps import Block, Prose, Section, Solution, Step, Table
from . import json, mathml, svg
from .layout import Reading

_STYLE = """
.mercer { color: #1d2433; background: #fff; font: 1.05rem/1.6 "Source Serif 4", "Charter", "Georgia", serif;
  max-width: 46rem; margin: 0 auto; padding: 1.5rem 1.2rem 3rem; }
.mercer h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0 1.5rem; font-weight: 600; }
.mercer h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; padding-top: 0.7rem; border-top: 1px solid #dfe4ec;
  font-weight: 600; }
.mercer summary { cursor: pointer; list-style: none; } .mercer summary::-webkit-details-marker { display: none; }
.mercer summary h2::after { content: "▾"; float: right; color: #8a94a6; font-size: 0.9rem; }
.mercer details:not([open]) > summary h2::after { content: "▸"; }
.mercer h2 .place { color: #8a94a6; font-weight: 400; margin-right: 0.5rem; }
.mercer h3 { font-size: 1.05rem; margin: 1.4rem 0 0.4rem; }
.mercer p { margin: 0.6rem 0; }
.mercer .step { margin: 0.9rem 0 1.3rem; break-inside: avoid; }
.mercer math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre",
  "STIXGeneral", math;
  font-size: 1.05em; }
.mercer .formula { overflow-x: auto; overflow-y: hidden; padding: 0.35rem 0; margin: 0.35rem 0; }
.mercer .formula math { padding: 0.1rem 0; }
.mercer mtable.aligned > mtr > mtd { text-align: left; padding: 0.25rem 0.1rem; }
.mercer mtable.aligned > mtr > mtd:first-child { text-align: right; }
.mercer mtable.aligned > mtr > mtd:nth-child(2) { padding: 0.25rem 0.3em; }
.mercer mtd { padding: 0.22em 0.4em; }
.mercer .table { overflow-x: auto; margin: 0.7rem 0; }
.mercer table { border-collapse: collapse; margin: 0 auto; font-size: 0.95rem; line-height: 1.4; }
.mercer th { text-align: left; font-weight: 600; border-bottom: 1.5px solid #1d2433; padding: 0.25rem 0.7rem; }
.mercer td { border-bottom: 1px solid #e8ecf2; padding: 0.3rem 0.7rem; vertical-align: middle; }
.mercer tr.yes td { background: #eef7ef; }
.mercer .closing { font-size: 0.9rem; color: #5a6475; margin: 0.2rem 0 0; }
.mercer .check { color: #2e7d32; white-space: nowrap; font-family: system-ui, sans-serif; font-size: 0.82rem; }
.mercer .wrong { color: #c62828; font-weight: bold; font-family: system-ui, sans-serif; font-size: 0.9rem; }
.mercer .notes { font-size: 0.9rem; color: #3c4658; }
.mercer .notes li { margin: 0.4rem 0; }
.mercer sup a { color: #3b62b5; text-decoration: none; }
.mercer .verdict { margin-top: 2rem; padding: 0.6rem 0.9rem; background: #eef7ef; border-left: 4px solid #2e7d32;
  font-size: 0.92rem; }
.mercer .verdict.bad { background: #fdecea; border-color: #c62828; }
.mercer figure { margin: 1rem auto; max-width: 27rem; }
.mercer figcaption { font-size: 0.85rem; color: #5a6475; text-align: center; margin-top: 0.3rem; }
.mercer figure.wide { max-width: none; }
.mercer .picture { width: 100%; height: auto; display: block; }
__PICTURE__
@media (max-width: 36rem) { .mercer { font-size: 1rem; padding: 1rem 0.9rem 2rem; } .mercer h1 { font-size: 1.4rem; }
  .mercer th, .mercer td { padding: 0.25rem 0.45rem; } }
@media print { .mercer { max-width: none; font-size: 10.5pt; padding: 0; }
  .mercer .formula, .mercer .table { overflow: visible; } .mercer figure { max-width: 19rem; }
  .mercer h1 { font-size: 18pt; } .mercer h2 { font-size: 12.5pt; margin-top: 1.2rem; }
  .mercer table { font-size: 9.5pt; }
  .mercer h2 { break-after: avoid; } .mercer * { print-color-adjust: exact; } @page { margin: 20mm; } }
"""
STYLE = _STYLE.replace("__PICTURE__", svg.STYLE.strip())


def prose(sentence: Prose) -> str:
    """A sentence with its formulas."""
    return "".join(escape(part) if isinstance(part, str) else mathml.inline(part) for part in sentence.parts)


def _table(body: Table) -> str:
    head = "".join(f"<th>{prose(cell)}</th>" for cell in body.header)
    rows = "\n".join(
        f"<tr{_accepted(row)}>{''.join(f'<td>{prose(cell)}</td>' for cell in row)}</tr>" for row in body.rows
    )
    return f'<div class="table"><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>'


def _accepted(row: tuple[Prose, ...]) -> str:
    """The rows of accepted cases stand out."""
    words = [cell.parts[0] for cell in row if cell.parts]
    return ' class="yes"' if any(isinstance(w, str) and w.startswith("accepted") for w in words) else ""


def _block(body: Block) -> str:
    return _table(body) if isinstance(body, Table) else f'<div class="formula">{mathml.display(body)}</div>'


def _figure(picture: Picture | Chart) -> str:
    """The picture; several panels take the whole width."""
    wide = isinstance(picture, Chart) and len(picture.panels) > 1
    return ('<figure class="wide">' if wide else "<figure>") + f"{svg.draw(picture)}</figure>"


def fragment(solution: Solution, reveal: bool = False) -> str:
    """The solution as a part of a page, with its style. Its footnotes have names that no other solution has."""
    reading = Reading.of(solution)
    name = sha256(json.document(solution, None).encode()).hexdigest()[:8]
    out = [f'<article class="mercer" id="mercer-{name}"><style>{STYLE}</style>', f"<h1>{escape(solution.title)}</h1>"]
    if reveal:
        out.append('<p class="closing">Space, enter or → opens the next part; ← closes it again.</p>')
    if solution.picture is not None and not reveal:
        out.append(_figure(solution.picture))
    for count, section in enumerate(solution.sections, 1):
        out += _section(section, f'<span class="place">{count}</span>', reading, name, reveal)
    if solution.picture is not None and reveal:  # it would tell the answer
        out.append(f"<details><summary><h2>The picture</h2></summary>{_figure(solution.picture)}</details>")
    if reading.notes:
        items = "".join(f'<li id="note-{name}-{i}">{prose(note)}</li>' for i, note in enumerate(reading.notes, 1))
        out.append(f'<section class="notes"><h2>Where lecture notes often slip</h2><ol>{items}</ol></section>')
    report = solution.check()
    if report.line():
        out.append(f'<p class="verdict{"" if report else " bad"}">{escape(report.line())}</p>')
    if reveal:
        out.append(f"<script>{_SCRIPT.replace('NAME', f'mercer-{name}')}</script>")
    return "\n".join([*out, "</article>"])


_SCRIPT = """
(() => {
  const all = [...document.getElementById("NAME").querySelectorAll("details")];
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const on = [" ", "Enter", "ArrowRight", "n"].includes(event.key), back = ["ArrowLeft", "p"].includes(event.key);
    const one = on ? all.find(part => !part.open) : back ? all.findLast(part => part.open) : null;
    if (!one) return;
    event.preventDefault();
    one.open = on;
    if (on) one.scrollIntoView({ behavior: "smooth", block: "start" });
  });
})();
"""
"""Opens the sections one after the other: space, enter, right or n; left or p closes the last one again."""


def document(solution: Solution, reveal: bool = False) -> str:
    """The solution as a page of its own."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(solution.title)}</title>\n<style>body {{ margin: 0; background: #fff; }}</style>\n</head>\n"
        f"<body>\n{fragment(solution, reveal)}\n</body>\n</html>\n"
    )


def _section(section: Section, place: str, reading: Reading, name: str, reveal: bool) -> list[str]:
    """A section that can be opened and closed."""
    start = "<details>" if reveal else "<details open>"
    out = [f"{start}<summary><h2>{place}{escape(section.title)}</h2></summary>"]
    for part in section.parts:
        out += _section(part, "", reading, name, reveal) if isinstance(part, Section) else [_step(part, reading, name)]
    return [*out, "</details>"]


def _step(step: Step, reading: Reading, name: str) -> str:
    links = [f'<a href="#note-{name}-{number}">{number}</a>' for number in reading.numbers(step)]
    marks = f"<sup>{', '.join(links)}</sup>" if links else ""
    good = '<span class="check" title="checked by machine, exactly">✓ checked</span>'
    check = {None: "", True: good, False: '<span class="wrong">✗ this does not hold</span>'}[reading.mark()]
    why = f"({prose(step.reason)})" if step.reason else ""
    closing = " ".join(part for part in (why, check) if part)
    blocks = "\n".join(_block(body) for body in step.mathematics)
    end = f'\n<p class="closing">{closing}</p>' if closing else ""
    return f'<div class="step"><p>{prose(step.statement)}{marks}</p>\n{blocks}{end}</div>'
