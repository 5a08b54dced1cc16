"""Drafts ten scenarios, compares the drafts with what their authors wrote, and puts the table into authoring.md."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_scenarios import Suite

from sandbox_mcp.authoring.drafting.compare import SHOWN, compare, table

PAGE = Path(__file__).parent / "authoring.md"
BEGIN, END = "<!-- drafts -->", "<!-- end of drafts -->"


def section() -> str:
    """The table of today."""
    suite = Suite()
    with TemporaryDirectory() as folder:
        return table([compare(suite, name, Path(folder)) for name in SHOWN])


def main() -> None:
    """Replace what stands between the marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{section()}\n{END}{after}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
