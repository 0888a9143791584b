"""Calls of functions of the module: their bodies are put where they are called.

`.param` variables of a function are those of its caller: memory of the thread that only the callee
touches while it runs, so that no copies are needed (PTX ISA 7.1, ABI).

    .func (.param .b32 r) twice(.param .b32 x)
        { ld.param.b32 %a, [x]; ... st.param.b32 [r], %b; ret; }
    call (result), twice, (value);

becomes, with `%a~1` a register of the first copy,

    ld.param.b32 %a~1, [value]; ... st.param.b32 [result], %b~1; bra end~1; end~1:

A call through a pointer compares it with each function whose address is taken and that has as many
parameters:

    setp.ne.b64 %other, %pointer, twice;  @%other bra next;  ...twice...  bra end;  next: ... end:

The call itself is left behind the last of them, where it is a fault.

What a function has allocated by `alloca` is given back where it returns:

    stacksave.u64 %stack~1;  ...body...  return~1: stackrestore.u64 %stack~1;

A call of a function from inside of its own copy goes to the beginning of that, `start~1`, and comes
back from its end, where `return~1` is: what both do is in `instructions/calls.py`. Its variables
have to be those of calls, since each call has them anew at the same addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import PtxError
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.statements import MAX_INSTRUCTIONS
from tileas_xdsl.interpreters.ptx.parsing.syntax import (
    Address,
    Guard,
    Instruction,
    Kernel,
    Minus,
    Negated,
    Operand,
    Pair,
    Parameter,
    Recursion,
    Register,
    Selected,
    Symbol,
    Variable,
    Vector,
)


@dataclass(frozen=True)
class Function:
    """A device function; `broken` is why its body was not parsed."""

    name: str
    results: Sequence[Parameter]
    parameters: Sequence[Parameter]
    code: Sequence[Instruction] = ()
    labels: Mapping[str, int] = field(default_factory=dict[str, int])
    variables: Sequence[Variable] = ()
    branch_targets: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )
    broken: PtxError | None = None

    @property
    def formals(self) -> Sequence[str]:
        """The names of results and parameters."""
        return [parameter.name for parameter in (*self.results, *self.parameters)]


def inlined(
    kernel: Kernel, functions: Mapping[str, Function], pointed: Sequence[Function]
) -> Kernel:
    """Return a kernel with the functions that it calls in its own code.

    `pointed` are those that calls through pointers may reach.
    """
    if not any(_callee(i, functions) or _pointer(i) for i in kernel.code):
        return kernel
    made = _Inliner(functions, pointed)
    made.variables = list(kernel.variables)
    made.tables = dict(kernel.branch_targets)
    made.body(kernel.code, kernel.labels, _Names("", {}), {})
    return replace(
        kernel, code=made.code, labels=made.labels, variables=made.variables,
        branch_targets=made.tables, recursions=made.recursions,
    )  # fmt: skip


def _callee(instruction: Instruction, functions: Mapping[str, Function]) -> Function | None:
    """Return the function of this module that an instruction calls directly."""
    if instruction.parts[0] != "call":
        return None
    names = [o.name for o in instruction.operands if isinstance(o, Symbol)]
    return functions.get(names[0]) if names else None


def _pointer(instruction: Instruction) -> Register | None:
    """Return the register of a call through a pointer."""
    if instruction.parts[0] != "call":
        return None
    return next((o for o in instruction.operands if isinstance(o, Register)), None)


@dataclass(frozen=True)
class _Names:
    """How the names of a body are called in one copy of it: with a suffix, or as the caller's."""

    suffix: str
    symbols: Mapping[str, str]

    def register(self, register: Register) -> Register:
        return Register(register.name + self.suffix, register.type)

    def operand(self, operand: Operand) -> Operand:
        match operand:
            case Register():
                return self.register(operand)
            case Symbol():
                return Symbol(self.symbols.get(operand.name, operand.name), operand.offset)
            case Selected():
                return Selected(self.register(operand.register), operand.part)
            case Minus(Selected() as selected):
                return Minus(Selected(self.register(selected.register), selected.part))
            case Minus(Register() as register):
                return Minus(self.register(register))
            case Negated():
                return Negated(self.register(operand.predicate))
            case Vector():
                return Vector(tuple(map(self.operand, operand.parts)))
            case Pair():
                return Pair(self.operand(operand.first), self.operand(operand.second))
            case Address():
                base = self.operand(operand.base)
                assert isinstance(base, Register | Symbol) or base is operand.base
                parts = tuple(map(self.operand, operand.parts))
                return replace(operand, base=base, parts=parts)
            case _:
                return operand

    def guard(self, guard: Guard | None) -> Guard | None:
        return guard and Guard(self.register(guard.predicate), guard.negated)


