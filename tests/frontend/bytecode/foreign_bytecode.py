"""Bytecode written by the cuda-tile package: random operations of every kind and their arguments.

The writer inside the package takes any operation of any type, so that every encoding is met, also
those that no kernel leads to.  The operations mean nothing.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import cuda.tile._bytecode as bc
from cuda.tile._bytecode import attribute as attributes
from cuda.tile._bytecode import encodings
from cuda.tile._bytecode.version import BytecodeVersion

PARAMETERS = 150
"""Number of parameters, such that value ids need two varint bytes."""

NOT_IN_FUNCTIONS = ("EntryOp", "GlobalOp", "ModuleOp", "PreviewCallOp")


@dataclass
class Said:
    """The arguments passed to the package's writer for one operation."""

    opcode: int
    operands: list[int]
    results: list[int]
    """Type ids of the results."""
    attributes: dict[str, Any]
    constant_type: int | None = None
    inside: list[Said] = field(default_factory=list)


def version_of(text: str) -> BytecodeVersion:
    """Return the package's enumerator of a version."""
    return BytecodeVersion[f"V_{text.replace('.', '_')}"]


def encoders() -> dict[str, Callable[..., Any]]:
    """Return the package's encoder functions of operations allowed in functions, by class name."""
    found = {
        name.removeprefix("encode_"): function
        for name, function in vars(encodings).items()
        if name.startswith("encode_") and name.endswith("Op")
    }
    return {name: f for name, f in found.items() if name not in NOT_IN_FUNCTIONS}


def opcode_of(name: str) -> int:
    """Return the opcode constant in the code of an encoder function."""
    code = getattr(encodings, f"encode_{name}").__code__
    return next(value for value in code.co_consts if isinstance(value, int))


def write_file(
    text: str, seed: int, each: int = 1, without: Collection[str] = ()
) -> tuple[bytes, list[Said]]:
    """Write a file of one function with `each` operations of every kind not named in `without`.

    The package also encodes operations newer than the version; attributes it rejects.
    """
    writer = _Writer(version_of(text), random.Random(seed), without)
    return writer.file(each)


