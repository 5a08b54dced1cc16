"""Whether a message can be read at all: English words, rather than another language, data or code."""

import re
import unicodedata
from collections.abc import Callable

from sandbox_mcp.play.users.acts.plain import Sentence

_CALL = re.compile(r"\s*(?:[{\[<]|\w{2,40}\(|```|\w{2,40}:\s*[{\[])")
_WORD = re.compile(r"[^\W\d_]+(?:'\w+)?")
_LATIN = re.compile(r"[a-zA-Z]|[øæœßđł]")
_ENGLISH = frozenset(
    """a about after all almost already also am an and finished nearly quite any are as at be been before but by can could did do does done for from further
    get give go good had has have he hello help her here hi him his how i if in into is it its just know last let like may me
    message moment more my name need new no not now of off okay on once one or out over phone please ready right sent set shall
    she should so sorry start sure tell text than thank thanks that the their them then there these they this those time to
    tomorrow turn two up us wait want was we welcome were what when where which who whom whose why will with would yes yet you
    your number found call checking looking working reminder remind contact wifi number""".split()
)
_FOREIGN = frozenset(
    """der die das und ich nicht ist ein eine einen den dem mit auf für wie wer wo wann wird werden habe haben bitte soll kann möchten sie ihre
    ihr welche welcher le la les un une des du et est que qui je vous pas pour dans sur quel quelle quand voulez votre avec el los las una es
    y por para con su cuál qué cuándo dónde puedo usted quiere tu mi se lo il gli di che è per non sono vuoi quale quando posso o os uma
    não você qual quer seu em com het een van ik niet wat wilt u uw welke naar jag att och är inte vad vill du din som på det er du å vil
    jeg ikke hva está están ahora enviado mensaje mañana recordatorio hecho fait envoyé désactivé activé maintenant voici gesendet
    erledigt erinnerung jetzt wurde ausgeschaltet inviato fatto adesso spento messaggio enviada agora desligado mensagem uitgeschakeld
    verzonden vilken menar skickat nu lähetetty gönderildi şimdi czy jak proszę nie na się jest""".split()
) - {"die", "on", "was", "per", "lo", "du", "o", "u", "y"}


def is_readable(text: str, found: list[Sentence], is_known: Callable[[str], bool], *, numbers: bool = False) -> bool:
    """Whether a message is English prose; a short word such as "Fredrik?" passes.

    ``numbers`` lets a bare number pass, which answers a user who wants to be told one.
    """
    if not found:
        return False
    words = [word.removesuffix("'s") for word in _WORD.findall(" ".join(sentence.text for sentence in found))]
    if not words:
        return any(sign.isdigit() for sign in text) and (numbers or any(sentence.asks for sentence in found))
    bare = _without_marks(text)
    if _CALL.match(bare) and not any(word in _ENGLISH for word in words):
        return False
    if _DATA.match(bare):
        return False
    digits = any(sign.isdigit() for sign in text)
    if _CODE.match(bare) or (
        len(words) > 1 and not digits and not any(word in _ENGLISH or is_known(word) for word in words)
    ):
        return False
    latin = sum(bool(_LATIN.match(unicodedata.normalize("NFKD", word))) for word in words)
    english = sum(word in _ENGLISH for word in words)
    foreign = sum(word in _FOREIGN and word not in _ENGLISH for word in words)
    if latin * 2 < len(words):
        return False
    unknown = sum(word not in _ENGLISH and not is_known(word) for word in words)
    if len(words) > 2 and not english and not digits and unknown * 5 > len(words) * 3:
        return False
    if foreign and english < 2 and (foreign + unknown) * 2 > len(words):
        return False
    return not (foreign >= 2 and foreign > english) and not (foreign and not english and len(words) > 2)


def without_data(text: str) -> str:
    """A message without the data that it begins with, if prose follows them: what a tool returned, and then the answer."""
    bare = text.strip(_MARKS)
    if not _DATA.match(bare):
        return text
    end = bare.find("```", 3) + 3 if bare.startswith("```") else _closed(bare)
    behind = bare[end:]
    said = sum(word in _ENGLISH for word in _WORD.findall(behind.lower()))
    return behind if end > len("```") and said >= _PROSE else text


_MARKS = " \t\r\n*_>~"
"""Marks of bold and quotation that may stand around a whole message."""
_PROSE = 2
"""So many everyday English words make prose of what follows data."""


def _closed(text: str) -> int:
    """Where the bracket that a text begins with is closed; its length if nowhere."""
    depth, quoted, escaped = 0, False, False
    for place, sign in enumerate(text):
        if escaped or sign == "\\":
            escaped = not escaped
        elif sign == '"':
            quoted = not quoted
        elif not quoted and sign in "{[":
            depth += 1
        elif not quoted and sign in "}]":
            depth -= 1
            if not depth:
                return place + 1
    return len(text)


def _without_marks(text: str) -> str:
    """A message without the marks of bold, code and quotation around it, and without what follows its last bracket."""
    bare = text.strip(_MARKS)
    end = len(bare)
    while end and not (bare[end - 1].isalnum() or bare[end - 1] in _CLOSING):
        end -= 1
    bare = bare[:end]
    return bare if bare.startswith("```") else bare.strip("`")


_CLOSING = frozenset(")]}>`;:({?")
_CODE = re.compile(
    r"\s*(?:def|import|from [\w.]{1,60} import|class|function|const|var|SELECT|curl|#!)\s?[\w/]+[\s(.:=]+[^\n]{0,200}(?:[:;{(]|$)"
)
_DATA = re.compile(
    r"(?:```\w*\s*)?(?:\{\s*[\"'}]|\[\s*[{\"\]]|<(?:tool|function|invoke|call)|\w{2,60}\([^)\n]{0,400}\)\s*(?:;\s*)?(?:```\s*)?$)"
)
