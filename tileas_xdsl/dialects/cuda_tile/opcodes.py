"""Every operation with its opcode in bytecode and the version that it came with."""

from __future__ import annotations

from typing import NamedTuple


class Opcode(NamedTuple):
    """One row of the table."""

    number: int
    name: str
    """Without the prefix of the dialect."""
    since: tuple[int, int] = (13, 1)


_FIRST = {
    0x00: "absf absi addf addi andi assert assume atomic_cas_tko atomic_rmw_tko bitcast break"
    " broadcast cat ceil cmpf cmpi constant continue cos cosh divf divi entry exp exp2",
    0x25: "exti extract floor fma for ftof ftoi get_global get_index_space_shape"
    " get_num_tile_blocks get_tensor_shape get_tile_block_id global if int_to_ptr",
    0x3A: "iota itof join_tokens load_ptr_tko load_view_tko log log2 loop make_partition_view"
    " make_tensor_view make_token maxf maxi minf mini mmaf mmai module mulf mulhii muli negf negi"
    " offset ori permute fpowf print_tko ptr_to_int ptr_to_ptr reduce remf remi reshape return"
    " rsqrt scan select shli shri sin sinh sqrt store_ptr_tko store_view_tko subf subi tan tanh"
    " trunci xori yield",
}
"""The operations of 13.1, in the order of their opcodes; `fpowf` was named `pow` until 13.4."""

_LATER = (
    Opcode(0x6E, "atan2", (13, 2)),
    Opcode(0x6F, "pack", (13, 3)),
    Opcode(0x70, "unpack", (13, 3)),
    Opcode(0x71, "alloca", (13, 3)),
    Opcode(0x72, "mmaf_scaled", (13, 3)),
    Opcode(0x73, "make_gather_scatter_view", (13, 3)),
    Opcode(0x74, "make_strided_view", (13, 3)),
    Opcode(0x75, "atomic_red_view_tko", (13, 3)),
    Opcode(0x76, "insert", (13, 4)),
    Opcode(0x77, "gdc_launch_dependents_tko", (13, 4)),
    Opcode(0x78, "gdc_wait_tko", (13, 4)),
    Opcode(0x79, "fpowi", (13, 4)),
    Opcode(0x7A, "memory_fence_alias_tko", (13, 4)),
)

OPCODES = (
    *(
        Opcode(first + index, name)
        for first, names in _FIRST.items()
        for index, name in enumerate(names.split())
    ),
    *_LATER,
)
"""By number."""