class _Writer:
    def __init__(
        self, version: BytecodeVersion, rng: random.Random, without: Collection[str]
    ) -> None:
        self.version = version
        self.without = without
        self.rng = rng

    def file(self, each: int) -> tuple[bytes, list[Said]]:
        buffer = bytearray()
        said: list[Said] = []
        with bc.write_bytecode(1, buffer, self.version) as writer:
            self.tables = writer
            self.types = self._types(writer.type_table)
            table = writer.debug_attr_table
            file = table.file("kernel.py", "/somewhere")
            scope = table.subprogram(file, 3, "f", "f", table.compile_unit(file), 3)
            self.places = [table.loc(scope, "kernel.py", line, 2 * line) for line in range(1, 9)]
            parameters = [self.rng.choice(self.types) for _ in range(PARAMETERS)]
            hints = {"sm_100": attributes.EntryHints(num_cta_in_cga=2, occupancy=4)}
            with writer.function("f", parameters, [], True, hints, self.places[0]) as function:
                builder = function.code_builder
                for name in self._names(each):
                    with builder.debug_attr(self.rng.choice(self.places)):
                        tries = (self.operation(builder, name) for _ in range(20))
                        said += filter(None, [next(filter(None, tries), None)])
        return bytes(buffer), said

    def _names(self, each: int) -> list[str]:
        names = [name for name in encoders() if name not in self.without for _ in range(each)]
        self.rng.shuffle(names)
        return names

    def _types(self, table: Any) -> list[Any]:
        """Return integer tile types, far more than 127 so that their ids need two varint bytes."""
        kinds = (bc.SimpleType.I8, bc.SimpleType.I16, bc.SimpleType.I32, bc.SimpleType.I64)
        shapes = [[1 << a, 1 << b] for a in range(7) for b in range(7)]
        return [table.tile(table.simple(kind), shape) for kind in kinds for shape in shapes]

    def operation(self, builder: Any, name: str) -> Said | None:
        """Write one operation; return None if the version lacks it or rejects its arguments."""
        encode = encoders()[name]
        keywords = {
            key: self.argument(parameter.annotation, builder, key)
            for key, parameter in inspect.signature(encode).parameters.items()
            if key != "code_builder"
        }
        if name == "ConstantOp":
            place = self.types.index(keywords["result_type"])
            width = (1, 2, 4, 8)[place * 4 // len(self.types)]
            keywords["value"] = bytes(self.rng.randrange(256) for _ in range(width))
        start, count = len(builder.buf), builder.num_ops
        state = (list(builder.debug_attr_per_op), builder.next_value_id)
        try:
            made = encode(builder, **keywords)
        except (AssertionError, AttributeError, ValueError):
            del builder.buf[start:]
            builder.debug_attr_per_op[:], builder.next_value_id, builder.num_ops = *state, count
            return None
        said = self._said(builder.buf, start, keywords)
        if hasattr(made, "new_block"):
            self._blocks(builder, made, said)
        return said

    def _said(self, buffer: bytes, start: int, keywords: dict[str, Any]) -> Said:
        said = Said(_varint(buffer, start), [], [], {})
        for key, value in keywords.items():
            if isinstance(value, bc.TypeId):
                said.results.append(value.type_id)
            elif isinstance(value, bc.Value):
                said.operands.append(value.value_id)
            elif isinstance(value, list) and value and isinstance(value[0], bc.Value):
                said.operands += [each.value_id for each in value]
            elif isinstance(value, list) and value and isinstance(value[0], bc.TypeId):
                said.results += [each.type_id for each in value]
            elif value is not None and value != []:
                said.attributes[key.rstrip("_")] = value
        return said

    def _blocks(self, builder: Any, made: Any, said: Said) -> None:
        while made._num_blocks:
            with made.new_block([self.rng.choice(self.types) for _ in range(2)]):
                for _ in range(3):
                    one = self.operation(builder, self.rng.choice(["AddIOp", "YieldOp", "IotaOp"]))
                    assert one is not None
                    said.inside.append(one)
        made.done()

    def argument(self, annotation: Any, builder: Any, key: str) -> Any:
        """Return a random value for a parameter of an encoder function."""
        text = getattr(annotation, "__name__", None) or str(annotation)
        text = str(annotation) if "[" in str(annotation) else text
        if text.startswith("typing.Optional"):
            inner = annotation.__args__[0]
            return self.argument(inner, builder, key) if self.rng.random() < 0.5 else None
        if "Sequence" in text:
            inner = annotation.__args__[0]
            least = 1 if inner is bc.TypeId else 0
            number = (
                0 if key == "initValues" and self.rng.random() < 0.3 else self.rng.randint(least, 3)
            )
            return [self.argument(inner, builder, key) for _ in range(number)]
        return self._single(annotation, builder)

    def _single(self, annotation: Any, builder: Any) -> Any:
        rng = self.rng
        if annotation is bc.TypeId:
            return rng.choice(self.types)
        if annotation is bc.Value:
            return bc.Value(rng.randrange(builder.next_value_id))
        if annotation is bool:
            return rng.random() < 0.3
        if annotation is int:
            return rng.choice([0, 1, 127, 128, 1 << 20])
        if annotation is str:
            return rng.choice(["", "text", "größer", "x" * 200])
        if annotation is bytes:
            return b""
        if inspect.isclass(annotation) and issubclass(annotation, attributes.OptimizationHints):
            hints = attributes.LoadStoreHints(
                latency=rng.randint(1, 10), allow_tma=rng.random() < 0.5
            )
            return attributes.make_load_store_hints({"sm_90": hints})
        if annotation is attributes.AssumePredicate:
            return self._predicate()
        if annotation is attributes.TaggedAttribute:
            return self._number()
        return rng.choice(list(annotation))

    def _predicate(self) -> Any:
        rng = self.rng
        if rng.random() < 0.5:
            return attributes.DivBy(1 << rng.randrange(62), *rng.choice([(None, None), (4, 1)]))
        bounds = sorted(rng.randrange(-(1 << 40), 1 << 40) for _ in range(2))
        return attributes.Bounded(*(rng.choice([None, bound]) for bound in bounds))

    def _number(self) -> Any:
        table = self.tables.type_table
        if self.rng.random() < 0.5:
            return attributes.Integer(
                table.simple(bc.SimpleType.I32), 32, self.rng.randrange(-9, 9)
            )
        kind = self.rng.choice([bc.SimpleType.F16, bc.SimpleType.F32, bc.SimpleType.F8E5M2])
        return attributes.Float(self.rng.choice([0.5, -2.0, float("inf")]), kind, table)


def _varint(buffer: bytes, position: int) -> int:
    value = shift = 0
    while True:
        value |= (buffer[position] & 0x7F) << shift
        if buffer[position] < 0x80:
            return value
        position, shift = position + 1, shift + 7
