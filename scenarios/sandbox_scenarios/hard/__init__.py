"""Generators of the hard tier's families: each makes a scenario of a draw and sizes, and works out its answer itself.

Policy: what an answer depends on can be found by looking, and no page says all of it. Every trap that a family sets is
set in every instance, so that instances are alike hard, and the answer is the only one.
"""
