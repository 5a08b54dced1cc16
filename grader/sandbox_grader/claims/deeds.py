"""Whether a message tells that something was done, or that it was left undone.

Policy: the world proves the deed, so that any telling of it counts: what costs is a message that denies the deed, takes
it back, only promises, asks or advises it. The last word counts: failure and then success is success.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sandbox_scenarios.model import Fact

from sandbox_grader.claims.clauses import Clause, Spoken
from sandbox_grader.claims.finding import Finding, contrary, missing, stated
from sandbox_grader.claims.normal import one_of, words_of

_TELLING: dict[str, str] = {
    "send": r"sent|send|texted|text|messaged?|told|tell|informed?|notified|notify|let|replied|answered|wrote|forwarded"
    r"|delivered|delivery|(?<!\bi )(?<!\bi do not )knows?|heard|reached|contacted|thanked|asked|passed|conveyed"
    r"|relayed|written to|off it went|emailed|email|mailed|dispatched|pinged|on its way"
    r"|went (?:out|through)|gone out|is out|received|has (?:your|the|been)|have (?:your|the)|way to|invited"
    r"|apologi[sz]ed|alerted|question|news|note",
    "remind": r"remind(?:er|ers|ed|ing)?|set|scheduled|added|created|saved|noted|alert|notification|ping|nudge|alarm"
    r"|put|in place|entry|hear from me",
    "add": r"added|add|saved?|stored|created?|entered|registered|recorded|put|listed"
    r"|in your (?:contacts|address book|phone)|on (?:your|the) (?:\w+ )?list|entry|contacts?|address book|new|there"
    r"|made|included",
    "remove": r"removed?|delet(?:ed|e|ion)|erased|gone(?! (?:out|through|off|ahead))|is history|cleared|cancell?ed"
    r"|dropped|no longer|any (?:longer|more)|taken (?:out|off)|wiped|out of|got rid|off (?:your|the)|no more"
    r"|rid of|stopped|unsent|empt(?:y|ied)",
    "change": r"changed?|updated?|modified|edited|moved|rescheduled|postponed|renamed|corrected|fixed|adjusted|shifted"
    r"|swapped|replaced|pushed|extended|now|set|switched|put|brought|labell?ed|marked|restored|listed|called"
    r"|says|reads|instead|new|back|later|earlier|tied|attached|pinned|comes|due|amended|from now on|turned",
    "switch": r"turned|switched|enabled|disabled|activated|deactivated|on|off|active|set|connected|disconnected"
    r"|restored|back",
    "timer": r"timers?|set|started|running|going|ticking|counting|extended|added|alarm|ring|rings|beep|countdown",
    "stop": r"stopped|cancell?ed|turned off|switched off|removed|gone|off|no longer|ended|called off|deleted|cleared"
    r"|halted|silenced",
    "signin": r"signed|logged|sign(?:ed)?[ -]out|signed[ -]in|out|unlocked",
}
_DONE = (
    r"done|all set|taken care of|complete[d]?|sorted|finished|handled|success\w*|confirmed|yes|yep|in place|as"
    r" (?:you )?(?:asked|requested|wished|wanted)|accomplished|ready|mission|both|settled|everything|perfect|worked"
    r"|through|hecho|listo|erledigt|fertig|fait|fatto|gedaan"
)
_ANY_DONE = re.compile(rf"(?<!almost )(?<!nearly )(?<!almost all )\b(?:{_DONE})\b|✅|✓|✔|☑|👍|🎉")
_LATER = re.compile(
    r"\b(?:will|shall|going to|about to|let me|would|want to|need to|have to|has to|must|should|ought to|yet to"
    r"|still to|still ha(?:s|ve) to|to be|ready to|plan to|intend to|try to|can|could|may|might|soon|shortly"
    r"|^\W*(?:now |ok(?:ay)?,? |right,? )?(?:sending|texting|setting|removing|deleting|adding|saving|turning"
    r"|switching|changing|updating|moving|starting|creating)\b(?! (?:is|was|complete))|(?:written|wrote|drafted"
    r"|composed|prepared|typed)(?: up| out)? (?:the|an?|your|this) (?:text|message|draft|reply|note)\b(?! to\b)"
    r"|wait for|pending|prepared|drafted|queued|am (?:now )?(?:sending|texting|setting|removing|deleting|adding"
    r"|saving|turning|switching|changing|updating|moving|working|trying|about)|once|not yet|unsent|draft)\b"
)
_FUTURE_FINE = re.compile(
    r"\b(?:(?:i|it|you|your phone|the phone) (?:will|shall) (?:now )?(?:be |get |receive |have |remind|alert|notify"
    r"|ping|nudge|ring|go off|beep|see|hear|come|pop|show|fire|sound)|(?:the |your )?(?:reminder|alarm|timer|phone"
    r"|alert)s? (?:will|is going to)|will (?:be ready|remind|be reminded|get|receive|see|hear|know|go off|ring|pop"
    r"|be notified|come|arrive|have))\b"
)
_FAILED = re.compile(
    r"(?<!no )(?<!without )(?<!without any )\b(?:failed|fails|failure|unsuccessful\w*|without success|in vain|error"
    r"|errors|did not work|does not work|went wrong|bounced|rejected|blocked|undeliver\w*|not deliver\w*|none of|to"
    r" no avail|unable|impossible|stuck|aborted|refused|queued|still (?:unsent|pending|waiting|there|in your"
    r" contacts|exists|not))\b"
)
_ADVICE = re.compile(
    r"\b(?:you (?:can|could|may|might|should|must|need to|have to|will (?:need|have) to|would (?:need|have) to"
    r"|ought to|had better)|please|yourself|try to|feel free)\b|^\W*(?:then |and |just |simply |first |next |now "
    r"|to [^,]{2,60}, )*(?:open|go (?:to|into)|tap|press|choose|select|swipe|click|navigate|head|launch|scroll"
    r"|visit)\b(?! (?:is|was|has|are)\b)"
)
_TRIED = re.compile(
    r"\b(?:tried|attempted|attempting|trying|wanted|meant|intended|hoped|planned|going|offered|promised|almost|nearly"
    r"|about to)\b"
)
_DENIED_VERBS = {
    "send": "send text message deliver tell inform notify let reach contact reply answer forward",
    "remind": "set add create save remind schedule",
    "add": "add save store create enter",
    "remove": "remove delete erase clear cancel drop take",
    "change": "change update save set modify edit move rename reschedule correct fix adjust shift swap postpone push",
    "switch": "turn switch enable disable activate deactivate",
    "timer": "set start",
    "stop": "stop cancel turn switch remove end",
    "signin": "sign log",
}
_DENIED_ANYWAY = re.compile(
    r"\b(?:work|works|succeed|happen|manage|do (?:it|that|so|this)|done|did|(?:do|change|send|write|touch) anything"
    r"|complete|finish|finished|completed|take care|carry)\b"
)
_ELSEWHERE = {
    "send": r"enviad[oa]s?|gesendet|geschickt|verschickt|envoyée?s?|inviat[oa]|mandad[oa]|verzonden|gestuurd|skickat",
    "remind": r"recordatorio|erinnerung|rappel|promemoria|herinnering|lembrete",
    "add": r"añadid[oa]|guardad[oa]|agregad[oa]|hinzugefügt|gespeichert|ajoutée?|enregistrée?|aggiunt[oa]|toegevoegd",
    "remove": r"eliminad[oa]|borrad[oa]|gelöscht|entfernt|supprimée?|eliminat[oa]|verwijderd",
    "change": r"cambiad[oa]|modificad[oa]|geändert|verschoben|modifiée?|déplacée?|spostat[oa]|gewijzigd",
    "switch": r"apagad[oa]|desactivad[oa]|activad[oa]|encendid[oa]|(?:aus|ein)geschaltet|(?:de)?aktiviert"
    r"|(?:dés)?activée?",
    "timer": r"temporizador|minuteur|kurzzeitwecker",
    "stop": r"cancelad[oa]|gestoppt|abgebrochen|annulée?",
}
"""Words for deeds in other languages of users."""


def told(spoken: Spoken, fact: Fact, others: Sequence[Fact] = (), known: Sequence[str] = ()) -> Finding:
    """Whether the message tells that a deed was done; ``known`` are names, whose words tell of none: ``New Quay``."""
    kinds = [kind for kind in map(str, fact.value) if kind in _TELLING] or ["change"]
    telling = re.compile(rf"\b(?:{'|'.join(_TELLING[kind] + '|' + _ELSEWHERE.get(kind, '(?!)') for kind in kinds)})\b")
    spoken = _without(spoken, [name for name in known if " " in name and telling.search(name.lower())])
    found = missing(f"does not tell that it was done ({'/'.join(map(str, fact.value))})")
    words = [re.escape(str(word).lower()) for fact in others if fact.type == "cannot" for word in fact.value]
    beside = re.compile(rf"\b(?:{'|'.join(words)})") if words else None
    asks_leave = any(clause.asks and _MAY_I.search(clause.text) for clause in spoken.clauses)
    names = words_of(" ".join(str(value) for fact in others if fact.type == "name" for value in fact.value))
    for clause, verdict, said in _verdicts(spoken, telling, kinds):
        other = (
            (beside is not None and beside.search(clause.text))
            or _ELSE.search(clause.text)
            or (names and _still_another(said, names))
        )
        if verdict == "stated" and asks_leave and _ONLY_A_DRAFT.match(clause.text):
            continue
        if verdict == "stated" and names and _to_another(said, telling, names):
            found = contrary(f"tells it of another: {said!r}")
        elif verdict == "stated" and (clause.start < spoken.withdrawn or clause.disowned):
            found = contrary(f"takes back that it was done: {said!r}")
        elif verdict == "stated":
            found = stated(f"tells that it was done: {said!r}")
        elif not other or clause.untrue:  # else that is the other thing, which cannot be done
            found = contrary(f"says that it was not done: {said!r}")
    return found


def only_planned(spoken: Spoken, words: Sequence[str]) -> bool:
    """Whether every clause that has one of these words for a deed plans it: ``it will be live tomorrow``."""
    telling = re.compile(rf"\b(?:{'|'.join(re.escape(word.lower()) for word in words)})\b")
    about = [text for text in map(spoken.unquoted, spoken.clauses) if telling.search(text)]
    return bool(about) and all(_LATER.search(text) and not _PERFECT.search(text) for text in about)


def _without(spoken: Spoken, names: Sequence[str]) -> Spoken:
    """The message with names for what it only quotes."""
    places = (place.span() for name in names for place in re.finditer(re.escape(name), spoken.text))
    found = {span for span in places if spoken.quote_at(span[0]) is None}
    return replace(spoken, quotes=sorted((*spoken.quotes, *found))) if found else spoken


_MAY_I = re.compile(r"\b(?:shall|should|may|can) i\b|\b(?:want|like) me to\b")
_ONLY_A_DRAFT = re.compile(
    r"\W*(?:here (?:is|are)|(?:the |a |my )?(?:draft|suggestion|proposal|preview|message|text|wording)\b(?! (?:has"
    r"|is|was|went)\b))"
)
"""Shows what would be sent, which is nothing done where leave for it is asked as well."""
_ANOTHER_STILL = re.compile(
    r"\W*(?:and |but |while )?([A-Z]\w+(?: [A-Z]\w+)*) (?:is|are|remains?|stays?) (?:still|also|in)\b"
)
_WHOM = re.compile(r" (?:to )?([A-Z]\w+ [A-Z]\w+)\b")


def _still_another(said: str, names: frozenset[str]) -> bool:
    """Whether a clause tells that another person is still where they were."""
    found = _ANOTHER_STILL.match(said)
    return found is not None and not words_of(found[1]) <= names


def _to_another(said: str, telling: re.Pattern[str], names: frozenset[str]) -> bool:
    """Whether the deed's verb has the full name of another person as its object."""
    for verb in telling.finditer(said.lower()) if len(said.lower()) == len(said) else ():
        whom = _WHOM.match(said, verb.end())
        if whom and not words_of(whom[1]) & names:
            return True
    return False


