"""Random tl programs: text, arrays, and kinds of accesses."""

from tests.support.tl_programs.program import TlProgram, one_access, program, programs
from tests.support.tl_programs.reads import KINDS

__all__ = ["KINDS", "TlProgram", "one_access", "program", "programs"]
