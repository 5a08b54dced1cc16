"""Agents that live in a process and an environment of their own, each a script that talks in lines.

Policy: a worker imports its framework and :mod:`lines` beside it, never this package, so that the two need not agree on
the version of anything. None is called like a package it imports, because Python looks beside a script first.
"""
