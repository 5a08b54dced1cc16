"""Outputs in the forms that clients give them."""

from sandbox_mcp.app.endpoint.outputs import bare
from tests.each import each

REFUSAL = "ValueError: no"


@each(
    "output",
    [
        REFUSAL,
        '{"error":"ValueError: no"}',
        '{"error":"RuntimeError","details":"ValueError: no","stack":"Traceback"}',
        '{"content":[{"type":"text","text":"ValueError: no"}],"isError":true}',
        "meta=None content=[TextContent(type='text', text='ValueError: no', annotations=None)] is_error=True",
        "Wall time: 0.0044 seconds\nOutput:\nValueError: no",
        "Wall time: 0.0044 seconds\nOutput:ValueError: no",
    ],
)
def test_a_refusal_is_the_same_in_every_wrapping(output: str) -> None:
    assert bare(output) == REFUSAL


BROKEN = "TextContent(type='text', text='C:\\x and further')"


@each("output", ['{"error":3}', '{"error":"x","code":1}', '{"content":"a note"}', "[1]", '"x"', "", BROKEN])
def test_what_no_client_wraps_like_that_is_left_alone(output: str) -> None:
    assert bare(output) == output


def test_what_is_nested_too_deeply_for_any_parser_is_left_alone() -> None:
    assert bare("[" * 100_000) == "[" * 100_000


def test_a_whole_result_is_its_text() -> None:
    result = '{"content":[{"type":"text","text":"{\\"result\\":3}"}],"structuredContent":{"result":3},"isError":false}'
    assert bare(result) == '{"result":3}'


def test_what_python_printed_is_read_as_it_was_written() -> None:
    printed = """content=[TextContent(type='text', text="Ann's \\\\ note", meta=None)]"""
    assert bare(printed) == "Ann's \\ note"
