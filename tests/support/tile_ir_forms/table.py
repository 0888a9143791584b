"""The forms of all operations, by family; those that the verifier refuses are not forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from tests.support.tile_ir_forms.form import Form, Operand

FLOATS = ("f16", "bf16", "f32", "f64")
ALL_FLOATS = (*FLOATS, "tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN")
INTEGERS = ("i1", "i8", "i16", "i32", "i64")
NUMBERS = (*INTEGERS, *ALL_FLOATS)
ROUNDINGS = ("", "zero", "negative_inf", "positive_inf", "nearest_away", "approx", "full")
SIGNS = ("signed", "unsigned")
FLUSHES = ("", " flush_to_zero")
RELATIONS = (
    "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
    "greater_than_or_equal",
)  # fmt: skip


def _mode(word: str) -> str:
    return f" rounding<{word}>" if word else ""


def _same(
    name: str, count: int, element: str, words: str = "", *, exact: bool = True, span: str = "any"
) -> Form:
    """An operation on tiles of one type."""
    operands = (Operand(element, range=span),) * count
    given = ", ".join(f"@{k}" for k in range(count))
    text = f"@r = {name} {given}{words} : @R"
    return Form(f"{name}{words} {element}", operands, Operand(element), text, exact)


def float_arithmetic() -> Iterator[Form]:
    """Sums, products, quotients, fused products."""
    for element, mode, flush in product(FLOATS, ROUNDINGS, FLUSHES):
        words = _mode(mode) + flush
        for name in ("addf", "subf", "mulf"):
            yield _same(name, 2, element, words)
        exact = mode not in ("approx", "full")
        yield _same("divf", 2, element, words, exact=exact, span="any" if exact else "positive")
        yield _same("fma", 3, element, words)


def float_choices() -> Iterator[Form]:
    """Extremes, remainders, comparisons, signs."""
    for element in FLOATS:
        yield _same("remf", 2, element)
        for name, nan, flush in product(("maxf", "minf"), ("", " propagate_nan"), FLUSHES):
            yield _same(name, 2, element, nan + flush)
        for name in ("absf", "negf", "ceil", "floor"):
            yield _same(name, 1, element)
        for relation, ordering in product(RELATIONS, ("ordered", "unordered")):
            operands = (Operand(element), Operand(element))
            text = f"@r = cmpf {relation} {ordering} @0, @1 : @t0 -> @R"
            yield Form(f"cmpf {relation} {ordering} {element}", operands, Operand("i1"), text)


def functions() -> Iterator[Form]:
    """Functions of one float and of two."""
    for element in FLOATS:
        for name in ("sin", "cos", "tan", "sinh", "cosh", "log", "log2"):
            yield _same(name, 1, element, exact=False, span="positive")
        for name, mode in product(("exp", "tanh"), ("", "approx")):
            yield _same(name, 1, element, _mode(mode), exact=False, span="positive")
        for name, flush in product(("exp2", "rsqrt"), FLUSHES):
            yield _same(name, 1, element, flush, exact=False, span="positive")
        for mode, flush in product(ROUNDINGS, FLUSHES):
            exact = mode != "approx"
            words = _mode(mode) + flush
            yield _same("sqrt", 1, element, words, exact=exact, span="positive")
        yield _same("atan2", 2, element, exact=False)
        yield _same("fpowf", 2, element, exact=False, span="positive")
        for exponent in ("i1", "i8", "i16", "i32"):
            operands = (Operand(element, range="positive"), Operand(exponent, range="small"))
            text = "@r = fpowi @0, @1 : @R, @t1"
            yield Form(f"fpowi {element} {exponent}", operands, Operand(element), text, False)


def integer_arithmetic() -> Iterator[Form]:
    """Integers, bits, comparisons."""
    for element in INTEGERS:
        for name in ("addi", "subi", "muli", "andi", "ori", "xori", "mulhii"):
            yield _same(name, 2, element)
        yield _same("absi", 1, element)
        yield _same("negi", 1, element)
        shifted = (Operand(element), Operand(element, range="shift"))
        if element != "i1":
            yield Form(f"shli {element}", shifted, Operand(element), "@r = shli @0, @1 : @R")
        for sign in SIGNS:
            for name in ("maxi", "mini"):
                yield _same(name, 2, element, f" {sign}")
            if element != "i1":
                text = f"@r = shri @0, @1 {sign} : @R"
                yield Form(f"shri {sign} {element}", shifted, Operand(element), text)
            divided = (Operand(element), Operand(element, range="nonzero"))
            for name, mode in (
                ("remi", ""),
                *(("divi", mode) for mode in ("", "negative_inf", "positive_inf")),
            ):
                text = f"@r = {name} @0, @1 {sign}{_mode(mode)} : @R"
                yield Form(f"{name} {sign}{_mode(mode)} {element}", divided, Operand(element), text)
            for relation in RELATIONS:
                operands = (Operand(element), Operand(element))
                text = f"@r = cmpi {relation} @0, @1, {sign} : @t0 -> @R"
                yield Form(f"cmpi {relation} {sign} {element}", operands, Operand("i1"), text)


def _cast(name: str, source: str, result: str, words: str = "", span: str = "any") -> Form:
    text = f"@r = {name} @0{words} : @t0 -> @R"
    title = f"{name}{words} {source} {result}"
    return Form(title, (Operand(source, range=span),), Operand(result), text)


def casts() -> Iterator[Form]:
    """Numbers of other types."""
    whole = ("i4", *INTEGERS)
    for source, result in product(whole, whole):
        for sign in SIGNS:
            yield _cast("exti", source, result, f" {sign}")
        yield _cast("trunci", source, result)
        yield _cast("bitcast", source, result)
    for source, result in product(ALL_FLOATS, ALL_FLOATS):
        for mode in ROUNDINGS[:5]:
            span = "positive" if result == "f8E8M0FNU" else "any"
            yield _cast("ftof", source, result, _mode(mode), span)
        yield _cast("bitcast", source, result)
    for integer, number, sign in product(INTEGERS, ALL_FLOATS, SIGNS):
        yield _cast("itof", integer, number, f" {sign}", "small" if number[:2] == "f4" else "any")
        for saturating, span in (("", "small"), (" saturating", "any")):
            if integer == "i1" and not saturating:
                continue
            yield _cast("ftoi", number, integer, f" {sign}{saturating}", span)
    for integer, number in product(whole, ALL_FLOATS):
        yield _cast("bitcast", integer, number)
        yield _cast("bitcast", number, integer)


def bytes_of_tiles() -> Iterator[Form]:
    """Tiles as bytes and back."""
    for element in ("i4", *NUMBERS):
        bits = _BITS.get(element, 0)
        if not bits:
            continue
        count = 32 * bits // 8
        packed = Operand("i8", (count,))
        yield Form(f"pack {element}", (Operand(element),), packed, "@r = pack @0 : @t0 -> @R")
        if element == "tf32":
            continue  # Random bytes are none: the last 13 bits of a word are zero.
        yield Form(f"unpack {element}", (packed,), Operand(element), "@r = unpack @0 : @t0 -> @R")


_BITS = {
    "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
    "tf32": 32, "f8E4M3FN": 8, "f8E5M2": 8, "f8E8M0FNU": 8, "f4E2M1FN": 4,
}  # fmt: skip

ORDERS = (
    "weak", "relaxed device", "relaxed sys", "relaxed tl_blk", "acquire device", "release device",
)  # fmt: skip


def pointer_accesses() -> Iterator[Form]:
    """Loads and stores through pointers, in every order."""
    for element, order in product(NUMBERS, ORDERS):
        if element == "f4E2M1FN":
            continue
        memory, value = Operand(element, is_memory=True), Operand(element)
        text = f"@r, @rt = load_ptr_tko {order} @0 : @t0 -> @R, token"
        yield Form(f"load_ptr {order} {element}", (memory,), value, text)
        text = f"@r = store_ptr_tko {order} @0, @1 : @t0, @t1 -> token"
        yield Form(f"store_ptr {order} {element}", (memory, value), None, text)


def updates() -> Iterator[Form]:
    """Atomic updates through pointers."""
    modes = ("and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg")
    orders = ("relaxed device", "acquire device", "release sys", "acq_rel tl_blk")
    for element, mode, order in product(NUMBERS, modes, orders):
        if order != orders[0] and (element, mode) not in (("i32", "add"), ("f32", "xchg")):
            continue
        memory, value = Operand(element, is_memory=True), Operand(element, range="positive")
        if element == "f4E2M1FN":
            continue
        text = f"@r, @rt = atomic_rmw_tko {order} @0, {mode}, @1 : @t0, @t1 -> @R, token"
        yield Form(f"atomic_rmw {order} {mode} {element}", (memory, value), value, text)
    for element, order in product(NUMBERS, orders):
        memory, value = Operand(element, is_memory=True), Operand(element)
        if element == "f4E2M1FN":
            continue
        text = f"@r, @rt = atomic_cas_tko {order} @0, @1, @2 : @t0, @t1 -> @R, token"
        yield Form(f"atomic_cas {order} {element}", (memory, value, value), value, text)


ARRAY = "tensor_view<6x24x{0}, strides=[24,1]>"
VIEWS = {
    "partition": "partition_view<tile=(4x8){1}, {2}>",
    "transposed": "partition_view<tile=(8x4){1}, {2}, dim_map=[1, 0]>",
    "overlapping": "strided_view<tile=(4x8), traversal_strides=[1,4]{1}, {2}>",
    "apart": "strided_view<tile=(2x4), traversal_strides=[3,8]{1}, {2}>",
}


def _view(kind: str, element: str, padding: str = "") -> tuple[str, str, Operand]:
    """Lines that make a view and indices of a tile that is partly out of bounds; type, tile."""
    array = ARRAY.format(element)
    padded = f", padding_value = {padding}" if padding else ""
    type_ = VIEWS[kind].format(element, padded, array)
    name = "make_strided_view" if type_.startswith("strided") else "make_partition_view"
    lines = (
        f"@ra = make_tensor_view @0, shape = [6, 24], strides = [24, 1] : {array}\n    "
        f"@rv = {name} @ra : {type_}\n    "
        "@ri = constant <i32: 1> : tile<i32>\n    "
    )
    shape = {"transposed": (8, 4), "apart": (2, 4)}.get(kind, (4, 8))
    return lines, type_, Operand(element, shape)


def view_accesses() -> Iterator[Form]:
    """Loads, stores and updates of tiles of views, in every order."""
    for element, kind in product(NUMBERS, VIEWS):
        if element == "f4E2M1FN":
            continue
        array = Operand(element, (6, 24), is_array=True)
        paddings = ("zero", "neg_zero", "nan", "pos_inf", "neg_inf")
        for padding, order in [*product(paddings, ORDERS[:1]), *product(["zero"], ORDERS[1:])]:
            lines, type_, tile = _view(kind, element, padding)
            words = f"{order} @rv[@ri, @ri] : {type_}, tile<i32>"
            text = f"{lines}@r, @rt = load_view_tko {words} -> @R, token"
            yield Form(f"load_view {kind} {padding} {order} {element}", (array,), tile, text)
        for order in ORDERS:
            lines, type_, tile = _view(kind, element)
            words = f"{order} @1, @rv[@ri, @ri] : @t1, {type_}, tile<i32>"
            text = f"{lines}@r = store_view_tko {words} -> token"
            yield Form(f"store_view {kind} {order} {element}", (array, tile), None, text)
        for mode in ("add", "addf", "and", "or", "xor", "max", "min", "umax", "umin"):
            lines, type_, tile = _view(kind, element)
            array = Operand(element, (6, 24), "positive", is_array=True)
            value = Operand(element, tile.shape, "positive")
            words = f"relaxed device @rv[@ri, @ri], {mode}, @1 : @t1, {type_}, tile<i32>"
            text = f"{lines}@r = atomic_red_view_tko {words} -> token"
            yield Form(f"red_view {kind} {mode} {element}", (array, value), None, text)


def shapes() -> Iterator[Form]:
    """Tiles of other shapes, their parts, and choices."""
    for element in (*NUMBERS, "i4"):
        tile, flat, half = Operand(element, (4, 8)), Operand(element), Operand(element, (4, 4))
        corner = (
            "%c@r = constant <i32: 1> : tile<i32>\n    %d@r = constant <i32: 1> : tile<i32>\n    "
        )
        corner = corner.replace("%c@r", "@rc").replace("%d@r", "@rd")
        yield Form(f"reshape {element}", (flat,), tile, "@r = reshape @0 : @t0 -> @R")
        turned = Operand(element, (8, 4))
        yield Form(f"permute {element}", (tile,), turned, "@r = permute @0 [1, 0] : @t0 -> @R")
        text = "@r = cat @0, @1 dim = 1 : @t0, @t1 -> @R"
        yield Form(f"cat {element}", (half, half), tile, text)
        text = f"{corner}@r = extract @0[@rc, @rd] : @t0 -> @R"
        yield Form(f"extract {element}", (tile,), Operand(element, (2, 4)), text)
        text = f"{corner}@r = insert @1, @0[@rc, @rd] : @t1, @t0"
        yield Form(f"insert {element}", (tile, Operand(element, (2, 4))), tile, text)
        chosen = (Operand("i1"), flat, flat)
        yield Form(f"select {element}", chosen, flat, "@r = select @0, @1, @2 : @t0, @R")
        row = Operand(element, (1, 8))
        yield Form(f"broadcast {element}", (row,), tile, "@r = broadcast @0 : @t0 -> @R")
        yield Form(f"iota {element}", (), flat, "@r = iota : @R")


_COMBINED = {
    "addf": ("0.0", "", False), "mulf": ("1.0", "", False), "maxf": ("0xINF", "", True),
    "addi": ("0", "", True), "muli": ("1", "", True), "andi": ("-1", "", True),
    "xori": ("0", "", True), "maxi": ("0", " unsigned", True), "mini": ("-1", " unsigned", True),
}  # fmt: skip
_LOWEST = {
    "f16": "0xFC00",
    "bf16": "0xFF80",
    "f32": "0xFF800000",
    "f64": "0xFFF0000000000000",
}


def combinations() -> Iterator[Form]:
    """Reductions and scans."""
    for name, (identity, words, exact) in _COMBINED.items():
        for element in FLOATS if name[-1] == "f" else INTEGERS:
            start = _LOWEST[element] if identity == "0xINF" else identity
            if element == "i1":
                start = "true" if start in ("1", "-1") else "false"
            scalar = f"tile<{element}>"
            body = (
                f"(@ra: {scalar}, @rb: {scalar}) {{ @rc = {name} @ra, @rb{words} : {scalar}\n"
                f"    yield @rc : {scalar} }}"
            )
            source, span = Operand(element, (4, 8), "positive"), f"identities=[{start} : {element}]"
            if element == "i1":
                span = f"identities=[{start}]"
            text = f"@r = reduce @0 dim=1 {span} : @t0 -> @R {body}"
            yield Form(f"reduce {name} {element}", (source,), Operand(element, (4,)), text, exact)
            for reverse in ("false", "true"):
                text = f"@r = scan @0 dim=1 reverse={reverse} {span} : @t0 -> @R {body}"
                result = Operand(element, (4, 8))
                yield Form(f"scan {reverse} {name} {element}", (source,), result, text, exact)


def products() -> Iterator[Form]:
    """Products of matrices, plain, scaled, and of bytes."""
    for element, acc in product((*ALL_FLOATS,), ("f16", "f32", "f64")):
        for fast, n in product(("", " fast_acc"), (16, 64)):
            a, b = Operand(element, (n, 32), "positive"), Operand(element, (32, n), "positive")
            c = Operand(acc, (n, n), "positive")
            text = f"@r = mmaf @0, @1, @2{fast} : @t0, @t1, @R"
            yield Form(f"mmaf{fast} {n} {element} {acc}", (a, b, c), c, text, False)
    for left, right, n in product(SIGNS, SIGNS, (16, 64)):
        a, b, c = Operand("i8", (n, 32)), Operand("i8", (32, n)), Operand("i32", (n, n))
        text = f"@r = mmai @0, @1, @2 {left} {right} : @t0, @t1, @R"
        yield Form(f"mmai {n} {left} {right}", (a, b, c), c, text)
    scaled = product(
        ("f8E4M3FN", "f8E5M2", "f4E2M1FN"), ("f8E8M0FNU", "f8E4M3FN"), (16, 32), (32, 128)
    )
    for element, scale, block, n in scaled:
        k = 128
        a, b = Operand(element, (n, k), "positive"), Operand(element, (k, n), "positive")
        s, t = (
            Operand(scale, (n, k // block), "positive"),
            Operand(scale, (k // block, n), "positive"),
        )
        c = Operand("f32", (n, n), "positive")
        text = "@r = mmaf_scaled @0, @1, @2, @3, @4 : @t0, @t1, @R, @t3, @t4"
        yield Form(f"mmaf_scaled {n} {element} {scale} {block}", (a, b, c, s, t), c, text, False)


FAMILIES: Mapping[str, Callable[[], Iterator[Form]]] = {
    function.__name__: function
    for function in (
        float_arithmetic, float_choices, functions, integer_arithmetic, casts, bytes_of_tiles,
        pointer_accesses, view_accesses, updates, shapes, combinations, products,
    )
}  # fmt: skip
