"""Drafting with a model, which the scripted endpoint plays over real HTTP: what passes, what does not, and why."""

import errno
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from sandbox_scenarios import Suite
from sandbox_scenarios.lint import lint

from sandbox_mcp.app.authoring.synth import orders
from sandbox_mcp.app.cli import group
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import Prompt
from sandbox_mcp.app.endpoint.reply import Move
from sandbox_mcp.app.endpoint.server import running
from tests.each import each
from tests.suite import SUITE

REWORDED = {
    "name": "wifi_out_of_my_sight",
    "about": "The same wish, grumbled.",
    "user": {"opening": "Ugh, this wireless business drains me. Kill the wifi on here, would you?"},
}
SWITCHED: dict[str, Any] = {
    "name": "quiet_evening",
    "about": "Two switches go off for an evening without the world.",
    "user": {
        "goal": "You want cellular service and wifi off for the evening.",
        "opening": "I want peace and quiet tonight. Turn off cellular service and wifi, please.",
        "knows": ["It is cellular service and wifi that should go off."],
        "does_not_know": ["Whether either of them is on right now."],
    },
    "reference": [
        {
            "calls": [
                {"tool": "set_cellular_service_status", "arguments": {"on": False}},
                {"tool": "set_wifi_status", "arguments": {"on": False}},
            ],
            "reply": "Cellular service is off, and wifi is off.",
        }
    ],
}


@dataclass(frozen=True)
class Drafting:
    """A model that answers by what it is asked, and how often it has answered."""

    answer: Callable[[str, int], Any]

    async def decide(self, prompt: Prompt, tries: int) -> Move:
        said = self.answer(prompt.turns[-1].user, len(prompt.steps))
        return Move(said if isinstance(said, str) else f"Here you are:\n```json\n{json.dumps(said)}\n```")


def synth(answer: Callable[[str, int], Any], out: Path, *arguments: object, beside: str = "wifi_off") -> Result:
    """Draft beside a suite of one scenario, because every opening of a suite is looked at."""
    own = out.parent / f"{out.name}.yaml"
    own.write_text(f"family: own\nscenarios:\n  - {{name: my_own, extends: {beside}}}\n", encoding="utf-8")
    with running(Endpoint(Drafting(answer))) as url:
        options = ["--model", "m", "--base-url", url, "-o", out, "--quiet", "--scenarios", own, *arguments]
        return CliRunner().invoke(group, ["synth", *map(str, options)])


def told(result: Result) -> dict[str, tuple[int, int]]:
    return {item["filter"]: (item["came"], item["passed"]) for item in json.loads(result.stdout)["filters"]}


