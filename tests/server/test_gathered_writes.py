"""What is written in one go is sent in one piece, and nothing that was written is lost."""

import asyncio

import pytest

from sandbox_mcp.play.server.gathered_writes import MOST_HELD, GatheringTransport

pytestmark = pytest.mark.anyio


class Wire(asyncio.Transport):
    """Keeps what is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.ended = ""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return 100

    def close(self) -> None:
        self.ended = "closed"

    def abort(self) -> None:
        self.ended = "aborted"


def gathered(*pieces: bytes) -> tuple[Wire, GatheringTransport]:
    wire = Wire()
    transport = GatheringTransport(wire)
    for piece in pieces:
        transport.write(piece)
    return wire, transport


async def test_what_is_written_in_one_turn_goes_out_together_in_the_next() -> None:
    wire, _ = gathered(b"head", b"", b"body")
    assert wire.sent == []
    await asyncio.sleep(0)
    assert wire.sent == [b"headbody"]


async def test_what_is_written_later_follows() -> None:
    wire, transport = gathered(b"head")
    await asyncio.sleep(0)
    transport.write(b"body")
    await asyncio.sleep(0)
    assert wire.sent == [b"head", b"body"]


async def test_what_was_sent_ahead_of_its_turn_is_not_sent_again() -> None:
    wire, transport = gathered(b"one")
    transport.send_held()
    transport.write(b"two")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert wire.sent == [b"one", b"two"]


async def test_much_is_not_held_back() -> None:
    wire, transport = gathered(b"head", b"x" * MOST_HELD)
    assert [len(piece) for piece in wire.sent] == [4 + MOST_HELD]
    assert transport.get_write_buffer_size() == 100


async def test_what_is_held_counts_as_not_yet_sent() -> None:
    _, transport = gathered(b"head")
    assert transport.get_write_buffer_size() == 104


async def test_what_was_written_before_the_end_is_sent() -> None:
    wire, transport = gathered(b"head")
    transport.close()
    assert (wire.sent, wire.ended) == ([b"head"], "closed")


async def test_a_connection_that_is_broken_off_sends_nothing_more() -> None:
    wire, transport = gathered(b"head")
    transport.abort()
    await asyncio.sleep(0)
    assert (wire.sent, wire.ended) == ([], "aborted")


async def test_bytes_that_change_afterwards_are_sent_as_they_were() -> None:
    wire, piece = Wire(), bytearray(b"head")
    GatheringTransport(wire).write(piece)
    piece[:] = b"tail"
    await asyncio.sleep(0)
    assert wire.sent == [b"head"]
