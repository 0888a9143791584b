"""The rows of the instruction table (PTX ISA, chapter 9): one file a family of instructions.

`arithmetic/`   numbers in registers: float, integer, comparisons, conversions, video instructions
`memory/`       loads, stores, atomics, copies, multimem; `keywords.py` has spaces, orders, scopes
`matrix/`       mma, wgmma, tcgen05; `tensor_cores.py` has their shapes and types
here            moves and control flow, synchronization, special registers, keywords of warps and
                of asynchronous instructions

Read `arithmetic/floating.py` first: a row is an `InstructionForm` (`isa/forms.py`), an opcode with
its modifiers, types, PTX version and targets.  `isa/table.py` collects all rows; the `ptx` dialect,
its printer, the emulator's decoder and the reference page read them.
"""
