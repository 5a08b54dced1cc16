"""How the scripted user behaves towards messages whose right answer somebody has written down.

A corpus has one message a line, ``WISH CALLS MET ACTS BEHAVIOUR :: text`` (``\\n`` in the text is a line break). The
scripted user with that wish hears the message as the first of its dialogue, and what it does is compared: A answers, G
agrees, N declines, X next wish or end, K acknowledges and waits, R asks what is needed; alternatives with ``/``.
Fatal is what spoils a session: it leaves (or says that it wants nothing more) where it should have stayed, or it agrees
to something beyond its wish.

A message of others' that stays in the data folder is named by ``@FILE DIGEST`` in place of its text: a file of
tau-bench's sessions, or a log of ours, and the first twelve hexadecimal digits of the message's SHA-256. Where it is a
log, the wish is written ``-``, and is what the log's user had said by then. A wish of its own is written ``=``, and
stands before the message, with `` >> `` between them.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import anyio
from sandbox_scenarios.model import Answer, Script

from sandbox_mcp.engine.trajectory import Message, read_trajectory
from sandbox_mcp.play.users import Line, ScriptedUser
from sandbox_mcp.play.users.composing import ENOUGH
from sandbox_mcp.play.users.scripted import NO_MORE, PITY, PUZZLED, THE_REST, WAITING

DATA = Path(os.environ.get("SANDBOX_MCP_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
YES = "Yes, please."
DECLINES = Script().decline
WISHES: Mapping[str, ScriptedUser] = {
    letter: ScriptedUser(Script(tuple(Answer(about, say) for about, say in answers), confirm=YES), opening)
    for letter, (opening, answers) in {
        "T": (
            "Text Fredrik that I'll be late.",
            (
                (("who", "which", "whom", "last name", "surname", "recipient", "name"), "Fredrik Thordendal."),
                (("number", "phone"), "It's in my contacts."),
                (("say", "text", "message", "wording", "content", "what"), "That I'll be late."),
            ),
        ),
        "R": (
            "Remind me tomorrow at 5 pm to call the plumber.",
            ((("when", "time", "day", "date", "morning"), "Tomorrow at 5 pm."), (("what", "about"), "To call the plumber.")),
        ),
        "Q": (
            "How far is Osaka Castle from here?",
            ((("where", "location", "from", "address"), "From where I am."), (("miles", "unit", "kilometers"), "Kilometers.")),
        ),
        "W": ("Turn the wifi off.", ((("which", "what"), "The wifi."),)),
        "C": ("Remove Homer from my contacts.", ((("who", "which", "name", "homer"), "Homer S."),)),
        "U": ("How much is 85 euros in dollars?", ((("amount", "how many", "how much"), "85 euros."), (("dollars", "currency"), "US dollars."))),
        "N": (
            "Save a new contact: Morven Ure, my vet.",
            ((("number", "phone", "details"), "+44 141 496 0518."), (("name", "who"), "Morven Ure.")),
        ),
        "H": ("What will the weather be tomorrow?", ((("where", "city", "town", "place", "location"), "In Cape Town."), (("when", "day"), "Tomorrow."))),
        "L": ("What's my landlord's phone number?", ((("name", "who", "which"), "Marguerite."),)),
        "S": ("Who texted me last, and what does it say?", ((("when", "who", "which"), "The last one."),)),
        "B": ("Set a timer for four minutes, for the tea.", ((("how long", "minutes", "time"), "Four minutes."), (("label", "name"), "Tea."))),
        "D": ("How many days are left until Heritage Day?", ((("year", "which"), "This year's."), (("country", "where"), "South Africa."))),
        "M": (
            "Move my dentist reminder to a day later, and pin it to the clinic.",
            ((("which", "reminder"), "The one for the dentist."), (("when", "time", "day"), "A day later."), (("where", "clinic", "place"), "The clinic on Elm Street.")),
        ),
        "A": (
            "I want to change my flight.",
            ((("user id", "reservation", "details", "id", "number"), "My user id is mia_li_3668, the reservation is NO6JO3."), (("which", "flight", "date"), "The first one, please.")),
        ),
    }.items()
}  # fmt: skip
"""A user for each letter that a corpus may name."""
_BY_WORDS: Mapping[str, ScriptedUser] = {user.opening: user for user in WISHES.values()}
LOGGED, OWN = "-", "="
"""In place of such a letter: the wish stands in the log that the message is from, or before the message."""


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A message of a corpus, with what the session knows and what the user should do; ``words`` are the user's."""

    words: str
    calls: int
    met: bool
    acts: str
    wanted: frozenset[str]
    text: str


@dataclass(frozen=True)
class Behaved:
    """What the user did about a message."""

    heard: HeardMessage
    did: str

    @property
    def right(self) -> bool:
        return self.did in self.heard.wanted

    @cached_property
    def fatal(self) -> bool:
        wanted = self.heard.wanted
        if self.did in "XN":
            return not wanted & {"X", "N"}
        return self.did == "G" and wanted <= {"X", "N"}


