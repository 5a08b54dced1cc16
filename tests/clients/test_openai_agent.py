"""What is peculiar to chat completions: the messages that the openai agent sends."""

from tests.clients.chats import Play
from tests.clients.sessions import WIFI_OFF, solver


def test_the_history_is_messages_and_outputs_are_messages_of_tools(play: Play) -> None:
    first, second = play("openai", solver(), WIFI_OFF.user.opening).seen
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["tools"][0]["function"]["parameters"]["properties"]["on"]["type"] == "boolean"
    *_, asked, returned = second["messages"]
    assert returned == {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": '{"result":null}'}
