"""LaTeX: formulas, and a document that compiles as it is with pdflatex."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from ..formula import (
    Absolute,
    Call,
    Chain,
    Decimal,
    Derivative,
    Entrywise,
    Formula,
    Inner,
    Listing,
    Matrix,
    Negative,
    Norm,
    Number,
    Point,
    Power,
    Product,
    Quotient,
    Root,
    Series,
    Sum,
    Symbol,
    Transposed,
    Words,
    signed,
)
from ..steps import Block, Prose, Section, Solution, Step, Table
from . import text, tikz
from .binding import ATOM, POWER, PRODUCT, binding, is_plain, is_tall, needed_in_product, starts_with_number
from .boxes import GREEK, measure
from .layout import Line, Reading, lines

WIDTH = 84
_TABLE_WIDTH = 92
_GREEK = {
    "alpha", "beta", "gamma", "delta", "eta", "lambda", "mu", "xi", "pi", "sigma", "theta", "phi", "Phi", "Lambda",
}  # fmt: skip
_NAMES = {"infinity": r"\infty", "·": r"\cdot", "φ": r"\varphi"}
_SIGNS = {"=": "=", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "!=": r"\ne", "~": r"\approx", ":=": ":="}
_SIGNS |= {f"{sign}!": shown for sign, shown in _SIGNS.items()}
_WORDS = {
    "φ": r"\varphi",
    "∂f": r"\partial f",
    "Λ": r"\Lambda",
    "exp": r"\exp",
    "log": r"\log",
    "min": r"\min",
    "max": r"\max",
}


def math(body: Formula, level: int = 0) -> str:
    """The formula in LaTeX, in parentheses where it binds less tightly than `level`."""
    if binding(body) < level:
        return _fenced("(", math(body), ")", is_tall(body))
    match body:
        case Number(value):
            return _number(value)
        case Decimal(digits):
            return digits
        case Symbol():
            return _symbol(body)
        case Sum(terms):
            return summed(terms)
        case Negative(inner):
            return f"-{math(inner, PRODUCT)}"
        case Product(factors):
            return _product(factors)
        case Entrywise(left, right):
            return rf"{math(left, PRODUCT)} \circ {math(right, POWER)}"
        case Quotient(top, bottom):
            negative, above = signed(top)
            return rf"{'-' if negative else ''}\frac{{{math(above)}}}{{{math(bottom)}}}"
        case Power(base, exponent):
            return f"{math(base, ATOM)}^{{{math(exponent)}}}"
        case Root(inner):
            return rf"\sqrt{{{math(inner)}}}"
        case Matrix(rows):
            return _matrix(rows)
        case Point(entries):
            return _fenced("(", r",\, ".join(math(entry) for entry in entries), ")", is_tall(body))
        case Transposed(inner):
            return rf"{math(inner, ATOM)}^{{\top}}"
        case Inner(left, right):
            big = (r"\left", r"\right") if is_tall(left) or is_tall(right) else ("", "")
            return rf"{big[0]}\langle {math(left)}, {math(right)} {big[1]}\rangle"
        case Norm(inner):
            return rf"\lVert {math(inner)} \rVert" if not is_tall(inner) else rf"\left\lVert {math(inner)} \right\rVert"
        case Absolute(inner):
            return _fenced(r"\lvert ", math(inner), r" \rvert", is_tall(inner))
        case Call(name, arguments):
            head = _WORDS.get(name, rf"\operatorname{{{name}}}") if isinstance(name, str) else math(name)
            inside = ", ".join(math(argument) for argument in arguments)
            return head + _fenced("(", inside, ")", any(is_tall(argument) for argument in arguments))
        case Derivative(of, by):
            return rf"\frac{{\partial {math(of, ATOM)}}}{{\partial {math(by)}}}"
        case Series(inner, index, lower, upper):
            index = ", ".join(index) if index.isalpha() else index
            limits = rf"_{{{index}={lower}}}^{{{_limit(upper)}}}" if lower else f"_{{{index}}}"
            return rf"\sum{limits} {math(inner, PRODUCT)}"
        case Words(words):
            return _words(words)
        case Listing(items, separator, braces):
            return _listing(items, separator, braces)
        case Chain(members, signs):
            parts = [math(members[0])]
            for sign, member in zip(signs, members[1:], strict=True):
                parts += [_SIGNS[sign], math(member)]
            return " ".join(parts)
    raise TypeError(f"No LaTeX for {body!r}.")


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _symbol(body: Symbol) -> str:
    if body.name in _NAMES:
        return _NAMES[body.name] + (f"_{{{body.index}}}" if body.index else "")
    if body.name in _GREEK:
        letter = rf"\boldsymbol{{\{body.name}}}" if body.bold else rf"\{body.name}"
    elif body.bold:
        letter = rf"\mathbf{{{body.name}}}"
    else:
        letter = body.name if len(body.name) == 1 else rf"\mathit{{{escape(body.name)}}}"
    return f"{letter}_{{{body.index}}}" if body.index else letter


def _words(words: str) -> str:
    """Words between formulas; two spaces are a wide gap."""
    start = r"\quad " if words.startswith("  ") else r"\ " if words.startswith(" ") else ""
    end = r"\quad " if words.endswith("  ") else ""
    gap = " " if words.endswith(" ") and not end else ""
    return rf"{start}\text{{{escape(words.strip())}{gap}}}{end}"


def _limit(upper: str) -> str:
    return r"\infty" if upper == "∞" else upper


def summed(terms: tuple[Formula, ...], continued: bool = False) -> str:
    """A sum; where it goes on from the line before, its first sign is written too."""
    written = ""
    for position, term in enumerate(terms):
        negative, body = signed(term)
        if position or continued:
            written += " - " if negative else " + "
        elif negative:
            written += "-"
        written += math(body, PRODUCT)
    return written


def _product(factors: tuple[Formula, ...]) -> str:
    negative, body = signed(Product(factors))
    if negative:
        return f"-{math(body, PRODUCT)}"
    written = math(factors[0], PRODUCT if not isinstance(factors[0], Series) else POWER)
    for position, (before, factor) in enumerate(pairwise(factors), 1):
        dot = starts_with_number(factor) and not isinstance(before, Matrix)
        close = " " if is_plain(before) and (is_plain(factor) or isinstance(factor, Sum)) else r"\, "
        needed = needed_in_product(factor, position == len(factors) - 1)
        written += (r" \cdot " if dot else close) + math(factor, needed)
    return written


def _fenced(left: str, inside: str, right: str, tall: bool) -> str:
    return rf"\left{left} {inside} \right{right}" if tall else f"{left}{inside}{right}"


def _matrix(rows: tuple[tuple[Formula, ...], ...]) -> str:
    fractions = any(is_tall(entry) for row in rows for entry in row)
    end = r" \\[0.4ex] " if fractions else r" \\ "
    return r"\begin{bmatrix} " + end.join(" & ".join(math(entry) for entry in row) for row in rows) + r" \end{bmatrix}"


def _listing(items: tuple[Formula, ...], separator: str, braces: bool) -> str:
    if braces and not items:
        return r"\varnothing"
    gap = {", ": ",\\, ", ",  ": ",\\quad ", ",   ": ",\\quad ", "": " "}.get(separator, rf"\text{{{separator}}}")
    inside = gap.join(math(item) for item in items)
    return rf"\lbrace {inside} \rbrace" if braces else inside


def rows_of(body: Formula, width: int = WIDTH) -> list[str]:
    """The lines of a displayed formula, with & where they are aligned."""
    broken = lines(body, width, measure)
    if len(broken) == 1:
        return [_line(broken[0])]
    aligned = any(row.sign for row in broken)
    return [_aligned(row) if aligned else _line(row) for row in broken]


def _aligned(row: Line) -> str:
    left = math(row.left) if row.left is not None else ""
    return f"{left} & {_SIGNS[row.sign]} {_line(row)}" if row.sign else rf"{left} & \quad {_line(row)}"


def _line(row: Line) -> str:
    return summed(row.body.terms, row.continued) if isinstance(row.body, Sum) else math(row.body)


def display(body: Formula, width: int = WIDTH) -> str:
    """A displayed formula, without the marks that set it off."""
    rows = rows_of(body, width)
    return rows[0] if len(rows) == 1 else "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "^": r"\^{}", "~": r"\~{}", "−": r"\ensuremath{-}", "±": r"\ensuremath{\pm}", "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}", "√": r"\ensuremath{\surd}", "·": r"\ensuremath{\cdot}", "∞": r"\ensuremath{\infty}",
    "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\ensuremath{|}", '"': "''",
}  # fmt: skip


_ESCAPED |= {
    "×": r"\ensuremath{\times}", "∂": r"\ensuremath{\partial}", "Σ": r"\ensuremath{\sum}", "⟨": r"\ensuremath{\langle}",
    "⟩": r"\ensuremath{\rangle}", "ᵢ": r"\ensuremath{_i}", "ⱼ": r"\ensuremath{_j}",
}  # fmt: skip
_ESCAPED |= {digit: rf"\ensuremath{{^{{{plain}}}}}" for plain, digit in zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)}
_ESCAPED |= {digit: rf"\ensuremath{{_{{{plain}}}}}" for plain, digit in zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True)}
_ESCAPED |= {GREEK[name]: rf"\ensuremath{{\{name}}}" for name in sorted(_GREEK)}


def escape(words: str) -> str:
    """Text that LaTeX prints as it is; letters that pdflatex may not know are written by their number."""
    return "".join(_ESCAPED.get(c) or (c if c.isascii() or c in "äöüßéèàçñ" else f"U+{ord(c):04X}") for c in words)


def prose(sentence: Prose) -> str:
    """A sentence with its formulas."""
    return "".join(escape(part) if isinstance(part, str) else f"${math(part)}$" for part in sentence.parts)


def _columns(body: Table) -> str:
    """The kinds of the columns: where a line would be too long, the widest ones break theirs."""
    cells = (body.header, *body.rows)
    widths = [max(len(text.prose(row[j])) for row in cells) for j in range(len(body.header))]
    room = _TABLE_WIDTH - 3 * len(widths)
    if sum(widths) <= room:
        return "l" * len(widths)
    wide = [width > room / len(widths) for width in widths]
    share = (room - sum(w for w, breaks in zip(widths, wide, strict=True) if not breaks)) / _TABLE_WIDTH
    total = sum(w for w, breaks in zip(widths, wide, strict=True) if breaks)
    return "".join(
        rf">{{\raggedright\arraybackslash}}p{{{share * w / total:.3f}\textwidth}}" if breaks else "l"
        for w, breaks in zip(widths, wide, strict=True)
    )


def _table(body: Table) -> str:
    rows = [" & ".join(prose(cell) for cell in row) + r" \\" for row in body.rows]
    head = " & ".join(prose(cell) for cell in body.header) + r" \\"
    return "\n".join(
        [r"\begin{center}\small\renewcommand{\arraystretch}{1.3}", rf"\begin{{tabular}}{{{_columns(body)}}}",
         r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{center}"]
    )  # fmt: skip


def _block(body: Block) -> str:
    return _table(body) if isinstance(body, Table) else "\\[\n" + display(body) + "\n\\]"


_PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,margin=25mm]{geometry}
\usepackage{amsmath,amssymb}
\usepackage{array,booktabs,xcolor}
\usepackage{parskip}
\setcounter{MaxMatrixCols}{20}
\allowdisplaybreaks
\definecolor{checked}{HTML}{2E7D32}
\definecolor{wrong}{HTML}{C62828}
\newcommand{\reason}[1]{\textit{#1}}
\newcommand{\checked}{\textcolor{checked}{$\checkmark$\,\footnotesize checked}}
\newcommand{\fails}{\textcolor{wrong}{\textbf{this does not hold}}}
"""