def parse(lines: Iterable[str], source: str = "") -> list[HeardMessage]:
    """The messages of a corpus.

    Raises:
        ValueError: a line is none, or names a message that is not in the data folder.
    """
    found: list[HeardMessage] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        head, separator, text = line.rstrip("\n").partition(" :: ")
        fields = head.split()
        if not separator or len(fields) != 5 or fields[0] not in {*WISHES, LOGGED, OWN}:
            raise ValueError(f"{source}:{number}: expected 'WISH CALLS MET ACTS BEHAVIOUR :: text', got {line!r}")
        wish, calls, met, acts, wanted = fields
        said = _quoted(text, f"{source}:{number}") if text.startswith("@") else text.replace("\\n", "\n")
        if wish == OWN and isinstance(said, str):
            own, _, rest = said.partition(" >> ")
            said = (own, rest)
        words, message = said if isinstance(said, tuple) else (WISHES[wish].opening, said)
        found.append(HeardMessage(words, int(calls), met == "y", acts, frozenset(_behaviours(wanted)), message))
    return found


def _quoted(reference: str, place: str) -> str | tuple[str, str]:
    """The message of the data folder that a reference names; of a log, with what its user had said before it."""
    file, _, digest = reference.removeprefix("@").partition(" ")
    path = DATA / file
    if not path.is_file():
        raise ValueError(f"{place}: {path} is not there; set SANDBOX_MCP_DATA to the folder that has {file}")
    if digest not in _messages(path):
        raise ValueError(f"{place}: no message of {path} has the digest {digest!r}")
    return _messages(path)[digest]


@cache
def _messages(path: Path) -> Mapping[str, str | tuple[str, str]]:
    """What the agents of a file of tau-bench said, by digest; of a log, with what its user had said before."""
    if path.suffix == ".jsonl":
        return dict(_logged(path))
    lines = (line for session in json.loads(path.read_text("utf-8")) for line in session["traj"])
    said = (line["content"] for line in lines if line["role"] == "assistant" and line.get("content"))
    return {_digest(text): text for text in said}


def _logged(path: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    said: list[str] = []
    for event in read_trajectory(path).events:
        if isinstance(event, Message) and event.sender == "user":
            said.append(event.content)
        elif isinstance(event, Message) and event.sender == "agent" and event.recipient == "user":
            yield _digest(event.content), (" ".join(dict.fromkeys((said[0], said[-1]))), event.content)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _behaviours(written: str) -> list[str]:
    """The letters of a field; ``AG``, an answer with a yes, is shown by its yes."""
    return ["G" if item == "AG" else item for item in written.split("/")]


def behave(heard: HeardMessage) -> Behaved:
    """Let the user with that wish hear the message."""
    user = _BY_WORDS.get(heard.words) or ScriptedUser(Script(confirm=YES), heard.words)
    dialogue = (Line("user", heard.words), Line("agent", heard.text, heard.calls, heard.met))
    return Behaved(heard, _letter(anyio.run(user.respond, dialogue).says))


def _letter(says: str | None) -> str:
    """What the user's words amount to."""
    if says is None:
        return "X"
    starts = (
        (PUZZLED, "R"),
        (WAITING, "K"),
        (THE_REST, "K"),
        *((words, "N") for words in ENOUGH),
        (NO_MORE, "N"),
        (DECLINES, "N"),
        (YES, "G"),
    )
    for start, letter in starts:
        if says.removeprefix(f"{PITY} ").startswith(start.removeprefix(f"{PITY} ")):
            return letter
    return "A"


def report(path: Path, *, wrong: bool = False) -> list[str]:
    """The lines of a corpus's table: per act and in all, how often right, how often fatal; ``wrong`` lists the misses."""
    done = [behave(heard) for heard in parse(path.read_text("utf-8").splitlines(), path.name)]
    groups: dict[str, list[Behaved]] = {}
    for item in done:
        groups.setdefault("".join(sign for sign in item.heard.acts if sign.isupper()) or "other", []).append(item)
    lines = [f"\n{path.name}: the user", f"  {'acts':8}{'n':>6}{'right':>8}{'fatal':>8}"]
    for name, items in [*sorted(groups.items()), ("all", done)]:
        lines.append(
            f"  {name:8}{len(items):6}{_share(item.right for item in items):8.3f}{_share(item.fatal for item in items):8.3f}"
        )
    if wrong:
        lines += [_miss(item) for item in done if not item.right]
    return lines


def _miss(item: Behaved) -> str:
    heard = item.heard
    wanted = "/".join(sorted(heard.wanted))
    mark = "FATAL" if item.fatal else "     "
    return f"  {mark} {heard.words[:20]!r} {heard.calls} {'ny'[heard.met]} {heard.acts:3} {wanted:5} did {item.did} :: {heard.text!r}"


def _share(hits: Iterable[bool]) -> float:
    listed: Sequence[bool] = list(hits)
    return sum(listed) / len(listed) if listed else 0.0
