"""Whatever is wrong with a scenario file is told in one line: the file, the line, the thing, what was expected."""

from pathlib import Path

import pytest
from sandbox_scenarios import ScenarioFileError, Suite, UnknownScenarioError

from tests.each import each
from tests.scenarios.files import HERE, entry, fault_of, file_of, marked_line, written
from tests.suite import SUITE

MILESTONE = "milestones:\n"
CALLS = """\
tools: [set_wifi_status, get_wifi_status, search_contacts]
reference:
  - turns:
      - calls:
"""


def calls(text: str, reply: str = "Done.") -> str:
    return CALLS + "".join(f"          {line}\n" for line in text.splitlines()) + f"        reply: {reply}\n"


def milestone(*lines: str) -> str:
    return MILESTONE + "".join(f"  {line}\n" for line in lines)


WHOLE_FILES = {
    "nothing": ("", "is empty; expected 'family' and 'scenarios'"),
    "only a comment": ("# later\n", "is empty"),
    "a list": (f"- name: mine {HERE}\n", "the file is a list; put its entries under 'scenarios:'"),
    "a text": (f"hello {HERE}\n", "expected a mapping, not 'hello'"),
    "no scenarios": (f"family: mine {HERE}\n", "scenarios: is missing"),
    "no family": (f"scenarios: [] {HERE}\n", "family: is missing"),
    "scenarios empty": (f"family: mine\nscenarios: [] {HERE}\n", "scenarios: expected at least 1 item"),
    "scenarios null": (f"family: mine\nscenarios: {HERE}\n", "scenarios: expected a list, not None"),
    "scenarios of text": (f"family: mine\nscenarios:\n  - wifi_off {HERE}\n", "scenarios.0: expected a mapping"),
    "scenarios added to": (f"family: mine\nscenarios+: [] {HERE}\n", "unknown key 'scenarios+'"),
    "unknown key beside": (file_of(entry()) + f"version: 1 {HERE}\n", "unknown key 'version'"),
    "broken brackets": (f"family: mine\nscenarios: [\n  - : :  {HERE}\n", "is not valid YAML"),
    "a tab": (f"family: mine\nscenarios:\n\t- name: mine {HERE}\n", "is not valid YAML"),
    "two documents": (file_of(entry()) + f"--- {HERE}\nfamily: other\n", "is not valid YAML"),
    "a foreign tag": (file_of(entry("about: !!python/name:os.system x " + HERE)), "is not valid YAML"),
    "a set": (f"family: mine\nscenarios: !!set {{a, b}} {HERE}\n", "nothing here may be tagged tag:yaml.org,2002:set"),
    "bytes": (f"family: !!binary QUJD {HERE}\nscenarios: []\n", "nothing here may be tagged"),
    "a false bool": (f"family: !!bool x {HERE}\nscenarios: []\n", "'x' is tagged as a bool, which it is not"),
    "a false number": (f"family: !!int x {HERE}\nscenarios: []\n", "'x' is tagged as a number, which it is not"),
    "a list as number": (f"family: !!float [1] {HERE}\nscenarios: []\n", "is not valid YAML"),
    "a false date": (f"family: !!timestamp x {HERE}\nscenarios: []\n", "'x' is tagged as a date, which it is not"),
    "no such day": (file_of(entry(f"clock: {{now: 2025-02-30 08:00:00}} {HERE}")), "day is out of range for month"),
    "a control character": (f"family: é\nabout: \x07 {HERE}\n", "is not valid YAML: control characters"),
    "a circle of aliases": (
        f"family: mine\nscenarios: &all\n  - *all\n{HERE}\n",
        "an alias refers to what contains it",
    ),
    "a key of several": (file_of(entry(f"? [a, b] {HERE}\n: c")), "a key must be text"),
    "a key twice": (file_of(entry(f"tools: []\ntools: [] {HERE}")), "the key 'tools' stands twice"),
    "a key twice, deep": (
        file_of(entry(f"world:\n  setting: {{wifi: true,\n    wifi: false}} {HERE}")),
        "the key 'wifi' stands twice",
    ),
    "a list and an addition": (
        file_of(entry(f"tools: []\ntools+: [] {HERE}")),
        "'tools' and 'tools+' stand in one mapping",
    ),
    "a name twice": (file_of(entry(), f"  - name: mine {HERE}\n"), "two scenarios have the name 'mine'"),
    "no name": (f"family: mine\nscenarios:\n  - extends: lakeside {HERE}\n", "scenarios.0.name: is missing"),
    "a number as name": (f"family: mine\nscenarios:\n  - name: 7 {HERE}\n", "scenarios.0.name: expected text, not 7"),
    "a name in capitals": (
        f"family: mine\nscenarios:\n  - name: Mine {HERE}\n",
        "scenario 'Mine': name: expected lower-case letters, digits and _",
    ),
}
UNPLACED = {"nothing", "only a comment"}


