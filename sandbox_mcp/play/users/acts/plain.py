"""An agent's message as plain sentences and clauses: without typography, markdown, quotations and contractions.

Policy: a quotation is a draft or a name and does nothing itself, so it is masked. What sets the stage for an act and is
none ("to proceed", "so that I can continue", "once it is sent") is taken out, because it looks like one. Of a long
message the first and the last sentences are read, where acts stand. Everything here is linear in the length.
"""

import re
import unicodedata
from dataclasses import dataclass

HEAD, TAIL = 5, 8
"""So many sentences at the start and at the end of a message are read."""
_SIGNS = str.maketrans(
    {
        "‘": "'", "’": "'", "‛": "'", "ʼ": "'", "`": "'", "´": "'", "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"',
        "»": '"', "‐": "-", "‑": "-", "‒": "-", "–": " - ", "—": " - ", "―": " - ", "−": "-", "…": "... ", "？": "?",
        "！": "!", "。": ". ", "，": ", ", "：": ": ", "；": "; ", "\u200b": "", "\u200d": "", "\ufeff": "", "\u00ad": "",
        "\r": "\n", "\t": " ", "\u00a0": " ", "\u202f": " ",
    }
)  # fmt: skip
_FENCE = re.compile(r"'''[^'\n]{0,20}\n?.*?(?:'''|\Z)", re.DOTALL)
_SYMBOL = re.compile(r"[^\w\s.,;:!?'\"()/$€£%°+@#&=<>{}\[\]|*~^-]+")
_BETWEEN_WORDS = re.compile(
    "(?<=\\w)\\s?[\U0001f300-\U0001faff\u2600-\u27bf][\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]*\\s(?=\\w)"
)
"""A picture between words, which ends a sentence as a full stop does."""
_COUNTED = re.compile(r"^[ \t]*(?:\[\d{1,2}/\d{1,2}\]|\(\d{1,2}/\d{1,2}\))[:.]?[ \t]+", re.MULTILINE)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,120}>")
_LINK = re.compile(r"\[([^\[\]\n]{0,200})\]\([^()\s]{0,300}\)")
_QUOTED = re.compile(r'"([^"\n]{0,400})"' + r"|(?<![\w'])'([^'\n]{0,200}[^'\n\w]|[^'\n]{0,200}\w{2})'(?!\w)")
_REPORTED = re.compile(r"\b(says|reads|wrote|writes|said|asks|asked|texted|replied|answered|was):[ \t]([^\n]{1,2000})")
_LABELLED = re.compile(
    r"(^|[.\n] ?)[ \t]{0,8}(text|message|content|contents|body|msg|draft|sms|reminder|title|subject|reads|says):[ \t]([^\n]{1,2000})"
)
_BLOCK = re.compile(r"(?m)(:[ \t]*\n\s{0,4})(?:^[ ]{0,3}>[^\n]*(?:\n|\Z))+")
_TO_THE_USER = re.compile(
    r"(?<=[.!?] )(?:\w+ ){0,3}?(?:(?:would|do|did|shall|should|can|may|could|want) (?:you\b.{0,40}\b(?:me|i|to)|i|me)\b|let me know\b"
    r"|(?:is there )?anything (?:else|more)\b).*"
    r"|(?<=[.!?] )(?:[^.!?]{0,60}\b(?:send|sent|go|proceed|confirm|ready|right|correct|okay|ok|yes|no|good|fine|change)\b[^.!?]{0,40}\?)\s*$"
)
"""Where a report of what others said ends and the agent speaks to the user again."""
_BULLET = re.compile(r"(?m)^[ ]{0,12}(?:[-*•·▪◦➤→✓✔✅☑]+(?:[ ]{1,2}\[[ xX]?\])?|\(?\d{1,2}[.)]|[a-zA-Z][.)])[ ]{1,4}")
_RULE = re.compile(r"(?m)^[ ]{0,3}(?:[#>|]{1,6}|[-=_*]{3,40}$)[ ]{0,2}")
_MARKS = re.compile(r"\*{1,3}|_{2,3}|~~|(?<!\w)_|_(?!\w)")
_CONTRACTED = tuple(
    (signs, re.compile(pattern), plain)
    for signs, pattern, plain in (
        (("ats ", "hos ", "res ", "hes ", "fis "), r"\b(that|what|who|where|she|he|there|wifi)s\b(?=\s)", r"\1's"),
        (("lmk",), r"\blmk\b", "let me know"),
        (("idk", "dunno"), r"\bidk\b|\bdunno\b", "i do not know"),
        (("sry", "srry"), r"\b(?:sry|srry)\b", "sorry"),
        (("lemme",), r"\blemme\b", "let me"),
        (("gimme",), r"\bgimme\b", "give me"),
        (("wdym", "come again"), r"\b(?:wdym|come again)\b", "what do you mean"),
        (("yea", "yep", "yup"), r"\by(?:ea|ep|up)\b", "yes"),
        (
            ("in' ", "in "),
            r"\b(check|turn|add|look|search|send|work|do|go|try|find|sav|delet|remov|switch|sett|gett|mak|text|writ|call|pull|open)in'?(?=\s|$)",
            r"\1ing",
        ),
        (("won't",), r"\bwon't\b", "will not"),
        (("can't",), r"\bcan't\b", "can not"),
        (("cannot",), r"\bcannot\b", "can not"),
        (("let us know",), r"\blet us know\b", "let me know"),
        (("n't",), r"\b(\w{2,10})n't\b", r"\1 not"),
        (("i'm",), r"\bi'm\b", "i am"),
        (("let's",), r"\blet's\b", "let us"),
        (("'re",), r"\b(you|we|they|who|what|where|there)'re\b", r"\1 are"),
        (("'ve",), r"\b(\w{1,12})'ve\b", r"\1 have"),
        (("'ll",), r"\b(\w{1,12})'ll\b", r"\1 will"),
        (
            ("'d ",),
            r"\b(i|you|he|she|we|they|it|that|there|who|what)'d (?=(?:\w+ )?(?:been|sent|set|done|gone|had)\b)",
            r"\1 had ",
        ),
        (("'d",), r"\b(i|you|he|she|we|they|it|that|there|who|what|which)'d\b", r"\1 would"),
        (
            ("'s ",),
            r"\b(that|it|there|what|who|where|when|how|here|he|she|this|everything|all)'s (?=(?:been|gone|got)\b)",
            r"\1 has ",
        ),
        (
            ("'s",),
            r"\b(that|it|there|what|who|where|when|how|here|he|she|this|everything|all|wifi|message)'s\b",
            r"\1 is",
        ),
        (("gonna",), r"\bgonna\b", "going to"),
        (("wanna",), r"\bwanna\b", "want to"),
        (("gotta",), r"\bgotta\b", "have to"),
        (("pls", "plz"), r"\b(?:pls|plz)\b", "please"),
        (("u",), r"\bu\b", "you"),
        (("ur",), r"\bur\b", "your"),
        (("wi-fi",), r"\bwi-fi\b", "wifi"),
        (("ok", "o.k"), r"\bo\.?k\.?\b", "okay"),
        (("dont",), r"\bdont\b", "do not"),
        (("cant",), r"\bcant\b", "can not"),
        (("im",), r"\bim\b", "i am"),
        (("ive",), r"\bive\b", "i have"),
        (("go-ahead",), r"\bgo-ahead\b", "go ahead"),
        (("thumbs-up",), r"\bthumbs-up\b", "thumbs up"),
        (("e-mail",), r"\be-mail", "email"),
    )
)
"""Short forms, in the order in which they are written out, each with letters that it needs: looking for these is quick."""
_END = re.compile(r"(?<![.!?])[.!?]+(?=[\s\"')\]]|$)[\"')\]]*|\n+")
_NO_END = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|vs|approx|e\.g|i\.e|etc|no|nr|a|p|(?<!°)[b-hj-z]))\.$")
"""A full stop behind these ends no sentence, unless what follows begins one."""
_BEGINS = re.compile(
    r"\s+(?:do|does|did|would|will|shall|should|can|could|may|is|are|what|which|when|where|who|how|i|please|want|let|you|fancy|sound|now|next|then|\w{3,12}ing)\b"
)
_CUT = re.compile(
    r"[;:]\s|\s-{1,2}\s|,\s+(?=(?:but|so|then|and|now(?= (?:let|i|for|to|comes|\w{3,12}ing)\b)|which|though|or (?:shall|should|would|do)|(?:just|please(?!$)|could|can|"
    r"would|"
    r"should|shall|may|do|does|want|sound|turn|switch|enable|send|save|delete|set|yes|sure|correct|proceed|is|are|"
    r"what|which|when|where|who|how|i|you|let|okay|right|would)\b)\b)"
    r"|,\s+(?=(?:calculat|comput|check|search|look|send|fetch|add|sav|creat|delet|remov|convert|turn|switch|retriev|read|multiply|measur|retry|writ|open|compar|stor)ing (?:the|your|for|a|up|on|off|his)\b)"
    r"|,\s+(?=(?:now )?\w{3,12}ing (?:him|her|it|them|that|this|now)\b)|,?\s(?=or (?:need|is there|do you need|if you)\b)|,?\s(?=because\b)|,?\sand (?=(?:i |we )?(?:will|shall|am|now|would) )|,?\sand (?=(?!need|want)(?:(?:then|also|just) )?(?:\w{3,14}ed|sent|set|put|told|wrote|took|"
    r"made|found|let)\b)|\s(?=(?:but|and then|so that i|and i|and let me|and please|then i) )"
)
_STAGE = re.compile(
    r"(?<!\bme )(?<!like )(?<!want )(?<!wish )(?<!okay )(?<!ready )(?<!good )(?<!need )(?<!going )\b(?:in order )?to "
    r"(?:proceed|continue|go on|move forward|get started|do (?:this|that|so|it)|help you (?:better|further|with "
    r"(?:this|that))|"
    r"assist you(?: further| better)?|complete (?:this|the|your) \w+|make (?:this|that|sure of it) (?:happen|work))\b"
    r"|\bso (?:that )?(?:i|we) can (?:\w+ ){0,8}\w+(?=[?.,!]|$)|\bbefore (?:i|we) (?:can )?(?:\w+ "
    r"){0,6}?\w+(?=[,?.!]|$)"
    r"|^(?:after|by|upon|having) (?:\w{3,12}ing|turned|found|looked|switched)\b[^,]{0,60},(?= (?:the|i|it|your|\w+ (?:is|was|has))\b)"
    r"|\b(?:once|when|as soon as|after|until) (?:it|that|this|everything|the \w+|he|she|they) (?:is|are|has|have|was|"
    r"goes|replies|arrives)(?: \w+){0,3}(?=[?.,!]|$)"
)
_PLEASED = re.compile(
    r"\b(?:i am|we are) (?:pleased|happy|glad|delighted) to (?:confirm|report|inform you|say|tell you|let you know|announce)(?: that)?\b"
    r"|\b(?:i|we) (?:can |hereby |gladly |happily |now |also ){1,3}confirm(?: that\b|(?=[:,])|(?= (?:your|the|it|wifi|\w+)\b.{0,60}\b(?:is|was|has|have|been|were|are)\b))"
    r"|\bthis (?:is to )?confirms?(?: that\b|(?=[:,]))"
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in lower case, its clauses, and whether it ends in a question mark."""

    text: str
    clauses: tuple[str, ...]
    asks: bool


def typed_plainly(text: str) -> str:
    """A text with plain signs in place of typography, and without the marks of bold and code; case and words stay."""
    signs = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    return _MARKS.sub("", signs)


def unquoted(text: str) -> str:
    """A message in lower case without code, links, markdown and contractions, and with its quotations masked."""
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    text = _SYMBOL.sub(
        " ", _BETWEEN_WORDS.sub(" . ", _BLOCK.sub(r"\1qquote. ", _FENCE.sub(" . ", _COUNTED.sub(". ", text))))
    )
    text = _TAG.sub(" ", _LINK.sub(r"\1", text))
    text = _BULLET.sub(". ", _RULE.sub("", text))
    text = _REPORTED.sub(_reported, _QUOTED.sub(_masked, _MARKS.sub("", text)).lower())
    text = _LABELLED.sub(lambda found: f"{found[1]}{found[2]} qquote. {_turned_to_the_user(found[3])}", text)
    for signs, pattern, plain in _CONTRACTED:
        if any(sign in text for sign in signs):
            text = pattern.sub(plain, text)
    return text


def _masked(found: re.Match[str]) -> str:
    """A quotation as one word; a word or two that are to be typed, such as "yes", stay."""
    inside = (found[1] if found[1] is not None else found[2] or "").strip()
    if inside.lower().rstrip(".!") in _WORDS_TO_TYPE:
        return f" {inside} "
    return " qquote" + (". " if inside.endswith((".", "!", "?")) and found[0].endswith('"') else " ")


def _reported(found: re.Match[str]) -> str:
    """What was said, told without quotation marks: one word, and what follows it for the user."""
    return f"{found[1]} qquote. {_turned_to_the_user(found[2])}"


def _turned_to_the_user(said: str) -> str:
    """What a line that told of others' words says to the user at its end."""
    again = _TO_THE_USER.search(said)
    return again[0] if again else ""


_WORDS_TO_TYPE = frozenset(
    {"yes", "y", "ok", "okay", "go", "confirm", "go ahead", "send", "proceed", "no", "yes/no", "y/n", "[y/n]", "(y/n)"}
)


def sentences(text: str) -> list[Sentence]:
    """The sentences of a message that are read."""
    found = [item for item in _split(unquoted(text)) if any(sign.isalnum() or sign == "?" for sign in item)]
    if len(found) > HEAD + TAIL:
        found = found[:HEAD] + found[-TAIL:]
    return [_sentence(item) for item in found]


def _split(text: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if (
            end[0] == "."
            and _NO_END.search(text[max(start, end.start() - 8) : end.end()].rstrip())
            and not _BEGINS.match(text, end.end())
        ):
            continue
        parts.append(text[start : end.end()])
        start = end.end()
    parts.append(text[start:])
    return parts


def _sentence(text: str) -> Sentence:
    plain = _SPACE.sub(" ", text).strip(" .!-\"'")
    asks = plain.rstrip(" )]").endswith("?") or bool(_INVERTED.match(plain))
    bare = _SPACE.sub(" ", _STAGE.sub(" ", _PLEASED.sub(" ", plain))).strip(" ,.;:-")
    cut = [
        part
        for piece in _CUT.split(bare if _WORDY.search(bare) else plain)
        if (part := _INTERJECTION.sub("", piece.strip(" ,.;:-()?")).strip(" ,.;:-()?") or piece.strip(" ,.;:-()?"))
    ]
    return Sentence(plain, tuple(cut), asks)


_INVERTED = re.compile(
    r"(?:(?:and|so|but|or|now|then|also|okay|sorry|please|first|before that)[ ,]+){0,3}"
    r"(?:(?:can|could|may|shall|am|must) (?:i|we)|should (?:i|we|it|he|she|they|the)|(?:can|could|would|will|have|do|did|are|were) you|(?:is|was) (?:it|this|that|he|she|there|your|his|her)|(?:do|would|did|have|will) (?:i|we|they)"
    r"|(?:does|has|would|will) (?:it|this|that|he|she|the|your|his|her)|are (?:they|there|we|these|those)"
    r"|(?:what|which|who|whom|when|where|why|how)(?: (?!i\b|you\b|we\b|is\b)\w+){0,3} (?:should|shall|would|do|does|did|can|could|may|is|are) (?:i|you|we|he|she|they)) (?!$)"
)
"""How a question begins, which many type without its mark."""
_WORDY = re.compile(r"\w")
_INTERJECTION = re.compile(
    r"^(?:(?:k|kk|bet|aight|hold up|sure(?: thing)?|certainly|of course|absolutely|gladly|okay|okey dokey|alright|alrighty|all right|great|"
    r"perfect|got it|understood|noted|"
    r"yes|yep|yup|yeah|aha|ah(?! no\b)|oh(?! no\b)|ooh|aw|aww|hmm+|hm|ugh|argh|uh-oh|oops|phew|boom|yay|poof|wow|hey|hi|hello|well|so|"
    r"right|cool|excellent|awesome|"
    r"unfortunately|sadly|regrettably|sorry|i am sorry|apologies|my apologies|i am afraid|i apologize|thanks|thank "
    r"you|no problem|no worries|"
    r"you got it|good news|great news|by the way|just|aaand|and|but|now then|actually|honestly|basically|final "
    r"answer|answer|thought|observation)"
    r"(?:[,.!:;-]+ ?| (?=i\b|you\b|the\b|let\b|there\b|it\b|to\b|no\b|could\b|can\b|we\b|that\b|this\b|will\b|just\b|"
    r"checking|looking|searching|sending)))+"
)
