"""The host's part of TMA: code that encodes tensor maps of a kernel's arguments, as `llvm`."""
