"""Compound operations: masks, bit operations, constants, rearranged fragments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from tests.backend.ptx.lowering.meanings.meaning import DTYPES, Array, Meaning


def _shifted(op: str, by: int, x: Array) -> Array:
    bits = x if op == "shrsi" else x.view(f"u{x.dtype.itemsize}")
    moved = np.left_shift(bits, by) if op == "shli" else np.right_shift(bits, by)
    return moved.astype(bits.dtype).view(x.dtype)


def _extended_bytes(op: str, element: str, x: Array) -> Array:
    taken = x.reshape(-1, 8)[:, [0, 3, 5, 6]].ravel()
    return (taken if op == "extsi" else taken.view(np.uint8)).astype(DTYPES[element])


FRAGMENTS: Sequence[Meaning] = (
    Meaning(
        "index",
        ("i64", "i64"),
        "i64",
        "%a = arith.index_cast %x0 : i64 to index\n%b = arith.index_cast %x1 : i64 to index\n"
        "%s = arith.addi %a, %b : index\n%r = arith.index_cast %s : index to i64",
        lambda x, y: (x + y).astype(np.int32).astype(np.int64),
        1,
    ),
    Meaning("negf", ("f32",), "f32", "%r = arith.negf %x0 : vector<4xf32>", np.negative),
    Meaning("negf-packed", ("bf16",), "bf16", "%r = arith.negf %x0 : vector<4xbf16>", np.negative),
    Meaning(
        "fma",
        ("f32", "f32", "f32"),
        "f32",
        "%r = math.fma %x0, %x1, %x2 : vector<4xf32>",
        lambda a, b, c: (a.astype("f8") * b.astype("f8") + c.astype("f8")).astype("f4"),
    ),
    Meaning(
        "vector-fma",
        ("f16", "f16", "f16"),
        "f16",
        "%r = vector.fma %x0, %x1, %x2 : vector<4xf16>",
        lambda a, b, c: (a.astype("f8") * b.astype("f8") + c.astype("f8")).astype("f2"),
    ),
    Meaning(
        "select",
        ("i32", "i32"),
        "i32",
        "%c = arith.cmpi slt, %x0, %x1 : i32\n%r = arith.select %c, %x0, %x1 : i32",
        np.minimum,
        1,
    ),
    *(
        Meaning(
            f"select-elements-of-{element}",
            (element, element),
            element,
            "\n".join(
                f"%a{i} = vector.extract %x0[{i}] : {element} from vector<4x{element}>\n"
                f"%b{i} = vector.extract %x1[{i}] : {element} from vector<4x{element}>\n"
                f"%c{i} = arith.cmpf olt, %a{i}, %b{i} : {element}"
                for i in range(4)
            )
            + "\n%m = cute.fragment.make %c0, %c1, %c2, %c3 : i1, i1, i1, i1 -> vector<4xi1>\n"
            f"%r = cute.fragment.select %m, %x0, %x1 : vector<4xi1>, vector<4x{element}>, "
            f"vector<4x{element}> -> vector<4x{element}>",
            lambda x, y: np.where(x < y, x, y),
        )
        for element in ("f32", "bf16")
    ),
    Meaning(
        "select-bits",
        ("i32", "i32"),
        "i32",
        "%z = arith.constant 0 : i32\n%a = arith.cmpi slt, %x0, %z : i32\n"
        "%b = arith.cmpi slt, %x1, %z : i32\n%d = arith.cmpi slt, %x0, %x1 : i32\n"
        "%s = arith.select %d, %a, %b : i1\n%r = arith.extui %s : i1 to i32",
        lambda x, y: np.where(x < y, x < 0, y < 0).astype(np.int32),
        1,
    ),
    Meaning(
        "bits",
        ("i32", "i32"),
        "i32",
        "%z = arith.constant 0 : i32\n%a = arith.cmpi slt, %x0, %z : i32\n"
        "%b = arith.cmpi slt, %x1, %z : i32\n%e = arith.cmpi eq, %a, %b : i1\n"
        "%s = arith.addi %e, %a : i1\n%m = arith.maxsi %s, %b : i1\n"
        "%r = arith.extui %m : i1 to i32",
        lambda x, y: ((((x < 0) == (y < 0)) ^ (x < 0)) & (y < 0)).astype(np.int32),
        1,
    ),
    Meaning(
        "low-bit",
        ("i32",),
        "i32",
        "%b = arith.trunci %x0 : i32 to i1\n%r = arith.extui %b : i1 to i32",
        lambda x: x & 1,
        1,
    ),
    Meaning(
        "constants",
        ("f32",),
        "f32",
        "%c = arith.constant dense<[1.0, -2.5, 0.0, 3.25]> : vector<4xf32>\n"
        "%z = arith.constant dense<-0.0> : vector<4xf32>\n"
        "%s = arith.addf %x0, %c : vector<4xf32>\n%r = arith.addf %s, %z : vector<4xf32>",
        lambda x: x + np.tile(np.float32([1, -2.5, 0, 3.25]), len(x) // 4),
    ),
    Meaning(
        "packed-constants",
        ("bf16",),
        "bf16",
        "%c = arith.constant dense<[1.0, -2.5, 0.0, 3.25]> : vector<4xbf16>\n"
        "%r = arith.mulf %x0, %c : vector<4xbf16>",
        lambda x: (x.astype("f4") * np.tile(np.float32([1, -2.5, 0, 3.25]), len(x) // 4)).astype(
            x.dtype
        ),
    ),
    Meaning(
        "swapped-elements",
        ("f16",),
        "f16",
        "%a = vector.extract %x0[0] : f16 from vector<4xf16>\n"
        "%b = vector.extract %x0[3] : f16 from vector<4xf16>\n"
        "%s = vector.insert %b, %x0[0] : f16 into vector<4xf16>\n"
        "%r = vector.insert %a, %s[3] : f16 into vector<4xf16>",
        lambda x: x.reshape(-1, 4)[:, [3, 1, 2, 0]].ravel(),
    ),
    Meaning(
        "inserted-registers",
        ("f32",),
        "f32",
        "%a = vector.extract %x0[1] : f32 from vector<4xf32>\n"
        "%r = vector.insert %a, %x0[2] : f32 into vector<4xf32>",
        lambda x: x.reshape(-1, 4)[:, [0, 1, 1, 3]].ravel(),
    ),
    Meaning(
        "shuffled-elements",
        ("bf16", "bf16"),
        "bf16",
        "%r = vector.shuffle %x0, %x1 [0, 4, 1, 5] : vector<4xbf16>, vector<4xbf16>",
        lambda x, y: np.stack([x.reshape(-1, 4), y.reshape(-1, 4)], 2)[:, :2].ravel(),
    ),
    Meaning(
        "broadcast",
        ("f16",),
        "f16",
        "%r = vector.broadcast %x0 : f16 to vector<4xf16>",
        lambda x: np.repeat(x, 4),
        1,
        4,
    ),
    Meaning(
        "broadcast-bytes",
        ("i8",),
        "i8",
        "%r = vector.broadcast %x0 : i8 to vector<8xi8>",
        lambda x: np.repeat(x, 8),
        1,
        8,
    ),
    *(
        Meaning(
            f"{op}-of-packed-{element}-by-{by}",
            (element,),
            element,
            f"%c = arith.constant dense<{by}> : vector<4x{element}>\n"
            f"%r = arith.{op} %x0, %c : vector<4x{element}>",
            partial(_shifted, op, by),
        )
        for element, amounts in (("i8", (0, 4, 7)), ("i16", (5, 15)))
        for op in ("shli", "shrui", "shrsi")
        for by in amounts
    ),
    *(
        Meaning(
            f"{op}-of-bytes-of-a-word-to-{element}",
            ("i8",),
            element,
            "\n".join(
                f"%b{i} = vector.extract %x0[{i}] : i8 from vector<8xi8>\n"
                f"%e{i} = arith.{op} %b{i} : i8 to {element}"
                for i in (0, 3, 5, 6)
            )
            + "\n%r = cute.fragment.make %e0, %e3, %e5, %e6 : "
            f"{', '.join([element] * 4)} -> vector<4x{element}>",
            partial(_extended_bytes, op, element),
            8,
            4,
        )
        for op in ("extsi", "extui")
        for element in ("i16", "i32", "i64")
    ),
    Meaning(
        "slices-joined",
        ("f32",),
        "f32",
        "%a = cute.fragment.slice %x0[2] : vector<4xf32> -> vector<2xf32>\n"
        "%b = cute.fragment.slice %x0[0] : vector<4xf32> -> vector<2xf32>\n"
        "%r = cute.fragment.make %a, %b : vector<2xf32>, vector<2xf32> -> vector<4xf32>",
        lambda x: x.reshape(-1, 4)[:, [2, 3, 0, 1]].ravel(),
    ),
    Meaning(
        "slices-across-registers",
        ("f16",),
        "f16",
        "%a = cute.fragment.slice %x0[1] : vector<4xf16> -> vector<2xf16>\n"
        "%b = cute.fragment.slice %x0[3] : vector<4xf16> -> vector<1xf16>\n"
        "%c = vector.extract %x0[0] : f16 from vector<4xf16>\n"
        "%r = cute.fragment.make %c, %b, %a : f16, vector<1xf16>, vector<2xf16> -> vector<4xf16>",
        lambda x: x.reshape(-1, 4)[:, [0, 3, 1, 2]].ravel(),
    ),
    Meaning(
        "bits-of-fragments",
        ("bf16",),
        "i32",
        "%r = vector.bitcast %x0 : vector<4xbf16> to vector<2xi32>",
        lambda x: x.view(np.int32),
        4,
        2,
    ),
)
