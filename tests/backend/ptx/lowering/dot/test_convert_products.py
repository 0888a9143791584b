"""Every form of the product of a warpgroup, from tensor maps to numbers, in the emulator."""

from __future__ import annotations

import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.emulating import emulate
from support.one_product import FORMS, RESULTS, SHARED_BYTES, Form, M, map_of, operands, product
from xdsl.context import Context

from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.backend.ptxas import assemble


def text_of(form: Form) -> str:
    module = product(form)
    module.verify()
    ConvertCuteNvgpuToPtx().apply(Context(), module)
    module.verify()
    return ptx_text(module, "sm_90a")


@pytest.mark.sample(13)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_products_are_those_of_numpy(form: Form) -> None:
    a, b = operands(form, np.random.default_rng(form.n))
    c = np.zeros((M, form.n), RESULTS[form.accumulator])
    arguments = [map_of(form, "a", a), map_of(form, "b", b), a, c]
    found = emulate(text_of(form), arguments, dynamic_shared=SHARED_BYTES)[3]
    np.testing.assert_array_equal(found, a.astype(np.float64) @ b.astype(np.float64).T)


@pytest.mark.sample(12)
@needs_ptxas
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_ptxas_takes_them_without_a_word(form: Form) -> None:
    assembled = assemble(text_of(form), "sm_90a")
    assert assembled.messages == ()
    assert assembled.spills == 0
