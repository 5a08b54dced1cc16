"""What a message asserts: typed facts, deeds, refusals and written texts, read deterministically and with reasons."""

from sandbox_grader.claims.background import Background
from sandbox_grader.claims.finding import Finding
from sandbox_grader.claims.reader import Hearing, claims, hear, withdraws

__all__ = ["Background", "Finding", "Hearing", "claims", "hear", "withdraws"]
