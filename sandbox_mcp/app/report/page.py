"""One HTML file that needs nothing else: style, scripts and data inside, and a policy that lets nothing else in.

Policy: the browser runs what stands here and is named by its hash, and no more; nothing is loaded from anywhere. Data
are packed, so that no log, whatever it holds, is ever read as markup.
"""

import base64
import gzip
import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

_Kind = Literal["embedded", "server", "host"]
SCRIPTS: dict[_Kind, tuple[str, ...]] = {
    "embedded": ("text", "source", "session", "runs", "compare", "app"),
    "server": ("text", "source", "session", "runs", "compare", "app"),
    "host": ("text", "source", "host", "session", "runs", "compare", "app"),
}


def page(kind: _Kind, title: str, data: Any = None) -> str:
    """The page as HTML; ``data`` is what an embedded page shows."""
    scripts = (_asset(f"{name}.js").replace('"use strict";\n', "") for name in SCRIPTS[kind])
    script, style = '"use strict";\n' + "\n".join(scripts), _asset("style.css")
    fetches = "; connect-src 'self'" if kind == "server" else ""
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'; "
        f"form-action 'none'{fetches}"
    )
    packed = ""
    if kind == "embedded":
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
        packed = base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="app"><p class="page">Loading…</p></div>\n'
        '<noscript><p class="page">This page needs JavaScript; it loads nothing from anywhere.</p></noscript>\n'
        f'<script type="application/octet-stream" id="data" data-kind="{kind}">{packed}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


@cache
def _asset(name: str) -> str:
    return files("sandbox_mcp.app.report").joinpath("static", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
