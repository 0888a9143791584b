"""The tables that a host object exports to a launcher, and its two printing callbacks.

The names, sizes and linkages of the tables are those of the callback interface; what the words of a
kernel's table, of its description and of the slot of hooks are is ours, below.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.backend.host import CALLS_FIRST_ARGUMENT
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.transforms.host_tma.encoder import ENCODER, SIGNATURE
from tileas_xdsl.transforms.host_tma.llvm_builder import (
    POINTER,
    Words,
    declaration,
    function,
    text,
    word_table,
)

CALLBACKS = "__CUDA_TILEIR_CALLBACKS"
FUNC_CALLBACKS = "__CUDA_TILEIR_FUNC_CALLBACKS"
HOOKS = "__CUDA_TILEIR_CALLBACKS_ON_PRE_LOAD"
ON_PRE_LOAD = "__CUDA_TILEIR_ON_PRE_LOAD"
ON_ARGUMENTS_CHANGE = "__CUDA_TILEIR_FUNC_ON_ARGUMENTS_CHANGE"

SM_NUM_FORMAT = message("host_tma.callback.sm_num")
DESC_FORMAT = message("host_tma.callback.descriptor")
"""Lines for whoever watches a launch; the second has the first half of the half of a map."""

REVISION = 64

CALLBACK_WORDS, FUNC_CALLBACK_WORDS, HOOK_WORDS, DESCRIPTION_WORDS = 9, 8, 7, 11

PRE_LOAD_HOOK, ENCODER_HOOK = 0, 1
"""Words of the slot that a launcher fills: a hook, and the encoder of tensor maps of the driver."""

_INIT, _NOTHING, _SM_NUM, _DESC = (
    "__tileas_init",
    "__tileas_nothing",
    "__tileas_sm_num",
    "__tileas_desc_tma512",
)
_CALL_HOOK, _CALL_ENCODER = "__tileas_call_hook", "__tileas_call_encoder"
ENCODE = "__tileas_encode"
"""Encodes by the driver where a launcher has given its encoder, else by the code in the object."""


@dataclass(frozen=True)
class KernelTable:
    """What the tables of a kernel say."""

    name: str
    suffix: str
    """Of the symbols, where an object has several kernels."""
    parameters: int
    device: int
    host: int
    extended_smem: bool


def common() -> list[Operation]:
    """State that all kernels of an object share."""
    hooks = word_table(HOOKS, [0] * HOOK_WORDS, constant=False, linkage="weak")
    return [
        text("__tileas_sm_num_format", f"{SM_NUM_FORMAT}\n"),
        text("__tileas_desc_format", f"{DESC_FORMAT}\n"),
        declaration("printf", [POINTER], i32, variadic=True),
        _by_address(_CALL_HOOK, [POINTER, POINTER, i64, POINTER], None),
        _by_address(_CALL_ENCODER, [POINTER, *SIGNATURE], i32),
        hooks,
        word_table(CALLBACKS, [_INIT, _NOTHING, _NOTHING, _NOTHING, REVISION, 0, 1, 1, 0]),
        _on_pre_load(),
        _nothing(),
        _description_line(),
        _encode(),
    ]


def _by_address(name: str, inputs: Sequence[Attribute], output: Attribute | None) -> llvm.FuncOp:
    made = declaration(name, inputs, output, variadic=False)
    made.attributes[CALLS_FIRST_ARGUMENT] = UnitAttr()
    return made


def of_kernel(table: KernelTable) -> list[Operation]:
    """The tables and callbacks of one kernel; the encoding of its descriptors is apart."""
    suffix = table.suffix
    name, options = f"__tileas_name{suffix}", f"__tileas_options{suffix}"
    flag = str(table.extended_smem).lower()
    arena = table.device * SIZE
    numbers = [REVISION, name, table.parameters, table.device, table.host, SIZE, arena]
    description = [*numbers, int(table.extended_smem), options, 0, 0]
    assert len(description) == DESCRIPTION_WORDS
    callbacks = [name, f"{ON_ARGUMENTS_CHANGE}{suffix}", f"{_SM_NUM}{suffix}", _DESC]
    return [
        text(name, table.name),
        text(options, f"--enable-extended-smem={flag}"),
        word_table(f"__tileas_description{suffix}", description, linkage="internal"),
        _sm_num(table),
        word_table(
            f"{FUNC_CALLBACKS}{suffix}",
            [
                *callbacks,
                table.device,
                table.host,
                table.parameters,
                f"__tileas_description{suffix}",
            ],
        ),
    ]


def initialisation(tables: Sequence[KernelTable]) -> llvm.FuncOp:
    """`init(sm, arena)`: tell the hook of a launcher of each kernel, if there is a hook."""
    made, code = function(_INIT, [i64, POINTER], None, ["sm", "arena"])
    sm, arena = made.body.block.args
    hook = code.load(code.address(HOOKS), PRE_LOAD_HOOK)
    then, end = Block(), Block()
    made.body.add_block(then)
    made.body.add_block(end)
    code.effect(llvm.CondBrOp(code.compare("ne", hook, 0), then, [], end, []))
    message = Words(then)
    for table in tables:
        description = message.address(f"__tileas_description{table.suffix}")
        message.call(_CALL_HOOK, [message.pointer(hook), description, sm, arena])
    message.effect(llvm.BrOp(end))
    Words(end).ret()
    return made


def _on_pre_load() -> llvm.FuncOp:
    """The slot that a launcher fills, when the object is loaded."""
    made, code = function(ON_PRE_LOAD, [], POINTER)
    code.ret(code.address(HOOKS))
    return made


def _nothing() -> llvm.FuncOp:
    made, code = function(_NOTHING, [])
    code.ret()
    return made


def _sm_num(table: KernelTable) -> llvm.FuncOp:
    """`bytes(sm)`: how much memory for descriptors each block needs, told in a line."""
    made, code = function(f"{_SM_NUM}{table.suffix}", [i64], i64, ["sm"])
    size = code.const(table.device * SIZE)
    _print(code, "__tileas_sm_num_format", [made.body.block.args[0], size])
    code.ret(size)
    return made


def _description_line() -> llvm.FuncOp:
    """`desc(map)`: the first four words of a tensor map, told in a line."""
    made, code = function(_DESC, [POINTER], None, ["map"])
    words = [code.load(made.body.block.args[0], i) for i in range(4)]
    _print(code, "__tileas_desc_format", words)
    code.ret()
    return made


def _print(code: Words, format_: str, values: Sequence[SSAValue]) -> None:
    code.effect(
        llvm.CallOp(
            "printf", code.address(format_), *values, return_type=i32, variadic_args=len(values)
        )
    )


def _encode() -> llvm.FuncOp:
    made, code = function(ENCODE, SIGNATURE, i32)
    arguments = made.body.block.args
    driver = code.load(code.address(HOOKS), ENCODER_HOOK)
    own, other = Block(), Block()
    made.body.add_block(own)
    made.body.add_block(other)
    code.effect(llvm.CondBrOp(code.compare("ne", driver, 0), other, [], own, []))
    for block, callee, first in ((own, ENCODER, None), (other, _CALL_ENCODER, driver)):
        inner = Words(block)
        target = [] if first is None else [inner.pointer(first)]
        inner.ret(inner.call(callee, [*target, *arguments], i32))
    return made
