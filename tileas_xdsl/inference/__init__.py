"""Which thread holds what: layouts of buffers and loops, inferred for a block-level program.

`program` says what is asked, `decisions` what is answered; both know no IR beyond affine maps.
"""
