"""Scores by the control API: what a harness gets, and an agent does not."""

import pytest

from tests.server.serving_kit import Served

pytestmark = pytest.mark.anyio


async def test_a_session_is_graded_so_far_and_earns_once_it_is_over(server: Served) -> None:
    new = await server.new()
    path = f"/api/sessions/{new['id']}"
    assert (await server.api("GET", f"{path}/scores")).json()["reward"] is None
    server.manager.get(new["id"]).session.call("set_wifi_status", {"on": False})
    half = (await server.api("GET", f"{path}/scores")).json()
    assert (half["over"], half["scored"], half["reward"], half["score"]) == (False, False, None, 0.5)
    await server.api("POST", f"{path}/messages", {"text": "Wifi is off now."})
    whole = (await server.api("GET", f"{path}/scores?metric=conduct&length=0.125")).json()
    assert (whole["scored"], whole["score"], whole["terms"]) == (True, 1.0, {"task": 1.0, "length": -0.25})
    assert whole["reward"] == 0.75
    assert whole["figures"]["conduct.excess_actions"] == 0


async def test_an_agent_that_stops_is_scored_and_one_that_was_given_up_is_not(server: Served) -> None:
    for reason, earned in (("agent_ended", 0.0), ("abandoned", None), ("agent_failed", None)):
        new = await server.new()
        await server.api("POST", f"/api/sessions/{new['id']}/end", {"reason": reason})
        scores = (await server.api("GET", f"/api/sessions/{new['id']}/scores")).json()
        assert (scores["ending"], scores["reward"], scores["scored"]) == (reason, earned, earned is not None)


@pytest.mark.parametrize("query", ["metric=nope", "harm=-1", "harm=much", "credit=all", "honest=1", "steps=1"])
async def test_what_cannot_be_graded_is_told(server: Served, query: str) -> None:
    new = await server.new()
    answer = await server.api("GET", f"/api/sessions/{new['id']}/scores?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "cannot_grade")


async def test_scores_need_the_control_token(server: Served) -> None:
    new = await server.new()
    for token in ("x", new["bearer"], new["id"]):
        refused = await server.http.get(
            f"/api/sessions/{new['id']}/scores", headers={"Authorization": f"Bearer {token}"}
        )
        assert refused.status_code == 401