@dataclass
class _Copy:
    """A copy of a function whose body is being appended."""

    suffix: str
    function: Function
    actuals: Mapping[str, str]
    first_variable: int
    calls_itself: bool = False


_Copies = Mapping[str, _Copy]
"""By name, the functions that code is in, the outermost first."""


class _Inliner:
    """Collects the code of a kernel and of the copies of functions in it."""

    def __init__(self, functions: Mapping[str, Function], pointed: Sequence[Function]) -> None:
        self._functions = functions
        self._pointed = pointed
        self._copies = 0
        self.code: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.variables: list[Variable] = []
        self.tables: dict[str, tuple[str, ...]] = {}
        self.recursions: dict[str, Recursion] = {}

    def body(
        self,
        code: Sequence[Instruction],
        labels: Mapping[str, int],
        names: _Names,
        calls: _Copies,
    ) -> None:
        """Append a body; `calls` are the functions that it is in."""
        by_index: dict[int, list[str]] = {}
        for label, at in labels.items():
            by_index.setdefault(at, []).append(names.symbols.get(label, label))
        for at, instruction in enumerate(code):
            self.labels.update(dict.fromkeys(by_index.get(at, ()), len(self.code)))
            self._instruction(instruction, names, calls)
        self.labels.update(dict.fromkeys(by_index.get(len(code), ()), len(self.code)))

    def _instruction(self, instruction: Instruction, names: _Names, calls: _Copies) -> None:
        operands = tuple(map(names.operand, instruction.operands))
        made = replace(instruction, operands=operands, guard=names.guard(instruction.guard))
        function = _callee(instruction, self._functions)
        if function is not None:
            self._call(made, function, calls)
        elif _pointer(made) is not None:
            self._dispatch(made, calls)
        elif calls and instruction.parts[0] == "ret":
            self._append(replace(made, parts=("bra",), operands=(Symbol(f"return{names.suffix}"),)))
        else:
            self._append(made)

    def _append(self, instruction: Instruction) -> None:
        if len(self.code) == MAX_INSTRUCTIONS:
            raise PtxError(
                f"a kernel has at most {MAX_INSTRUCTIONS} instructions, those of the functions "
                "that it calls included",
                instruction.location,
            )
        self.code.append(instruction)

    def _dispatch(self, call: Instruction, calls: _Copies) -> None:
        """Append a copy of each function that a pointer may point to, behind a comparison."""
        pointer = _pointer(call)
        assert pointer is not None
        self._copies += 1
        end, number = f"end~{self._copies}", self._copies
        if call.guard is not None:
            self._branch(call, end, Guard(call.guard.predicate, not call.guard.negated))
        given = sum(len(o.parts) for o in call.operands if isinstance(o, Vector))
        fitting = [f for f in self._pointed if f.broken is None and len(f.formals) == given]
        for index, function in enumerate(fitting):
            other = Register(f"%other~{number}~{index}", TYPES["pred"])
            compared = (other, pointer, Symbol(function.name))
            parts = ("setp", "ne", "b64")
            self._append(replace(call, parts=parts, operands=compared, guard=None))
            self._branch(call, f"next~{number}~{index}", Guard(other, negated=False))
            self._call(replace(call, guard=None), function, calls)
            self._branch(call, end, None)
            self.labels[f"next~{number}~{index}"] = len(self.code)
        self._append(replace(call, operands=(pointer,), guard=None))
        self.labels[end] = len(self.code)

    def _branch(self, call: Instruction, label: str, guard: Guard | None) -> None:
        self._append(replace(call, parts=("bra",), operands=(Symbol(label),), guard=guard))

    def _call(self, call: Instruction, function: Function, calls: _Copies) -> None:
        """Append a copy of a function; lanes whose guard is false branch around it."""
        if function.broken is not None:
            raise function.broken
        if function.name in calls:
            self._recursive_call(call, calls[function.name])
            return
        self._copies += 1
        suffix = f"~{self._copies}"
        end = f"end{suffix}"
        if call.guard is not None:
            self._branch(call, end, Guard(call.guard.predicate, not call.guard.negated))
        own = {v.name: v.name + suffix for v in function.variables if v.space == "local"}
        own |= {label: label + suffix for label in (*function.labels, *function.branch_targets)}
        actuals = self._actuals(call, function)
        copy = _Copy(suffix, function, actuals, len(self.variables))
        names = _Names(suffix, {**own, **actuals})
        known = {variable.name for variable in self.variables}
        for variable in function.variables:
            name = own.get(variable.name, variable.name)
            if name not in known:
                self.variables.append(replace(variable, name=name))
        for table, targets in function.branch_targets.items():
            self.tables[own[table]] = tuple(own[target] for target in targets)
        self.labels[f"start{suffix}"] = len(self.code)
        allocates = any(i.parts[0] == "alloca" for i in function.code)
        stack = (Register(f"%stack{suffix}", TYPES["u64"]),)
        if allocates:
            save = ("stacksave", "u64")
            self._append(replace(call, parts=save, operands=stack, guard=None))
        self.body(function.code, function.labels, names, {**calls, function.name: copy})
        self.labels[f"return{suffix}"] = len(self.code)
        if allocates:
            restore = ("stackrestore", "u64")
            self._append(replace(call, parts=restore, operands=stack, guard=None))
        if copy.calls_itself:
            self._end_recursion(call, copy)
        self.labels[end] = len(self.code)

    def _recursive_call(self, call: Instruction, copy: _Copy) -> None:
        """Append a call of a function from inside of its copy."""
        copy.calls_itself = True
        self._copies += 1
        after = f"after~{self._copies}"
        if call.guard is not None:
            self._branch(call, after, Guard(call.guard.predicate, not call.guard.negated))
        given = map(Symbol, self._actuals(call, copy.function).values())
        operands = (Symbol(f"start{copy.suffix}"), *given)
        self._append(replace(call, parts=("call",), operands=operands, guard=None))
        self.labels[after] = len(self.code)

    def _end_recursion(self, call: Instruction, copy: _Copy) -> None:
        """Append the return of the calls from inside of a copy."""
        own = [v for v in self.variables[copy.first_variable :] if v.space == "local"]
        function = copy.function
        if any("#" not in variable.name for variable in own):
            raise PtxError(
                f"call: '{function.name}' calls itself and has local variables; recursion is "
                "supported of functions without, whose addresses cannot be passed on",
                call.location,
            )
        formals = (*function.results, *function.parameters)
        self.recursions[copy.suffix] = Recursion(
            function.name,
            [(copy.actuals[formal.name], formal.size) for formal in formals],
            len(function.results),
            [(variable.name, variable.size) for variable in own],
        )
        operands = (Symbol(f"return{copy.suffix}"),)
        self._append(replace(call, parts=("call",), operands=operands, guard=None))

    def _actuals(self, call: Instruction, function: Function) -> Mapping[str, str]:
        """Return the caller's variable of each result and parameter; `PtxError` if they differ."""
        given = [p for o in call.operands if isinstance(o, Vector) for p in o.parts]
        names = [operand.name for operand in given if isinstance(operand, Symbol)]
        if len(names) != len(function.formals):
            raise PtxError(
                f"call: '{function.name}' has {len(function.results)} results and "
                f"{len(function.parameters)} parameters; variables in .param space are passed "
                "for each",
                call.location,
            )
        return dict(zip(function.formals, names, strict=True))