def rejected(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_rewording_that_says_the_same_is_kept_and_passes_deep_lint(tmp_path: Path) -> None:
    done = synth(lambda _, __: REWORDED, tmp_path, "rewording", "wifi_off", "--json")
    assert done.exit_code == 0, done.output + (tmp_path / "rejected.jsonl").read_text()
    assert told(done)["lint --deep"] == (1, 1)
    [path] = tmp_path.glob("*.yaml")
    drafted = Suite([path]).get("wifi_out_of_my_sight")
    assert drafted.milestones == SUITE.get("wifi_off").milestones
    assert drafted.tags == ("synth:rewording",)


def test_a_wish_for_three_groups_of_tools_becomes_a_scenario_with_milestones(tmp_path: Path) -> None:
    found = next(
        seed
        for seed in range(3000)
        if "setting" in (domains := domains_of(seed)) and len(domains) == 3 and required_of(seed) == "set_wifi_status"
    )
    done = synth(
        lambda _, __: SWITCHED, tmp_path, "tools", "--base", "calanque", "--count", 1, "--seed", found, "--json"
    )
    assert done.exit_code == 0, done.output + (tmp_path / "rejected.jsonl").read_text()
    drafted = Suite([tmp_path]).get("quiet_evening")
    assert {item.id for item in drafted.milestones}
    assert drafted.user.goal == SWITCHED["user"]["goal"]
    assert lint(Suite([tmp_path]), ["quiet_evening"]) == ()


def required_of(seed: int) -> str:
    [order] = orders(SUITE, "tools", (), ("calanque",), 1, seed)
    return order.required[0]


def domains_of(seed: int) -> set[str]:
    [order] = orders(SUITE, "tools", (), ("calanque",), 1, seed)
    tools = SUITE.base("calanque").home.agent_tools
    return {tools[name].domain for name in order.offered}


@each(
    ("answer", "filter_", "why"),
    [
        ("I would rather not.", "answers in the form", "there is no JSON object in it"),
        ({**REWORDED, "about": ""}, "answers in the form", "about"),
        ({**REWORDED, "user": {"opening": SUITE.get("wifi_off").user.opening}}, "no near-duplicate", "much like"),
    ],
)
def test_what_does_not_pass_is_kept_with_its_reason(tmp_path: Path, answer: Any, filter_: str, why: str) -> None:
    done = synth(lambda _, __: answer, tmp_path, "rewording", "wifi_off", "--mend", 0)
    assert done.exit_code == 1
    [item] = rejected(tmp_path)
    assert item["filter"] == filter_
    assert why in item["why"]
    assert "kept 0 drafts of 1" in done.stderr


def test_a_tool_that_is_not_there_is_an_invention(tmp_path: Path) -> None:
    invented = {**SWITCHED, "reference": [{"calls": [{"tool": "order_pizza", "arguments": {}}], "reply": "Done."}]}
    done = synth(lambda _, __: invented, tmp_path, "constraint", "wifi_off", "--mend", 0, "--json")
    assert told(done)["invents no tool"] == (1, 0)
    assert told(done)["lint --deep"] == (0, 0)


def test_a_constraint_has_to_need_the_same_tools(tmp_path: Path) -> None:
    lazy = {**SWITCHED, "reference": [{"calls": [], "reply": "Done."}]}
    synth(lambda _, __: lazy, tmp_path, "constraint", "wifi_off", "--mend", 0)
    assert rejected(tmp_path)[0]["why"] == "the solution does not use 'set_wifi_status'"


def test_nothing_is_done_about_a_wish_that_nothing_serves(tmp_path: Path) -> None:
    busy = {
        **SWITCHED,
        "reference": [{"calls": [{"tool": "set_wifi_status", "arguments": {"on": False}}], "reply": "I can't."}],
    }
    synth(lambda _, __: busy, tmp_path, "irrelevance", "wifi_off", "--mend", 0)
    assert "though it can do nothing" in rejected(tmp_path)[0]["why"]


def test_a_faulty_draft_may_be_mended(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(question: str, answers: int) -> Any:
        asked.append(question)
        return "Let me think." if answers == 0 else REWORDED

    done = synth(answer, tmp_path, "rewording", "wifi_off", "--json")
    assert json.loads(done.stdout)["requests"] == 2
    assert "cannot be used: there is no JSON object in it" in asked[1]
    assert done.exit_code == 0


def test_the_question_shows_data_tools_and_scenario_and_no_milestone(tmp_path: Path) -> None:
    asked: list[str] = []
    synth(lambda question, _: asked.append(question) or "", tmp_path, "constraint", "landlord_number", "--mend", 0)
    scenario = SUITE.get("landlord_number")
    assert scenario.user.opening in asked[0]
    assert all(name in asked[0] for name in scenario.tools)
    assert "milestone" not in asked[0]


def test_what_is_drafted_is_decided_by_the_seed(tmp_path: Path) -> None:
    first, again = (orders(SUITE, "tools", (), ("calanque",), 5, 3) for _ in range(2))
    assert first == again != orders(SUITE, "tools", (), ("calanque",), 5, 4)
    assert all(order.required[0] in order.offered for order in first)


def test_a_branch_withholds_each_tool_that_the_solution_uses() -> None:
    every = orders(SUITE, "branch", ("forget_number",), (), 100, 0)
    withheld = [order.withheld for order in every if order.withheld]
    assert set(withheld) == {"search_contacts", "remove_contact"}
    assert all(order.withheld not in order.offered for order in every if order.withheld)
    assert {order.twist for order in every} == {"state", "turns", "withheld"}


@each(
    ("arguments", "problem"),
    [
        (["tools", "wifi_off"], "tools drafts for base worlds"),
        (["rewording", "wifi_off", "--base", "calanque"], "--base goes with tools"),
    ],
)
def test_kinds_and_what_they_are_made_from(tmp_path: Path, arguments: list[str], problem: str) -> None:
    done = CliRunner().invoke(group, ["synth", *arguments, "--model", "m", "-o", str(tmp_path)])
    assert done.exit_code == 2
    assert problem in done.output


def test_drafts_are_scenario_files_though_they_are_made_on_another_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crossing(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "rename", crossing)
    synth(lambda _, __: REWORDED, tmp_path, "rewording", "wifi_off")
    [path] = tmp_path.glob("*.yaml")
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["scenarios"][0]["extends"] == "wifi_off"


BRANCHED: dict[str, dict[str, Any]] = {
    "state": {
        "name": "wifi_off_in_a_quiet_hour",
        "about": "Cellular service is off already, which changes nothing.",
        "state": {"setting": {"cellular": False}},
        "user": {
            "goal": "You want wifi off.",
            "opening": "Would you mind taking this phone off the wireless network? Switch wifi off, I mean.",
            "knows": ["It is wifi that should go off."],
            "does_not_know": ["Whether cellular service is on."],
        },
        "reference": [
            {"calls": [{"tool": "set_wifi_status", "arguments": {"on": False}}], "reply": "Wifi is off."},
        ],
    },
    "withheld": {
        "name": "wifi_stays_on",
        "about": "Nothing here switches wifi.",
        "user": {
            "goal": "You want wifi off.",
            "opening": "This phone should leave the wireless network, so please see that wifi gets switched off.",
            "knows": ["It is wifi that should go off."],
            "does_not_know": ["How the assistant does it."],
        },
        "reference": [{"reply": "I cannot change wifi from here."}],
    },
}  # fmt: skip


@pytest.mark.parametrize("twist", sorted(BRANCHED))
def test_branches_of_a_scenario(tmp_path: Path, twist: str) -> None:
    every = orders(SUITE, "branch", ("wifi_off",), (), 100, 0)
    assert sum(order.twist == twist for order in every) == 1

    def answer(question: str, _: int) -> Any:
        asked = (
            "state"
            if "another state of its world" in question
            else "withheld"
            if "without the tool" in question
            else ""
        )
        return BRANCHED[twist] if asked == twist else "No."

    done = synth(answer, tmp_path, "branch", "wifi_off", "--count", len(every), "--mend", 0, "--json")
    reasons = [(item["twist"], item["filter"], item["why"]) for item in rejected(tmp_path)]
    assert done.exit_code == 0, reasons
    assert Suite([tmp_path]).names() == (BRANCHED[twist]["name"],)


ELSEWHERE: dict[str, dict[str, Any]] = {
    "studio": {
        "name": "office_grout_for_the_bathroom",
        "about": "A reminder, and a word to the colleague who asked for it.",
        "user": {
            "goal": "You want to be reminded of the grout on Thursday at noon, and Jonas told that you order it.",
            "opening": (
                "Grout for the bathroom! Put a reminder to order it for Thursday, 11 March 2027 at noon, and message "
                "jbrandt that I am ordering the grout."
            ),
            "knows": ["Jonas's username is jbrandt."],
            "does_not_know": ["What is in the calendar on Thursday."],
        },
        "reference": [
            {
                "calls": [
                    {
                        "tool": "AddReminder",
                        "arguments": {"task": "Order grout for the bathroom", "due_date": "2027-03-11 12:00:00"},
                    },
                    {
                        "tool": "SendMessage",
                        "arguments": {"receiver": "jbrandt", "message": "I am ordering the grout."},
                    },
                ],
                "reply": "I set the reminder and sent the message to jbrandt.",
            }
        ],
    },
    "sports_press_box": {
        "name": "sports_top_of_the_summit",
        "about": "One look at a table.",
        "user": {
            "goal": "You want to know how many points the first of the Summit League had in 2024.",
            "opening": "Settle a bet for us: with how many points did the winners of the Summit League finish in 2024?",
            "does_not_know": ["The results of any season."],
        },
        "reference": [
            {
                "calls": [
                    {
                        "tool": "get_league_season_table",
                        "arguments": {"league": "Summit League", "season": 2024},
                        "as": "table",
                    }
                ],
                "reply": "The winners, ${table.0.team}, finished with ${table.0.points} points.",
            }
        ],
    },
}
"""A draft for a base of the office, and one for a base of a look-up world."""


@each(("base", "original"), [("studio", "office_tiles_late"), ("sports_press_box", "sports_summit_last")])
def test_worlds_other_than_the_phone_get_drafts_with_milestones_of_their_own(
    tmp_path: Path, base: str, original: str
) -> None:
    asked: list[str] = []
    draft = ELSEWHERE[base]
    used = [call["tool"] for turn in draft["reference"] for call in turn["calls"]]
    found = next(
        seed
        for seed in range(5000)
        for [order] in [orders(SUITE, "tools", (), (base,), 1, seed)]
        if order.required[0] == used[0] and set(used) <= set(order.offered)
    )
    done = synth(
        lambda question, _: asked.append(question) or draft,
        tmp_path, "tools", "--base", base, "--count", 1, "--seed", found, "--mend", 0, "--json", beside=original,
    )  # fmt: skip
    assert done.exit_code == 0, done.output + (tmp_path / "rejected.jsonl").read_text()
    drafted = Suite([tmp_path]).get(draft["name"])
    assert drafted.home.name == SUITE.base(base).home.name
    assert drafted.milestones
    assert told(done)["lint --deep"] == (1, 1)
    assert "Jonas Brandt" in asked[0] or "Summit League" in asked[0]  # what the world knows is shown


def test_another_state_elsewhere_stands_beside_the_name_of_the_world(tmp_path: Path) -> None:
    """Rows of the office are written under ``state``, where ``world`` names the office."""
    away = {
        "name": "office_rabbit_bill_once_more",
        "about": "Something of the kind is noted already, for another bill.",
        "state": {"reminder": {"cat": {"account": "@account.lidia", "task": "Send the bill for the cat"}}},
        "user": {
            "goal": "You want to be reminded to send the rabbit's bill by Wednesday at noon.",
            "opening": "Noon on Wednesday, that is when the rabbit's bill has to go out. Let me have a reminder of it.",
            "knows": ["You mean Wednesday of this week."],
            "does_not_know": ["Which reminders there are already."],
        },
        "reference": [
            {
                "calls": [
                    {
                        "tool": "AddReminder",
                        "arguments": {"task": "Send the bill for the rabbit", "due_date": "2027-06-16 12:00:00"},
                    }
                ],
                "reply": "I will remind you to send the bill for the rabbit by Wednesday at noon.",
            }
        ],
    }
    name = "office_add_reminder"
    done = synth(
        lambda question, _: away if "another state of its world" in question else "No.",
        tmp_path, "branch", name, "--count", 3, "--mend", 0, "--json", beside=name,
    )  # fmt: skip
    assert done.exit_code == 0, [(item["filter"], item["why"]) for item in rejected(tmp_path)]
    drafted = Suite([tmp_path]).get("office_rabbit_bill_once_more")
    tasks = {row["task"] for row in drafted.world.table("reminder").values()}
    assert "Send the bill for the cat" in tasks
    assert len(tasks) == len({row["task"] for row in SUITE.get(name).world.table("reminder").values()}) + 1


def test_wishes_are_made_from_every_base_that_is_a_state_by_itself(tmp_path: Path) -> None:
    with running(Endpoint(Drafting(lambda _, __: "[]"))) as url:
        options = ("tools", "--model", "m", "--base-url", url, "-o", str(tmp_path), "--quiet", "--count", "2")
        done = CliRunner().invoke(group, ["synth", *options])
        alone = CliRunner().invoke(group, ["synth", *options, "--base", "new_numbers"])
    assert "kept 0 drafts of 2" in done.stderr
    assert "new_numbers': the world has no row in table 'setting'" in str(alone.exception)
