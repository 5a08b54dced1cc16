"""Exactly what each sample loses: no more is named than is lost, and importing again says the same."""

from sandbox_grader.importers import IMPORTERS, importer

from tests.each import each
from tests.grader.importers.samples import SAMPLES, encoded, read

NO_TOOLS = ("tools", "the definitions of the tools that were offered are absent")
UNDECLARED = ("tools", "taken to change state, as nothing says otherwise: 1 tool")
GUESSED = (
    "the format has no error flag; results that begin as hosts, SDKs and Python write failures were taken for some"
)

EXPECTED = {
    "toolsandbox-results": [NO_TOOLS],
    "tau-bench": [NO_TOOLS, ("results (1 of 2)", GUESSED)],
    "tau2": [
        ("tasks[0].evaluation_criteria.actions", "1 reference actions of the user are kept in the origin only"),
        ("reference", "of 1 reference action some arguments count for nothing, so any will do"),
        UNDECLARED,
        ("times", "read as UTC, as no zone is named: 5 times"),
    ],
    "openai-chat": [
        ("messages[1].content[1]", "content of type 'image_url' is not kept"),
        ("event 5", "the arguments of 'cancel' cannot be read as an object"),
        ("tools", "taken to change state, as nothing says otherwise: 2 tools"),
        ("results (1 of 2)", GUESSED),
    ],
    "openai-responses": [UNDECLARED, ("results (0 of 1)", GUESSED)],
    "anthropic": [UNDECLARED],
    "claude-code": [("lines of type 'summary' (1)", "what the host noted for itself is not kept"), NO_TOOLS],
    "codex": [NO_TOOLS],
    "inspect": [UNDECLARED],
    "atif": [
        ("steps (1)", "steps copied from an earlier trajectory were left out"),
        UNDECLARED,
        ("results (0 of 1)", GUESSED),
    ],
    "otel": [UNDECLARED],
    "mcp-wire": [
        ("messages", "the protocol carries tool calls only; what user and agent said is unknown"),
        ("messages of method 'notifications/initialized' (1)", "these are not kept"),
    ],
}


@each("format_", sorted(SAMPLES))
def test_the_losses_of_a_sample(format_):
    name, value = SAMPLES[format_]
    [session] = read(format_, value, name)
    assert [(loss.where, loss.what) for loss in session.losses] == EXPECTED[format_]


@each("format_", sorted(SAMPLES))
def test_importing_twice_gives_the_same(format_, tmp_path):
    name, value = SAMPLES[format_]
    path = tmp_path / name
    path.write_bytes(encoded(name, value))
    assert list(importer(format_)([path])) == list(importer(format_)([path]))


@each("format_", sorted(SAMPLES))
def test_two_files_of_one_name_give_two_names(format_, tmp_path):
    name, value = SAMPLES[format_]
    paths = [tmp_path / folder / "same" / name for folder in "ab"]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_bytes(encoded(name, value))
    first, second = importer(format_)(paths)
    assert second.name == f"{first.name}-2"


def test_every_sample_is_of_a_registered_format():
    assert SAMPLES.keys() <= IMPORTERS.keys()