def plainly(spoken: Spoken, fact: Fact) -> Finding:
    """Whether the message says in so many words that a deed was done: what a denial of it must not be mistaken for."""
    verbs = re.compile(rf"\b(?:{'|'.join(_TELLING[str(kind)] for kind in fact.value if str(kind) in _TELLING)})\b")
    for clause in spoken.clauses:
        text = spoken.unquoted(clause)
        found = _PERFECT.search(text)
        if found is None or found[0].endswith("all set") or _ELSE.search(text):
            continue
        if clause.asks or clause.supposes or clause.untrue or clause.disowned or clause.start < spoken.withdrawn:
            continue
        if (
            verbs.search(found[0])
            and not clause.denied(clause.start + found.end() - 1)
            and not _of_nothing(text, found)
        ):
            said = spoken.said(clause)
            return stated(f"tells that it was done: {said!r}")
    return missing("does not tell that it was done")


def _of_nothing(text: str, found: re.Match[str]) -> bool:
    """Whether a verb's object is ``nothing``, ``nobody`` or the like: ``I deleted nothing``."""
    return re.match(r"\W*(?:\w+ )?(?:nothing|nobody|no one|none)\b", text[found.end() :]) is not None


_ELSE = re.compile(r"\b(?:else|others?|otherwise|further|anyone|anybody|elsewhere)\b")


