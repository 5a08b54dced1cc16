"""A picture of the coverage: one row per tool, one column per category, the darker the more scenarios.

Policy: plain SVG with no script and no font of its own, readable on light and dark pages; the bar at the right shows
how many of the tool's arguments some solution gives.
"""

from collections.abc import Iterator
from html import escape

from sandbox_scenarios.stats.measure import Stats

LEFT, TOP, CELL, ROW, BAR = 262, 128, 62, 20, 120
STEPS = ((1, 0.15), (3, 0.3), (6, 0.45), (12, 0.6), (24, 0.8), (48, 1.0))
"""From so many scenarios on, so dark."""


def picture(stats: Stats) -> str:
    """The coverage of a suite as an SVG document."""
    categories = [count.name for count in stats.categories]
    width, height = LEFT + CELL * len(categories) + BAR + 60, TOP + ROW * len(stats.calls) + 12
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img">'
    )
    title = "<title>Scenarios per tool and category, and arguments given</title>"
    parts = [head, title, f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for number, name in enumerate(categories):
        x = LEFT + CELL * number + CELL // 2
        shown = escape(name.replace("_", " "))
        parts.append(f'<text x="{x}" y="{TOP - 10}" transform="rotate(-40 {x} {TOP - 10})">{shown}</text>')
    parts.append(f'<text x="{LEFT + CELL * len(categories) + 12}" y="{TOP - 10}">arguments given</text>')
    return "\n".join((*parts, *_rows(stats, categories), "</svg>", ""))


def _rows(stats: Stats, categories: list[str]) -> Iterator[str]:
    for number, (tool, counts) in enumerate(stats.calls.items()):
        y = TOP + ROW * number
        yield f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(tool)}</text>'
        for place, category in enumerate(categories):
            x = LEFT + CELL * place
            count = counts[category]
            shade = max((dark for least, dark in STEPS if count >= least), default=0.0)
            yield f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{ROW - 2}" fill="#eeeeee"/>'
            if count:
                box = f'x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{ROW - 2}"'
                ink = "#ffffff" if shade > 0.5 else "#000000"
                yield f'<rect {box} fill="#1d4e89" fill-opacity="{shade}"/>'
                yield f'<text x="{x + CELL // 2}" y="{y + 14}" text-anchor="middle" fill="{ink}">{count}</text>'
        x, (given, of) = LEFT + CELL * len(categories) + 12, stats.arguments[tool]
        if of:
            yield f'<rect x="{x}" y="{y + 4}" width="{BAR}" height="{ROW - 8}" fill="#eeeeee"/>'
            yield f'<rect x="{x}" y="{y + 4}" width="{BAR * given // of}" height="{ROW - 8}" fill="#2f7d4f"/>'
            yield f'<text x="{x + BAR + 6}" y="{y + 14}">{given}/{of}</text>'
