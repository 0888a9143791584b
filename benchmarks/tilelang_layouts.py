# pyright: basic
"""Layouts of random programs beside TileLang's own: `python -m benchmarks.tilelang_layouts [COUNT] [FIRST]`.

Each program is a row of buffers and operations (`tests/inference/data/tilelang_more.json`); its text is
traced by TileLang, whose inference of layouts runs on the CPU, and the row is inferred in mode `parity`.
Among the programs are degenerate ones: accesses to a part of a buffer, copies of a buffer to itself,
extents that do not divide, loops of fewer iterations than threads.  Equal means that every copy of every
element is in the same thread and slot.  Where TileLang has two elements in one register, or threads
outside of the block, its answer is unsound, and ours differs on purpose.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tilelang
import tvm

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.inference.parity.tilelang_layouts import assert_same, place_table, thread_table
from tests.inference.parity.tilelang_programs import kernel_from
from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.parity import infer

ELEMENTS = {"f32": "float32", "f16": "float16"}
MODEL = "register-count"
"""The cost model that TileLang has without a setting."""

LOOPS = (
    "{y}[i,j]={x}[i,j]*2.0",
    "{x}[i,j]={x}[i,j]+{y}[i,j]",
    "{x}[i,j]={x}[i,j]*{s}[i]",
    "{y}[i,j]={x}[i,j]*{c}[j]",
    "{y}[i,j]={x}[i,j]+{s}[i]+{c}[j]",
    "{s}[i]={s}[i]*2.0",
    "{c}[j]={c}[j]+1.0",
    "O[i,j]={x}[i,j]+{y}[i,j]",
    "O[i,j]={x}[i,j]",
)
"""Bodies over all of a tile: x, y tiles; s of its rows, c of its columns."""

PARTIAL = (
    ("half", "{y}[i,j]={x}[i,j]"),
    ("half", "O[i,j]={x}[i,j]"),
    ("rows", "{s}[i]={x}[i,0]"),
    ("all", "{y}[i,j]={x}[i,j]+{x}[i,0]"),
    ("all", "O[i,j]={x}[i,j//2]"),
    ("columns", "{c}[i]={c}[i]*2.0"),
    ("all", "{x}[i,j]={x}[i,j]"),
)
"""Bodies that access a part, and what they loop over."""


def program(seed: int) -> dict[str, Any]:
    """A random program."""
    rng = random.Random(seed)
    m, n = (
        rng.choice([1, 4, 5, 8, 16, 24, 32, 40, 64]),
        rng.choice([1, 4, 7, 8, 16, 32, 48, 64, 128, 200]),
    )
    element = rng.choice(["f32", "f16"])
    tiles = {name: ["fragment", element, m, n] for name in ("x", "y")}
    buffers: dict[str, list[Any]] = {
        **{name: ["global", element, m, n] for name in ("A", "O")},
        "S": ["global", element, m],
        "C": ["global", element, n],
        **tiles,
        "s": ["fragment", element, m],
        "c": ["fragment", element, n],
    }
    names = {"x": "x", "y": "y", "s": "s", "c": "c"}
    ops: list[list[Any]] = [["copy", "A", "x"]]
    loops = {"all": [m, n], "half": [m, max(n // 2, 1)], "rows": [m], "columns": [n]}
    for _ in range(rng.randint(1, 4)):
        match rng.randint(0, 7):
            case 0:
                ops.append(
                    [
                        "copy",
                        *rng.choice([("x", "y"), ("y", "x"), ("x", "x"), ("S", "s"), ("C", "c")]),
                    ]
                )
            case 1:
                ops.append(["fill", rng.choice("xysc")])
            case 2:
                axis = rng.randint(0, 1)
                ops.append(
                    ["reduce", rng.choice(["sum", "max"]), rng.choice("xy"), "cs"[axis], axis]
                )
            case 3:
                over, text = rng.choice(PARTIAL)
                ops.append(["par", loops[over], [text.format(**names)]])
            case _:
                text = rng.choice(LOOPS).format(**names)
                over = (
                    "rows"
                    if text.startswith("s[i]")
                    else "columns"
                    if text.startswith("c[j]")
                    else "all"
                )
                text = text.replace("[j]", "[i]") if over == "columns" else text
                ops.append(["par", loops[over], [text]])
    ops.append(["copy", rng.choice("xy"), "O"])
    used = {word for op in ops for word in re.findall(r"\b[A-Za-z]\b", json.dumps(op[1:]))}
    kept = {name: row for name, row in buffers.items() if name in used}
    return {
        "threads": rng.choice([32, 64, 128, 256]),
        "arch": "sm_90a",
        "buffers": kept,
        "ops": ops,
    }


def text_of(row: Mapping[str, Any]) -> str:
    """The program in TileLang."""
    arrays = [(n, r) for n, r in row["buffers"].items() if r[0] == "global"]
    shown = ", ".join(f'{n}: T.Tensor({tuple(r[2:])}, "{ELEMENTS[r[1]]}")' for n, r in arrays)
    lines = [
        "@T.prim_func",
        f"def main({shown}):",
        f"  with T.Kernel(1, threads={row['threads']}) as bx:",
    ]
    for name, (scope, element, *shape) in row["buffers"].items():
        if scope != "global":
            lines.append(f'    {name} = T.alloc_{scope}({tuple(shape)}, "{ELEMENTS[element]}")')
    for op in row["ops"]:
        match op:
            case ["copy", source, target]:
                lines.append(f"    T.copy({source}, {target})")
            case ["fill", target]:
                lines.append(f"    T.fill({target}, 0)")
            case ["reduce", kind, source, target, axis]:
                lines.append(f"    T.reduce_{kind}({source}, {target}, dim={axis})")
            case ["par", extents, statements]:
                variables = ", ".join("ijk"[: len(extents)])
                lines.append(f"    for {variables} in T.Parallel({', '.join(map(str, extents))}):")
                lines += [f"      {statement}" for statement in statements]
    return "\n".join(lines)


def layouts_of(row: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any] | None, bool]:
    """TileLang's layouts by buffer, None where it infers none; and whether it lowers the program."""
    path = folder / "program.py"
    path.write_text("import tilelang.language as T\n\n" + text_of(row), "utf-8")
    module = ModuleType("program")
    module.__file__ = str(path)
    exec(compile(path.read_text("utf-8"), str(path), "exec"), module.__dict__)
    found: dict[str, Any] = {}
    whole = tilelang.transform.LayoutInference

    def caught() -> Any:
        def run(given: Any) -> Any:
            made = whole()(given)
            found.clear()
            for function in made.functions.values():
                tvm.tirx.stmt_functor.post_order_visit(
                    function.body, lambda node: _collect(node, found)
                )
            return made

        return run

    tilelang.transform.LayoutInference = caught
    target = tvm.target.Target({"kind": "cuda", "arch": row["arch"]})
    try:
        with target:
            tilelang.lower(module.main, target=target)
    except Exception:
        return found or None, False
    finally:
        tilelang.transform.LayoutInference = whole
    return found, True


