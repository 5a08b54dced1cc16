"""``python -m bench``: every budget in one run. Figures are CPU time; ratios above 1 miss their budget."""

from bench import core
from bench.table import show

show("World, tools, session", core.rows())
