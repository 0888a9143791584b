"""Host code: a module of the `llvm` dialect, compiled in process to a relocatable object.

xDSL translates the dialect to LLVM, except for two things done here: globals whose region computes
their 64-bit words, and indirect calls.  A declaration marked `tileas.calls_first_argument` becomes
a function that calls its first argument with the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import SSAValue

INSTALL = "pip install 'tileas-xdsl[host]'"
"""The command that installs what compiles host code."""

CALLS_FIRST_ARGUMENT = "tileas.calls_first_argument"

NATIVE = "native"
"""The triple of this machine."""


class HostCodeError(Exception):
    """Raised where host code cannot be compiled or loaded; the message gives the reason."""


def llvmlite_module(name: str) -> Any:
    """`llvmlite.ir` or `llvmlite.binding`; `HostCodeError` names the extra if it is missing."""
    if find_spec("llvmlite") is None:
        raise HostCodeError(f"llvmlite was not found; install it with: {INSTALL}")
    return import_module(f"llvmlite.{name}")


def compile_object(module: ModuleOp, triple: str = NATIVE) -> bytes:
    """The relocatable object of a host module, position independent, for a target triple.

    The same module and triple give the same bytes.  Raises `HostCodeError` for a triple that is not
    supported, and where llvmlite is missing.
    """
    binding = llvmlite_module("binding")
    text = llvm_text(module)
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    wanted = binding.get_default_triple() if triple == NATIVE else triple
    try:
        target = binding.Target.from_triple(wanted)
    except RuntimeError as error:
        raise HostCodeError(f"unsupported host architecture '{wanted}': {error}") from error
    machine = target.create_target_machine(opt=2, reloc="pic", codemodel="default")
    parsed = binding.parse_assembly(text)
    parsed.triple = wanted
    parsed.verify()
    return machine.emit_object(parsed)


def llvm_text(module: ModuleOp) -> str:
    """The module as LLVM's own text."""
    llvmlite_module("ir")
    from xdsl.backend.llvm.convert import convert_module

    made: Any = convert_module(module, fallback_target_triple="")
    for op in module.ops:
        if isinstance(op, llvm.GlobalOp):
            _initialise(made, op)
        elif isinstance(op, llvm.FuncOp) and CALLS_FIRST_ARGUMENT in op.attributes:
            _call_first_argument(made, op)
    return str(made)


def _initialise(made: Any, op: llvm.GlobalOp) -> None:
    """Set the initializer of a global; one defined here is not `external` to LLVM."""
    variable = made.get_global(op.sym_name.data)
    if op.body.blocks:
        variable.initializer = _evaluate(made, op)
    if op.alignment is not None:
        variable.align = op.alignment.value.data
    if variable.linkage == "external":
        variable.linkage = ""


def _evaluate(made: Any, op: llvm.GlobalOp) -> Any:
    """Evaluate the region of a global to a constant array of 64-bit words."""
    ir = llvmlite_module("ir")
    word = ir.IntType(64)
    values: dict[SSAValue, Any] = {}
    for inner in op.body.block.ops:
        match inner:
            case llvm.ConstantOp(value=IntegerAttr() as number):
                values[inner.result] = ir.Constant(word, number.value.data)
            case llvm.AddressOfOp():
                name = inner.global_name.root_reference.data
                values[inner.result] = made.get_global(name)
            case llvm.PtrToIntOp():
                values[inner.output] = values[inner.input].ptrtoint(word)
            case llvm.UndefOp():
                values[inner.res] = {}
            case llvm.InsertValueOp():
                values[inner.res] = _with_word(inner, values)
            case llvm.ReturnOp(arg=SSAValue() as result):
                words = values[result]
                return ir.Constant(
                    ir.ArrayType(word, len(words)), [words[i] for i in range(len(words))]
                )
            case _:
                raise HostCodeError(f"'{inner.name}' initialises no global")
    raise HostCodeError(f"@{op.sym_name.data} is initialised by nothing")


def _with_word(op: llvm.InsertValueOp, values: Mapping[SSAValue, Any]) -> Any:
    (position,) = op.position.get_values()
    return {**values[op.container], int(position): values[op.value]}


def _call_first_argument(made: Any, op: llvm.FuncOp) -> None:
    """The body of a function that calls a function by its address."""
    ir = llvmlite_module("ir")
    function = made.get_global(op.sym_name.data)
    target, *others = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    type_ = ir.FunctionType(function.function_type.return_type, [other.type for other in others])
    number = builder.ptrtoint(target, ir.IntType(64))
    called = builder.call(builder.inttoptr(number, type_.as_pointer()), others)
    if isinstance(type_.return_type, ir.VoidType):
        builder.ret_void()
    else:
        builder.ret(called)
