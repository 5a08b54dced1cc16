"""``python -m bench rows [ROWS]``: rows of MTU-Bench's form played by a scripted agent, 10,000 unless told otherwise.

The rows are made here: dialogues of five turns, each with four tools and the history before it. What is measured is one
process from the first row read to the summary, with logs written, in both forms of an answer.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox_clients.function import Asked

from bench.table import BudgetRow, how_many, show
from sandbox_mcp.app.benchmarks.mtu_bench.suite import RowSuite
from sandbox_mcp.app.run.evaluate import evaluate

TURNS = 5
BUDGET = 60.0 / 10_000
TOOLS = [
    {
        "name": f"{verb}_lamp",
        "description": f"Lets a person {verb} a lamp in a room.",
        "required_parameters": [{"name": "room", "type": "string", "description": "The room's name."}],
        "optional_parameters": [{"name": "level", "type": "integer", "description": "How bright, from 1 to 9."}],
        "result_parameters": [{"name": "lamp_id", "type": "string", "description": "The lamp."}],
    }
    for verb in ("light", "dim", "mend", "sell")
]
WRITTEN = 'Thought: it is dark.\nAction: light_lamp\nAction Input: {"room": "hall"}'


def main(arguments: list[str]) -> None:
    """Play the rows in both forms, and print what one took."""
    wanted = how_many("rows", "rows", 10_000, arguments)
    show(f"{wanted} rows", [_played(wanted, form) for form in ("text", "calls")])


def _rows(wanted: int) -> Iterator[dict[str, Any]]:
    head = "Answer.\nAction: The name of the API to be called.\nThese are the APIs that you can use:\n"
    for number in range(wanted):
        turn = number % TURNS
        said = (
            "user: It is dark in the hall.\nAction: light_lamp\nAction Input: {'room': 'hall'}\nassistant: Lit.\n"
            * turn
        )
        history = f"\nHistory Dialog: \n{said}" if turn else ""
        question = f"{head}{json.dumps(TOOLS)}{history}\nUser: It is dark in the hall."
        answer = {"light_lamp": {"room": "hall"}}
        yield {"id": f"M-S_{number // TURNS}_{turn}", "question": question, "answer": answer}


def _played(wanted: int, form: Any) -> BudgetRow:
    async def agent(asked: Asked) -> str:
        if form == "text":
            return WRITTEN
        await asked.tools.call("light_lamp", {"room": "hall"})
        return "Lit."

    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "M-S_eval.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in _rows(wanted)), "utf-8")
        before = time.process_time()
        report = evaluate(agent, RowSuite([file]), row_answers=form, out=Path(place) / "run", jobs=1)
        took = (time.process_time() - before) / wanted
    assert report.score == 1.0, "only rows that are answered right are worth measuring"
    return BudgetRow(f"a row, answered by {form}", f"{took * 1000:.2f} ms", f"{BUDGET * 1000:.0f} ms", took / BUDGET)
