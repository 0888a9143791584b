"""Kernel plan: agents, warps and registers, mbarrier pipelines and their stages."""
