"""The protocol's conformance suite, against the product's own dispatch with fixtures in it, and against `serve`."""

from pathlib import Path

import pytest

from tests.node.conftest import Serve
from tests.node.fixture_server import fixtures_served
from tests.node.toolbox import HERE, LEGACY, MODERN, REVISIONS, Check, checks_in, run

pytestmark = pytest.mark.anyio
AS_IT_IS = {
    LEGACY: {
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-error",
        "server-sse-multiple-streams",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
        "server-session-lifecycle",
    },
    MODERN: {
        "server-stateless",
        "tools-list",
        "tools-call-error",
        "server-sse-multiple-streams",
        "resources-list",
        "sep-2164-resource-not-found",
        "prompts-list",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "input-required-result-unsupported-methods",
    },
}
"""What can be asked of a server that has none of the suite's fixtures."""
NEEDS_A_FIXTURE = {
    LEGACY: set[str](),
    MODERN: {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"},
}
"""The checks among them that want a tool which needs a capability of the client; the phone has none."""


def failed(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.status == "FAILURE"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_all_that_a_revision_requires_is_met(conformance: list[str], revision: str, tmp_path: Path) -> None:
    async with fixtures_served(streams=True) as url:
        options = ["server", "--url", url, "--requirements", revision, "-o", "results"]
        done = await run([*conformance, *options], tmp_path)
    beyond = [check for check in failed(checks_in(tmp_path / "results")) if not check.scenario.startswith("tasks-")]
    assert done.code == 0, done.out
    assert {check.scenario for check in beyond} <= {"server-sse-polling"}


@pytest.mark.parametrize(
    ("streams", "baseline"), [(True, "conformance-baseline.yml"), (False, "conformance-baseline-json.yml")]
)
async def test_of_the_whole_suite_just_what_the_baseline_names_fails(
    conformance: list[str], streams: bool, baseline: str, tmp_path: Path
) -> None:
    async with fixtures_served(streams=streams) as url:
        options = ["server", "--url", url, "--suite", "all", "--expected-failures", str(HERE / baseline)]
        done = await run([*conformance, *options], tmp_path)
    assert done.code == 0, done.out


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("which", ["session", "lobby"])
async def test_what_needs_no_fixture_passes_against_the_server_that_is_shipped(
    conformance: list[str], serve: Serve, which: str, revision: str, tmp_path: Path
) -> None:
    options = ["server", "--url", serve.url(which), "--requirements", revision, "-o", "results"]
    await run([*conformance, *options], tmp_path)
    checks = [check for check in checks_in(tmp_path / "results") if check.scenario in AS_IT_IS[revision]]
    assert {check.scenario for check in checks if check.status == "SUCCESS"} == AS_IT_IS[revision]
    assert {check.id for check in failed(checks)} == NEEDS_A_FIXTURE[revision], failed(checks)
