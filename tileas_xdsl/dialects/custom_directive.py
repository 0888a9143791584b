"""`irdl_custom_directive` whose methods are compiled on first use (`data_classes`).

Formats of operations have directives of their own.  A process that compiles a kernel reads no
format of most operations, and `dataclasses` takes a millisecond for each directive.
"""

from __future__ import annotations

from dataclasses import fields
from inspect import get_annotations
from typing import Any, TypeVar

from xdsl.irdl.declarative_assembly_format import CustomDirective

from tileas_xdsl.data_classes import dataclass

DirectiveT = TypeVar("DirectiveT", bound=CustomDirective)


def custom_directive(cls: type[DirectiveT]) -> type[DirectiveT]:
    """Define a directive by its parameters, all of which are directives."""
    made: Any = dataclass(frozen=True)(cls)
    kinds = get_annotations(cls, eval_str=True)
    made.parameters = {field.name: kinds[field.name] for field in fields(made)}
    return made
