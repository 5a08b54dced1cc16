"""Inability: words with which an agent says that something cannot be had or done. The one list of refusals.

Policy: a new way to refuse is one more line here. What sounds like it and refuses nothing ("no problem", "not only") is
taken out first, by the harmless denials of :mod:`sandbox_mcp.engine.talk.clauses`.
"""

from sandbox_mcp.engine.talk.clauses import HARMLESS, Clause
from sandbox_mcp.engine.talk.patterns import Lazy

_NOT_ABLE = (
    r"(?:can|could|may) (?:\w+ ){0,2}?not"
    r"|not (?:\w+ ){0,3}?(?:able|possible|available|supported|something|part|equipped|allowed|permitted|included"
    r"|offered)|unable|impossible|unavailable|unsupported|out of (?:my )?reach|off limits|no luck"
)
_NO_MEANS = r"no (?:\w+ ){0,3}?(?:way|tools?|access|ability|functions?|features?|options?|means|support|switch)"
_HAS_NONE = (
    r"(?:will|would|do|does|did|am|is|are|was|were|has|have|had) (?:\w+ ){0,2}?not|no (?:\w+ ){0,3}?(?:calendar|clock"
    r"|connection|data|rates?|entry|record|information|number|result|match|trace|permission|such \w+)"
    r"|no [^.;]{1,40} (?:among|in|on|for) (?:my|me)|none of (?:my|the|these)|neither|nothing (?:i|here|in|that|for)"
    r"|nowhere|without|lack\w*|missing|absent|(?:i|we) (?:have (?:no|only)|only have)"
    r"|only (?:able|read|search|handle|look|cover)|limited to|no \w+ possible"
)
_FAILED = (
    r"beyond|outside (?:of )?(?:my|what|the)|(?:another|other|different) (?:app|tool)|wish (?:i|that i) could|needs?"
    r"|requires?|blocked|failed|fails|refused|rejected|denied|declined|skipped|stuck|(?:left|leaving|leave)"
    r" (?:\w+ ){0,2}?out|have to pass|off (?:right now|at the moment)"
)
HELPLESS = rf"(?<!\bhe )(?<!\bshe )(?<!\bthey )(?<!\byou )\b(?:{_NOT_ABLE}|{_NO_MEANS}|beyond|outside)\b"
"""What a clause holds that says what cannot be done, rather than what was not, is not so or was not found."""
UNABLE = Lazy(rf"\b(?:{_NOT_ABLE}|{_NO_MEANS}|{_HAS_NONE}|{_FAILED})\b")


def is_unable(clause: Clause) -> bool:
    """True if a clause says that something cannot be had or done; a question may say it, too ("can't you ...?")."""
    if clause.quoted or (clause.asks and not clause.denials):
        return False
    return bool(UNABLE.search(HARMLESS.sub(" ", clause.text)))
