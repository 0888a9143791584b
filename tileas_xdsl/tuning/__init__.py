"""The choice of constants: candidates are predicted, the best compiled, and measured on a GPU.

result = tune(kernel, args, space={"tm": (64, 128)}, grid=lambda c: (m // c["tm"], 1, 1))
result.best; print(result.table())

@tileas.autotune(space=..., grid=...)      tunes at the first launch of each class of shapes
"""
