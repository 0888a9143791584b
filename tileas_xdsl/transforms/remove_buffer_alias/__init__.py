"""How `tileas-remove-buffer-alias` works: what can go, how it goes, and what is said of the rest.

An alias is a number: where it begins in its allocation.  `plan` finds the merges of buffers that
are always parts of one allocation, `numbers` makes them merges of numbers and views, `selections`
moves a selection behind windows that a number cannot tell, and `complaints` names what stays.
"""
