"""Free play for hosts that a person drives: scenarios are started, played and ended by tools."""
