"""Host code for TMA: encode the tensor maps of a kernel's arguments, in the `llvm` dialect."""
