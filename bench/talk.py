"""``python -m bench talk [--wrong] [FILE...]``: how well agents' talk is understood, over corpora with answers.

A file whose first line begins with ``@`` holds replies and what they claim; any other holds messages and what the user
should do about them. Without files, all of ``bench/corpora`` and of the data folder's ``talk`` are read.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from bench import talk_acts, talk_claims

CORPORA = Path(__file__).resolve().parent / "corpora"


def default_files() -> list[Path]:
    """Our own corpora and the data folder's, without labels of sessions that are not there."""
    own = sorted(CORPORA.glob("*.txt"))
    if not (talk_acts.DATA / "taubench").is_dir():
        own = [path for path in own if "_tau_" not in path.name]
    return [*own, *sorted((talk_acts.DATA / "talk").glob("*.txt"))]


def about_claims(path: Path) -> bool:
    """Whether a corpus is about what replies claim."""
    with path.open(encoding="utf-8") as lines:
        return next((line.startswith("@") for line in lines if line.strip() and not line.startswith("#")), False)


def main(arguments: Sequence[str]) -> None:
    """Print a table for each file."""
    parser = ArgumentParser("python -m bench talk", description="How well agents' talk is understood.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="corpora; without any, all that are here")
    parser.add_argument("--wrong", action="store_true", help="list what was misread")
    options = parser.parse_intermixed_args(arguments)
    wrong, files = options.wrong, options.files or default_files()
    for path in files:
        if not path.is_file():
            sys.exit(f"{path} is not a file; expected a corpus of messages or of replies")
        part = talk_claims if about_claims(path) else talk_acts
        try:
            print("\n".join(part.report(path, wrong=wrong)))
        except ValueError as error:
            sys.exit(str(error))
