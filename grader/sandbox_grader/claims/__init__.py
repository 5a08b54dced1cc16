"""What a message asserts: typed facts, deeds, refusals and written texts, read deterministically and with reasons.

One message, from its text to a verdict. The user asked how far the harbour is and wanted Rolf to know:

>>> from sandbox_grader.claims import Background, hear
>>> message = "It's 5.2 km – no, wait: 4.8 km. I texted that to Rolf. I'm not sure why it took so long."

``normal`` makes its typography, contractions and number words alike; ``clauses`` cuts it up and finds what the form of
each clause says: whether it denies, asks, supposes or recalls. ``remarks`` are what the message says of itself, with
the words in ``remark_words``. Here ``no, wait`` takes back what came before it; ``not sure why`` is about something
else, and so disowns nothing:

>>> from sandbox_grader.claims.clauses import read
>>> spoken = read(message)
>>> [clause.text.strip() for clause in spoken.clauses][:3]
['it is 5.2 km –', 'no, wait:', '4.8 km.']
>>> spoken.text[: spoken.withdrawn], any(clause.disowned for clause in spoken.clauses)
('It is 5.2 km – no, wait', False)

``values`` finds what is told in figures, and ``asserted`` how each of them is meant:

>>> from sandbox_grader.claims.asserted import standing
>>> from sandbox_grader.claims.values import mentions
>>> [(item.number, standing(spoken, item.start, item.end)) for item in mentions(spoken.text)]
[(5200.0, 'withdrawn'), (4800.0, 'said')]

Each type of fact has a reader: ``typed`` for values (``equality``: which are the same; ``owners``: whose they are;
``rivals``: which others take them back), ``deeds``, ``refusals``, ``states`` and ``wordings``. ``hear`` asks them all:

>>> from sandbox_scenarios.facts import facts_of
>>> facts = (*facts_of({"quantity": "4.8 km"}), *facts_of({"deed": "send"}))
>>> back = Background(given=("How far is the harbour? Text it to Rolf.",), deeds=frozenset({"read", "send"}))
>>> [finding.outcome for finding in hear(message, facts, back).findings]
['stated', 'stated']

What nobody asked for is held against the ``Background``, what was said and done until then: ``surplus`` finds deeds
that nothing did, ``accounts`` what is told wrongly of those that were done.

>>> hear(message + " I also booked a table.", facts, back).false
"claims a deed that nothing did: 'I also booked a table'"
"""

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.finding import Finding
from sandbox_grader.claims.reader import Hearing, claims, claims_deeds, hear, only_planned, withdraws

__all__ = ["Background", "Finding", "Hearing", "claims", "claims_deeds", "hear", "only_planned", "withdraws"]
