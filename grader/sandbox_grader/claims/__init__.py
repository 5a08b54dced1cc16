"""Assertions of a message: typed facts, deeds, refusals and written texts, told, not told or in doubt, with reasons.

One message, from its text to a verdict. The user asked how far the harbour is and wanted Rolf to know. Other values are
context; an explicit correction takes one back:

>>> from sandbox_scenarios.facts import facts_of
>>> from sandbox_grader.claims import Background, hear
>>> facts = (*facts_of({"quantity": "4.8 km"}), *facts_of({"deed": "send"}))
>>> message = "It's 4.8 km; the old harbour would have been 9 km. I texted that to Rolf."
>>> [finding.outcome for finding in hear(message, facts).findings]
['stated', 'stated']
>>> [finding.outcome for finding in hear("It's 4.8 km, I think, or rather 5.2 km. I'll text Rolf.", facts).findings]
['contrary', 'missing']

``sandbox_mcp.engine.talk`` reads the language; here it is compared with facts: ``typed`` for values (``equality`` says
which are equal), ``wordings``, ``states``, ``deeds`` and ``refusals``, each by how a place stands (``standing``).
``hear`` asks them all. Claims of deeds are compared with the ``Background``, what was said and done in the session.
"""

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.finding import Finding
from sandbox_grader.claims.reader import Hearing, claims, comes_behind, hear, withdraws

__all__ = ["Background", "Finding", "Hearing", "claims", "comes_behind", "hear", "withdraws"]
