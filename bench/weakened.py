"""The share of weakened milestones that deep lint complains about, per world: ``python -m bench.weakened [EVERY]``."""

import sys

from sandbox_scenarios import Suite

from sandbox_mcp.authoring.weakened import share_of
from sandbox_mcp.worlds import names


def main() -> None:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    suite = Suite()
    for world in names():
        share = share_of(suite, world, suite.names(world)[::every])
        print(f"{world}: {share.found:.1%} of {share.tried}", flush=True)
        for missed in share.missed:
            print(f"    {missed}")


if __name__ == "__main__":
    main()
