"""The rules of `convert-cudatile-to-tileaa`: by operation class, how it is converted.

`RULES[MyOp] = rule` makes the pass convert a further operation.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.transforms.cudatile_to_tileaa.compute import COMPUTE
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.conversions import CONVERSIONS
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.floats import FLOATS
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.integers import INTEGERS
from tileas_xdsl.transforms.cudatile_to_tileaa.memory.pointers import POINTERS
from tileas_xdsl.transforms.cudatile_to_tileaa.memory.views import VIEWS
from tileas_xdsl.transforms.cudatile_to_tileaa.shapes import SHAPES
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.assumptions import FACTS
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.control_flow import CONTROL_FLOW

RULES: dict[type[Operation], Rule] = {
    **COMPUTE,
    **CONTROL_FLOW,
    **CONVERSIONS,
    **FACTS,
    **FLOATS,
    **INTEGERS,
    **POINTERS,
    **SHAPES,
    **VIEWS,
}
"""By operation class, the rule that replaces it."""
