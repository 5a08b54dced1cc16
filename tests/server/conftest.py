"""Coroutines run on asyncio; a server without special settings is started once for each file."""

from collections.abc import AsyncGenerator

import pytest

from tests.server.serving_kit import Served, served


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def server(anyio_backend: str) -> AsyncGenerator[Served]:
    async with served() as running:
        yield running
