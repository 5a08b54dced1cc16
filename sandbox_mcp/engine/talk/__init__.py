"""Reading language, once, for simulated users and the grader: text, numbers, clauses, values, deeds, inability.

A message becomes plain text (``text``), its numbers figures (``numbers``), and that clauses with their forms
(``clauses``). ``values`` finds typed values in it, ``deeds`` what it claims to have been done, ``inability`` what
it says cannot be had. Everything is deterministic and linear in the length of the message.

>>> from sandbox_mcp.engine.talk.clauses import read
>>> from sandbox_mcp.engine.talk.deeds import claims_in
>>> talk = read("<think>Rolf first.</think>I've texted **Rolf** that it's plus one, five five five, oh one two oh.")
>>> talk.text
'I have texted Rolf that it is +15550120.'
>>> [(deed.verb, deed.mine) for deed in claims_in(talk)]
[('text', True)]
"""
