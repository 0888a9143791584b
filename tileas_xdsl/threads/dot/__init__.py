"""Matrix products: one file a way to multiply, chosen in `dot_wgmma.py` by target and layout.

`dot_wgmma.py`, `dot_mma_sync.py`         in registers; `mma_accumulate.py` emits a step of K
`dot_tcgen05.py`, `dot_block_scaled.py`   in tensor memory, issued by `mma_issuer_warp.py`
`dot_fma.py`                              types and shapes that no MMA instruction has
`operands/`                               A and B: descriptors of shared memory, fragments
"""
