"""Makes the environments that the tests here want: ``python -m tests.agents.environments [NAME...]``.

All frameworks have one each, as ``sandbox-mcp agents install`` makes it, and so has Inspect. The clients that are
only looked at, in ``others``, have theirs made where they are named, or ``all`` is asked for.
"""

import sys

from sandbox_clients.environments import EnvironmentSpec, InstallError, install_all
from sandbox_clients.frameworks import FRAMEWORKS

BESIDE = {"pydantic-ai": ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common")}
"""What keeps the spans of a framework, beside what an agent in it needs."""
WANTED = {
    **{
        name: EnvironmentSpec(name, (*framework.requires, *BESIDE.get(name, ())), framework.node)
        for name, framework in FRAMEWORKS.items()
    },
    "inspect": EnvironmentSpec("inspect", ("-e", ".[inspect]")),
}
OTHERS = {
    name: EnvironmentSpec(name, requires)
    for name, requires in {
        "agent-framework": ("agent-framework-core>=1.23", "agent-framework-openai>=1.17", "mcp>=2.3", "tenacity"),
        "autogen": ("autogen-agentchat>=0.7.5", "autogen-ext[mcp,openai]>=0.7.5", "mcp<2"),
        "llama-index": ("llama-index-core", "llama-index-tools-mcp>=0.6", "llama-index-llms-openai-like"),
        "mcp-use": ("mcp-use>=1.7", "langchain-openai>=1.7"),
        "smolagents": ("smolagents[mcp,openai]>=1.26", "mcp<2"),
        "strands": ("strands-agents[openai]>=1.62",),
    }.items()
}
ALL = "all"
JOBS = 2


def main(names: list[str]) -> int:
    """Make those that are named, or those that every run of the tests wants."""
    known = WANTED | OTHERS
    unknown = set(names) - known.keys() - {ALL}
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; known: {ALL}, {', '.join(known)}", file=sys.stderr)  # noqa: T201
        return 2
    chosen = list(known if ALL in names else names or WANTED)
    try:
        install_all([known[name] for name in chosen], JOBS, lambda line: print(line, flush=True))  # noqa: T201
    except InstallError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
