"""A message as plain text: without reasoning, code, markdown and typography, its contractions written out.

Policy: the one normaliser for agents' messages, used by simulated users and by the grader. Nothing that a reader would
take for said is dropped; a line stays a line. Reasoning that a model put into its reply is no part of what it said.
"""

import re
import unicodedata
from functools import lru_cache

from sandbox_mcp.engine.talk.patterns import WORDY, Lazy, any_case
from sandbox_mcp.engine.talk.units import currency_code, temperature_scale, unit_of_measure, unit_of_time

LONGEST = 12_000
"""Of a longer message its beginning and its end are read, half of this each."""
_KEPT = 512
"""So many messages are remembered as they were read: several readers look at one."""

_THINKS = any_case(
    r"<(?P<tag>(?:[a-z]{1,12}[:_]|ant)?think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)>|\[(?P<square>THINK)\]"
    r"|(?P<special><\|think\|>|<\|begin_of_thought\|>|<\|START_THINKING\|>|<\|inner_prefix\|>|<unused94>|◁think▷"
    r"|<\|channel>thought|(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>)"
)
"""Beginnings of what a model thinks, in the templates of many."""
_SPECIAL = {
    "<|think|>": "<|/think|>", "<|begin_of_thought|>": "<|end_of_thought|>", "<|start_thinking|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>", "<unused94>": "<unused95>", "◁think▷": "◁/think▷",
    "<|channel>thought": "<channel|>",
}  # fmt: skip
_THOUGHT = any_case(r"</(?:[a-z]{1,12}[:_]|ant)?think(?:ing)?>|\[/THINK\]|◁/think▷")
"""Ends of thoughts that a template may have begun for the model."""
_ANSWERS = any_case(r"\s*<(?P<tag>answer|response)>(.*)</(?P=tag)>\s*")
_MARKS = Lazy(
    r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>|<\|return\|>\Z"
    r"|<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE)\|>"
)
"""Marks around an answer that stands behind thoughts."""
_FENCE = Lazy(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_RAW = Lazy(
    r"^[ \t]*(?:```|~~~)(?:json|python|tool_call|xml|yaml)[ \t]*\n(?:(?!^[ \t]*(?:```|~~~)).*\n?)*+(?:^[ \t]*(?:```"
    r"|~~~)[ \t]*$)?",
    re.MULTILINE,
)


def parted(message: str) -> tuple[str, str]:
    r"""The thoughts that a model wrote into a message, and the message without them.

    Thoughts stand between tags; those at the beginning of a message or of a line need not be closed, and before a
    closing tag that was never opened stand those that a chat template opened for the model.

    >>> parted("<think>They want 8.\nI see.</think>\nIt is 8.")
    ('They want 8.\nI see.', 'It is 8.')
    >>> parted("Use the tag <think> for it.")
    ('', 'Use the tag <think> for it.')
    """
    if "<" not in message and "[" not in message and "◁" not in message:
        return "", message
    thoughts, said, at = list[str](), list[str](), 0
    begun, ended = _THINKS.search(message), _THOUGHT.search(message)
    if ended is not None and (begun is None or ended.start() < begun.start()):
        thoughts.append(message[: ended.start()])
        at = ended.end()
    absent = set[str]()
    kept = at
    while (begun := _THINKS.search(message, at)) is not None:
        before, at, end = message[kept : begun.start()], begun.end(), _end_of(begun)
        closed = None if end in absent else re.compile(re.escape(end), WORDY).search(message, at)
        if closed is None:
            absent.add(end)
            if "".join((*said, before)).strip() and not before.endswith("\n"):
                continue
        said.append(before)
        thoughts.append(message[at : closed.start() if closed else None])
        kept = at = closed.end() if closed else len(message)
    rest = _MARKS.sub("", "".join((*said, message[kept:])))
    if not thoughts:
        return "", rest
    rest = rest.strip()
    answer = _ANSWERS.fullmatch(rest)
    told = filter(None, (thought.strip() for thought in thoughts))
    return "\n".join(told), answer[2].strip() if answer else rest


def _end_of(begun: re.Match[str]) -> str:
    if begun["tag"]:
        return f"</{begun['tag']}>"
    return "[/THINK]" if begun["square"] else _SPECIAL.get(begun["special"].lower(), "<|end|>")


def without_reasoning(message: str) -> str:
    """A message without the reasoning that some models write into it."""
    return parted(message)[1]


def without_code(text: str) -> str:
    """A text without fenced code in a programming language; other fences lose their marks and keep their words."""
    if "```" not in text and "~~~" not in text:
        return text
    return _FENCE.sub("", _RAW.sub("\n", text))


# -- typography and markdown ---------------------------------------------------------------------------------------

_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "‘’‚‛`´ʼ"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒−"), "-"),
    **dict.fromkeys(map(ord, "–—―"), "–"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\ufeff\u00ad*"), None),
    ord("İ"): "I", ord("•"): "\n", ord("→"): " = ", ord("⇒"): " = ", ord("≈"): "about ", ord("~"): "about ",
    ord("|"): " ; ", ord("\t"): " ", ord("…"): ". ", ord("？"): "?", ord("！"): "!", ord("。"): ". ",
    ord("\r"): "\n"
}  # fmt: skip
_THIN_THOUSANDS = Lazy("(?<=\\d)[\u2009\u202f\u00a0](?=\\d{3}(?!\\d))")
_TIMES = Lazy(r"(?<=\d)(?:\*| \* )(?=\d)")
"""An asterisk that multiplies; all others are markdown."""
_LINK = Lazy(r"\[([^\[\]\n]{1,200})\]\([^()\s]{1,300}\)")
_TAG = any_case(
    r"</?(?:(br|p|div|li|ul|ol|tr|h[1-6]|hr|table)|a|b|big|code|em|font|i|img|mark|small|span|strong|su[bp]|(t[dh])|u)"
    r"(?:[ \n/][^<>]{0,300})?>"
)
"""A tag of HTML; what stands between two is kept, and behind one of a block a new line begins."""
_TABLE_RULE = Lazy(r"\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+(?:[ \t]*:?-{2,}:?)?[ \t]*")
_LINE_START = Lazy(r"^[ \t]*(?:[-+>#]{1,6}[ \t]|;[ ;:-]*$|; )?[ \t]*", re.MULTILINE)
_ITEM = Lazy(
    r"^([ \t>*_-]*)(\d{1,2})[.)][ \t]+(?=\S)(?!(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\b)",
    re.MULTILINE | WORDY,
)
_UNDERSCORES = Lazy(r"(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")
_PICTURE = Lazy(
    "(?<=[\\w%°)€$£¥₹.!]) ?([\u2600-\u26ff\u2702-\u27bf\U0001f000-\U0001faff\ufe0f]+) +"
    "(?=[A-Z]|(?:your?|the|it|i|that|this|there|here|so|and)\\b)"
)
"""A picture behind which a new sentence begins."""
_DOTTED = any_case(
    r"\b(?=\w{1,6}+\.)(?:(a|p)\. ?m\b\.?|(e\.g|i\.e|dr|mr|mrs|ms|st|ave|approx|vs|no(?=\. ?\d))\.(?= ?[\w'\"])"
    r"|(?<!['°])(?<!° )((?-i:[A-Z]))\.(?= (?-i:[A-Z])))"
)
_CONTRACTION = any_case(r"\b(ca|wo|sha|ai|[a-z]{2,6})n't\b|'(ll|ve|re|m|d|s)\b")
_SLANG = any_case(
    r"\b(?:(e|re|un)-(?=[a-z]{3})|(wi-fi)|(cannot)|(gonna)|(wanna)|(dont|doesnt|didnt|isnt|wasnt|wont|cant|couldnt"
    r"|havent|hasnt)|(ive|im))\b"
)
_SLANG_SIGNS = ("-", "cannot", "nna", "dont", "snt", "dnt", "wont", "cant", "vent", "ive", "im")
_ENDINGS = {"ll": " will", "ve": " have", "re": " are", "m": " am", "d": " would"}
_PARTICIPLE = any_case(
    r" (?:\w+ly |already |just |also |not |never )?(been|had|said|told|given|gone|got|gotten|seen|taken|sent|written"
    r"|made|put|kept|found|(?!need\b|feed\b|prefer)\w{2,}ed)\b"
)
_IS_AFTER = any_case(
    r"\b(?:it|that|there|here|he|she|what|who|where|when|everyone|everybody|everything|nobody|nothing|this|wifi|one|all"
    r"|how|which)$"
)
_MANY_SPACES = Lazy(r"[ ]{2,}")


@lru_cache(maxsize=_KEPT)
def plain(message: str) -> str:
    """A message in its plain form, in its own case. Lines stay lines; numbers stay as they were written.

    >>> plain("**Done!** I've texted Rolf — he’s at the café…")
    'Done! I have texted Rolf – he is at the café. '
    """
    text = without_code(without_reasoning(message))
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    if "<" in text:
        text = _TAG.sub(lambda tag: "\n" if tag[1] else " ; " if tag[2] else "", text)
    if "|" in text:
        text = _with_columns_named(text)
    if "*" in text:
        text = _TIMES.sub(" × ", text)
    text = text.replace("->", "→")
    if not text.isascii():
        text = _THIN_THOUSANDS.sub("", text)
    text = text.translate(_TYPOGRAPHY)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.replace("°", "\ue000")).replace("\ue000", "°").replace("–", " – ")
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    text = _LINE_START.sub("", _unnumbered(text))
    if "_" in text:
        text = _UNDERSCORES.sub("", text)
    if "." in text:
        text = _DOTTED.sub(_undotted, text)
    if "'" in text:
        text = _CONTRACTION.sub(_expanded, text)
    text = _without_slang(text)
    if not text.isascii():
        text = _PICTURE.sub(lambda found: f" {found[1]}. ", text)
    return _MANY_SPACES.sub(" ", text)


