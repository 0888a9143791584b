"""Warp and warpgroup matrix kernels, and their numpy references.

They run on the emulator and, in `tests/hardware`, on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.mma.canonical import CanonicalLayout
from tileas_xdsl.target.mma.register_layouts import REGISTER_LAYOUTS
from tileas_xdsl.target.mma.smem_descriptor import describe


@dataclass(frozen=True)
class MatrixKernel:
    """A kernel: its body, arguments by pointer name, and expected contents."""

    body: str
    names: str
    arguments: list[np.ndarray]
    wanted: dict[int, np.ndarray]
    """Expected final words by argument index."""


DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
    "s32": np.int32,
}


def matrix(element: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Return small random values that every format represents exactly."""
    low = 0 if element == "u8" else -4
    found = rng.integers(low, 5, shape)
    return (found / 2 if element not in ("s8", "u8") else found).astype(DTYPES[element])


@cache
def owners(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return row and column of each (thread, value)."""
    layout = REGISTER_LAYOUTS[name]
    table = np.array([[int(layout.layout((t, v))) for v in range(layout.values)]
                      for t in range(layout.threads)])  # fmt: skip
    return table % layout.tile[0], table // layout.tile[0]


OPERANDS_TO_SHARED = """.shared .align 1024 .b8 box[65536];
    .reg .b64 %m, %da, %db; .reg .pred %p, %q; .reg .b32 %v<4>;
    ld.param.u64 %m, [M]; mov.u32 %s, box; mad.lo.u32 %s, %t, 16, %s;
    mul.wide.u32 %o, %t, 16; add.u64 %m, %m, %o; mov.u32 %r0, 0;
    FILL: ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%m];
    st.shared.v4.b32 [%s], {%v0, %v1, %v2, %v3};
    add.u64 %m, %m, 2048; add.u32 %s, %s, 2048; add.u32 %r0, %r0, 1;
    setp.lt.u32 %q, %r0, 32; @%q bra FILL;
    fence.proxy.async.shared::cta; bar.sync 0;"""
"""128 threads copy 64 KiB from `M`, for the descriptors of a product of a warpgroup."""


def to_registers(values: np.ndarray, name: str) -> np.ndarray:
    """Pack a matrix into the 32-bit registers of its threads (threads, registers)."""
    row, column = owners(name)
    cells = np.ascontiguousarray(values[row, column])
    return cells.view("u8" if values.dtype.itemsize == 8 else "u4")


def load_words(prefix: str, pointer: str, count: int, bits: int = 32) -> str:
    """Return code that loads `count` words of a thread into `%PREFIX0`, ..."""
    lines = [
        f".reg .b{bits} %{prefix}<{count}>; .reg .b64 %p{prefix};",
        f"ld.param.u64 %p{prefix}, [{pointer}];",
        f"mul.wide.u32 %o, %t, {count * bits // 8}; add.u64 %p{prefix}, %p{prefix}, %o;",
    ]
    for i in range(count):
        lines.append(f"ld.global.b{bits} %{prefix}{i}, [%p{prefix}+{i * bits // 8}];")
    return "\n".join(lines)


def store_words(prefix: str, count: int, bits: int = 32) -> str:
    return "\n".join(
        f"st.global.b{bits} [%p{prefix}+{i * bits // 8}], %{prefix}{i};" for i in range(count)
    )


def group(prefix: str, count: int) -> str:
    return "{" + ", ".join(f"%{prefix}{i}" for i in range(count)) + "}"


START = ".reg .b32 %t, %s, %r<4>; .reg .b64 %o; mov.u32 %t, %tid.x;\n"

MMA = [
    ("m16n8k16", "16bit", "f16", "f16", "f32"),
    ("m16n8k16", "16bit", "bf16", "bf16", "f32"),
    ("m16n8k8", "16bit", "f16", "f16", "f32"),
    ("m16n8k16", "16bit", "f16", "f16", "f16"),
    ("m16n8k8", "tf32", "tf32", "tf32", "f32"),
    ("m16n8k4", "tf32", "tf32", "tf32", "f32"),
    ("m16n8k32", "8bit", "s8", "u8", "s32"),
    ("m16n8k16", "8bit", "u8", "s8", "s32"),
    ("m16n8k32", "8bit", "e4m3", "e5m2", "f32"),
    *(
        (shape, "f64", "f64", "f64", "f64")
        for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
    ),
]


def warp_product(
    shape: str, family: str, a: str, b: str, d: str, rng: np.random.Generator
) -> MatrixKernel:
    """Return `mma.sync` of one warp with A, B and C in registers."""
    name = f"mma.{shape}.{family}"
    tiles = {part: REGISTER_LAYOUTS[f"{name}.{part}"].tile for part in "abc"}
    left, right = matrix(a, tiles["a"], rng), matrix(b, tiles["b"], rng)
    added = matrix("s8" if d == "s32" else d, tiles["c"], rng).astype(DTYPES[d])
    words = {
        part: to_registers(m, f"{name}.{part}")
        for part, m in (("a", left), ("b", right), ("c", added))
    }
    bits = words["c"].dtype.itemsize * 8
    counts = {part: w.shape[1] for part, w in words.items()}
    body = START + "".join(
        load_words(part, part.upper(), counts[part], bits) + "\n" for part in "abc"
    )
    vectors = {part: group(part, n) for part, n in counts.items()}
    body += (
        f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d} {vectors['c']}, {vectors['a']}, "
        f"{vectors['b']}, {vectors['c']};\n{store_words('c', counts['c'], bits)} ret;"
    )
    exact = left.astype(np.float64) @ right.astype(np.float64).T + added.astype(np.float64)
    wanted = to_registers(exact.astype(DTYPES[d]), f"{name}.c")
    return MatrixKernel(body, "ABC", [words[part] for part in "abc"], {2: wanted})


def moved_matrices(
    count: int, trans: str, rng: np.random.Generator, form: str = "m8n8 b16"
) -> MatrixKernel:
    """Return `ldmatrix` followed, where the same shape can be stored, by `stmatrix` of one warp."""
    shape, type_ = form.split()
    rows = count * (16 if shape == "m16n16" else 8)
    a = np.zeros((32, 4), np.uint32)
    a[:rows] = rng.integers(0, 1 << 32, (rows, 4), dtype=np.uint32)
    flat = a[:rows].reshape(-1).view(np.uint16 if type_ == "b16" else np.uint8)
    name = "stmatrix" if shape == "m16n8" else "ldmatrix"
    side = "src" if name == "stmatrix" else "dst"
    entry = REGISTER_LAYOUTS[f"{name}.{shape}.x{count}{trans}.{type_}.{side}"]
    table = np.array([[int(entry.layout((t, v))) for v in range(entry.values)] for t in range(32)])
    words = np.ascontiguousarray(flat[table]).view(np.uint32)
    registers = words.shape[1]
    move = f"{shape}.x{count}{trans}.shared.{type_}"
    loads = f"ldmatrix.sync.aligned.{move} {group('b', registers)}, [%s];"
    stores = f"stmatrix.sync.aligned.{move} [%s+512], {group('b', registers)};"
    if name == "stmatrix":
        loads = ""
    if shape == "m16n16":
        stores = "st.shared.v4.b32 [%s+512], {%a0, %a1, %a2, %a3};"
    body = (
        START
        + load_words("a", "A", 4)
        + load_words("b", "B", registers)
        + f"""
    .shared .align 16 .b8 box[1024]; mov.u32 %s, box; mad.lo.u32 %s, %t, 16, %s;
    st.shared.v4.b32 [%s], {group("a", 4)}; bar.sync 0;
    {loads} {stores}
    bar.sync 0; {store_words("b", registers)}
    setp.ge.u32 %q, %t, {rows}; @%q ret; ld.shared.v4.b32 {group("a", 4)}, [%s+512];
    {store_words("a", 4)} ret;
    """
    ).replace("%r<4>", "%r<4>; .reg .pred %q")
    given = words if name == "stmatrix" else np.zeros_like(words)
    return MatrixKernel(body, "AB", [a, given], {0: a, 1: words})


HOPPER = get_target("sm_90a")
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}


def canonical(mode: str, major: str, bits: int, rows: int) -> CanonicalLayout:
    """Return an operand layout of one wgmma instruction with gaps between its core matrices."""
    width = {"none": 1, "32B": 2, "64B": 4, "128B": 8}[mode] * 16
    if major == "k":
        lead, stride = (rows * 16, 128) if mode == "none" else (0, 8 * width)
    else:
        lead, stride = 16 * width, 8 * width
        if mode == "none":
            lead, stride = 4096, 256
    return CanonicalLayout(mode, major, bits, lead, stride, Layout(1, 0))


def placed(values: np.ndarray, layout: CanonicalLayout, size: int) -> np.ndarray:
    """Return shared memory of `size` bytes that contains an operand in the given layout."""
    memory = np.zeros(size, np.uint8)
    item = values.dtype.itemsize
    rows, columns = np.indices(values.shape)
    address = np.asarray(layout.byte_address(rows, columns))
    assert int(address.max()) + item <= size
    assert len(np.unique(address)) == address.size
    for i in range(item):
        memory[address + i] = np.ascontiguousarray(values)[..., None].view(np.uint8)[..., i]
    return memory


def warpgroup_product(
    types: tuple[str, str, str],
    n: int,
    modes: tuple[str, str],
    majors: tuple[str, str],
    rng: np.random.Generator,
    *,
    in_registers: bool = False,
    signs: tuple[int, int] = (1, 1),
) -> MatrixKernel:
    """Return one `wgmma` whose operands have the given swizzle and major modes."""
    d, a, b = types
    bits = BITS[a]
    k = 256 // bits
    left, right = matrix(a, (64, k), rng), matrix(b, (n, k), rng)
    layouts = [canonical(modes[0], majors[0], bits, 64), canonical(modes[1], majors[1], bits, n)]
    memory = np.concatenate([placed(left, layouts[0], 32768), placed(right, layouts[1], 32768)])
    words = [describe(lay, 1024 + 32768 * i, HOPPER).encode() for i, lay in enumerate(layouts)]
    count = n // 4 if d == "f16" else n // 2
    before = matrix("s8" if d == "s32" else d, (64, n), rng).astype(DTYPES[d])
    name = f"wgmma.m64n{n}.d"
    start = to_registers(before, name)
    body = START + load_words("d", "D", count)
    first = "%da, %db"
    if in_registers:
        fragment = to_registers(left, f"wgmma.m64k{k}.{'tf32' if a == 'tf32' else f'{bits}bit'}.a")
        body += load_words("a", "A", 4)
        first = f"{group('a', 4)}, %db"
    else:
        fragment = np.zeros((128, 4), np.uint32)
    trans = ""
    if bits == 16:
        flags = [str(int(m == "mn")) for m in (majors[1:] if in_registers else majors)]
        trans = ", " + ", ".join(flags)
    scales = "" if d == "s32" else f", {signs[0]}, {signs[1]}{trans}"
    body += f"""
    {OPERANDS_TO_SHARED}
    mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]}; setp.eq.u32 %p, %t, %t;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b} {group("d", count)}, {first}, %p{scales};
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    {store_words("d", count)} ret;
    """
    exact = signs[0] * signs[1] * (left.astype(np.float64) @ right.astype(np.float64).T)
    wanted = to_registers((exact + before.astype(np.float64)).astype(DTYPES[d]), name)
    return MatrixKernel(body, "DAM", [start, fragment, memory], {0: wanted})