def _collect(node: Any, found: dict[str, Any]) -> None:
    if not isinstance(node, tvm.tirx.SBlock) or "layout_map" not in node.annotations:
        return
    for variable, layout in node.annotations["layout_map"].items():
        found[str(variable.name)] = _row(layout)


def _row(layout: Any) -> dict[str, Any]:
    shape = [int(n) for n in layout.get_input_shape()]
    row = {
        "kind": "Fragment" if isinstance(layout, tilelang.layout.Fragment) else "Layout",
        "input_shape": shape,
        "output_shape": [int(n) for n in layout.get_output_shape()],
        "forward_index": [str(index) for index in layout.get_forward_index()],
    }
    if row["kind"] == "Fragment":
        row["replicate"] = int(layout.replicate_size)
        row["forward_thread"] = str(layout.thread)
    return row


def is_sound(row: Mapping[str, Any], name: str, printed: Mapping[str, Any]) -> bool:
    """Whether a layout has all elements in threads of the block, no two in one register."""
    if printed["input_shape"] != row["buffers"][name][2:]:
        return False
    threads, slots = thread_table(dict(printed)), place_table(dict(printed))
    if threads.max() >= row["threads"]:
        return False
    registers = (threads * (int(slots.max()) + 1) + slots).reshape(len(threads), -1)
    elements = np.broadcast_to(np.arange(registers.shape[1]), registers.shape)
    pairs = np.unique(np.stack([registers.ravel(), elements.ravel()]), axis=1)
    return len(np.unique(pairs[0])) == pairs.shape[1]


def verdict(row: Mapping[str, Any], theirs: Mapping[str, Any] | None, lowers: bool) -> str:
    """Return whether both agree, or how they do not."""
    fragments = {name: r for name, r in (theirs or {}).items() if r["kind"] == "Fragment"}
    sound = all(is_sound(row, *item) for item in fragments.items())
    try:
        ours = infer(kernel_from(dict(row)).program, MODEL)
    except InferenceError as error:
        if not theirs or not lowers:
            return "both refuse"
        return f"WE REFUSE {error.text[:150]}" if sound else "theirs is unsound"
    if theirs is None:
        return "THEY REFUSE"
    if set(fragments) != set(ours.fragments):
        return f"OTHER BUFFERS {sorted(fragments)} {sorted(ours.fragments)}"
    try:
        for name, printed in fragments.items():
            assert_same(printed, ours.fragments[name], name)
    except AssertionError as error:
        return f"UNLIKE {str(error)[:200]}" if sound else "theirs is unsound"
    return "equal"


def main() -> None:
    """Print programs that differ, and how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("first", type=int, nargs="?", default=0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    folder = Path(tempfile.mkdtemp())
    for seed in range(given.first, given.first + given.count):
        row = program(seed)
        said = verdict(row, *layouts_of(row, folder))
        counts[said.split(" ")[0] if said[0].isupper() else said] += 1
        if said[0].isupper():
            print(seed, said, json.dumps(row["ops"]), flush=True)
    print(f"{given.count} programs: {dict(counts)}")


if __name__ == "__main__":
    main()
