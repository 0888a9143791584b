"""`python -m kernels` lists kernels and prints them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kernels import KERNELS, make, parameters_of
from kernels.__main__ import main
from kernels.simulating import parse


def test_the_list_names_kernels_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(KERNELS)
    assert "stages=3" in lines[-1].split()


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 0
    printed = capsys.readouterr().out
    assert printed == make(name).text()
    parse(printed)


def test_parameters_have_the_types_of_their_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gemm", "element=bf16", "stages=4"]) == 0
    assert capsys.readouterr().out == make("gemm", element="bf16", stages=4).text()
    assert set(parameters_of(KERNELS["copy"])) == {"element", "rows", "columns"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gem"], "there is no kernel 'gem'"),
        (["gemm", "tile=3"], "gemm has no parameter 'tile=3'"),
        (["gemm", "stages"], "gemm has no parameter 'stages'"),
        (["gemm", "stages=x"], "'x'"),
        (["gemm", "form=x"], "no gemm has form 'x'"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["gemm"]])
def test_nothing_is_said_when_nobody_reads_on(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "kernels", *arguments]
    with os.fdopen(writer, "wb") as nobody:
        done = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