@each("case", WHOLE_FILES)
def test_a_file_that_is_none(tmp_path: Path, case: str) -> None:
    text, problem = WHOLE_FILES[case]
    error = fault_of(tmp_path, text)
    assert problem in str(error)
    assert error.path == str(tmp_path / "mine.yaml")
    if case not in UNPLACED:
        line = marked_line(text) - (case == "a circle of aliases") * 2
        assert str(error).startswith(f"{error.path}:{line}: ")


def test_of_a_long_value_the_message_shows_the_beginning(tmp_path: Path) -> None:
    error = fault_of(tmp_path, f"family: mine\nscenarios: {'long ' * 100_000}\n")
    assert str(error).endswith("long...")
    assert len(str(error)) < 400


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    assert "is not UTF-8 text: invalid start byte at byte 8" in str(fault_of(tmp_path, b"family: \xff\n"))


def test_a_file_that_is_absent(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match="nowhere: does not exist; expected a scenario file or a folder"):
        Suite([tmp_path / "nowhere"]).names()


def test_a_folder_whose_files_end_otherwise_says_how_they_should(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text("family: mine\nscenarios:\n  - name: mine\n    extends: wifi_off\n")
    with pytest.raises(ScenarioFileError, match=r"no file whose name ends in \.yaml; rename mine\.yml"):
        Suite(tmp_path).names()
    assert Suite(tmp_path / "mine.yml").names() == ("mine",)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(ScenarioFileError, match=r"folder\.yaml: cannot be read"):
        Suite([tmp_path]).names()


BODIES = {
    # keys and forms
    "unknown key": (f"milestone: [] {HERE}", "unknown key 'milestone'; did you mean 'milestones'"),
    "unknown key, deep": (
        f"user:\n  script:\n    anwsers: [] {HERE}",
        "user.script: unknown key 'anwsers'; did you mean 'answers'?",
    ),
    "unknown key like none": (f"clock: {{hour: 9}} {HERE}", "clock: unknown key 'hour'; known: now, zone, step"),
    "an addition to no list": (f"tools+: get_wifi_status {HERE}", "unknown key 'tools+'"),
    "an addition to a mapping": (f"clock+: [] {HERE}", "clock: expected a mapping, not []"),
    "a list expected": (f"tools: get_wifi_status {HERE}", "tools: expected a list, not 'get_wifi_status'"),
    "a mapping expected": (f"user: somebody {HERE}", "user: expected a mapping, not 'somebody'"),
    "text expected": (f"about: 3 {HERE}", "about: expected text, not 3"),
    "true or false expected": (f"abstract: perhaps {HERE}", "abstract: expected true or false, not 'perhaps'"),
    "a number expected": (f"max_turns: many {HERE}", "max_turns: expected a whole number, not 'many'"),
    "too few turns": (f"max_turns: 0 {HERE}", "max_turns: expected at least 1, not 0"),
    "no patience": (f"user:\n  script:\n    patience: 0 {HERE}", "user.script.patience: expected at least 1, not 0"),
    "an answer to nothing": (
        f"user:\n  script:\n    answers:\n      - about: [] {HERE}\n        say: Hm.",
        "user.script.answers.0.about: expected at least 1 item",
    ),
    "unknown category": (f"categories: [hard] {HERE}", "categories.0: expected 'single_tool_call', "),
    # tools
    "misspelt tool": (f"tools: [set_wify_status] {HERE}", "unknown tool 'set_wify_status'; did you mean 'set_wifi_"),
    "misspelt tool, own line": (f"tools:\n  - get_wifi_status\n  - frobnicate {HERE}", "unknown tool 'frobnicate'"),
    "withheld tool unknown": (f"without: [frobnicate] {HERE}", "unknown tool 'frobnicate'"),
    "the user's tool": (f"tools: [end_conversation] {HERE}", "unknown tool 'end_conversation'"),
    # clock
    "unknown zone": (f"clock:\n  zone: Mars/Olympus {HERE}", "unknown time zone 'Mars/Olympus'; expected an IANA name"),
    "a day as now": (f"clock:\n  now: 2025-01-01 {HERE}", "now must be a date and time such as"),
    "now long ago": (f"clock:\n  now: 1066-10-14 09:00:00 {HERE}", "`now` -28502701764.0 is out of range"),
    "a clock that runs backwards": (f"clock:\n  step: -1 {HERE}", "clock.step: expected at least 0"),
    # world
    "unknown table": (f"world:\n  settings: {{}} {HERE}", "unknown table 'settings'; known: setting, contact"),
    "unknown column": (f"world:\n  setting:\n    wfi: true {HERE}", "unknown column 'wfi' of table 'setting'; known"),
    "an id in a row": (
        f"world:\n  contact:\n    tomas:\n      person_id: p1 {HERE}",
        "person_id is made from the row's label; leave it out",
    ),
    "a row without a column": (f"world:\n  contact:\n    zed: {{name: Zed}} {HERE}", "the row lacks 'phone_number'"),
    "a row that is none": (f"world:\n  contact:\n    zed: Zed {HERE}", "expected a mapping of columns to values"),
    "rows without labels": (f"world:\n  contact: [Zed] {HERE}", "expected a mapping of labels to rows"),
    "a number as boolean": (f"world:\n  setting:\n    wifi: 1 {HERE}", "1 is not of type boolean"),
    "a boolean as number": (f"world:\n  setting:\n    latitude: true {HERE}", "True is not of type number"),
    "a number as text": (f"world:\n  contact:\n    tomas: {{name: 5}} {HERE}", "5 is not of type string; write text"),
    "a text as moment": (
        f"world:\n  reminder:\n    plants:\n      reminder_timestamp: soon {HERE}",
        "'soon' is not of type timestamp; expected a date and time such as",
    ),
    "a day as moment": (
        f"world:\n  reminder:\n    plants:\n      reminder_timestamp: 2025-01-01 {HERE}",
        "2025-01-01 is a date without a time",
    ),
    "no settings": (f"world: {HERE}\n  setting: null", "the world has no row in table 'setting'; extend a base world"),
    "a row nobody knows": (
        f"world:\n  messaging:\n    parcel:\n      sender_person_id: '@contact.nobody' {HERE}",
        "'@contact.nobody' names no row of this scenario's world; known: dmitri, ingrid, marguerite, tomas, wren",
    ),
    "a table nobody knows": (
        f"world:\n  messaging:\n    parcel:\n      sender_person_id: '@people.wren' {HERE}",
        "'@people.wren' names no table; known: contact, messaging, reminder, setting",
    ),
    # reference
    "a solution without turns": (f"reference:\n  - turns: [] {HERE}", "reference.0.turns: expected at least 1 item"),
    "a turn without reply": (f"reference:\n  - turns:\n      - calls: [] {HERE}", "turns.0.reply: is missing"),
    "a call of an unknown tool": (calls(f"- {{tool: frobnicate}} {HERE}"), "unknown tool 'frobnicate'"),
    "a call that is none": (calls(f"- get_wifi_status {HERE}"), "calls.0: expected a mapping, not 'get_wifi_status'"),
    "a fault within a batch": (
        calls(f"- - {{tool: get_wifi_status}}\n  - {{tol: x}} {HERE}"),
        "calls.0.1: unknown key 'tol'; did you mean 'tool'?",
    ),
    "an empty batch": (calls(f"- [] {HERE}"), "calls.0: expected a mapping, not []"),
    "a call of a tool not offered": (
        calls(f"- {{tool: get_current_timestamp}} {HERE}"),
        "the solution uses 'get_current_timestamp', which 'tools' does not list",
    ),
    "an unknown argument": (
        calls(f"- {{tool: set_wifi_status, arguments: {{onn: true}}}} {HERE}"),
        "set_wifi_status has no argument 'onn'; known: on",
    ),
    "an argument too few": (calls(f"- {{tool: set_wifi_status}} {HERE}"), "set_wifi_status also needs on"),
    "an argument of another type": (
        calls(f"- tool: set_wifi_status\n  arguments:\n    on: 1 {HERE}"),
        "set_wifi_status takes boolean as 'on', not 1",
    ),
    "an unknown label": (
        calls(f"- {{tool: set_wifi_status, arguments: {{on: $state.on}}}} {HERE}"),
        "no earlier call is labelled 'state'; name it with 'as'",
    ),
    "a label that cannot be referred to": (
        calls(f"- {{tool: get_wifi_status, as: 1st.look}} {HERE}"),
        "'1st.look' cannot be referred to; expected letters, digits, _ and -, a letter first",
    ),
    "a label of the same batch": (
        calls(f"- - {{tool: get_wifi_status, as: a}}\n  - {{tool: set_wifi_status, arguments: {{on: $a}}}} {HERE}"),
        "no earlier call is labelled 'a'",
    ),
    "an unknown label in a reply": (
        calls("- {tool: get_wifi_status, as: state}", f"It is ${{status}}. {HERE}"),
        "no earlier call is labelled 'status'",
    ),
    # milestones
    "no constraint": (milestone(f"- id: a {HERE}"), "expected exactly one of table, tool, any_of, message; found none"),
    "two constraints": (
        milestone(f"- id: a {HERE}", "  tool: get_wifi_status", "  table: setting", "  is: {wifi: true}"),
        "expected exactly one of table, tool, any_of, message; found table, tool",
    ),
    "something beside 'all'": (
        milestone(f"- id: a {HERE}", "  tool: get_wifi_status", "  all: [{tool: get_wifi_status}]"),
        "milestone 'a' has constraints both under 'all' and beside it",
    ),
    "nothing under 'all'": (milestone(f"- {{id: a, all: []}} {HERE}"), "milestones.0.all: expected at least 1 item"),
    "a fault under 'all'": (
        milestone("- id: a", "  all:", "    - {tool: get_wifi_status}", f"    - {{tool: frobnicate}} {HERE}"),
        "unknown tool 'frobnicate'",
    ),
    "a key that says nothing": (
        milestone("- id: a", "  tool: get_wifi_status", f"  since: start {HERE}"),
        "'since' says nothing beside 'tool'",
    ),
    "arguments of no tool": (
        milestone("- id: a", "  table: setting", "  is: {wifi: true}", f"  arguments: {{}} {HERE}"),
        "'arguments' says nothing beside 'table'",
    ),
    "unknown table of a milestone": (
        milestone("- id: a", f"  table: settings {HERE}", "  is: {wifi: true}"),
        "unknown table 'settings'; known: setting",
    ),
    "unknown column of a milestone": (
        milestone("- id: a", "  table: setting", f"  is: {{wfi: true}} {HERE}"),
        "unknown column 'wfi' of table 'setting'; known: device_id, cellular, wifi",
    ),
    "no kind": (milestone(f"- {{id: a, table: setting}} {HERE}"), "expected exactly one of is, adds, removes, updates"),
    "two kinds": (
        milestone(f"- {{id: a, table: contact, adds: {{}}, removes: {{}}}} {HERE}"),
        "expected exactly one of is, adds, removes, updates and unchanged for table 'contact'",
    ),
    "not unchanged": (milestone(f"- {{id: a, table: contact, unchanged: false}} {HERE}"), "unchanged: expected True"),
    "no rows added": (milestone(f"- {{id: a, table: contact, adds: []}} {HERE}"), "adds needs at least one row"),
    "a cell that can never be": (
        milestone("- id: a", "  table: setting", f"  is: {{wifi: \"no\"}} {HERE}"),
        "'no' is not of type boolean",
    ),
    "a cell that is never null": (
        milestone("- id: a", "  table: contact", f"  adds: {{name: null}} {HERE}"),
        "'name' of table 'contact' is never null",
    ),
    "one of several that can never be": (
        milestone("- id: a", "  table: setting", f"  is: {{wifi: {{one_of: [true, 1]}}}} {HERE}"),
        "1 is not of type boolean",
    ),
    "unknown tool of a milestone": (milestone("- id: a", f"  tool: frobnicate {HERE}"), "unknown tool 'frobnicate'"),
    "unknown argument of a milestone": (
        milestone("- id: a", "  tool: set_wifi_status", f"  arguments: {{onn: true}} {HERE}"),
        "set_wifi_status has no argument 'onn'; known: on",
    ),
    "an argument that can never be": (
        milestone("- id: a", "  tool: set_wifi_status", f"  arguments: {{on: \"yes\"}} {HERE}"),
        "set_wifi_status takes boolean as 'on', not 'yes'",
    ),
    "none of several tools": (milestone(f"- {{id: a, any_of: []}} {HERE}"), "any_of: expected at least 1 item"),
    "a message without content": (milestone(f"- {{id: a, message: {{}}}} {HERE}"), "message.content: is missing"),
    "a message from nobody": (
        milestone(f"- {{id: a, message: {{sender: mum, content: Hi}}}} {HERE}"),
        "message.sender: expected 'user', 'agent' or 'environment', not 'mum'",
    ),
    "an id twice": (
        milestone("- {id: a, tool: get_wifi_status}", f"- {{id: a, tool: get_wifi_status}} {HERE}"),
        "two milestones have the id 'a'",
    ),
    "the start as id": (milestone(f"- {{id: start, tool: get_wifi_status}} {HERE}"), "'start' is the moment before"),
    "after something unknown": (
        milestone("- id: a", "  tool: get_wifi_status", f"  after: [b] {HERE}"),
        "'a' comes after unknown 'b'; known: a",
    ),
    "a circle": (
        milestone("- {id: a, after: [b], tool: sign_in}", "- {id: b, after: [a], tool: sign_out}").replace(
            MILESTONE, f"milestones: {HERE}\n"
        ),
        "the order is a circle: a after b after a",
    ),
    "since something unknown": (
        milestone(f"- {{id: a, table: contact, unchanged: true, since: b}} {HERE}"),
        "'a' refers to unknown 'b'; known: a",
    ),
    "since something that need not be before": (
        milestone("- {id: b, tool: get_wifi_status}", f"- {{id: a, table: contact, unchanged: true, since: b}} {HERE}"),
        "'a' takes a value or state from 'b'; add 'b' to its 'after'",
    ),
    "a value from a message": (
        milestone(
            "- {id: b, message: {content: Hi}}", f"- {{id: a, after: [b], message: {{content: {{from: b}}}}}} {HERE}"
        ),
        "'a' takes a value from 'b', which is not a call and has none",
    ),
    "a minefield in a circle": (
        f"minefields: {HERE}\n  - {{id: a, after: [a], tool: get_wifi_status}}",
        "the order is a circle: a after a",
    ),
    # allows
    "unknown table allowed": (f"allows:\n  settings: [wifi] {HERE}", "unknown table 'settings'"),
    "unknown column allowed": (f"allows:\n  setting: [wfi] {HERE}", "unknown column 'wfi' of table 'setting'"),
}  # fmt: skip


@each("case", BODIES)
def test_a_scenario_that_cannot_be(tmp_path: Path, case: str) -> None:
    body, problem = BODIES[case]
    text = file_of(entry(body)) if not body.startswith("user:") else file_of(_without_user(body))
    error = fault_of(tmp_path, text)
    assert problem in str(error)
    assert str(error).startswith(f"{tmp_path / 'mine.yaml'}:{marked_line(text)}: scenario 'mine': ")


def _without_user(body: str) -> str:
    text = entry(body).replace("    user: {goal: You want something., opening: Please do something.}\n", "")
    return text.replace("user:\n", "user:\n      goal: You want.\n      opening: Please.\n", 1)


VALUES = {
    "{exakt: 3}": "expected a plain value or a mapping with one of exact, close, contains, one_of, set, rouge",
    "{exact: a, contains: a}": "found 'exact', 'contains'",
    "{}": "found nothing",
    "[a, b]": "write one_of: [...] for one of several values, set: [...] for a list of these",
    "{contains: a, within: 3}": "unknown key 'within'; expected contains",
    "{close: 3}": "close also needs within, the tolerance as a number",
    "{close: soon, within: 1}": "close expects a number or a moment, not 'soon'",
    "{close: 3, within: true}": "close also needs within, the tolerance as a number",
    "{contains: 3}": "contains expects text, not 3",
    "{rouge: [a]}": "rouge expects text, not ['a']",
    "{one_of: a}": "one_of expects a list of values",
    "{one_of: []}": "one_of expects a list of values",
    "{facts: swim}": "facts expects a list, not 'swim'",
    "{facts: []}": "facts expects at least one fact, or something to avoid",
    "{facts: [[]]}": "a fact needs at least one wording",
    "{facts: [[true]]}": "facts expects texts, not True; put it in quotes",
    '{facts: [[" "]]}': "facts expects texts that say something, not ' '",
    "{facts: [a], avoid: b}": "avoid expects a list, not 'b'",
    "{facts: [a], hint: b}": "unknown key 'hint'; expected avoid, denies, facts, synonyms, values",
    '{facts: ["{x}"]}': "nothing in values is called 'x'; known: nothing",
    "{facts: [a], values: {x: {from: b}}}": "no text says where the value 'x' goes; expected {x} in one of them",
    "{facts: [a], values: [x]}": "values expects a mapping, not ['x']",
    '{facts: ["{x}"], values: {x: 3}}': "expected a mapping with from and perhaps path, source, to, decimals; found 3",
    "{facts: [{time: '25:10'}]}": "time expects hours and minutes such as '14:40', in quotes, not '25:10'",
    "{facts: [{time: '9:75'}]}": "time expects hours and minutes",
    "{facts: [{date: '2026-13-05'}]}": "date expects '2026-03-29', '03-29' or '29', in quotes, not '2026-13-05'",
    "{facts: [{date: '02-30'}]}": "date expects",
    "{facts: [{date: '2026-29'}]}": "date expects",
    "{facts: [{duration: 1 hour 30 moments}]}": "duration expects seconds, or a text such as '7 hours 40 minutes'",
    "{facts: [{duration: 1 hour 30}]}": "duration expects seconds",
    "{facts: [{count: ','}]}": "count expects a number, perhaps with a unit, not ','",
    "{from: 3}": "from expects the id of a milestone",
    "{from: b, source: thin_air}": "source 'thin_air' is unknown; expected result or arguments",
    "{from: b, to: gold}": "to 'gold' is unknown; expected one of raw, float, int, text",
    "{from: b, decimals: 2}": "decimals expects a list, not 2",
    "{from: b, decimals: [few]}": "decimals expects whole numbers from 0 up, not ['few']",
    "{from: b, within: near}": "within is the tolerance as a number, not 'near'",
    "2025-01-01": "2025-01-01 is a date without a time",
    '"@contact.nobody"': "'@contact.nobody' names no row",
}


@each("value", VALUES)
def test_a_value_that_means_nothing(tmp_path: Path, value: str) -> None:
    text = file_of(entry(milestone("- id: a", "  message:", f"    content: {value} {HERE}")))
    error = fault_of(tmp_path, text)
    assert VALUES[value] in str(error)
    assert error.line == marked_line(text)


def test_a_fault_among_other_scenarios_is_told_where_it_was_written(tmp_path: Path) -> None:
    text = file_of(entry(name="first"), entry(f"tools:\n  - frobnicate {HERE}"), entry(name="last"))
    error = fault_of(tmp_path, text)
    assert (error.line, "unknown tool 'frobnicate'" in str(error)) == (marked_line(text), True)


def test_of_several_faults_the_first_in_the_file_is_told(tmp_path: Path) -> None:
    text = file_of(entry(f"colour: blue {HERE}", name="first"), entry("flavour: mint"))
    error = fault_of(tmp_path, text)
    assert (error.line, "scenario 'first': unknown key 'colour'" in str(error)) == (marked_line(text), True)


def test_extending_the_unknown(tmp_path: Path) -> None:
    text = file_of(entry(base=f"lakesise {HERE}"))
    error = fault_of(tmp_path, text)
    assert "scenario 'mine': extends unknown 'lakesise'; did you mean 'lakeside'" in str(error)
    assert error.line == marked_line(text)


def test_extending_itself(tmp_path: Path) -> None:
    error = fault_of(tmp_path, file_of(entry(base="mine")))
    assert "extends itself by way of mine > mine" in str(error)


def test_extending_in_a_circle_over_files(tmp_path: Path) -> None:
    written(tmp_path, file_of(entry(name="a", base="b")), "a.yaml")
    written(tmp_path, file_of(entry(name="b", base="c")), "b.yaml")
    other = written(tmp_path, file_of(entry(name="c", base="a")), "c.yaml")
    with pytest.raises(ScenarioFileError) as caught:
        Suite([tmp_path]).get("a")
    told = f"{other}:4: scenario 'c': extends itself by way of a > b > c > a"
    assert str(caught.value) == told
    written(tmp_path, file_of(entry(name="d", base="b")), "d.yaml")
    for entered in ("b", "c", "d"):  # once in a report, wherever it is come upon
        with pytest.raises(ScenarioFileError) as again:
            Suite([tmp_path]).get(entered)
        assert str(again.value) == told


def test_a_fault_of_the_base_is_told_where_it_was_written(tmp_path: Path) -> None:
    base = file_of(entry(f"tools:\n  - get_wifi_status\n  - frobnicate {HERE}", name="base"))
    path = written(tmp_path, base, "base.yaml")
    written(tmp_path, file_of(entry("tools+: [set_wifi_status]", base="base")))
    with pytest.raises(ScenarioFileError) as caught:
        Suite([tmp_path]).get("mine")
    assert (caught.value.path, caught.value.line) == (str(path), marked_line(base))


def test_a_fault_of_an_addition_is_told_where_it_was_written(tmp_path: Path) -> None:
    written(tmp_path, file_of(entry("tools: [get_wifi_status]", name="base")), "base.yaml")
    text = file_of(entry(f"tools+:\n  - set_wifi_status\n  - frobnicate {HERE}", base="base"))
    assert fault_of(tmp_path, text).line is not None
    with pytest.raises(ScenarioFileError) as caught:
        Suite([tmp_path]).get("mine")
    assert caught.value.line == marked_line(text)


def test_a_milestone_that_clashes_with_an_inherited_one_is_told_where_it_stands(tmp_path: Path) -> None:
    written(tmp_path, file_of(entry(milestone("- {id: a, tool: get_wifi_status}"), name="base")), "base.yaml")
    text = file_of(entry(f"milestones+:\n  - id: a {HERE}\n    tool: get_wifi_status", base="base"))
    written(tmp_path, text)
    with pytest.raises(ScenarioFileError, match="two milestones have the id 'a'") as caught:
        Suite([tmp_path]).get("mine")
    assert caught.value.line == marked_line(text)


def test_the_same_name_in_two_files(tmp_path: Path) -> None:
    first = written(tmp_path, file_of(entry()), "a.yaml")
    second = written(tmp_path, file_of(entry()), "b.yaml")
    with pytest.raises(ScenarioFileError) as caught:
        Suite([tmp_path]).names()
    assert str(caught.value) == f"{second}:3: scenario 'mine' also stands in {first}"


def test_an_unknown_scenario_gets_suggestions(tmp_path: Path) -> None:
    with pytest.raises(UnknownScenarioError) as caught:
        SUITE.get("wifi_of")
    assert caught.value.suggestions[0] == "wifi_off"
    assert str(caught.value).startswith("unknown scenario 'wifi_of'; did you mean 'wifi_off'")


def test_suggestions_come_from_own_files_and_from_the_suite(tmp_path: Path) -> None:
    suite = Suite([written(tmp_path, file_of(entry(name="juggling")))])
    for misspelt, meant in (("jugling", "juggling"), ("wifi_of", "wifi_off")):
        with pytest.raises(UnknownScenarioError) as caught:
            suite.get(misspelt)
        assert meant in caught.value.suggestions


def test_a_name_unlike_any_gets_a_hint_where_to_look() -> None:
    with pytest.raises(UnknownScenarioError, match="unknown scenario 'qqqq'; see 'sandbox-mcp scenarios list'"):
        SUITE.get("qqqq")


def test_a_base_cannot_be_played() -> None:
    with pytest.raises(UnknownScenarioError, match="scenario 'lakeside' is a base that others extend") as caught:
        SUITE.get("lakeside")
    assert caught.value.abstract
