"""The figures as a page: tables in Markdown, put between two marks of a file whose rest is written by hand."""

from collections.abc import Iterable, Sequence

from sandbox_scenarios.stats.measure import CLASSIC, Count, Stats

BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def update(text: str, stats: Stats, picture: str) -> str:
    """The file's text with the figures of today between its marks; without marks they go to the end."""
    figures = f"{BEGIN}\n\n{page(stats, picture)}\n{END}"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        return f"{before}{figures}{after}"
    return f"{text.rstrip()}\n\n{figures}\n" if text.strip() else f"{figures}\n"


def page(stats: Stats, picture: str) -> str:
    """All tables; ``picture`` is where the picture of the coverage is."""
    cases = stats.scenarios * len(CLASSIC)
    alike = [(variant, *(f"{item[name]:.3f}" for name in stats.readings)) for variant, item in stats.similarity.items()]
    # mean pairwise Jaccard similarity, in each reading of ToolScan's appendix B.4
    similar = "How alike the names of the tools are (ToolScan, appendix B.4)"
    rows = [tuple(map(str, item.row())) for item in stats.environments]
    theirs = _markdown("Environments beside ToolScan's (table 3)", environment_heads(stats), rows)
    return "\n".join(
        (
            f"{stats.scenarios} scenarios, {len(CLASSIC)} classic variants each: {cases} test cases.\n",
            f"![Which tools are called in which categories]({picture})\n",
            _table("Statistics (ToolSandbox, table 4; ours are of the reference solutions)", stats.statistics),
            _table("Test cases per category (table 6)", stats.categories),
            _table("Milestones per table and column (table 7)", stats.columns),
            _table("Milestones per tool (table 8)", stats.tools),
            _plain("Scenarios that have", "", [(item.name, item.ours) for item in stats.features]),
            _plain("Scenarios per world", "world", stats.worlds.items()),
            _plain("Scenarios per file", "file", stats.families.items()),
            _markdown(similar, ("variant", *stats.readings), alike),
            *([theirs] if rows else []),
        )
    )


def _table(title: str, counts: Sequence[Count]) -> str:
    rows = [(item.name, _number(item.ours), _number(item.theirs), "" if item.met else "short") for item in counts]
    return _markdown(title, ("", "ours", "ToolSandbox", ""), rows)


def _plain(title: str, head: str, rows: Iterable[tuple[str, float]]) -> str:
    return _markdown(title, (head, "scenarios"), [(name, _number(value)) for name, value in rows])


def environment_heads(stats: Stats) -> tuple[str, ...]:
    """The heads of the table of worlds beside ToolScan's environments, one per value of :meth:`Environment.row`."""
    return ("world", "queries", "ToolScan", "turns", "ToolScan", "tools", "ToolScan", *stats.readings)


def _markdown(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in heads[1:])]
    lines = [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]
    return "\n".join((f"## {title}\n", *lines, ""))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if float(value).is_integer() else f"{value:.2f}"
