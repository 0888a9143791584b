"""`--arg`: specifications, files, and how they match the parameters of a kernel."""

from __future__ import annotations

import io
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.ir import parse
from tileas_xdsl.interpreters.tile.arguments import Parameter, parameters_of
from tileas_xdsl.interpreters.tile.launch import find_kernel
from tileas_xdsl.tools.inputs.arguments import (
    ELEMENTS,
    ArraySpec,
    BindingError,
    SpecError,
    Value,
    bind_arguments,
    parse_spec,
)
from tileas_xdsl.tools.inputs.array_files import ArrayFileError, Drafts, read_array


def parameters(*types: str) -> list[Parameter]:
    args = ", ".join(f"%{'abcdefgh'[n]}: {type_}" for n, type_ in enumerate(types))
    module = parse(f"func.func @kernel({args}) {{\n  func.return\n}}")
    return list(parameters_of(find_kernel(module, None)))


def bind(text: str, type_: str, position: int = 0) -> Value:
    """The value of one argument; those before it are ones."""
    before = ["f32:1:ones"] * position
    types = [*["memref<?xf32>"] * position, type_]
    specs = [parse_spec(spec) for spec in (*before, text)]
    return bind_arguments(specs, parameters(*types))[position]


def array(text: str, type_: str, position: int = 0) -> np.ndarray:
    value = bind(text, type_, position)
    assert isinstance(value, np.ndarray)
    return value


STORED = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "tf32": np.float32,
    "i1": np.bool_,
    "i4": np.int8,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}
INTEGERS = [name for name, dtype in STORED.items() if np.dtype(dtype).kind in "bi"]
FLOATS = [name for name in STORED if name not in INTEGERS and name != "f8E8M0FNU"]


# New arrays.


def test_every_element_type_is_known() -> None:
    assert len(ELEMENTS) == len(STORED)
    assert {str(element) for element in ELEMENTS.values()} == set(STORED)


@pytest.mark.parametrize("name", STORED)
def test_random_arrays_are_of_their_type_and_vary(name: str) -> None:
    found = array(f"{name}:40x30:random", f"memref<?x?x{name}>")
    assert (found.dtype, found.shape) == (np.dtype(STORED[name]), (40, 30))
    values = found.astype(np.float64)
    kinds = np.unique(values)
    assert len(kinds) >= {"i1": 2, "f4E2M1FN": 5, "f8E8M0FNU": 9}.get(name, 10)
    if name in FLOATS:
        assert -1 <= values.min() < -0.9
        assert 0.9 < values.max() <= 1
        assert abs(values.mean()) < 0.1


@pytest.mark.parametrize(("name", "bits"), [("i4", 4), ("i8", 8), ("i16", 16), ("i32", 32)])
def test_random_integers_are_of_all_sizes(name: str, bits: int) -> None:
    values = array(f"{name}:5000:random", f"memref<?x{name}>").astype(np.int64)
    limit = 1 << (bits - 1)
    assert -limit <= values.min() < -0.98 * limit + 1
    assert 0.98 * limit - 2 < values.max() < limit


def test_random_indices_are_indices() -> None:
    values = array("index:1000:random", "memref<?xindex>")
    assert values.min() >= 0
    assert 2**30 < values.max() < 2**31


def test_scales_are_powers_of_two() -> None:
    values = array("ue8m0:1000:random", "memref<?xf8E8M0FNU>").astype(np.float64)
    assert set(np.log2(values)) == set(range(-4, 5))
    assert array("ue8m0:4:ones", "memref<?xf8E8M0FNU>").astype(np.float64).tolist() == [1.0] * 4


def test_numbers_choose_the_random_array() -> None:
    first, again, other = (array(f"f32:64:random{n}", "memref<?xf32>") for n in (":7", ":7", ":8"))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_without_a_number_every_argument_gets_other_values() -> None:
    zeroth, third = (array("f32:64:random", "memref<?xf32>", position) for position in (0, 3))
    assert not np.array_equal(zeroth, third)
    np.testing.assert_array_equal(third, array("f32:64:random:3", "memref<?xf32>"))


