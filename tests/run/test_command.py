"""The options of ``sandbox-mcp run``, from the command line to the plan, in this process."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli.run import command
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.user import ScriptedUserModel
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.trajectory import read_trajectory
from tests.clients.sessions import SUITE, solver, write
from tests.each import each

PROGRESS = re.compile(r"^\[\d+/\d+\] (\S+) (\S+) t(\d+): (\S+) \((.*)\)$", re.MULTILINE)


def ran(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)])


def summary(*arguments: object) -> Any:
    result = ran(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def manifest(out: Path) -> Any:
    return json.loads((out / "run.json").read_text())


@pytest.fixture
def model() -> Iterator[tuple[str, list[Any]]]:
    """A model that knows the answers, and what it was asked."""
    seen: list[Any] = []
    with running(Endpoint(solver(), seen.append)) as url:
        yield url, seen


def test_variants_trials_and_seed_make_the_sessions(tmp_path: Path) -> None:
    options = ("--variant", "base", "--variant", "all_tools", "--trials", 2, "--seed", 9)
    found = summary("wifi_off", "--agent", "reference", *options, "--out", tmp_path)
    assert found["counts"]["scored"] == 4
    assert {read_trajectory(path).started.seed for path in (tmp_path / "logs").iterdir()} == {9}


def test_a_variant_named_twice_is_played_once(tmp_path: Path) -> None:
    options = ("--variant", "base", "--variant", "base")
    assert summary("wifi_off", "--agent", "refuse", *options, "--out", tmp_path)["counts"]["planned"] == 1


@each(
    ("option", "values"),
    [
        ("--agent", ("reference", "refuse")),
        ("--user", ("scripted", "llm")),
        ("--metric", ("toolsandbox.score", "tooltalk.success")),
        ("--seed", ("1", "2")),
    ],
)
def test_a_second_value_where_there_is_one_is_refused(tmp_path: Path, option: str, values: tuple[str, str]) -> None:
    agent = () if option == "--agent" else ("--agent", "reference")
    given = (part for value in values for part in (option, value))
    result = ran("wifi_off", *agent, *given, "--out", tmp_path / "run")
    told = f"{option} takes one value, not {values[0]!r} and {values[1]!r}; give the command once for each"
    assert (result.exit_code, told in result.stderr, (tmp_path / "run").exists()) == (2, True, False)
    assert summary("wifi_off", *agent, *(option, values[0]) * 2, "--out", tmp_path / "again")["counts"]["scored"] == 1


def test_progress_goes_to_stderr_one_line_a_session(tmp_path: Path) -> None:
    result = ran("wifi_off", "landlord_number", "--agent", "reference", "--out", tmp_path)
    lines = PROGRESS.findall(result.stderr)
    assert sorted(lines) == [
        ("landlord_number", "base", "0", "1.000", "user_ended"),
        ("wifi_off", "base", "0", "1.000", "user_ended"),
    ]
    assert not PROGRESS.search(result.stdout)


def test_what_was_played_before_is_said_so(tmp_path: Path) -> None:
    for expected in ("user_ended", "user_ended, played before"):
        result = ran("wifi_off", "--agent", "reference", "--out", tmp_path)
        assert PROGRESS.findall(result.stderr)[0][-1] == expected


def test_one_shard_says_what_is_still_to_be_played(tmp_path: Path) -> None:
    result = ran("wifi_off", "landlord_number", "--agent", "refuse", "--shard", "1/2", "--out", tmp_path)
    assert "still to be played: 1 of 2 sessions" in result.stderr
    assert result.exit_code == 0


def test_a_shard_without_work_is_fine(tmp_path: Path) -> None:
    result = ran("wifi_off", "--agent", "refuse", "--shard", "2/2", "--out", tmp_path)
    assert result.exit_code == 0
    assert "still to be played: 1 of 1 session" in result.stderr


@each(
    ("agent", "threshold", "code"),
    [("reference", 1, 0), ("refuse", 0.5, 1), ("refuse", 0, 0)],
)
def test_the_threshold_decides_the_exit_code(tmp_path: Path, agent: str, threshold: float, code: int) -> None:
    assert ran("wifi_off", "--agent", agent, "--threshold", threshold, "--out", tmp_path).exit_code == code


def test_with_a_threshold_every_session_must_be_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path / "sometimes.py",
        "async def agent(asked):\n"
        "    if 'wifi' in asked.said[0].text:\n"
        "        raise RuntimeError('broken')\n"
        "    return 'No.'\n",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    arguments = ("wifi_off", "forget_number_no_removal", "--agent", "sometimes:agent", "--out", tmp_path / "out")
    assert [ran(*arguments).exit_code, ran(*arguments, "--threshold", 0).exit_code] == [0, 1]


# models


def test_model_and_parameters_reach_the_endpoint(tmp_path: Path, model: tuple[str, list[Any]]) -> None:
    url, seen = model
    params = ("--param", "temperature=0", "--param", "reasoning_effort=low", "--param", 'stop=["END"]')
    summary("wifi_off", "--agent", "openai", "--model", "big", "--base-url", url, *params, "--out", tmp_path)
    assert {body["model"] for body in seen} == {"big"}
    assert (seen[0]["temperature"], seen[0]["reasoning_effort"], seen[0]["stop"]) == (0, "low", ["END"])
    agent = manifest(tmp_path)["agent"]
    assert (agent["name"], agent["model"], agent["base_url"]) == ("openai", "big", url)


def test_where_to_look_is_told_if_something_did_not_pass(tmp_path: Path) -> None:
    own = write(tmp_path / "own.yaml", "family: own\nscenarios:\n  - {name: mine, extends: wifi_off}\n")
    out, met = tmp_path / "run", tmp_path / "met"
    told = f"why some did not pass, as a page: sandbox-mcp report {out} -o why.html --scenarios {own}\n"
    refusing = ran("--scenarios", own, "--agent", "refuse", "--out", out)
    assert refusing.stderr.endswith(told)
    assert "why some" not in ran("wifi_off", "--agent", "reference", "--out", met).stderr


def test_several_models_get_a_run_each_and_are_compared(tmp_path: Path, model: tuple[str, list[Any]]) -> None:
    models = ("--model", "big", "--model", "org/small:free")
    options = ("--base-url", model[0], "--out", tmp_path, "--scores", tmp_path / "scores.csv")
    found = summary("wifi_off", "landlord_number", "--agent", "openai", *models, *options)
    assert [run["model"] for run in found["runs"]] == ["big", "org/small:free"]
    assert [manifest(tmp_path / name)["agent"]["model"] for name in ("big", "org-small-free")] == list(models[1::2])
    assert [item["difference"]["mean"] for item in found["comparisons"]] == [0.0]
    assert {body["model"] for body in model[1]} == {"big", "org/small:free"}
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["scores-big.csv", "scores-org-small-free.csv"]
    shown = ran("wifi_off", "landlord_number", "--agent", "openai", *models, *options).stdout
    assert [line.split()[3] for line in shown.splitlines()[1:3]] == ["1.000", "1.000"]
    beyond = ("--metric", "tooltalk.predictions", "--threshold", 9)
    missed = ran("wifi_off", "landlord_number", "--agent", "openai", *models, *options, *beyond)
    assert [missed.exit_code, missed.stderr.count("threshold 9 missed: the mean tooltalk.predictions is 1.000")] == [
        1,
        2,
    ]
    assert f"{tmp_path / 'org-small-free'}: threshold 9 missed" in missed.stderr


@each(
    ("options", "said"),
    [
        (("--model", "a"), "named twice"),
        (("--model", "b", "--user", "llm"), "--user-model"),
        (("--model", "b", "--price", "1/2"), "give each its own: --price a=IN/OUT --price b=IN/OUT"),
        (("--model", "b", "--price", "c=1/2"), "--price names model 'c'; known: a, b"),
    ],
)
def test_what_is_of_one_model_is_refused_for_several(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = ran("wifi_off", "--agent", "openai", "--model", "a", *options, "--out", tmp_path / "out")
    assert (result.exit_code, said in result.output, (tmp_path / "out").exists()) == (2, True, False)


def test_the_address_may_come_from_the_environment(
    tmp_path: Path, model: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model[0])
    assert summary("wifi_off", "--agent", "openai", "--model", "m", "--out", tmp_path)["score"] == 1.0


def test_steps_are_limited_as_told(tmp_path: Path, model: tuple[str, list[Any]]) -> None:
    url, seen = model
    options = ("--model", "m", "--base-url", url, "--max-steps", 1)
    summary("landlord_number", "--agent", "openai", *options, "--out", tmp_path)
    assert manifest(tmp_path)["agent"]["max_steps"] == 1
    assert all(message["role"] != "tool" for message in seen[0]["messages"])


def test_the_user_has_an_endpoint_of_its_own(tmp_path: Path, model: tuple[str, list[Any]]) -> None:
    asked: list[Any] = []
    with running(Endpoint(ScriptedUserModel(SUITE.all()), asked.append)) as user_url:
        agent = ("--agent", "openai", "--model", "m", "--base-url", model[0], "--param", "temperature=1")
        user = ("--user", "llm", "--user-model", "u", "--user-base-url", user_url, "--user-param", "temperature=0")
        summary("wifi_off", *agent, *user, "--user-without", "demonstration", "--out", tmp_path)
    assert {(body["model"], body["temperature"]) for body in asked} == {("u", 0)}
    assert manifest(tmp_path)["user"] == {
        "kind": "llm",
        "model": "u",
        "base_url": user_url,
        "parameters": {"temperature": 0},
        "told": ["does_not_know", "knows"],
    }


def test_the_users_endpoint_is_the_agents_unless_told_otherwise(tmp_path: Path) -> None:
    with running(Endpoint(ScriptedUserModel(SUITE.all()))) as url:
        options = ("--user", "llm", "--model", "m", "--base-url", url)
        summary("wifi_off", "--agent", "reference", *options, "--out", tmp_path)
    assert (manifest(tmp_path)["user"]["model"], manifest(tmp_path)["user"]["base_url"]) == ("m", url)


# transports

OUTSIDER = """
from contextlib import asynccontextmanager
from sandbox_clients import Agent, AgentTurn


