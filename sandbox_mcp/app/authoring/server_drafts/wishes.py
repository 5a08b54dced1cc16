"""A person's wish for one call, made of the tool's name, its description and its arguments.

Policy: the verb comes from the description where it begins with one, otherwise from the tool's name. Values stand where
the description speaks of them ("the note called X"); the others follow in sentences that name them as their
descriptions do, so that everything a call needs is said and no form is filled in.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from zlib import crc32

from sandbox_mcp.app.authoring.argument_texts import described
from sandbox_mcp.app.authoring.server_drafts.survey import DraftStep
from sandbox_mcp.app.authoring.server_drafts.values import LONGEST, MAKING, DraftValue, words_of
from sandbox_mcp.engine.worlds.recorded.guessing import ACTING, LOOKING

_VERBS = LOOKING | ACTING | frozenset({
    "accept", "analyse", "analyze", "approve", "attach", "block", "borrow", "build", "choose", "compare", "complete",
    "confirm", "connect", "decline", "decode", "decrypt", "deploy", "deposit", "detach", "detect", "disconnect",
    "display", "draw", "encode", "encrypt", "estimate", "evaluate", "export", "extend", "extract", "fill", "filter",
    "finish", "flip", "format", "generate", "give", "identify", "invite", "join", "lend", "link", "load", "lock",
    "manage", "measure", "monitor", "notify", "output", "paint", "parse", "pause", "perform", "pick", "play", "print",
    "process", "provide", "publish", "record", "refresh", "register", "reject", "render", "renew", "reopen", "reorder",
    "reserve", "resolve", "restore", "resume", "retrieve", "return", "review", "roll", "scan", "schedule", "select",
    "simulate", "skip", "solve", "sort", "split", "subscribe", "summarize", "switch", "sync", "tell", "track",
    "transfer", "translate", "trigger", "undo", "unlink", "unlock", "unregister", "unsubscribe", "use", "watch",
    "withdraw",
})  # fmt: skip
_SHOWING = frozenset({"return", "retrieve", "provide", "display", "output", "give", "show"})
_NOT_VERBS = frozenset({
    "a", "an", "the", "all", "any", "this", "that", "these", "those", "one", "two", "some", "every", "each", "my",
    "your", "its", "current", "new", "unified", "tool", "main", "simple",
})  # fmt: skip
_AFTER_VERB = re.compile(
    r"(?:a|an|the|all|any|this|that|one|some|every|each|my|your|its|their|if|whether|how|what|which|new|multiple"
    r"|several|to|into|up|in|out|off|on|for|from|with|by|between|through)\b"
)
_EXAMPLE = r",? \(?(?i:e\.g\.|for example\b|for instance\b)"
"""Where a description goes on to an example, whose values are not those of the draft."""
_SHORT = {
    "repo": "repository", "dir": "directory", "msg": "message", "desc": "description", "num": "number",
    "qty": "quantity", "url": "URL", "uri": "URI", "id": "ID", "ids": "IDs", "csv": "CSV", "pdf": "PDF", "sql": "SQL",
    "idx": "index", "lat": "latitude", "lon": "longitude", "lng": "longitude", "src": "source", "dest": "destination",
    "max": "maximum", "min": "minimum", "tz": "time zone", "timezone": "time zone", "q": "query",
}  # fmt: skip
_NAMING = frozenset({"name", "title", "label", "subject"})
_TELLING = frozenset({"id", "ids", "key", "index", "number", "path", "uuid", *_NAMING})
_SEARCHED = frozenset({"query", "search", "keyword", "keywords", "term", "pattern"})
_WRITTEN = frozenset({"text", "content", "contents", "body", "message"})
_TECHNICAL = re.compile(
    r"\b(?:string|iso|json|boolean|bool|integer|int|float|array|object|formatted|optional|optionally|uuid|regex|null|none"
    r"|default|true|false|whether|must|should|if|when|e|eg)\b",
    re.IGNORECASE,
)
_BEING = re.compile(
    r"\w+(?:ed|en|ive|able|ible|al|ic|ful|ous|ent|ant)|lit|done|open|on|off|public|private|read|sent|paid|ready|busy"
)
_FORMS = ("Please {}.", "Could you {}?", "Can you {}?", "I'd like you to {}.")
_BETWEEN = r"(?: (?!(?:to|of|in|for|from|on|with|by|and|or|at|as|is|are|if)\b)[\w-]+){0,2}"
"""Adjectives between an article and its noun."""
_AFTER_NOUN = (
    r"(?=$|[,.;]|['’]s\b| (?:in|to|from|on|at|is|are|and|or|for|by|with|into|under|as|back|within|that|which|while)\b)"
)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a person asks for: ``asked`` begins with a verb, ``facts`` are whole sentences with the other values."""

    tool: str
    asked: str
    facts: tuple[str, ...]
    acts: bool = True

    @property
    def sentence(self) -> str:
        """The wish as a person begins with it."""
        forms = _FORMS if self.acts else _FORMS[:3]
        form = forms[crc32(self.tool.encode()) % len(forms)]
        return " ".join((form.format(self.asked), *self.facts))

    @property
    def further(self) -> str:
        """The wish as it follows another one."""
        return " ".join((f"After that, please {self.asked}.", *self.facts))


