"""MTU-Bench's metrics: single and multiple tools, single and multiple turns."""

from sandbox_grader.papers.mtu_bench.metric import MtuBench

__all__ = ("MtuBench",)