@pytest.mark.parametrize("name", FLOATS)
def test_normal_numbers_spread(name: str) -> None:
    values = array(f"{name}:4000:normal", f"memref<?x{name}>").astype(np.float64)
    assert abs(values.mean()) < 0.1
    assert 0.9 < values.std() < 1.1
    assert np.abs(values).max() > 2.5


@pytest.mark.parametrize("name", ["f32", "bf16", "i32", "i8", "i1", "index"])
def test_iota_counts_row_by_row_in_its_type(name: str) -> None:
    found = array(f"{name}:3x100:iota", f"memref<3x100x{name}>")
    exact = np.arange(300).reshape(3, 100)
    wraps = {"i8": (exact + 128) % 256 - 128, "i1": exact % 2 == 1}
    np.testing.assert_array_equal(found, wraps.get(name, exact.astype(STORED[name])))


def test_tf32_has_ten_bits_of_mantissa() -> None:
    found = array("tf32:100:random", "memref<?xtf32>")
    assert not np.any(found.view(np.uint32) & 0x1FFF)
    assert np.any(found.view(np.uint32) & 0x2000)


@pytest.mark.parametrize(("fill", "value"), [("zeros", 0), ("ones", 1)])
@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_constant_arrays(name: str, fill: str, value: int) -> None:
    found = array(f"{name}:2x3:{fill}", f"memref<2x3x{name}>")
    assert (found.dtype, found.shape) == (np.dtype(STORED[name]), (2, 3))
    assert np.unique(found.astype(np.float64)).tolist() == [value]


def test_arrays_of_rank_0_and_without_elements() -> None:
    assert array("f32::ones", "memref<f32>").shape == ()
    assert array("f32:0x4:random", "memref<?x4xf32>").shape == (0, 4)


@pytest.mark.parametrize("alias", ["f8E4M3FN", "f8e4m3fn", "e4m3", "E4M3", "f8e4m3"])
def test_elements_have_several_names(alias: str) -> None:
    meaning = parse_spec(f"{alias}:4:random").meaning
    assert isinstance(meaning, ArraySpec)
    assert str(meaning.element) == "f8E4M3FN"


# Scalars.


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("i32:128", "i32", 128),
        ("i32:-5", "i32", -5),
        ("i32:+5", "i32", 5),
        ("i32:0x10", "i32", 16),
        ("i32:0xffffffff", "i32", -1),
        ("i32:4294967295", "i32", -1),
        ("i8:200", "i8", -56),
        ("i64:-9223372036854775808", "i64", -(2**63)),
        ("index:5", "index", 5),
        ("i1:true", "i1", True),
        ("i1:False", "i1", False),
        ("i1:1", "i1", True),
        ("f32:0.5", "f32", 0.5),
        ("f32:-1e-3", "f32", np.float32(-1e-3)),
        ("f16:0.1", "f16", np.float16(0.1)),
        ("f32:inf", "f32", np.inf),
        ("e4m3:1000", "f8E4M3FN", 448.0),
        ("tf32:1.00048828125", "tf32", 1.0),
    ],
)
def test_scalars(text: str, type_: str, value: float) -> None:
    found = bind(text, type_)
    assert found == value
    if isinstance(value, bool | int):
        assert type(found) is type(value)
    else:
        assert np.asarray(found).dtype == STORED[type_]


def test_not_a_number_is_a_number() -> None:
    assert np.isnan(bind("f32:nan", "f32"))


