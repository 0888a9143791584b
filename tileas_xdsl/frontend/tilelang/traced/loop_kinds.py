"""Kinds of loops of a traced kernel, `tirx.For.kind`."""

from __future__ import annotations

from tileas_xdsl.frontend.tilelang.traced.graph import Node

PARALLEL, VECTORIZED, BOUND = 1, 2, 4
"""0 is serial, 3 unrolled."""


def is_parallel(node: Node) -> bool:
    """Whether a statement is a parallel loop."""
    return node.kind == "tirx.For" and node.number("kind") == PARALLEL