def _verdicts(spoken: Spoken, telling: re.Pattern[str], kinds: Sequence[str]) -> Iterator[tuple[Clause, str, str]]:
    """In order, the clauses about the deed with what they say of it."""
    denied_verbs = re.compile(rf"\b(?:{'|'.join(_DENIED_VERBS[kind].replace(' ', '|') for kind in kinds)})\b")
    for clause in spoken.clauses:
        text = spoken.unquoted(clause)
        found = telling.search(text)
        done = _ANY_DONE.search(text)
        said = spoken.said(clause)
        if clause.untrue:
            if found or done:
                yield clause, "contrary", said
            continue
        if clause.asks or clause.supposes:
            continue
        place = found or done
        again = _AGAIN if {"timer", "remind", "add", "send"} & set(kinds) else _RESTORED
        if again.search(text) and not clause.denials and not {"switch", "stop"} & set(kinds):
            yield clause, "contrary", said
            continue
        if place is None:
            verb = denied_verbs.search(text) or _DENIED_ANYWAY.search(text)
            undone = clause.denials and verb and _FIRST_OR_IT.search(text)
            if not clause.history and (undone or (_FAILED.search(text) and not clause.denials)):
                yield clause, "contrary", said
            continue
        verdict = _verdict(clause, text, telling, kinds)
        if verdict:
            yield clause, verdict, said


