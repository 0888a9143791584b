"""Random block programs of tl: text, arrays, and the kinds of accesses in them."""

from tests.support.tl_programs.program import TlProgram, one_access, program, programs
from tests.support.tl_programs.reads import KINDS

__all__ = ["KINDS", "TlProgram", "one_access", "program", "programs"]
