"""The page as one file: no network, no Python, a policy that lets only its own script run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

from .bundle import asset, script
from .state import State
from .worked import Worked

TITLE = "Mercer: kernel machines that move"
_STYLES = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def digest(text: str) -> str:
    """A script or a style as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(scripts: str, styles: list[str], *, server: bool = False) -> str:
    """Only this script and these styles; pictures and workers made by the page itself; a server where there is one."""
    own = "connect-src 'self'; frame-src 'self'; " if server else ""
    allowed = " ".join(digest(style) for style in styles)
    return (
        f"default-src 'none'; script-src {digest(scripts)}; style-src {allowed}; img-src data: blob:; "
        f"worker-src blob:; {own}base-uri 'none'; form-action 'none'"
    )


def document(state: State | None = None, worked: Worked | None = None, *, server: bool = False) -> str:
    """The whole page. The state is what it opens with; a worked solution is that of this state."""
    from .link import to_hash

    code, style = f"\n{script('main')}", f"\n{asset('page.css')}"
    styles = [style, *(_STYLES.findall(worked.html) if worked else [])]
    kept = ""
    if state is not None:
        data = {"state": to_hash(state), "html": worked.html if worked else "", "latex": worked.latex if worked else ""}
        kept = f'<script type="application/json" id="mercer-exported">{as_data(data)}</script>\n'
    return (
        f'<!doctype html>\n<html lang="en"{" data-python=yes" if server else ""}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(code, styles, server=server)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{TITLE}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="mercer-body">\n<div class="mercer-play">\n{asset("page.html")}</div>\n'
        f'{kept}<script type="module">{code}</script>\n</body>\n</html>\n'
    )


def as_data(value: Any) -> str:
    """JSON that ends no script element and begins none."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
