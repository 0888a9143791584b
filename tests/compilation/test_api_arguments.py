"""Mistakes of callers are answered with what was expected, before anything is compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernels import make
from tileas_xdsl.compilation.api_arguments import pass_specs
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

ADD = make("vector_add").text()
A = np.ones(64, np.float32)


def on_tiles() -> Any:
    return compile(ADD, passes="canonicalize")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: compile(ADD, passes="cs"), ValueError, "unknown pass 'cs'; did you mean cse?"),
        (lambda: compile(ADD, passes=[4]), TypeError, "passes are a text such as .*, not of int 4"),
        (lambda: compile(ADD, passes=4), TypeError, "or a sequence of those, not int 4"),
        (lambda: compile(ADD, 90), TypeError, "target is the name of a GPU .*, not int 90"),
        (lambda: compile(ADD, "sm_90a", A), TypeError, "for a target alone, not for 2 arguments"),
        (lambda: compile(ADD, signature="a"), TypeError, "alone, not for a signature"),
        (lambda: compile(ADD, kernel=True), TypeError, "name of a kernel, not bool True"),
        (lambda: compile(ADD, kernel="vector_ad"), Exception, "did you mean vector_add?"),
        (lambda: compile(ADD, host_code=1), TypeError, "host_code is True or False, not int 1"),
        (lambda: compile(lambda x: x), TypeError, "a function without '@ct.kernel'"),
        (lambda: on_tiles().simulate(A, A, A, schedule=4), TypeError, "'random', .* not 4"),
        (lambda: on_tiles().simulate(A, sed=4), TypeError, "simulate has no option 'sed'"),
        (lambda: on_tiles().emulate(A, ordr="lazy"), TypeError, "did you mean order?"),
        (lambda: on_tiles().launch(A, A, A, device="a"), TypeError, "the number of a GPU"),
        (lambda: on_tiles().validate(A, tolerance="1"), TypeError, "is a number, not str '1'"),
    ],
)
def test_mistakes(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_passes_of_any_form() -> None:
    to_ptx = PIPELINES["tileas-to-ptx"].passes
    assert pass_specs("tileas-to-ptx") == pass_specs(to_ptx) == [*to_ptx]
    assert pass_specs("cse,tileas-to-ptx") == pass_specs(["cse", *to_ptx])
    assert pass_specs(None) is pass_specs(()) is pass_specs("") is None
