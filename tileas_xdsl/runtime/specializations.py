"""The specializations of one kernel that launches select from, each compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from tileas_xdsl.target.kernel_abi import KernelAbi
from tileas_xdsl.target.launches.specializations import ChooseSpecialization, Specialization


class HasAbi(Protocol):
    """Compiled code with its specialization and the predicates that select others."""

    @property
    def abi(self) -> KernelAbi:
        """How it is called."""
        ...


CodeT = TypeVar("CodeT", bound=HasAbi)


class Specializations(Generic[CodeT]):
    """The compiled specializations of a kernel, and what runs instead of those that it lacks."""

    def __init__(self, made: Sequence[CodeT] = ()) -> None:
        self._made = list(made)
        self._instead: dict[Specialization, CodeT] = {}
        """By the specialization that was requested: what the compiler made of it."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been compiled."""
        return not self._made

    def chosen(self, choose: ChooseSpecialization, compile: Callable[[], CodeT]) -> CodeT:
        """Return the specialization that a launch selects; `compile` makes one that is missing.

        One that cannot be made is requested once: what was compiled instead is kept for it.
        """
        for one in self._made:
            wanted = one.abi.wanted(choose)
            if one.abi.specialization == wanted:
                return one
            if wanted in self._instead:
                return self._instead[wanted]
        made = compile()
        self._made.append(made)
        if made.abi.specialization != (wanted := made.abi.wanted(choose)):
            self._instead[wanted] = made
        return made
