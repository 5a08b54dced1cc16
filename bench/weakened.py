"""``python -m bench.weakened [--every N] [WORLD...]``: how many weakened milestones deep lint complains about."""

from argparse import ArgumentParser

from sandbox_scenarios import Suite

from sandbox_mcp.authoring.weakened import share_of
from sandbox_mcp.worlds import names


def main() -> None:
    parser = ArgumentParser("python -m bench.weakened", description=__doc__)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help="only these worlds")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th scenario, as a sample")
    options = parser.parse_intermixed_args()
    suite = Suite()
    for world in options.worlds or names():
        share = share_of(suite, world, suite.names(world)[:: options.every])
        print(f"{world}: {share.found:.1%} of {share.tried}", flush=True)
        for missed in share.missed:
            print(f"    {missed}")


if __name__ == "__main__":
    main()