def document(solution: Solution) -> str:
    """The whole solution as a document."""
    reading = Reading.of(solution)
    body = [_section(section, 0, reading) for section in solution.sections]
    report = solution.check()
    colour = "checked" if report else "wrong"
    end = [rf"\bigskip\par\noindent\textcolor{{{colour}}}{{\small {escape(report.line())}}}"] if report.line() else []
    return "\n".join(
        [
            _PREAMBLE
            + (tikz.preamble(solution.picture) if solution.picture is not None else "")
            + rf"\title{{{escape(solution.title)}}}",
            r"\author{}\date{}",
            r"\begin{document}",
            r"\maketitle\vspace{-4em}",
            *([tikz.draw(solution.picture)] if solution.picture is not None else []),
            *body,
            *end,
            r"\end{document}",
            "",
        ]
    )


def _section(section: Section, depth: int, reading: Reading) -> str:
    out = [rf"\{'sub' * depth}section{{{escape(section.title)}}}"]
    for part in section.parts:
        out.append(_section(part, depth + 1, reading) if isinstance(part, Section) else _step(part, reading))
    return "\n\n".join(out)


def _step(step: Step, reading: Reading) -> str:
    known = len(reading.notes)
    notes = [
        rf"\footnotemark[{number}]" if number <= known else rf"\footnote{{{prose(reading.notes[number - 1])}}}"
        for number in reading.numbers(step)
    ]
    marks = r"\textsuperscript{,}".join(notes)
    out = [prose(step.statement) + marks, *(_block(body) for body in step.mathematics)]
    check = {None: "", True: r"\checked", False: r"\fails"}[reading.mark()]
    why = rf"\reason{{({prose(step.reason)})}}" if step.reason else ""
    closing = " ".join(part for part in (why, check) if part)
    if closing:
        out.append(r"\nopagebreak\noindent\hspace*{1em}{\small " + closing + "}")
    return "\n".join(out)