def wish_for(step: DraftStep) -> _Wish:
    """The wish that one call fulfils."""
    asked = _without_means(_verb_phrase(step), step)
    left: dict[str, DraftValue] = {}
    for name, item in step.arguments.items():
        woven = _woven(asked, step, name, item)
        if woven is None:
            left[name] = item
        else:
            asked = woven
    asked = re.sub(r"\b(a|an|the) (?:specific|specified|given|particular) (?=(\w))", _article, asked)
    return _Wish(step.tool.name, asked, tuple(_facts(step, left)), step.acts)


def said_value(value: Any) -> str:
    """A value as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return _joined([said_value(item) for item in cast("list[Any]", value)])
    if isinstance(value, Mapping):
        held = {key: said_value(item) for key, item in cast("Mapping[str, Any]", value).items()}
        return ", ".join(f'{key} "{said}"' if " " in said else f"{key} {said}" for key, said in held.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _article(match: re.Match[str]) -> str:
    if match[1] == "the":
        return "the "
    return "an " if match[2].lower() in "aeiou" else "a "


def _verb_phrase(step: DraftStep) -> str:
    """The first sentence of the description from its verb on, or one of the tool's name."""
    text = str(step.tool.listed.get("description") or "").strip().partition("\n\n")[0]
    text = re.sub(r" ?\([^()]*\)", "", " ".join(re.split(_EXAMPLE, text, maxsplit=1)[0].split()))
    sentence = re.split(r"(?<=[.!?])\s|\.$| [-–—] |[:;] |:$", text, maxsplit=1)[0].rstrip(".!?:, ")
    words = sentence.split()
    named = words_of(step.tool.name)
    if not words or len(words) > 30:
        return _named_phrase(step, named)
    verb, third = _verb(words[0], words[1:2], named)
    if verb is None:
        plain = sentence if words[0].isupper() and len(words[0]) > 1 else f"{sentence[:1].lower()}{sentence[1:]}"
        return _named_phrase(step, named) if step.acts else f"show me {plain}"
    rest = " ".join(words[1:])
    if third:
        rest = re.sub(
            r"\b(and|or|then) ([a-z]+?)(?:(?<=[xz])es|(?<=[sc]h)es|(?<=ss)es|s)(?= (?:a|an|the|its|it|all|them)\b)",
            r"\1 \2",
            rest,
        )
    return f"{'show me' if verb in _SHOWING else verb} {rest}".strip().removesuffix(" me")


