"""The root of every fault that is the caller's to mend: each package has its own tree below it.

Policy: such a fault is told in one line that names the thing and the remedy, never with a stack trace.
"""

from collections.abc import Sequence


class SandboxError(Exception):
    """Something that was given to this project cannot be used; the message says what and what was expected.

    ``more`` are further faults of the same thing that were found with this one, each to be told in a line of its own.
    """

    more: "Sequence[SandboxError]" = ()
