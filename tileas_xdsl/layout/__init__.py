"""Layout algebra in plain Python and numpy: one class, three views of it.

* closed form: `Layout`, `Swizzle`, `ComposedLayout`, `MemoryLayout` and CuTe's operations;
* table: `table`, `is_injective`, `scatter_inverse`, `recover`, ... (numpy, exact);
* bits: `f2.F2Map`, for power-of-two layouts.

Everything that pycute has is here under the same name; `tileas_xdsl.layout.cute` has just that.
"""

from tileas_xdsl.layout import cute as _cute
from tileas_xdsl.layout.cute import *  # noqa: F403
from tileas_xdsl.layout.errors import CompositionError, LayoutError, LayoutSyntaxError
from tileas_xdsl.layout.memory.elements import ELEMENT_TYPES, ElementType, element_type
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.operations.inverse import Digit, Section, invert
from tileas_xdsl.layout.operations.recovery import recover
from tileas_xdsl.layout.output.text import parse_cute_layout, parse_layout, parse_memory_layout
from tileas_xdsl.layout.registers.register_layout import (
    RegisterLayout,
    register_layout_from_table,
    register_layout_from_tv,
)
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, NO_SWIZZLE
from tileas_xdsl.layout.tables import (
    collision,
    holds,
    image,
    is_injective,
    scatter_inverse,
    table,
)

__all__ = [
    "BYTE_SWIZZLES",
    "ELEMENT_TYPES",
    "NO_SWIZZLE",
    "CompositionError",
    "Digit",
    "ElementType",
    "LayoutError",
    "LayoutSyntaxError",
    "MemoryLayout",
    "RegisterLayout",
    "Section",
    "collision",
    "element_type",
    "holds",
    "image",
    "invert",
    "is_injective",
    "parse_cute_layout",
    "parse_layout",
    "parse_memory_layout",
    "recover",
    "register_layout_from_table",
    "register_layout_from_tv",
    "scatter_inverse",
    "table",
]  # fmt: skip
__all__ += _cute.__all__