_AGAIN = re.compile(
    r"\b(?:cancell?ed|deleted|removed|stopped|discarded|unsent|undid|erased|revoked|withdrew) (?:it|that|this"
    r"|them)(?: again| afterwards| later)?\W*$"
)
_RESTORED = re.compile(
    r"\b(?:restored|reinstated|readded|recreated|reverted|undid|undone|rolled back|reversed) (?:it|him|her|them"
    r"|that|this|everything|all|both|the \w+)\b|^\W*(?:then )?back to \d"
)
"""Undoes what was removed or changed."""
_TO_THE_USER = re.compile(
    r"(?:sent|texted|text|messaged?|told|tell|informed?|notified|notify|wrote|asked|let|answered) (?:me|us|you)\b"
)
"""What was told to the speaker or the listener, which is not a message to a third person."""
_TO_DO = re.compile(
    r"^\W*(?:in order )?to (?:\w+ )?$"
    r"|\b(?:asked|wanted|told|wish(?:ed)?|want|request\w*|need|like|supposed|meant) (?:me |you )?to (?:\w+ )?$"
)


def _verdict(clause: Clause, text: str, telling: re.Pattern[str], kinds: Sequence[str]) -> str:
    """What a clause says that has words for the deed: ``stated``, ``contrary``, or nothing where it only plans it."""
    done = _ANY_DONE.search(text)
    places = [*telling.finditer(text), *_ANY_DONE.finditer(text)]
    places = [item for item in places if item[0] not in _NOUNS] or places
    if "send" in kinds:
        places = [item for item in places if not _TO_THE_USER.match(text, item.start())]
    places = [item for item in places if not _TO_DO.search(text[: item.start()])]
    if not places:
        return ""
    places.sort(key=lambda item: item.start())
    if "timer" in kinds and _ENDED.search(text) and "set" not in text:
        return "" if clause.denials else "contrary"
    if {"remove", "stop"} & set(kinds) and _NOT_THERE.search(text):
        return "stated"
    denials = [clause.denied(clause.start + item.start()) or _of_nothing(text, item) for item in places]
    if any(denials):
        if not denials[-1] and not _FAILED.search(text):
            return "stated"
        return "" if clause.history and not _TRIED.search(text) else "contrary"
    if _FAILED.search(text) and not clause.history:
        return "contrary"
    only_advice = _ADVICE.search(text) and not re.search(r"\b(?:has|have|is|was|were|been|done|did)\b", text)
    if (clause.hedges and not clause.disowned and not done) or only_advice:
        return ""
    if _LATER.search(text) and not _FUTURE_FINE.search(text) and not _PERFECT.search(text):
        if not (done and telling.search(text) is None):
            return "contrary" if _STILL_OPEN.search(text) else ""
    elif _TRIED.search(text) and not done and not _PERFECT.search(_TRIED.sub(" ", text)):
        return ""
    return "stated"


