"""Makes the environments that the tests here want: ``python -m tests.agents.environments [NAME...]``.

All frameworks have one each, as ``sandbox-mcp agents install`` makes it, and so has whatever else is tried out here.
"""

import sys

from clients.environments import InstallError, Wanted, install_all
from clients.frameworks import FRAMEWORKS

WANTED = {
    **{name: Wanted(name, framework.requires, framework.node) for name, framework in FRAMEWORKS.items()},
    "inspect": Wanted("inspect", ("-e", ".[inspect]")),
}
JOBS = 2


def main(names: list[str]) -> int:
    """Make those that are named, or all."""
    unknown = set(names) - WANTED.keys()
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(WANTED)}", file=sys.stderr)  # noqa: T201
        return 2
    try:
        install_all([WANTED[name] for name in names or WANTED], JOBS, lambda line: print(line, flush=True))  # noqa: T201
    except InstallError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
