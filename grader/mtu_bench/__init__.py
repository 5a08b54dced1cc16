"""MTU-Bench's metrics: single and multiple tools, single and multiple turns."""

from grader.mtu_bench.metric import MtuBench

__all__ = ("MtuBench",)
