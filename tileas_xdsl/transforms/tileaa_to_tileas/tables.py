"""All rules."""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.transforms.tileaa_to_tileas.compute import COMPUTE
from tileas_xdsl.transforms.tileaa_to_tileas.elements import ELEMENTS
from tileas_xdsl.transforms.tileaa_to_tileas.memory import MEMORY
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Rule
from tileas_xdsl.transforms.tileaa_to_tileas.shapes import SHAPES

RULES: dict[type[Operation], Rule] = {**COMPUTE, **ELEMENTS, **MEMORY, **SHAPES}
"""By operation, what takes its place."""
