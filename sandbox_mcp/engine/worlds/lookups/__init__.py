"""Ten worlds in which things are looked up: services whose tools have confusable names and never change anything.

Policy: their rows are data of our own making, kept in files beside the modules and read when first asked for. Each
world is a module of its own, so that whoever plays in one loads nothing of another. Source of the ten subjects and of
how many tools each offers: ToolScan, table 3.
"""
