"""Keywords of options of passes."""

from __future__ import annotations

import pytest
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.compilation.pass_execution import make_pass

WRONG = {
    ("tileas-chunk-tiles", "rows"): "auto, registers, kept, ahead",
    ("tileas-deal-iterations", "mode"): "auto, on",
    ("tileas-divide-sums", "mode"): "auto, on",
    ("tileas-form-clusters", "mode"): "auto, on, off",
    ("tileas-make-persistent", "mode"): "auto, on, off",
    ("tl-layout-inference", "mode"): "improved, parity",
    ("tl-layout-inference", "cost_model"): "register-count, io-aware",
}


@pytest.mark.parametrize(("name", "option"), WRONG)
def test_keywords_that_an_option_does_not_have_are_refused(name: str, option: str) -> None:
    """The message names those that it has."""
    known = WRONG[name, option]
    with pytest.raises(ValueError, match=f"option {option} is one of {known}, not 'some'"):
        make_pass(ArgSpec(name, {option: ("some",)}))
