"""The hotline: an assistant guides somebody who stands in front of a heating, which the assistant cannot touch.

Policy: what the heating shows is known only from its owner, who also does all that is done at it. The assistant has the
maker's register, manual and bulletins, and orders parts.
"""

from sandbox_mcp.engine.worlds.hotline.world import hotline

__all__ = ["hotline"]
