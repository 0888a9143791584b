"""Rows of matrix instructions (PTX ISA 9.7.14 to 9.7.16): of warps, of warpgroups, of a CTA."""
