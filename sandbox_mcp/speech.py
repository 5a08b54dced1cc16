"""What an English line of a dialogue does: ask, ask for leave, refuse.

Policy: one reading for everybody, so that the scripted user, the tools of the llm user and the grader's checks of users
agree on what a question is. Polite offers of more help are no questions.
"""

import re
from collections.abc import Sequence

_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]+|[^.!?\n]+$")
_OFFER = re.compile(
    r"\b(?:any|some)thing (?:else|more)\b|\b(?:further|more|other) (?:help|assistance|questions?)\b"
    r"|\bhow (?:else )?(?:can|may) i (?:help|assist)\b|\b(?:feel free|happy to help|here to help|at your service)\b"
    r"|\blet me know if\b|\bif (?:you(?:'d| would)? (?:like|need|want|have)|there)\b"
    r"|\b(?:would you like|do you want) me to\b.*\b(?:also|as well|too|again|another|later)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\?\s*$"
    r"|\b(?:please|kindly) (?:tell|give|provide|share|send|specify|confirm|clarify|choose|enter|say|supply|let me know)"
    r"|\b(?:could|can|would|will) you (?:please )?(?:tell|give|provide|share|specify|confirm|clarify|let me know)\b"
    r"|\blet me know (?:which|what|when|where|who|whom|how|whether|the|your)\b"
    r"|\bi(?:'ll| will| would|'d)? (?:also )?(?:still )?need (?:you to|to know|your|the|some|a few|more)\b",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(?:shall|should|may|can|could) i\b|\b(?:would you like|do you want|want|okay for|ok for) me to\b"
    r"|\b(?:is (?:that|this|it) (?:correct|right|ok|okay|fine)|(?:that|sound) (?:right|good|ok|okay))\b"
    r"|\b(?:go ahead|proceed|confirm|are you sure)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:when|what|which|where|who|whom|how|why)\b[^.!?]*?\b(?:shall|should|may|can|could) i\b", re.IGNORECASE
)
"""A question that cannot be answered with yes, whatever it looks like."""
_REFUSAL = re.compile(
    r"\b(?:can(?:no|['’]?)t|can not|could(?: not|n['’]t)|unable to|not able to|not possible|impossible|no way to|"
    r"(?:do|does|did)(?: not|n['’]t) have|won['’]t be able|there (?:is|are) no|no (?:tool|access))\b",
    re.IGNORECASE,
)


def question_in(text: str) -> str | None:
    """The part of a message that asks its reader for something; None where it asks nothing.

    Said nothing at all, a reader would ask back; that counts as a question too.
    """
    if not text.strip():
        return ""
    asking = [part for part in _SENTENCE.findall(text) if _REQUEST.search(part.strip()) and not _OFFER.search(part)]
    return " ".join(part.strip() for part in asking) or None


def asks_leave(question: str) -> bool:
    """Whether a question can be answered with yes: it asks for permission, or for a confirmation."""
    return bool(_PERMISSION.search(_OPEN.sub("", question)))


def mentions(text: str, phrases: Sequence[str]) -> bool:
    """Whether one of the phrases occurs in a text, as whole words."""
    return any(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) for phrase in phrases)


def refuses(text: str) -> bool:
    """Whether a message says that something cannot be done or had."""
    return bool(_REFUSAL.search(text))
