"""Episodes that have ended, kept as logs, so that a training run can be looked at and graded while it goes on.

Policy: each process appends to a pack of its own. What cannot be kept never stops the training: it is told once.
"""

import logging
import os
from pathlib import Path

from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.trajectory.log import all_lines
from sandbox_mcp.engine.trajectory.packs import PackWriter

logger = logging.getLogger(__name__)


class Rollouts:
    """Keeps every ``every``-th episode in a folder, which ``sandbox-mcp view`` and ``grade`` read."""

    def __init__(self, folder: Path | str, every: int = 1) -> None:
        if every < 1:
            raise ValueError(f"every {every}-th episode cannot be kept; expected 1 or more")
        self.folder = Path(folder)
        self.every = every
        self.seen = 0
        self.kept = 0
        self.lost = 0
        self._pack: PackWriter | None = None
        self._process = 0

    def add(self, trajectory: Trajectory) -> None:
        """Keep the log of an episode, if it is its turn."""
        self.seen += 1
        if (self.seen - 1) % self.every:
            return
        if self._pack is None or self._process != os.getpid():  # a fork writes elsewhere
            self._process = os.getpid()
            self._pack = PackWriter(self.folder, f"rollouts-{self._process}")
        try:
            self._pack.add(f"{self.seen:07}-{trajectory.started.session}", all_lines(trajectory))
        except OSError as error:
            self._pack = None
            if not self.lost:
                logger.error("episodes are not kept in %s: %s", self.folder, error.strerror or error)
            self.lost += 1
        else:
            self.kept += 1

    def close(self) -> None:
        """Finish the pack; an episode that comes later begins another."""
        if self._pack is not None and self._process == os.getpid():
            self._pack.close()
        self._pack = None
