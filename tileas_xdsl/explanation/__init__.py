"""Explanations of compiled kernels: what bounds them, what they use, and why they are as they are.

facts = kernel_facts(tileas.compile(kernel, ...))      plain data (`facts.KernelFacts`)
facts.to_json()                                        for other programs
explanation(facts)                                     text, as `tileas explain` prints it
"""
