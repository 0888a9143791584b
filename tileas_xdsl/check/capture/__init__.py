"""Capture of launches of other libraries: each is checked on the emulator instead of launched."""