class Conversation:
    def __init__(self, target):
        self.target = target

    async def turn(self, message):
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers=self.target.headers) as http:
            async with Client(streamable_http_client(self.target.url, http_client=http)) as client:
                await client.call_tool("set_wifi_status", {"on": False})
        return AgentTurn("Wifi is off.")


class Outsider(Agent):
    name = "outsider"
    needs_url = True

    @asynccontextmanager
    async def converse(self, brief):
        yield Conversation(brief.target)


outsider = Outsider()
"""


@pytest.fixture
def outsider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    write(tmp_path / "outsiders.py", OUTSIDER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "outsiders:outsider"
    sys.modules.pop("outsiders", None)


def test_an_agent_that_needs_a_url_gets_one(tmp_path: Path, outsider: str) -> None:
    assert summary("wifi_off", "--agent", outsider, "--out", tmp_path / "out")["score"] == 1.0
    assert manifest(tmp_path / "out")["transport"] == "http"


@pytest.mark.parametrize("transport", ["memory", "direct"])
def test_an_agent_that_needs_a_url_is_not_played_without(tmp_path: Path, outsider: str, transport: str) -> None:
    result = ran("wifi_off", "--agent", outsider, "--transport", transport, "--out", tmp_path / "out")
    assert "needs a URL; use --transport http" in str(result.exception)


def test_others_are_played_in_memory_unless_told_otherwise(tmp_path: Path) -> None:
    summary("wifi_off", "--agent", "refuse", "--out", tmp_path)
    assert manifest(tmp_path)["transport"] == "memory"
    summary("wifi_off", "--agent", "refuse", "--transport", "direct", "--out", tmp_path)
    assert manifest(tmp_path)["transport"] == "direct"


# scenarios of one's own


def test_scenarios_of_ones_own_are_played_instead_of_the_built_in(tmp_path: Path) -> None:
    own = write(tmp_path / "own.yaml", "family: own\nscenarios:\n  - {name: mine, extends: wifi_off}\n")
    found = summary("--agent", "reference", "--scenarios", own, "--out", tmp_path / "out")
    assert [row["scenario"] for row in found["scenarios"]] == ["mine"]


def test_help_names_every_option_and_what_it_is_for() -> None:
    text = ran("--help-all").output
    for parameter in command.params:
        for name in getattr(parameter, "opts", ()):
            assert not name.startswith("--") or name in text
        assert parameter.param_type_name == "argument" or getattr(parameter, "help", None)


def test_help_has_groups_and_fits_a_page_without_what_few_need() -> None:
    text = ran("--help").output
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= 80
    heads = [line for line in text.splitlines() if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    assert heads == ["What to play:", "The agent:", "The user:", "How:", "Limits:", "The result:", "Help:"]
    assert "--ray-actors" not in text


# a run file


def test_a_run_file_says_what_the_command_line_would(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    out = tmp_path / "run"
    file.write_text(
        f"agent: reference\nselectors: [wifi_off, landlord_number]\nvariant: [base, all_tools]\ntrials: 2\nout: {out}\n"
        "threshold: 1\nbounds: false\nmax-turn-seconds: 60\n"
    )
    found = summary("--config", file)
    assert found["counts"]["scored"] == 8
    assert summary("wifi_off", "--config", file, "--trials", 1, "--out", tmp_path / "one")["counts"]["scored"] == 2


def test_a_run_s_folder_prints_its_run_file_and_that_file_plays_it_again(tmp_path: Path) -> None:
    options = ("--variant", "all_tools", "--seed", 7, "--param", "temperature=0", "--param", 'stop=["x"]')
    summary("wifi_off", "--agent", "reference", *options, "--out", tmp_path / "first")
    printed = ran("--config", tmp_path / "first", "--print-config").output
    assert yaml.safe_load(printed) == {
        "selectors": ["wifi_off"], "variant": ["all_tools"], "seed": 7, "agent": "reference",
        "param": {"temperature": 0, "stop": ["x"]}, "out": str(tmp_path / "first"),
    }  # fmt: skip
    (tmp_path / "run.yaml").write_text(printed)
    summary("--config", tmp_path / "run.yaml", "--out", tmp_path / "again")
    logs = [sorted(path.name for path in (tmp_path / name / "logs").iterdir()) for name in ("first", "again")]
    assert logs[0] == logs[1]
    assert manifest(tmp_path / "first")["options"] == manifest(tmp_path / "again")["options"]


def test_a_folder_of_an_earlier_version_prints_what_its_manifest_tells(tmp_path: Path) -> None:
    summary("wifi_off", "--agent", "reference", "--trials", 2, "--out", tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({**manifest(tmp_path), "options": {}}))
    printed = yaml.safe_load(ran("--config", tmp_path, "--print-config").output)
    assert (printed["selectors"], printed["trials"], printed["agent"]) == (["wifi_off"], 2, "reference")


def test_the_manifest_keeps_no_credentials_of_an_address(tmp_path: Path) -> None:
    given = ("--base-url", "http://me:secret@localhost:1/v1?key=secret")
    ran("wifi_off", "--agent", "reference", *given, "--out", tmp_path)
    assert manifest(tmp_path)["options"]["base_url"] == "http://localhost:1/v1"
    assert "secret" not in (tmp_path / "run.json").read_text()


@each(
    ("text", "told"),
    [
        ("agnet: reference", "unknown option 'agnet'; did you mean 'agent'"),
        ("trials: 0", "trials=0 cannot be used; expected a whole number from 1"),
        ("user: [llm]", "user=['llm'] cannot be used; expected scripted, llm, human, replay"),
        ("- wifi_off", "expected options with their values, such as 'agent: reference'"),
        ("agent: [", "is not YAML"),
        ("[" * 100_000, "is not YAML"),
    ],
)
def test_a_run_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "run.yaml").write_text(text)
    with pytest.raises(RunError, match=re.escape(told)) as error:
        command.main(["--config", str(tmp_path / "run.yaml")], standalone_mode=False)
    assert "run.yaml" in str(error.value)


def test_several_models_have_a_price_each(tmp_path: Path, model: tuple[str, list[Any]]) -> None:
    models = ("--model", "big", "--model", "small", "--price", "big=500000/0", "--price", "small=250000/0")
    found = summary("wifi_off", "--agent", "openai", *models, "--base-url", model[0], "--out", tmp_path)
    assert [run["cost"]["total"] for run in found["runs"]] == [
        run["tokens"]["agent"]["prompt_tokens"] / share for run, share in zip(found["runs"], (2, 4), strict=True)
    ]


# costs and progress


def test_a_run_stops_at_its_budget_and_goes_on_with_a_higher_one(tmp_path: Path, model: tuple[str, list[Any]]) -> None:
    agent = ("--agent", "openai", "--model", "m", "--base-url", model[0], "--price", "500000/0", "--jobs", 1)
    arguments = ("wifi_off", "landlord_number", *agent, "--out", tmp_path)
    short = ran(*arguments, "--budget", 1, "--json")
    found = json.loads(short.stdout)
    assert (short.exit_code, found["stopped"], found["counts"]["played"]) == (1, "budget", 1)
    assert "stopped at the budget" in short.stderr
    whole = summary(*arguments, "--budget", 1_000_000)
    assert (whole["stopped"], whole["counts"]["played"]) == (None, 2)
    assert whole["cost"]["total"] == whole["tokens"]["agent"]["prompt_tokens"] / 2


ELSEWHERE = ("--user", "llm", "--user-model", "u", "--user-base-url", "http://127.0.0.1:1")


@each(
    ("options", "problem"),
    [
        (("--budget", 1), "a budget needs prices"),
        (("--price", "cheap"), "'cheap' is not of the form IN/OUT"),
        (("--price", "1/1", *ELSEWHERE, "--model", "m", "--budget", 1), "--user-price"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(tmp_path: Path, options: tuple[object, ...], problem: str) -> None:
    result = ran("wifi_off", "--agent", "reference", *options, "--out", tmp_path)
    assert problem in str(result.exception)


def test_a_long_run_tells_the_whole_after_every_tenth(tmp_path: Path) -> None:
    result = ran("wifi_off", "--agent", "reference", "--trials", 20, "--transport", "direct", "--out", tmp_path)
    assert len(re.findall(r"^\d+/20 done · \d+ running · score 1.000", result.stderr, re.MULTILINE)) == 10


def test_what_an_agent_prints_is_not_among_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path / "chatty_agent.py",
        "print('loading')\nasync def answer(asked):\n    print('thinking')\n    return 'I cannot do that.'\n",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = ran("wifi_off", "--agent", "chatty_agent:answer", "--out", tmp_path / "out", "--json")
    assert json.loads(result.stdout)["counts"]["played"] == 1
    assert ["loading" in result.stderr, "thinking" in result.stderr] == [True, True]


def test_processes_play_what_the_options_say(tmp_path: Path) -> None:
    arguments = ("wifi_off", "landlord_number", "--agent", "reference", "--executor", "processes", "--jobs", 1)
    assert summary(*arguments, "--out", tmp_path)["score"] == 1.0


def test_processes_do_not_share_a_recording(tmp_path: Path) -> None:
    tape = ("--knowledge", "mine:knowledge", "--record", tmp_path / "tape")
    result = ran("wifi_off", "--agent", "reference", "--executor", "processes", *tape, "--out", tmp_path / "out")
    assert "processes cannot share one recording" in str(result.exception)


def test_logs_that_cannot_be_read_are_named_by_a_run_as_by_those_who_grade_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("wifi_off", "--agent", "reference", "--out", out, "--quiet")
    summary(*options, "--trials", 3, "--pack")
    [pack] = (out / "logs").glob("*.zst")
    pack.write_bytes(pack.read_bytes()[:-400])
    (out / "logs" / "junk.jsonl").write_text("a shopping list\n")
    found = ran(*options, "--trials", 3)
    for named in (f"{out / 'logs' / 'junk.jsonl'}:1: ", f"{pack}: is cut off at byte "):
        assert found.stderr.count(named) == 1
        assert named in ran(*options, "--trials", 3).stderr
    assert found.exit_code == 0
    told = summary(*options, "--trials", 3)
    assert [item["path"] for item in told["unreadable"]] == [str(out / "logs" / "junk.jsonl")]
    assert told["counts"]["scored"] == 3