WRONG_TEXTS = [
    ("", "'' is no argument: that is @file.npy"),
    ("f16", "'f16' is no argument"),
    ("f16:1:2:3:4", "'f16:1:2:3:4' is no argument"),
    ("@", "the name of the file is empty"),
    ("qux:4:ones", "unknown element type 'qux'; known: f16, bf16"),
    ("half:4:ones", "unknown element type 'half'; did you mean f16?"),
    ("Float16:4:ones", "unknown element type 'Float16'; did you mean f16?"),
    ("flaot8_e4m3fn:4:ones", "unknown element type 'flaot8_e4m3fn'; did you mean f8e4m3"),
    ("f8e4m:4:ones", "unknown element type 'f8e4m'; did you mean f8e4m3"),
    ("nvfp4:4:ones", "unknown element type 'nvfp4'"),
    ("f32:4:rand", "unknown fill 'rand'; did you mean random?"),
    ("f32:4:any", "unknown fill 'any'; known: random, normal, zeros, ones, iota"),
    ("f32:4:", "unknown fill ''"),
    ("f32:4,4:ones", "'4,4' are no extents: that is 128x64"),
    ("f32:4x:ones", "'4x' are no extents"),
    ("f32:-4:ones", "'-4' are no extents"),
    ("f32:٤:ones", "are no extents"),
    ("f32:99999x99999:ones", "an array of 99999x99999 elements is larger than 268435456"),
    (f"f32:{'9' * 5000}:ones", "are no extents"),
    ("f32:4:zeros:1", "'zeros' takes no number, only random and normal do"),
    ("f32:4:random:x", "'x' is no number for 'random'"),
    ("f32:4:random:-1", "'-1' is no number for 'random'"),
    ("i32:4:normal", "'normal' fills floats, i32 are integers"),
    ("ue8m0:4:zeros", "'zeros' does not fit f8E8M0FNU: it holds nothing but powers of two"),
    ("i32:0.5", "'0.5' is no value of i32: that is an integer"),
    ("i32:", "'' is no value of i32"),
    ("f16:64x64", "an array has a fill: f16:64x64:random, normal, iota, zeros or ones"),
    ("i32:1_000", "'1_000' is no value of i32"),
    (f"i32:{'9' * 5000}", "is no value of i32: that is an integer"),
    ("i8:256", "256 is no value of i8: they go from -128 to 255"),
    ("i8:-129", "-129 is no value of i8"),
    ("i1:maybe", "'maybe' is no value of i1: that is true or false"),
    ("f32:half", "'half' is no value of f32: that is 0.5"),
    ("f32:1_0", "'1_0' is no value of f32"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_TEXTS)
def test_wrong_texts_are_told_why(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.one_of(st.text(max_size=20), st.text(alphabet="fi1632:x@radom.e4m3-", max_size=20)))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        assert parse_spec(text).text == text
    except SpecError as error:
        assert str(error)


# Values and parameters.


@pytest.mark.parametrize(
    ("texts", "types", "message"),
    [
        ([], ["i32"], "the kernel takes 1 argument (%a: i32), but 0 are given"),
        (["i32:1"], [], "the kernel takes 0 arguments, but 1 is given"),
        (
            ["i32:1"],
            ["i32", "memref<?xf32>"],
            "takes 2 arguments (%a: i32, %b: memref<?xf32>), but 1 is given",
        ),
        (
            ["i32:1", "f32:4:ones"],
            ["i32", "f32"],
            "argument 1, 'f32:4:ones', is an array, but the kernel takes %b: f32",
        ),
        (
            ["f32:4"],
            ["memref<4xf32>"],
            "'f32:4', is a scalar, but the kernel takes %a:",
        ),
        (
            ["i64:4"],
            ["i32"],
            "'i64:4', has elements of i64, but the kernel takes %a: i32",
        ),
        (
            ["i4:2:ones"],
            ["memref<2xi8>"],
            "has elements of i4, but the kernel takes %a: memref",
        ),
        (["f16:2:ones"], ["memref<2xbf16>"], "has elements of f16, but the kernel takes %a:"),
        (
            ["f16:4x4:ones"],
            ["memref<?xf16>"],
            "argument 0, 'f16:4x4:ones', has rank 2 (4x4), but the kernel takes %a: memref<?xf16>",
        ),
        (["f16::ones"], ["memref<?xf16>"], "has rank 0 (no extents), but"),
        (
            ["f16:4x5:ones"],
            ["memref<?x4xf16>"],
            "argument 0, 'f16:4x5:ones', is 4x5, but the kernel takes %a: memref<?x4xf16>",
        ),
    ],
)
def test_arguments_that_do_not_fit(texts: list[str], types: list[str], message: str) -> None:
    with pytest.raises(BindingError) as caught:
        bind_arguments([parse_spec(text) for text in texts], parameters(*types))
    assert message in str(caught.value)


def test_dynamic_extents_match_any() -> None:
    assert array("f16:9x4:ones", "memref<?x4xf16>").shape == (9, 4)
    assert array("f16:9x7:ones", "memref<?x?xf16>").shape == (9, 7)


def test_an_integer_has_no_sign_of_its_own() -> None:
    assert array("i32:4:iota", "memref<4xui32>").tolist() == [0, 1, 2, 3]


# Files.


def saved(path: Path, values: np.ndarray) -> str:
    np.save(path, values)
    return f"@{path}"


@pytest.mark.parametrize("name", [name for name in STORED if name != "tf32"])
def test_files_keep_every_bit(name: str, tmp_path: Path) -> None:
    """Random bits, NaN and infinity included; those of i1 and i4 are values of the type."""
    rng = np.random.default_rng(11)
    dtype = np.dtype(STORED[name])
    values = rng.integers(0, 256, 60 * dtype.itemsize).astype(np.uint8)
    limits = {"i1": 2, "i4": 8, "f4E2M1FN": 16, "f6E2M3FN": 64, "f6E3M2FN": 64}
    values = (values & (limits.get(name, 256) - 1)).view(dtype).reshape(6, 10)
    path = tmp_path / "x.npy"
    with Drafts() as drafts:
        drafts.array(path, values)
    found = array(f"@{path}", f"memref<?x10x{name}>")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.view(np.uint8), values.view(np.uint8))


