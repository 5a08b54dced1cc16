"""What agents that live elsewhere are told of a conversation that began without them."""

from sandbox_clients.base import PastCall, ToolOutput
from sandbox_clients.replies import as_messages

from sandbox_mcp.play.users import Line


def test_an_earlier_talk_is_messages_with_calls_between_the_words() -> None:
    refused = PastCall("look", {"at": "1"}, ToolOutput("no", is_error=True))
    told = as_messages((Line("user", "Hi."), (refused,), Line("agent", "Sorry.")))
    call = {"name": "look", "arguments": {"at": "1"}, "output": "no", "is_error": True}
    assert told == [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "", "calls": [call]},
        {"role": "assistant", "content": "Sorry."},
    ]