def _verb(word: str, following: Sequence[str], named: Sequence[str]) -> tuple[str | None, bool]:
    """The verb that a description begins with, in its base form; true if it stood in the third person."""
    low = word.lower()
    if low in _NOT_VERBS or not low.isalpha():
        return None, False
    ending = re.fullmatch(r"([a-z]+?)(?:(?<=[xz])es|(?<=[sc]h)es|(?<=ss)es|(ies)|(?<!s)s)", low)
    base = f"{ending[1]}y" if ending and ending[2] else ending[1] if ending else None
    known = {*_VERBS, *named}
    if low in known and base not in _VERBS:
        return low, False
    followed = bool(following) and _AFTER_VERB.match(following[0].lower()) is not None
    if base is not None and (base in known or followed):
        return base, True
    return (low, False) if followed else (None, False)


def _named_phrase(step: DraftStep, named: Sequence[str]) -> str:
    """The tool's name as a phrase: its verb, wherever it stands, and what is left."""
    place = _verb_place(named)
    if place is None and step.acts and len(named) > 1:
        place = 0
    rest = " ".join(_SHORT.get(word, word) for n, word in enumerate(named) if n != place)
    if place is None:
        return f"show me the {rest}" if not step.acts else f"see to this: {rest}"
    verb = "show me" if named[place] in _SHOWING else named[place]
    return f"{verb} the {rest}" if rest else f"{verb} it"


def _verb_place(named: Sequence[str]) -> int | None:
    """The place of the verb in a tool's name: its first word, its last, or any other."""
    places = (0, len(named) - 1, *range(1, len(named)))
    return next((n for n in places if named[n : n + 1] and named[n] in _VERBS), None)


def _without_means(asked: str, step: DraftStep) -> str:
    """A phrase without ", by its name" at its end, since the value says that."""
    names = {word for name in step.arguments for word in (name, *words_of(name))} | {"id", "name", "identifier"}
    words = "|".join(sorted(map(re.escape, names)))
    plain = re.sub(rf"`({words})`", r"the \1", asked)
    means = (
        rf",? (?<!\ba )(?<!\ban )(?<!\bthe )(?:by|given|using|via) (?:(?:its|their|the|a|an) )?(?:unique )?(?:{words})"
    )
    return re.sub(rf"{means}(?: (?:and|or) (?:{words}))?$", "", plain)


def _woven(asked: str, step: DraftStep, name: str, item: DraftValue) -> str | None:
    """The phrase with a value behind the noun that it is of; None where nothing in the phrase speaks of it."""
    if isinstance(item.value, bool | list | dict) or (item.source is not None and not item.called):
        return None
    shown = _quoted(item)
    if shown is None:
        return None
    words = words_of(name)
    bare = len(words) == 1 and words[0] in _TELLING
    stem = words[:-1] if len(words) > 1 and words[-1] in _TELLING else words
    making = bool(MAKING.intersection(words_of(step.tool.name)))
    named = words_of(step.tool.name)
    subject = [word for n, word in enumerate(named) if n != _verb_place(named)]
    own = [" ".join(subject), *(subject[-1:] if making else subject[:1])]
    nouns = own if bare else [" ".join(stem), " ".join(_SHORT.get(word, word) for word in stem)]
    for noun in dict.fromkeys(filter(None, nouns)):
        found = re.search(
            rf"\b(a|an|the|one|this|and|or)({_BETWEEN}) ({re.escape(noun)}){_AFTER_NOUN}", asked, re.IGNORECASE
        )
        if found is None:
            continue
        leading = f"{found[1]} the" if found[1] in ("and", "or") else "the"
        what = re.sub(
            r" (?:specific|specified|given|particular|single|existing|certain)\b", "", f"{found[2]} {found[3]}"
        )
        if making and words[-1] in _NAMING:
            said = f"{found[0]} called {shown}"
        elif isinstance(item.value, int | float) and item.source is None and words[-1] in _TELLING:
            said = f"{found[3]} {shown}"
        else:
            said = f"{leading}{what} {shown}"
        return f"{asked[: found.start()]}{said}{asked[found.end() :]}"
    return None


