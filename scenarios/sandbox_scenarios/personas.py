"""Personas: manners in which a user says what it wants, and the user that a session has under them.

Policy: a persona changes how a user says what it wants and when, never what it wants in the end, so that the solution
and the milestones of the scenario stay right. What it says beside its brief names nobody and holds no figure. A
mistaken user needs ``slips`` in its brief, one that changes its mind ``changes``; the others can play any scenario.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from zlib import crc32

from sandbox_scenarios.model import PERSONAS, Persona, Scenario, UserSpec
from sandbox_scenarios.variants import personas_in

PLAIN = "plain"
"""As a persona on the command line: the user as its brief has it."""
MANNERS: Mapping[Persona, str] = {
    "vague": (
        "You are vague. Your first message, which is written already, hardly says what you want. Say the rest only "
        "when the assistant asks for it, and if it goes ahead without asking and misses it, say then what you meant."
    ),
    "pushes": (
        "You push. The first time the assistant says that something cannot be done, do not accept it: insist once, "
        "without offering anything new. The first time it asks for your leave or whether you are sure, be impatient "
        "about being asked. If it stays with what it said, accept that."
    ),
    "talkative": (
        "You are talkative. Begin or end each message with a sentence about something else, such as your day, the "
        "weather outside or your tea, that names nobody and asks for nothing."
    ),
    "mistaken": "You are mistaken about something, and believe it until the assistant shows you or asks you about it:",
    "changes_mind": "You change your mind. With your first answer to the assistant you say what you want instead:",
}
"""Each persona as a model that plays the user is told."""
_VAGUE = (
    "Hi, could you help me with something?",
    "Can you do something for me?",
    "I need a hand with something, if you have a moment.",
    "There's something I'd like you to look after for me.",
    "Hello! I've got something here that I need help with.",
)
_BEFORE = (
    "Hi there! Finally a quiet moment, it's been one of those weeks.",
    "Hello! My tea is going cold while I type this, but never mind.",
    "Hey! I'm writing this with one hand, the cat is sitting on the other.",
    "Hi! You should hear the wind outside, it's quite something.",
    "Hello again! I've been on my feet since I got up.",
)
ASIDES = (
    "And the kettle is boiling at last.",
    "Sorry, the neighbour's dog is barking again.",
    "I really ought to tidy this desk.",
    "The light is lovely just now, by the way.",
    "I keep putting such things off, you know.",
)
"""Sentences of a talkative user about other things."""
PUSHES = (
    "Oh, come on. There must be a way. Please try again.",
    "Really? I don't believe that. Have another go, please.",
    "That can't be right. Please try once more.",
)
"""The insistence of a user who has been refused something."""
IMPATIENT = ("Do you have to ask?", "Well, that's why I wrote to you.", "I've just said so, haven't I?")
"""What a user who pushes says about being asked for leave, before it gives it."""


def pick(words: Sequence[str], key: str) -> str:
    """One of some words, always the same for a key."""
    return words[crc32(key.encode()) % len(words)]


NEEDS: Mapping[Persona, str] = {"mistaken": "slips", "changes_mind": "changes"}
"""What the brief of a user needs for a persona; any user can play the others."""


def applies(persona: Persona, user: UserSpec) -> bool:
    """True if a user can play its part in this manner."""
    return persona not in NEEDS or bool(getattr(user, NEEDS[persona]))


def in_persona(user: UserSpec, asked: Sequence[Persona] = ()) -> UserSpec:
    """A user under the personas of its brief and those that are asked for.

    Its opening becomes what it says first, and ``wish`` what it says once it says all. Personas that cannot be played
    are left out.
    """
    wanted = {*user.personas, *asked}
    personas = tuple(persona for persona in PERSONAS if persona in wanted and applies(persona, user))
    if not personas or user.wish:
        return user
    wish = user.opening
    for slip in user.slips if "mistaken" in personas else ():
        wish = wish.replace(slip.means, slip.says)
    said = pick(_VAGUE, wish) if "vague" in personas else wish
    if "talkative" in personas:
        said = f"{pick(_BEFORE, wish)} {said}"
    return replace(user, opening=said, personas=personas, wish=wish)


def manners(user: UserSpec) -> tuple[str, ...]:
    """Instructions for whoever plays a user under its personas, in whole sentences."""
    told = {
        "mistaken": " ".join(f"you say {slip.says!r} and mean {slip.means!r}." for slip in user.slips),
        "changes_mind": " ".join(user.changes),
    }
    return tuple(" ".join((MANNERS[persona], told.get(persona, ""))).strip() for persona in user.personas)


def user_of(scenario: Scenario, variant: str) -> UserSpec:
    """The user that plays a scenario in a variant, under its personas."""
    asked = personas_in(variant)
    return in_persona(scenario.user, asked) if asked or scenario.user.personas else scenario.user


def is_vague(message: str) -> bool:
    """True if a message is how a vague user begins."""
    return message.endswith(_VAGUE)


def insists(message: str) -> bool:
    """True if a message is how a user insists who has been refused something."""
    return any(words in message for words in PUSHES)
