"""Small scenarios to play in tests: a message, a switch, a question; each sound until a part is replaced."""

from collections.abc import Mapping
from pathlib import Path

from sandbox_scenarios import Suite
from sandbox_scenarios.lint import Complaint

from sandbox_mcp.app.authoring.deep_lint import attempt, lint_scenario
from sandbox_mcp.app.authoring.mutants import Mutant, mutants_of
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.scenarios.files import changed, written

SWITCH = """\
family: mine
scenarios:
  - name: mine
    extends: lakeside
    about: Switch something.
    categories: [single_tool_call, single_user_turn]
    tools: [get_wifi_status, set_wifi_status]
    user: {goal: You want wifi off., opening: Wifi off please., knows: [You want wifi off.]}
    reference:
      - turns:
          - calls: [{tool: set_wifi_status, arguments: {on: false}}]
            reply: Wifi is off.
    milestones:
      - {id: off, table: setting, is: {wifi: false}}
      - {id: told, after: ["off"], message: {content: {facts: [[wifi], ["off"]]}}}
"""
QUESTION = """\
family: mine
scenarios:
  - name: mine
    extends: lakeside
    about: Ask for something.
    categories: [single_tool_call, single_user_turn]
    tools: [unit_conversion, get_wifi_status]
    user:
      goal: You want to know how many miles 42 kilometers are.
      opening: How many miles are 42 kilometers?
      knows: [It is 42 kilometers.]
    reference:
      - turns:
          - calls:
              - {tool: unit_conversion, arguments: {amount: 42, from_unit: kilometer, to_unit: mile}, as: miles}
            reply: That is ${miles} miles.
    milestones:
      - id: converted
        tool: unit_conversion
        arguments: {amount: 42, from_unit: kilometer, to_unit: {contains: mile}}
      - id: told
        after: [converted]
        message: {content: {facts: ["{miles}"], values: {miles: {from: converted, to: text}}}}
"""
REPLY = "reply: I texted Tomas."
TOLD = "message: {content: {facts: [[texted, told, sent]]}}"
ADDS = 'adds: {recipient_person_id: "@contact.tomas", content: {facts: [[match], [nine]]}}'
ARGUMENTS = "        arguments: {amount: 42, from_unit: kilometer, to_unit: {contains: mile}}\n"


def suite_of(folder: Path, text: str, changes: Mapping[str, str] | None = None) -> Suite:
    return Suite([written(folder, changed(text, changes or {}))])


def complaints(folder: Path, text: str, changes: Mapping[str, str] | None = None) -> tuple[Complaint, ...]:
    return lint_scenario(suite_of(folder, text, changes), "mine").complaints


def stage_of(folder: Path, text: str, changes: Mapping[str, str] | None = None) -> RehearsalStage:
    return RehearsalStage(suite_of(folder, text, changes).get("mine"))


def mutants(stage: RehearsalStage) -> dict[str, Mutant]:
    return {item.id: item for item in mutants_of(stage)}


def score(stage: RehearsalStage, mutant: str) -> float:
    return attempt(stage, mutants(stage)[mutant]).score
