"""The check of a world against the rules that make its sessions repeatable: trials, and a few forbidden names.

Nothing is promised by silence: a tool may still be wrong in a way that neither names nor trials show.
"""

from collections.abc import Iterator
from functools import partial

from sandbox_mcp.app.authoring.world_check.findings import RULES, WorldFinding
from sandbox_mcp.app.authoring.world_check.forbidden_names import forbidden_names
from sandbox_mcp.app.authoring.world_check.module_state import state_of
from sandbox_mcp.app.authoring.world_check.other_process import OtherProcess
from sandbox_mcp.app.authoring.world_check.sources import sources_of
from sandbox_mcp.app.authoring.world_check.trials import tried
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.fixed import FixedRows

__all__ = ["RULES", "OtherProcess", "WorldFinding", "check_world"]


def check_world(world: World, refused: dict[str, str] | None = None) -> tuple[WorldFinding, ...]:
    """Everything in a world's code and conduct that would make its sessions unrepeatable or unreadable.

    ``refused`` is filled with the tools that said no every time they were tried, and with what they said last: of what
    they do otherwise nothing is known.
    """
    try:
        world.check()
    except WorldError as error:
        return (WorldFinding(world.name, world.name, "declaration", str(error)),)
    tools = (tool for tool in world.tools.values() if tool not in ENGINE_TOOLS)
    silent = [("tool", tool.name) for tool in tools if not tool.description.strip()]
    silent += [("gate", name) for name, gate in world.gates.items() if not (gate.function.__doc__ or "").strip()]
    undocumented = (
        WorldFinding(world.name, name, "docstring", f"{what} {name!r} has no docstring") for what, name in silent
    )
    noes = {} if refused is None else refused
    sources = sources_of(world)
    modules = [source.module for source in sources]
    trials = tried(world, noes, partial(state_of, world, modules))
    return tuple(dict.fromkeys((*undocumented, *_dangling(world), *forbidden_names(world, sources), *trials)))


def _dangling(world: World) -> Iterator[WorldFinding]:
    """Ids in fixed rows that no row of the fixed table has which they point at."""
    fixed = {name: FixedRows.of(schema).rows for name, schema in world.tables.items() if schema.fixed}
    for name, rows in fixed.items():
        for item in world.tables[name].columns:
            role = item.item_role or item.role
            if role is None or role.kind != "id" or role.table not in fixed:
                continue
            for key, row in rows.items():
                cell = row[item.name]
                named = cell if isinstance(cell, tuple) else () if cell is None else (cell,)
                lost = [one for one in named if one not in fixed[role.table]]
                if lost:
                    told = f"row {key!r} of fixed table {name!r} has {lost[0]!r} as {item.name!r}"
                    yield WorldFinding(world.name, name, "dangling", f"{told}, which no row of {role.table!r} is")
