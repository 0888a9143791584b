"""Random questions of the layout algebra, answered by the CuTe DSL and by `tileas_xdsl.layout`.

    python benchmarks/cute_algebra.py [--count 1000] [--seed 0] [--write FILE]

Needs `nvidia-cutlass-dsl` beside this package and no GPU: layouts are constants, computed while a
function is traced.  Each question is asked in a process of its own, since the DSL stops at some.
`--write` keeps the answers as a table, which `tests/layout/test_cute_answers.py` compares with ours
where the DSL is not installed.  How they are judged: `tests/support/cute_answers.py`.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cutlass.cute as theirs

from tests.support.cute_answers import Question, as_arguments, judged
from tileas_xdsl.layout import cute as algebra
from tileas_xdsl.layout.output.text import parse_cute_layout

EXTENTS = (1, 2, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16)
WIDTHS = ((8, 16), (16, 8), (32, 8), (8, 32), (4, 8), (8, 4), (24, 16), (16, 32), (6, 8), (16, 128))


class Questions:
    """Random calls of the operations of the algebra, as text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        one = ("coalesce", "filter", "flatten", "filter_zeros", "right_inverse", "left_inverse",
               "nullspace", "cosize", "size")  # fmt: skip
        divides = ("composition", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide")
        products = ("logical_product", "zipped_product", "tiled_product", "flat_product")
        self.kinds: dict[str, Callable[[], list[str]]] = {
            **dict.fromkeys(one, lambda: [self.layout()]),
            **dict.fromkeys(divides, self._divide),
            **dict.fromkeys(products, lambda: [self.layout(), self.layout(1)]),
            **dict.fromkeys(("blocked_product", "raked_product"), self._flat_layouts),
            **dict.fromkeys(("max_common_layout", "max_common_vector"), self._two),
            "complement": lambda: [self.layout(), str(self.pick(1, 4, 12, 24, 64, 100, 128, 512))],
            "recast_layout": lambda: [self.layout(), *map(str, self.pick(*WIDTHS))],
            "crd2idx": self._coordinate,
            "idx2crd": self._index,
            "tile_to_shape": self._tile_to_shape,
        }

    def ask(self, count: int) -> Iterator[Question]:
        """Yield as many calls, all operations equally often."""
        names = sorted(self.kinds)
        for i in range(count):
            name = names[i % len(names)]
            yield Question(name, tuple(self.kinds[name]()))

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def shape(self, depth: int = 2) -> tuple[Any, ...]:
        count = self.random.randint(1, 3)
        return tuple(
            self.shape(depth - 1)
            if depth > 1 and self.random.random() < 0.25
            else self.pick(*EXTENTS)
            for _ in range(count)
        )

    def strides(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compact strides in some order, with zeros and gaps; a few of them arbitrary."""
        extents = _leaves(shape)
        order = list(range(len(extents)))
        kind = self.random.random()
        if kind > 0.5:
            self.random.shuffle(order)
        elif kind > 0.35:
            order.reverse()
        found = [0] * len(extents)
        step = 1 if self.random.random() < 0.8 else self.pick(2, 3, 4, 8)
        for i in order:
            if self.random.random() < 0.08:
                continue
            found[i] = step
            step *= extents[i] * (self.pick(2, 3) if self.random.random() < 0.12 else 1)
        if self.random.random() < 0.05:
            found = [self.pick(0, 1, 2, 3, 5, 7, 8, 16, 32) for _ in extents]
        return _like(shape, iter(found))

    def layout(self, depth: int = 2) -> str:
        shape = self.shape(depth)
        return f"{_text(shape)}:{_text(self.strides(shape))}"

    def _flat_layouts(self) -> list[str]:
        return [self.layout(1), self.layout(1)]

    def _two(self) -> list[str]:
        shape = self.shape()
        a = f"{_text(shape)}:{_text(self.strides(shape))}"
        same_shape = f"{_text(shape)}:{_text(self.strides(shape))}"
        return [a, self.pick(a, same_shape, same_shape, self.layout(), self.layout())]

    def _divide(self) -> list[str]:
        shape = self.shape()
        a = f"{_text(shape)}:{_text(self.strides(shape))}"
        count = self.random.randint(1, len(shape))
        tiles = [self.pick(1, 2, 3, 4, 8) for _ in range(count)]
        layouts = "; ".join(f"({self.pick(1, 2, 4, 8)}):({self.pick(1, 1, 2, 4)})" for _ in tiles)
        return [a, self.pick(self.layout(1), _text(tuple(tiles)), f"[{layouts}]")]

    def _coordinate(self) -> list[str]:
        text = self.layout()
        return [str(self.random.randrange(algebra.size(algebra.Layout(*_split(text))))), text]

    def _index(self) -> list[str]:
        shape = self.shape()
        return [str(self.random.randrange(algebra.size(algebra.Layout(shape)))), _text(shape)]

    def _tile_to_shape(self) -> list[str]:
        shape = self.shape()
        extents = [algebra.size(algebra.Layout(mode)) for mode in shape]
        target = tuple(extent * self.pick(1, 2, 3, 4) for extent in extents)
        order = tuple(self.random.sample(range(len(shape)), len(shape)))
        return [f"{_text(shape)}:{_text(self.strides(shape))}", _text(target), _text(order)]


def _leaves(tree: Any) -> list[int]:
    return [leaf for part in tree for leaf in _leaves(part)] if isinstance(tree, tuple) else [tree]


def _like(tree: Any, values: Iterator[int]) -> Any:
    return tuple(_like(part, values) for part in tree) if isinstance(tree, tuple) else next(values)


def _text(tree: Any) -> str:
    return f"({','.join(map(_text, tree))})" if isinstance(tree, tuple) else str(tree)


def _split(text: str) -> tuple[Any, Any]:
    layout = parse_cute_layout(text)
    return layout.shape, layout.stride


def answer_of_the_dsl(question: Question) -> str:
    """Return what the DSL prints for a question, `!` where it refuses or stops."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(sender, _asked(question).encode())
        except BaseException:
            os.write(sender, b"!")
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    return text if status == 0 else "!"


def _asked(question: Question) -> str:
    def layout(shape: Any, stride: Any) -> Any:
        return theirs.make_layout(shape, stride=stride)

    arguments = as_arguments(question, layout)
    if question.operation == "recast_layout":
        arguments = [arguments[2], arguments[1], arguments[0]]
    return str(getattr(theirs, question.operation)(*arguments)).replace(" ", "")


def main() -> None:
    """Ask, compare, print the counts and what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the answers there")
    options = parser.parse_args()
    questions = list(Questions(options.seed).ask(options.count))
    answers: list[str] = []

    @theirs.jit
    def ask() -> None:
        answers.extend([answer_of_the_dsl(question) for question in questions])

    ask()
    verdicts: Counter[str] = Counter()
    for question, answer in zip(questions, answers, strict=True):
        verdict, ours = judged(question, answer)
        verdicts[verdict] += 1
        if verdict == "different":
            print(f"{question}: CuTe {answer}, ours {ours}")
    print(f"seed {options.seed}:", ", ".join(f"{n} {name}" for name, n in verdicts.most_common()))
    if options.write:
        rows = zip(questions, answers, strict=True)
        options.write.write_text("".join(f"{question}\t{answer}\n" for question, answer in rows))


if __name__ == "__main__":
    main()
