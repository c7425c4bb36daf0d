"""The sources as data: who imports whom, what is how long, and what each file is about.

python tests/sources.py [FOLDER]           # counts lines of code
python tests/sources.py --files [NAME]     # each file of a folder of the package, or of all, with its idea
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "mercer"


@dataclass(frozen=True)
class Source:
    """A file of Python: its path within the package, its text, and what that means."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """As it is imported, without the name of the package: solvers.newton.method; the package itself is empty."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def folder(self) -> str:
        """The folder, or the file that stands beside the folders."""
        return self.name.split(".")[0]

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @property
    def idea(self) -> str:
        """What the file says of itself first, as one line."""
        return " ".join((ast.get_docstring(self.tree) or "").partition("\n\n")[0].split())

    @property
    def classes(self) -> list[str]:
        """The names of its classes."""
        return [node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]

    @property
    def functions(self) -> list[ast.FunctionDef]:
        """Its functions and methods."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    def imports(self) -> Iterator[tuple[str, bool]]:
        """The modules that it imports, those for type checkers apart; and whether that happens inside a function."""
        for_types = {id(node) for node in self._for_types()}
        for node in ast.walk(self.tree):
            if id(node) not in for_types and isinstance(node, ast.Import | ast.ImportFrom):
                for name in self._names(node):
                    yield name, node.col_offset > 0

    def _for_types(self) -> Iterator[ast.AST]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                yield from (inner for part in node.body for inner in ast.walk(part))

    def _names(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        """Within the package; a name that is no module is one of its parent's."""
        if isinstance(node, ast.Import):
            found = [name.name.split(".") for name in node.names if name.name.split(".")[0] == "mercer"]
            targets = [parts[1:] for parts in found]
        else:
            here = list(self.path.parts[:-1])
            base = here[: len(here) - node.level + 1] if node.level else []
            module = (node.module or "").split(".") if node.module else []
            if not node.level:
                if module[:1] != ["mercer"]:
                    return
                module = module[1:]
            targets = [[*base, *module, name.name] for name in node.names]
        for parts in targets:
            while parts and ".".join(parts) not in _names_of_modules():
                parts = parts[:-1]
            if ".".join(parts) != self.name:
                yield ".".join(parts)


@cache
def sources() -> tuple[Source, ...]:
    """All files of the package."""
    return tuple(Source(path.relative_to(PACKAGE), path.read_text()) for path in sorted(PACKAGE.rglob("*.py")))


@cache
def _names_of_modules() -> frozenset[str]:
    return frozenset(source.name for source in sources())


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The largest sets of modules each of which leads to all others (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            place = stack.index(name)
            members = set(stack[place:])
            del stack[place:]
            if len(members) > 1:
                found.append(members)

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return found


def code_lines(text: str) -> int:
    """Lines with code: no blank one, no comment, no docstring."""
    lines: set[int] = set()
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))  # type: ignore[operator]
    return len(lines)


def native_lines(text: str) -> int:
    """Lines of C++ with code: no blank one, no comment of its own."""
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in text.splitlines())


def literals(source: Source) -> list[float]:
    """Numbers that are written out, other than 0, 1, 2 and 0.5."""
    return [
        node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
        and node.value not in (0, 1, 2, 0.5)
    ]


def count(package: Path) -> None:
    """Print how many lines of code there are."""
    python = {path: code_lines(path.read_text()) for path in package.rglob("*.py")}
    taught = sum(count for path, count in python.items() if "explain" in path.relative_to(package).parts)
    native = [path for kind in ("*.hpp", "*.cpp") for path in package.rglob(kind)]
    print(f"Python outside explain/  {sum(python.values()) - taught:6,} lines of code")
    print(f"explain/                 {taught:6,}")
    print(f"C++                      {sum(native_lines(path.read_text()) for path in native):6,}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--files"]:
        for source in sources():
            if source.folder in sys.argv[2:] or not sys.argv[2:]:
                print(f"{source.path.as_posix():42} {source.idea}")
    else:
        count(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
