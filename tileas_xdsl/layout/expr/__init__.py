"""Integer expressions over variables: construction, ranges, simplification, tables and digits.

`expression` has the type and its operators, `text` how it is written, `ranges` interval analysis,
`affine_form` the linear normal form, `simplification` the rules with ranges, `tables` evaluation
over boxes and recovery from tables, `digits` the mixed-radix decomposition.
"""