def test_what_numpy_cannot_read_is_told(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(4, ml_dtypes.float8_e5m2))
    with pytest.raises(BindingError, match=r"save array\.view\('V1'\) instead"):
        array(f"@{tmp_path / 'x.npy'}", "memref<4xf8E5M2>")


@pytest.mark.parametrize(
    ("name", "bits"),
    [("bf16", np.uint16), ("e4m3", np.uint8), ("e5m2", np.uint8), ("i32", np.uint32)],
)
def test_files_may_hold_the_bits_as_unsigned_integers(name: str, bits: type, tmp_path) -> None:
    dtype = np.dtype(STORED[str(ELEMENTS.get(name) or ELEMENTS[f"f8{name}"])])
    values = np.random.default_rng(12).standard_normal(50).astype(dtype)
    spec = saved(tmp_path / "x.npy", values.view(bits))
    found = array(spec, f"memref<50x{ELEMENTS.get(name) or ELEMENTS[f'f8{name}']}>")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.view(bits), values.view(bits))


def test_tf32_is_rounded_from_f32(tmp_path: Path) -> None:
    spec = saved(tmp_path / "x.npy", np.array([1 + 2**-10, 1 + 2**-11, 1 + 2**-12], np.float32))
    assert array(spec, "memref<3xtf32>").tolist() == [1 + 2**-10, 1.0, 1.0]


def test_columns_first_and_other_byte_orders(tmp_path: Path) -> None:
    values = np.random.default_rng(13).standard_normal((5, 7)).astype(np.float32)
    for other in (np.asfortranarray(values), values.astype(">f4")):
        found = array(saved(tmp_path / "x.npy", other), "memref<5x7xf32>")
        np.testing.assert_array_equal(found, values)
        assert found.flags.c_contiguous
        assert found.dtype.isnative
    bits = values.astype(ml_dtypes.bfloat16)
    found = array(saved(tmp_path / "x.npy", bits.view(np.uint16).astype(">u2")), "memref<5x7xbf16>")
    np.testing.assert_array_equal(found, bits)