def _quoted(item: DraftValue) -> str | None:
    """A value as it stands in a phrase; None where it is too long for one."""
    if item.source is not None:
        key, _, told = item.called.partition(" ")
        return f'"{told}"' if key.lower() in _NAMING else f"with the {' '.join(words_of(key))} {told}"
    text = said_value(item.value)
    if len(text) > LONGEST or "\n" in text or not text:
        return None
    return f'"{text}"' if " " in text else text


def _facts(step: DraftStep, left: Mapping[str, DraftValue]) -> Iterator[str]:
    """Sentences with the values that the phrase does not have."""
    told = described(step.tool)
    plain: list[str] = []
    for name, item in left.items():
        said = _fact(step, name, item, told.get(name, ""))
        if said.startswith("the ") and len(said) <= LONGEST and "\n" not in said:
            plain.append(said)
        elif said:
            yield f"{said[:1].upper()}{said[1:]}{'' if said.endswith(('.', '!', '?')) else '.'}"
    for n in range(0, len(plain), 3):
        said = _joined(plain[n : n + 3])
        yield f"{said[:1].upper()}{said[1:]}."


def _fact(step: DraftStep, name: str, item: DraftValue, text: str) -> str:
    """One value in a clause."""
    words = words_of(name)
    if item.source is not None:
        if not item.called:
            return ""
        key, _, told = item.called.partition(" ")
        return f'I mean the one called "{told}"' if key.lower() in _NAMING else f"I mean the one with the {key} {told}"
    label, value = _label(name, text), item.value
    if isinstance(value, bool):
        return _yes_or_no(words, label, value)
    said = said_value(value)
    if words[-1:] and words[-1] in _SEARCHED and not step.acts:
        return f"I am looking for {said}"
    if words[-1:] and words[-1] in _WRITTEN and step.acts and isinstance(value, str):
        return f'it should say "{said}"'
    if not said:
        return f"leave the {label} empty"
    be = "are" if re.search(r"[^su]s$", label.partition(" of ")[0]) else "is"
    just = "just " if isinstance(value, list) and len(cast("list[Any]", value)) == 1 else ""
    return f'the {label} {be} "{said}"' if isinstance(value, str) and " " in said else f"the {label} {be} {just}{said}"


def _yes_or_no(words: Sequence[str], label: str, value: bool) -> str:
    rest = list(words)
    if rest[:1] in (["is"], ["be"]) and len(rest) > 1:
        rest = rest[1:]
    if len(rest) == 1 and _BEING.fullmatch(rest[0]):
        return f"it should {'' if value else 'not '}be {rest[0]}"
    if rest and (
        rest[0] in _VERBS or rest[0] in ("include", "exclude", "use", "allow", "force", "keep", "skip", "with")
    ):
        phrase = " ".join(["include", *rest[1:]] if rest[0] == "with" else rest)
        return f"please {'' if value else 'do not '}{phrase}"
    return f"{'yes' if value else 'no'} to {label}"


def _label(name: str, text: str) -> str:
    """A noun for an argument: its description where that is a short one, otherwise its name."""
    first = re.split(r"[.(;:,\n]| - | – | — |,? e\.g", text.strip(), maxsplit=1)[0].strip().strip("`'\"")
    words = re.sub(r"^(?:The|A|An|Optional|Required)\s+", "", first, flags=re.IGNORECASE).split()
    plain = " ".join(words)
    usable = (
        0 < len(words) <= 6
        and not _TECHNICAL.search(plain)
        and words[0].lower() not in _VERBS
        and not re.search(r"\b(?:of|to|for|in|on|at|the|a|by)$", plain)
        and re.fullmatch(r"[\w' -]+", plain)
    )
    if usable:
        return plain if words[0].isupper() and len(words[0]) > 1 else f"{plain[:1].lower()}{plain[1:]}"
    return " ".join(_SHORT.get(word, word) for word in words_of(name)) or name


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1] if parts else "")))
