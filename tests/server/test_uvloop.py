"""The server on uvloop, which uvicorn takes wherever it is installed; its transports are of no class of asyncio's."""

import pytest

from tests.training.wire_kit import training_server

pytest.importorskip("uvloop")


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": True}


@pytest.mark.anyio
async def test_requests_and_websockets_are_answered() -> None:
    async with training_server() as server, server.socket() as socket:
        assert (await server.http.get("/healthz")).json()["status"] == "ok"
        await socket.reset(scenario="wifi_off")
        await socket.call("set_wifi_status", on=False)
        assert (await socket.step(message="Wifi is off now."))["reward"] == 1.0