def lowered(text: str) -> str:
    """A text in lower case, every letter in its place."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(char.lower()[0] for char in text)


def _with_columns_named(text: str) -> str:
    """The text with the head of a column in its cells, where it is a unit or of former values: ``Old price: 3 EUR``."""
    lines = text.split("\n")
    heads: list[str] = []
    for number, line in enumerate(lines):
        if "|" not in line:
            heads = []
        elif _TABLE_RULE.fullmatch(line.strip()) and number:
            heads = [name.strip(" *_:") for name in _cells_of(lines[number - 1])]
        elif heads:
            lines[number] = f"|{'|'.join(map(_named_cell, _cells_of(line), [*heads, *[''] * line.count('|')]))}|"
    return "\n".join(lines)


def _named_cell(cell: str, head: str) -> str:
    if head.lower().startswith(_OLD) and cell.strip():
        return f" {head}: {cell} "
    if not _BARE_CELL.fullmatch(cell):
        return cell
    unit = _HEAD_UNIT.search(head)
    named = unit[1] or unit[2] if unit else head
    known = unit_of_time(named) or unit_of_measure(named) or temperature_scale(named) or currency_code(named)
    return f"{cell.strip(' *_')} {named} " if known and (unit or len(named) > 1) else cell


_BARE_CELL = Lazy(r"[ *_]*[-+\u2212]?\d[\d.,]*[ *_]*")
_HEAD_UNIT = Lazy(r"\(([^()]{1,20})\)$|\bin ([^\W\d]{1,20})$")
_OLD = ("old", "previous", "former", "original", "prior", "before", "was")


def _cells_of(line: str) -> list[str]:
    return line.strip().removeprefix("|").removesuffix("|").split("|")


def _unnumbered(text: str) -> str:
    """A list without its numbers; a number that may be the answer itself stays, as in "3. That is all of them."."""
    items = list(_ITEM.finditer(text))
    if not items:
        return text
    in_order = [int(item[2]) for item in items] == list(range(1, len(items) + 1))
    if not in_order and any(text[item.end()].isdigit() for item in items):
        return text
    bare = _ITEM.sub(r"\1", text)
    return bare if len(items) > 1 or any(char.isdigit() for char in bare) else text


def _undotted(found: re.Match[str]) -> str:
    return f"{found[1]}m" if found[1] else found[2] or found[3]


def _without_slang(text: str) -> str:
    low = text.lower()
    return _SLANG.sub(_written_out, text) if any(sign in low for sign in _SLANG_SIGNS) else text


def _written_out(found: re.Match[str]) -> str:
    for group, written in _SLANG_AS.items():
        if found[group]:
            return written or found[group]
    text = found[0].lower()
    return "I have" if text == "ive" else "I am" if text == "im" else f"{_STEMS.get(text[:-2], text[:-2])} not"


_SLANG_AS = {1: "", 2: "wifi", 3: "can not", 4: "going to", 5: "want to"}
_STEMS = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is", "can": "can", "won": "will"}


def _expanded(found: re.Match[str]) -> str:
    if found[1]:
        stem = _STEMS.get(found[1].lower(), found[1])
        return (stem.capitalize() if found[1][0].isupper() else stem) + " not"
    ending = found[2].lower()
    behind = _PARTICIPLE.match(found.string, found.end())
    if behind and (ending == "d" or (ending == "s" and behind[1].lower() == "been")):
        return " had" if ending == "d" else " has"
    if ending != "s":
        return _ENDINGS[ending]
    return " is" if _IS_AFTER.search(found.string, max(0, found.start() - 12), found.start()) else "'s"