def test_the_file_is_copied(tmp_path: Path) -> None:
    spec = saved(tmp_path / "x.npy", np.arange(4, dtype=np.int32))
    array(spec, "memref<4xi32>")[0] = 99
    assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("values", "type_", "message"),
    [
        (np.ones(4, np.float32), "memref<4xf16>", "x.npy' holds float32, which are no elements of"),
        (np.ones(4, np.float16), "memref<4xbf16>", "x.npy' holds float16"),
        (np.ones(4, np.uint8), "memref<4xbf16>", "x.npy' holds uint8"),
        (np.ones(4, np.int64), "memref<4xi32>", "x.npy' holds int64"),
        (np.ones(4, np.float32), "memref<4xi32>", "x.npy' holds float32"),
        (np.ones(4, np.complex64), "memref<4xf64>", "x.npy' holds complex64"),
        (np.array(["a", "b"]), "memref<2xf32>", "x.npy' holds <U1"),
        (np.ones(4, [("a", "u1"), ("b", "u1")]), "memref<4xbf16>", "x.npy' holds [("),
        (np.ones((4, 1), np.float32), "memref<4xf32>", "has rank 2 (4x1)"),
        (np.ones(5, np.float32), "memref<4xf32>", "x.npy', is 5, but the kernel takes %a:"),
        (np.ones((), np.float32), "f32", "x.npy', is an array, but the kernel takes %a: f32"),
    ],
)
def test_files_that_do_not_fit(values, type_: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BindingError) as caught:
        array(saved(tmp_path / "x.npy", values), type_)
    assert message in str(caught.value)
    assert str(caught.value).startswith("argument 0")


def npy(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values, allow_pickle=True)
    return file.getvalue()


def zipped() -> bytes:
    file = io.BytesIO()
    np.savez(file, x=np.ones(3, np.float32))
    return file.getvalue()


WHOLE = npy(np.arange(12, dtype=np.float32))
OBJECTS = npy(np.array([{}, []], dtype=object))
HUGE = WHOLE.replace(b"(12,), }" + b" " * 14, b"(120000000000000,), }"[:22].ljust(22))


@pytest.mark.parametrize(
    "data",
    [b"", b"no npy", WHOLE[:40], WHOLE[:-1], zipped(), OBJECTS, HUGE, WHOLE.replace(b"f4", b"z4")],
)
def test_corrupt_files(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with pytest.raises(ArrayFileError, match=r"x\.npy' is no whole \.npy file of numbers: \S"):
        read_array(str(path), ELEMENTS["f32"])


@pytest.mark.parametrize("name", ["none.npy", ".", "x\0.npy", "n" * 300])
def test_unreadable_files(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArrayFileError):
        read_array(str(tmp_path / name), ELEMENTS["f32"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), st.booleans())
def test_damaged_files_are_read_or_refused(tmp_path, place: int, byte: int, cut: bool) -> None:
    path = tmp_path / "x.npy"
    data = WHOLE[:place] if cut else WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :]
    path.write_bytes(data)
    try:
        assert read_array(str(path), ELEMENTS["f32"]).dtype == np.float32
        assert not cut
    except ArrayFileError as error:
        assert "\n" not in str(error)


# Drafts.


def test_drafts_become_files_together(tmp_path: Path) -> None:
    values = np.random.default_rng(14).standard_normal(9).astype(ml_dtypes.bfloat16)
    (tmp_path / "note.txt").write_text("old")
    with Drafts() as drafts:
        drafts.array(tmp_path / "new" / "x.npy", values)
        drafts.text(tmp_path / "note.txt", "née")
        assert (tmp_path / "note.txt").read_text() == "old"
        assert not (tmp_path / "new" / "x.npy").exists()
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "née"
    found = read_array(str(tmp_path / "new" / "x.npy"), ELEMENTS["bf16"])
    np.testing.assert_array_equal(found, values)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["new", "note.txt", "x.npy"]


def test_a_failure_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("old")

    def fail() -> None:
        with Drafts() as drafts:
            drafts.text(tmp_path / "a.txt", "new")
            drafts.text(tmp_path / "b.txt", "new")
            drafts.array(tmp_path / "b.txt" / "x.npy", np.ones(3))

    with pytest.raises(OSError, match=r"exists|Not a directory"):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["b.txt"]
    assert (tmp_path / "b.txt").read_text() == "old"


def test_devices_are_written_as_they_are() -> None:
    with Drafts() as drafts:
        drafts.text(Path("/dev/null"), "gone")
    assert not Path("/dev/null").is_file()
