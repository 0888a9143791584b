"""Implementation of `tileas-remove-buffer-alias`.

`alias_plan` finds the aliases that can become views at an offset, `offset_rewriting` rewrites them,
`select_rewriting` moves selects in front of views, `diagnostics` reports the aliases that stay.
"""
