"""Passes that decide where the elements of tiles are: register, shared and tensor memory layouts.

The search is in `assign_layouts` and, of `tl`, in `tl_inference`; `layout_conversions`,
`materialize_convert_layout` and `legalize_tmem_copy` have the parts of the other passes.
"""