_STILL_OPEN = re.compile(r"\b(?:still|yet) (?:ha(?:s|ve) )?to\b|\bnot yet\b|\bunsent\b|\bpending\b")
_FIRST_OR_IT = re.compile(r"\b(?:i|it|this|that|we|nothing|none|nobody|no one|neither|nor|not)\b")
_NOUNS = one_of(
    "message messages text question news note delivery entry contact contacts reminder reminders timer timers alert "
    "notification alarm clock minutes address book"
)
_ENDED = re.compile(r"\b(?:stopped|cancell?ed|removed|ended|turned off|deleted|over)\b(?! the old)")
DEEDS = (
    r"sent|texted|messaged|told|informed|notified|invited|let|set|added|saved|stored|created|removed|deleted|erased"
    r"|cleared|cancell?ed|changed|updated|moved|renamed|turned|switched|started|stopped|put|replied|answered|wrote"
    r"|scheduled|rescheduled|reminded|modified|edited|postponed|shifted|corrected|pushed|signed|booked"
)
"""Verbs of deeds, as they are told."""
_PERFECT = re.compile(
    rf"\b(?:i (?:have |just |also |already |then |now |went ahead and )*(?:{DEEDS})"
    rf"|(?:has|have|was|were|is|are) (?:now |already |just |successfully |all )*(?:been )?(?:{DEEDS}|done"
    r"|gone(?! (?:out|through|off|ahead))|delivered|running|off|on))\b"
)
_NOT_THERE = re.compile(
    r"\b(?:no longer|no\b.{1,40}\bany (?:longer|more)|not (?:\w+ )?any ?more|no more|not in your)\b"
)
"""Denies in words, and so tells of a removal."""
_LEFT = re.compile(
    r"\b(?:not|never|nothing|none|no (?:message|text|reminder|contact|one|changes?)|nobody|hold(?:ing)? off|held"
    r" (?:off|back|it|the)|stays?|kept|keep|keeping|leave|leaving|left (?:\w+ (?:in|on|as|there|where)|it"
    r"|everything|the|as|that|your|her|him|them|things|alone)|remains?|unchanged|untouched|unsent|cancelled"
    r"|canceled|still (?:in|there|on)|dropped|refrain\w*|skip\w*|without (?:sending|deleting|removing|texting)"
    r"|aborted|scrapped|will not|alone|intact|discarded)\b"
)
_DID = {
    "send": r"sent|texted|messaged|told|informed|delivered|let|went out|notified",
    "remove": r"removed|deleted|erased|gone|cleared|dropped",
    "add": r"added|saved|stored|created",
    "remind": r"set|added|created|reminded|scheduled",
    "change": r"changed|updated|moved|modified|edited|renamed",
}


def undone(spoken: Spoken, fact: Fact) -> Finding:
    """Whether the message tells that something was left undone."""
    done = re.compile(rf"\b(?:{_DID.get(str(fact.value[0]), _DID['change'])})\b")
    found = missing("does not tell that nothing was done")
    for clause in spoken.clauses:
        text = spoken.unquoted(clause)
        said = spoken.said(clause)
        if clause.asks or clause.supposes or clause.untrue:
            continue
        left = _LEFT.search(text)
        if left and clause.start >= spoken.withdrawn and clause.disowned in ("", "failed"):
            if len(clause.denials) % 2 == 0 and clause.denials:
                found = contrary(f"tells that it was done: {said!r}")
            else:
                found = stated(f"tells that nothing was done: {said!r}")
        elif (
            done.search(text)
            and not clause.denials
            and not _LATER.search(text)
            and re.search(r"\b(?:i|has|have|was|is|are|been)\b|^\W*(?:sent|texted|done|removed|deleted)", text)
        ):
            found = contrary(f"tells that it was done: {said!r}")
        elif left:
            found = contrary(f"takes back that nothing was done: {said!r}")
    return found
