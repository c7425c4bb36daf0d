"""Safe expressions: "2*rbf(gamma=0.5) + linear()" becomes objects. Names, numbers and words only; never `eval`.

    sum     = product { "+" product }
    product = power { "*" power }
    power   = atom [ "**" number ]
    atom    = [ "-" ] number [ "/" number ] | name [ "(" [ argument { "," argument } ] ")" ] | "(" sum ")"
    argument = [ word "=" ] ( word | quoted text | sum )

The names come from a registry, a mapping of lower-case names to classes, so that kernels, solvers and step rules share
this one parser. What `+`, `*` and `**` mean is left to the objects themselves.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from .params import suggestion

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
         |(?P<word>[A-Za-z_]\w*)
         |(?P<text>'[^']*'|"[^"]*")
         |(?P<mark>\*\*|[-+*/(),=]))""",
    re.VERBOSE | re.ASCII,
)
_CONSTANTS = {"true": True, "false": False, "none": None, "inf": float("inf")}
_LONGEST = 10_000
_DEEPEST = 50
_MOST_OPERATIONS = 100


class ParseError(ValueError):
    """The text is not an expression; the message shows where."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def plain_name(name: str) -> str:
    """The form in which names are compared: `RationalQuadratic`, `rational_quadratic` are one name."""
    return name.replace("_", "").lower()


def parse(
    text: str,
    registry: Mapping[str, Callable[..., Any]],
    what: str = "expression",
    replacements: Mapping[str, str] = MappingProxyType({}),
    offered: Collection[str] | None = None,
) -> Any:
    """The object that the text describes; `what` names it in errors ("kernel", "solver").

    `replacements` tells of names that people may try, and that are not there, what to do instead. `offered` are the
    names that an error suggests for the whole (None: all).
    """
    if not isinstance(text, str):
        raise TypeError(f"A {what} as text was expected, not {type(text).__name__}.")
    return _Parser(text, registry, what, replacements, registry if offered is None else offered).whole()


class _Parser:
    def __init__(
        self,
        text: str,
        registry: Mapping[str, Callable[..., Any]],
        what: str,
        replacements: Mapping[str, str],
        offered: Collection[str],
    ) -> None:
        self.text, self.registry, self.what, self.replacements, self.offered = (
            text,
            registry,
            what,
            replacements,
            offered,
        )
        self.position = self.depth = self.operations = 0
        self.tokens: list[_Token] = []
        if len(text) > _LONGEST:
            raise ParseError(f"The {what} is {len(text)} characters long; at most {_LONGEST} are read.")
        self.tokens = self.tokenize()

    def tokenize(self) -> list[_Token]:
        tokens, at = [], 0
        end = len(self.text.rstrip())
        while at < end:
            match = _TOKEN.match(self.text, at)
            if match is None or match.lastgroup is None:
                start = at + len(self.text[at:]) - len(self.text[at:].lstrip())
                hint = "; a power is written **" if self.text[start] == "^" else ""
                self.fail(f"{self.text[start]!r} is not understood{hint}", start)
            tokens.append(_Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            at = match.end()
        return [*tokens, _Token("end", "", end)]

    def fail(self, problem: str, start: int) -> NoReturn:
        line, column = self.text, start
        if len(line) > 100:
            begin = max(0, start - 50)
            line, column = line[begin : begin + 100], start - begin
        line = re.sub(r"\s", " ", line)  # one line, so that the mark below stands in the right place
        problem = problem if problem.endswith("?") else problem.rstrip(".") + "."
        raise ParseError(f"This {self.what} cannot be read: {problem}\n    {line}\n    {' ' * column}^")

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.next
        self.position += 1
        return token

    def accept(self, mark: str) -> bool:
        if self.next.kind == "mark" and self.next.text == mark:
            self.position += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            self.fail(f"{mark!r} is expected {self.here()}", self.next.start)

    def here(self) -> str:
        return "at the end" if self.next.kind == "end" else f"before {self.next.text!r}"

    def apply(self, operation: Callable[[Any, Any], Any], left: Any, right: Any, start: int) -> Any:
        """Combine two objects; what they object to is told with its place."""
        self.operations += 1
        if self.operations > _MOST_OPERATIONS:
            self.fail(f"more than {_MOST_OPERATIONS} operations", start)
        try:
            return operation(left, right)
        except (TypeError, ValueError) as error:
            self.fail(str(error), start)
        except OverflowError:
            self.fail("the number is too large", start)

    def whole(self) -> Any:
        if self.next.kind == "end":
            names = ", ".join(sorted(self.offered))
            raise ParseError(f"The {self.what} is empty. It may be built from: {names}.")
        value = self.sum()
        if self.next.kind != "end":
            self.fail(f"{self.next.text!r} is not expected here", self.next.start)
        if isinstance(value, int | float):
            self.fail(f"a number alone is not a {self.what}", 0)
        return value

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail(f"more than {_DEEPEST} levels of parentheses", self.next.start)
        value = self.product()
        while self.next.text == "+" and self.next.kind == "mark":
            start = self.take().start
            value = self.apply(operator.add, value, self.product(), start)
        self.depth -= 1
        return value

    def product(self) -> Any:
        value = self.power()
        while self.next.text == "*" and self.next.kind == "mark":
            start = self.take().start
            value = self.apply(operator.mul, value, self.power(), start)
        return value

    def power(self) -> Any:
        value = self.atom()
        if self.next.text == "**" and self.next.kind == "mark":
            start = self.take().start
            exponent = self.take()
            if exponent.kind != "number":
                self.fail("the exponent must be a number", exponent.start)
            if isinstance(value, int | float):
                self.fail("a number cannot be raised here: write out its value", start)
            value = self.apply(operator.pow, value, _number(exponent.text), start)
        return value

    def atom(self) -> Any:
        token = self.take()
        if token.kind == "number":
            return self.fraction(token)
        if token.kind == "mark" and token.text == "-" and self.next.kind == "number":
            return -self.fraction(self.take())
        if token.kind == "mark" and token.text == "(":
            value = self.sum()
            self.expect(")")
            return value
        if token.kind == "word":
            return self.call(token)
        self.position -= 1
        return self.fail(f"a name or a number is expected {self.here()}", token.start)

    def fraction(self, top: _Token) -> int | float:
        value = _number(top.text)
        if not self.accept("/"):
            return value
        bottom = self.take()
        if bottom.kind != "number" or _number(bottom.text) == 0:
            self.fail("a number that is not zero is expected after /", bottom.start)
        return value / _number(bottom.text)

    def call(self, name: _Token) -> Any:
        build = self.registry.get(plain_name(name.text))
        if build is None:
            plain = plain_name(name.text)
            offered = self.offered if self.depth == 1 else self.registry
            near = f" {self.replacements[plain]}" if plain in self.replacements else suggestion(plain, offered)
            self.fail(f"there is no {self.what} {name.text!r}.{near}", name.start)
        given: list[Any] = []
        named: dict[str, Any] = {}
        if self.accept("("):
            while not self.accept(")"):
                self.argument(given, named)
                if not self.accept(","):
                    self.expect(")")
                    break
        try:
            return build(*given, **named)
        except TypeError as error:
            known = getattr(build, "__dataclass_fields__", {})
            unknown = next((key for key in named if known and key not in known), None)
            problem = (
                f"{name.text} has no parameter {unknown!r}.{suggestion(unknown, known)}" if unknown else str(error)
            )
            self.fail(problem, name.start)
        except ValueError as error:
            self.fail(str(error), name.start)

    def argument(self, given: list[Any], named: dict[str, Any]) -> None:
        start = self.next
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if start.kind == "word" and following.kind == "mark" and following.text == "=":
            self.position += 2
            if start.text in named:
                self.fail(f"{start.text!r} is given twice", start.start)
            named[start.text] = self.value()
        elif named:
            self.fail("a value without a name cannot follow one with a name", start.start)
        else:
            given.append(self.value())

    def value(self) -> Any:
        """A quoted text, a bare word that is no name of the registry, or any expression."""
        token = self.next
        if token.kind == "text":
            self.position += 1
            return token.text[1:-1]
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if token.kind == "word" and not (following.kind == "mark" and following.text == "("):
            word = plain_name(token.text)
            if word in _CONSTANTS or word not in self.registry:
                self.position += 1
                return _CONSTANTS.get(word, token.text)
        return self.sum()


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() and len(text) < 20 else float(text)
