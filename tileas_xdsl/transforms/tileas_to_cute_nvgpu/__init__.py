"""From tiles and agents to the threads of a block: what `convert-tileas-to-cute-nvgpu` is made of.

`warps` says which threads an agent has, `shared` where tiles lie in shared memory and how, `values`
what tiles, views and tokens become, and the other files lower one family of operations each.
"""
