"""NeMo Gym's own models and its contract check on our server: BASE ROW; run where nemo-gym is installed."""

import json
import sys

import httpx
from nemo_gym.base_resources_server import BaseVerifyResponse, ResourcesSeedSessionRequest
from nemo_gym.config_types import AggregateMetrics
from nemo_gym.openai_utils import (
    NeMoGymResponse,
    NeMoGymResponseCreateParamsNonStreaming,
)
from nemo_gym.single_agent_turn_types import (
    SingleAgentTurnResult,
    SingleAgentTurnTaskInput,
)
from nemo_gym.testing.session_conformance import check_resources_session_contract

BASE, ROW = sys.argv[1], json.loads(sys.argv[2])


async def proxy(scope, receive, send):
    """Our server as the application that the check wants."""
    if scope["type"] != "http":
        return
    body = (await receive()).get("body", b"")
    kept = {key.decode(): value.decode() for key, value in scope["headers"] if key in (b"content-type", b"cookie")}
    async with httpx.AsyncClient() as http:
        answer = await http.request(scope["method"], BASE + scope["path"], content=body, headers=kept)
    headers = [
        (k.encode(), v.encode())
        for k, v in answer.headers.items()
        if k.lower() not in ("content-length", "transfer-encoding")
    ]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})


def response(text):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    made = {"id": "r", "created_at": 1.0, "model": "m", "object": "response", "parallel_tool_calls": True}
    return NeMoGymResponse.model_validate({**made, "tool_choice": "auto", "tools": [], "output": [message]})


def rollout(seed):
    with httpx.Client(base_url=BASE) as http:
        assert http.post("/seed_session", json={**ROW, "seed": seed}).status_code == 200
        assert http.post("/set_wifi_status", json={"on": "x"}).status_code == 400
        assert http.post("/set_wifi_status", json={"on": False}).json() == {"result": None}
        said = response("Wifi is off now.").model_dump(mode="json")
        return http.post("/verify", json={**ROW, "response": said}).json()


if __name__ == "__main__":
    NeMoGymResponseCreateParamsNonStreaming.model_validate(ROW["responses_create_params"])
    task = SingleAgentTurnTaskInput.model_validate(ROW)
    ids = {"episode_id": {"rollout_id": "r1"}, "task_id": {"taskset": "sandbox", "task_id": ROW["scenario"]}}
    seed = ResourcesSeedSessionRequest(resources_session_id="rs-1", task_data=task.task_data, **ids)
    check_resources_session_contract(proxy, seed, keeps_state=True)
    earned = [rollout(number) for number in range(50)]
    for one in earned:
        BaseVerifyResponse.model_validate(one)
        SingleAgentTurnResult.model_validate(one)
    found = httpx.post(f"{BASE}/aggregate_metrics", json={"verify_responses": earned}).json()
    AggregateMetrics.model_validate(found)
    lost = httpx.post(f"{BASE}/verify", json={**ROW, "response": response("x").model_dump(mode="json")}).json()
    BaseVerifyResponse.model_validate(lost)
    assert lost["mask_sample"] and lost["failure_kind"] == "session_lost"
    rewards = [one["reward"] for one in earned]
    print(
        json.dumps({"episodes": len(rewards), "at_1": rewards.count(1.0), "mean": found["key_metrics"]["mean/reward"]})
    )
