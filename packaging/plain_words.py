"""Measures how plainly the docstrings are written; exits 1 where a share is above its limit.

A docstring that begins with a question word states no thing; a relative construction is often a second sentence.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("sandbox_mcp", "grader", "scenarios", "clients")
LIMITS = {
    "begin with a question word": (re.compile(r"(What|Which|Whether|How|Where|Who|Whom|When|Why)\b"), 0.05),
    "have a relative construction": (re.compile(r"(?s).*?(\bof which\b|\bthat is\b|\bwhat is\b|\bof whom\b)"), 0.03),
}
"""Pattern of each fault, matched from a docstring's first letter, and the share of docstrings that may have it."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def main() -> int:
    """Print each share and, above its limit, where to begin."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    texts = [
        (path, text)
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, Documented) and (text := ast.get_docstring(node))
    ]
    failed = False
    for fault, (pattern, limit) in LIMITS.items():
        found = [(path, text) for path, text in texts if pattern.match(text)]
        share = len(found) / len(texts)
        print(f"{len(found)} of {len(texts)} docstrings {fault}: {share:.1%}, limit {limit:.1%}")
        if share > limit:
            failed = True
            for path, text in found[:20]:
                print(f"  {path.relative_to(ROOT)}: {text.splitlines()[0]}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
