"""Comparisons and selections, of integers, floats and NaN."""

import operator

import numpy as np
import pytest
from interpreters.ptx.harness import apply

from tests.interpreters.ptx.instructions.elementwise.test_floats import words
from tests.interpreters.ptx.instructions.elementwise.test_integers import RNG, values

RELATIONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}


@pytest.mark.parametrize("type_", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_relations_of_integers(type_: str) -> None:
    bits = int(type_[1:])
    a, b = values(bits), values(bits)
    a[:20] = b[:20]
    x, y = (v.view(f"{'i' if type_[0] == 's' else 'u'}{bits // 8}") for v in (a, b))
    for name, relation in (RELATIONS | (UNSIGNED if type_[0] == "u" else {})).items():
        text = f"setp.{name}.{type_} {{x}}, {{a}}, {{b}};"
        (found,) = apply(text, [a, b], [bool])
        assert found.tolist() == relation(x, y).tolist()
        (alike,) = apply(text, [a, b], [bool], uniform=True)
        assert alike.tolist() == [relation(int(x[0]), int(y[0]))] * 32


@pytest.mark.parametrize(("name", "dtype"), [("f32", "f4"), ("f64", "f8"), ("f16", "f2")])
def test_relations_of_floats_know_nan(name: str, dtype: str) -> None:
    a, b = words(name), words(name)
    a[:16] = b[:16]
    x, y = a.view(dtype), b.view(dtype)
    ordered = ~np.isnan(x) & ~np.isnan(y)
    for relation, function in RELATIONS.items():
        (found,) = apply(f"setp.{relation}.{name} {{x}}, {{a}}, {{b}};", [a, b], [bool])
        assert found.tolist() == (function(x, y) & ordered).tolist()
        (found,) = apply(f"setp.{relation}u.{name} {{x}}, {{a}}, {{b}};", [a, b], [bool])
        assert found.tolist() == (function(x, y) | ~ordered).tolist()
    (found,) = apply(f"setp.num.{name} {{x}}, {{a}}, {{b}};", [a, b], [bool])
    assert found.tolist() == ordered.tolist()
    (found,) = apply(f"setp.nan.{name} {{x}}, {{a}}, {{b}};", [a, b], [bool])
    assert found.tolist() == (~ordered).tolist()


def test_predicates_are_combined_and_come_in_pairs() -> None:
    a, b = values(32), values(32)
    text = """
    .reg .pred %q; setp.lt.u32 %q, {a}, 1000000000;
    setp.gt.and.u32 {x}|{y}, {a}, {b}, !%q;
    """
    first, second = apply(text, [a, b], [bool, bool])
    third = a >= 1000000000
    assert first.tolist() == ((a > b) & third).tolist()
    assert second.tolist() == (~(a > b) & third).tolist()


def test_set_select_and_test() -> None:
    a, b = values(32), values(32)
    (found,) = apply("set.lt.u32.s32 {x}, {a}, {b};", [a, b], ["u4"])
    less = a.view(np.int32) < b.view(np.int32)
    assert found.tolist() == np.where(less, 0xFFFFFFFF, 0).tolist()
    (found,) = apply("set.ge.f32.u32 {x}, {a}, {b};", [a, b], ["f4"])
    assert found.tolist() == (a >= b).astype(np.float32).tolist()
    text = ".reg .pred %q; setp.ne.u32 %q, {c}, 0; selp.b32 {x}, {a}, {b}, %q;"
    c = RNG.integers(0, 2, len(a), dtype=np.uint32)
    (found,) = apply(text, [a, b, c], ["u4"])
    assert found.tolist() == np.where(c, a, b).tolist()
    (found,) = apply("slct.u32.s32 {x}, {a}, {b}, {c};", [a, b, b], ["u4"])
    assert found.tolist() == np.where(b.view(np.int32) >= 0, a, b).tolist()


def test_kinds_of_floats() -> None:
    a = words("f32")
    x = a.view(np.float32)
    tiny = (np.abs(x) < np.finfo(np.float32).tiny) & (x != 0)
    kinds = {
        "finite": np.isfinite(x),
        "infinite": np.isinf(x),
        "number": ~np.isnan(x),
        "notanumber": np.isnan(x),
        "normal": np.isfinite(x) & (x != 0) & ~tiny,
        "subnormal": tiny,
    }
    for name, wanted in kinds.items():
        (found,) = apply(f"testp.{name}.f32 {{x}}, {{a}};", [a], [bool])
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(("to", "yes"), [("f16x2", 0x3C00), ("u32", 0xFFFF)])
def test_set_of_halves(to: str, yes: int) -> None:
    """Each half is compared by itself: lower, and with NaN the unordered relation holds."""
    a, b = (words("f16", 64) for _ in range(2))
    x, y = a.view(np.float16), b.view(np.float16)
    less = (x < y) | np.isnan(x) | np.isnan(y)
    (found,) = apply(
        f"set.ltu.{to}.f16x2 {{x}}, {{a}}, {{b}};", [a.view("u4"), b.view("u4")], ["u4"]
    )
    assert found.view("u2").tolist() == np.where(less, yes, 0).tolist()
