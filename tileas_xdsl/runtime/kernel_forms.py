"""The forms of one kernel that launches choose between, each compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from tileas_xdsl.target.kernel_abi import KernelAbi
from tileas_xdsl.target.launches.launch_forms import ChooseForm, Form


class HasAbi(Protocol):
    """Compiled code that says which form of its kernel it is, and what launches decide by."""

    @property
    def abi(self) -> KernelAbi:
        """How it is called."""
        ...


CodeT = TypeVar("CodeT", bound=HasAbi)


class KernelForms(Generic[CodeT]):
    """What has been compiled of a kernel, with what stands for forms that it does not have."""

    def __init__(self, made: Sequence[CodeT] = ()) -> None:
        self._made = list(made)
        self._instead: dict[Form, CodeT] = {}
        """By the form that was asked for: what the compiler made of it."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been compiled."""
        return not self._made

    def chosen(self, choose: ChooseForm, compile: Callable[[], CodeT]) -> CodeT:
        """Return the form that a launch wants, by its answers; `compile` makes what is missing.

        A form that cannot be made is asked for once: what was compiled instead is kept for it.
        """
        for one in self._made:
            wanted = one.abi.wanted(choose)
            if one.abi.form == wanted:
                return one
            if wanted in self._instead:
                return self._instead[wanted]
        made = compile()
        self._made.append(made)
        if made.abi.form != (wanted := made.abi.wanted(choose)):
            self._instead[wanted] = made
        return made
