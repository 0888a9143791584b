"""A module of `ptx` as PTX text: header, variables, functions, entries with their directives.

The `.version` is the lowest that all instructions need, and not lower than that of the target.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp
from xdsl.ir import Attribute

from tileas_xdsl.backend.ptx.file_names import file_name_in_ptx
from tileas_xdsl.backend.ptx.printer_entry import EntryWriter
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ptx.structure.declarations import FunctionOp, GlobalOp
from tileas_xdsl.dialects.ptx.structure.entries import DIRECTIVES, EntryOp, SharedOp
from tileas_xdsl.dialects.ptx.types import ParamType
from tileas_xdsl.dialects.target_attribute import module_target


def ptx_text(module: ModuleOp, target: str | None = None, *, locations: bool = True) -> str:
    """Return the PTX text of a module for its target.

    With `locations`, `.loc` lines give the source of instructions.  Raises `OpError` for operations
    that are not of `ptx` or that the target does not have.
    """
    arch = module_target(module, target)
    files: dict[str, int] = {}
    variables: list[str] = []
    body: list[str] = []
    version = arch.ptx_version
    for op in module.body.ops:
        match op:
            case SharedOp():
                variables.append(_shared(op))
            case GlobalOp() | FunctionOp():
                variables.append(op.declaration())
            case EntryOp():
                writer = EntryWriter(op, arch, files, locations=locations)
                body += _entry(op, writer)
                version = max(version, writer.version)
            case _:
                raise op_error(
                    op,
                    "is not of a PTX module: entries, variables and functions of ptx",
                )
    header = [f".version {version[0]}.{version[1]}", f".target {arch.name}", ".address_size 64", ""]
    table = [f'.file {number} "{file_name_in_ptx(name)}"' for name, number in files.items()]
    return "\n".join((*header, *variables, *body, *table, ""))


def _shared(op: SharedOp) -> str:
    name, align = op.sym_name.data, op.number("align")
    if op.flag("extern"):
        return f".extern .shared .align {align} .b8 {name}[];"
    return f".shared .align {align} .b8 {name}[{op.number('size')}];"


def _entry(entry: EntryOp, writer: EntryWriter) -> Iterator[str]:
    parameters = ",\n".join(_parameters(entry))
    yield f"\n.visible .entry {entry.sym_name.data}({parameters and chr(10)}{parameters})"
    yield from _directives(entry)
    yield "{"
    yield from writer.write()
    yield "}"


def _parameters(entry: EntryOp) -> Iterator[str]:
    for index, parameter in enumerate(entry.parameters):
        type, name = parameter.type, entry.name_of_parameter(index)
        assert isinstance(type, ParamType)
        align = f" .align {type.align.data}" if type.align.data else ""
        array = f"[{type.count.data}]" if type.count.data > 1 else ""
        yield f"    .param{align} .{type.element.data} {name}{array}"


def _directives(entry: EntryOp) -> Iterator[str]:
    for name in DIRECTIVES:
        if name in entry.properties:
            yield f".{name}{_directive_value(entry.properties[name])}"


def _directive_value(value: Attribute) -> str:
    if isinstance(value, IntegerAttr):
        return f" {value.value.data}"
    if isinstance(value, DenseArrayBase):
        return f" {', '.join(map(str, value.get_values()))}"
    return ""
