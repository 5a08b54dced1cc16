"""``python -m bench``: every budget in one run. Figures are CPU time; ratios above 1 miss their budget.

``python -m bench talk [FILE...]`` measures how well agents' talk is understood, see :mod:`bench.talk`;
``python -m bench truth`` what the suite gives to honest talk, lies and cheats, see :mod:`bench.truth`;
``python -m bench cheats`` what rewards give to policies that cheat, see :mod:`bench.cheats`;
``python -m bench sessions`` thousands of open sessions in one server, see :mod:`bench.sessions`;
``python -m bench training`` episodes a second and memory of open ones, see :mod:`bench.training`;
``python -m bench transports [SESSIONS]`` what an MCP client adds to a session, see :mod:`bench.transports`;
``python -m bench view [SESSIONS]`` the viewer over 100,000 sessions, see :mod:`bench.viewer`;
``python -m bench rows [ROWS]`` 10,000 rows of MTU-Bench's form by a scripted agent, see :mod:`bench.rows`;
``python -m bench prefixes CHECKOUT`` ToolTalk's conversations by prefixes, see :mod:`bench.prefixes`;
``python -m bench worlds [FOLDER...]`` a session, a call and memory in every world, see :mod:`bench.worlds`;
``python -m bench tape`` a tape served as a mock, against the server that it was recorded from, see :mod:`bench.tape`;
``python -m bench scale [SESSIONS]`` what 100,000 sessions take to play, keep and grade, see :mod:`bench.scale`.

Some modules are run by themselves: ``python -m bench.tau_bench`` holds metrics against tau-bench's rewards, and
``bench.weakened`` counts the weakened milestones that deep lint finds; ``bench.soak`` puts clients on a server for
minutes, ``bench.drafts`` writes a table of docs/authoring.md, ``bench.train_acts`` learns the scripted user's
weights, and ``bench.heard`` tells what today's scripted user says to the agents of recorded sessions.
"""

import sys

from bench import (
    cheats,
    core,
    grader,
    prefixes,
    replay,
    rows,
    scale,
    server,
    sessions,
    suite,
    talk,
    tape,
    training,
    transports,
    truth,
    viewer,
    worlds,
)
from bench.table import show

PARTS = ("core", "suite", "grader", "server")
ALONE = {
    "cheats": cheats.main,
    "talk": talk.main,
    "tape": tape.main,
    "truth": truth.main,
    "rows": rows.main,
    "prefixes": prefixes.main,
    "replay": replay.main,
    "scale": scale.main,
    "sessions": sessions.main,
    "training": training.main,
    "transports": transports.main,
    "view": viewer.main,
    "worlds": worlds.main,
}
"""What is measured by itself, with arguments of its own."""


def main(parts: list[str]) -> None:
    """Measure the named parts, or all."""
    if parts[:1] in (["--help"], ["-h"]):
        print(__doc__)
        print(f"parts: {', '.join(PARTS)}")
        return
    if parts[:1] and parts[0] in ALONE:
        ALONE[parts[0]](parts[1:])
        return
    unknown = set(parts) - set(PARTS)
    if unknown:
        sys.exit(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    chosen = parts or PARTS
    if "core" in chosen:
        show("World, tools, session", core.rows())
    if "suite" in chosen:
        suite.main()
    if "grader" in chosen:
        grader.main()
    if "server" in chosen:
        server.main()


if __name__ == "__main__":
    main(sys.argv[1:])
