"""The page as one text: modules joined in the order of their imports, style and markup beside them."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(
    r"^import (?:\* as (?P<whole>\w+)|(?P<some>\{[^}]*\})) from '\./(?P<module>\w+)\.js';\n", re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class) (?P<name>\w+))", re.MULTILINE)


def asset(name: str) -> str:
    """The text of a file of the page."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _order(module: str, seen: list[str]) -> list[str]:
    """The modules that one needs, each after those that it needs itself."""
    for needed in (found["module"] for found in _IMPORT.finditer(asset(f"{module}.js"))):
        if needed not in seen:
            _order(needed, seen)
    seen.append(module)
    return seen


def _closed(module: str) -> str:
    """A module as a function of its own that gives back what it exports."""
    source = asset(f"{module}.js")
    needs = "\n".join(
        f"const {found['whole'] or _renamed(found['some'])} = {found['module']}_;" for found in _IMPORT.finditer(source)
    )
    names = [found["name"] for found in _EXPORT.finditer(source)]
    body = _EXPORT.sub("", _IMPORT.sub("", source))
    return f"const {module}_ = (() => {{\n{needs}\n{body}\nreturn {{ {', '.join(names)} }};\n}})();"


def _renamed(names: str) -> str:
    """{ a as b } of an import is { a: b } of an object."""
    return names.replace(" as ", ": ")


@cache
def widget() -> str:
    """The page as the module that anywidget loads."""
    return f"{script('widget')}export default widget_.makeWidget({json.dumps(asset('page.html'))});\n"


@cache
def script(entry: str) -> str:
    """All modules that an entry needs, and the entry, as one module without imports."""
    return "\n".join(_closed(module) for module in _order(entry, [])) + "\n"
