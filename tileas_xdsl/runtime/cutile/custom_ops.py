"""Launches of cuTile kernels as custom operators of torch, for `torch.compile` and autograd.

    @custom_op("mine::add", outputs=lambda a, b: torch.empty_like(a))
    def add(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        ct.launch(torch.cuda.current_stream(), (ct.cdiv(a.numel(), 128),), kernel, (a, b, out, 128))

    c = add(a, b)

The function fills the outputs, which are its last parameters.  `outputs` makes them from the
inputs; torch traces with it alone, on tensors without memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from tileas_xdsl.frontend.needed_packages import MissingPackageError


def custom_op(
    name: str, *, outputs: Callable[..., Any], device_types: str | None = None
) -> Callable[[Callable[..., None]], Any]:
    """Return a decorator that makes an operator `namespace::name` of a function that launches.

    `outputs` returns a tensor or a tuple of them.  Raises `MissingPackageError` without torch.
    """
    torch = _torch()

    def decorate(fill: Callable[..., None]) -> Any:
        def run(*inputs: Any) -> Any:
            made = outputs(*inputs)
            fill(*inputs, *_each(made))
            return made

        cast("Any", run).__signature__ = _signature(fill, outputs, torch.Tensor)
        operator = torch.library.custom_op(name, run, mutates_args=(), device_types=device_types)
        operator.register_fake(outputs)
        return operator

    return decorate


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        text = "custom operators need the package torch; install it with: pip install torch"
        raise MissingPackageError(text) from error


def _signature(
    fill: Callable[..., None], outputs: Callable[..., Any], tensor: type
) -> inspect.Signature:
    """The operator's parameters are those of `outputs`; it returns a tensor for each other one."""
    found = [*inspect.signature(fill, eval_str=True).parameters.values()]
    count = len(inspect.signature(outputs).parameters)
    rest = len(found) - count
    if rest < 1:
        text = f"'{fill.__name__}' has {len(found)} parameters; outputs follow its {count} inputs"
        raise TypeError(text)
    returned: Any = tensor if rest == 1 else tuple.__class_getitem__((tensor,) * rest)
    return inspect.Signature(found[:count], return_annotation=returned)


def _each(made: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
