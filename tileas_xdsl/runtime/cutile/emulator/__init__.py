"""Launches on the emulator of PTX, which checks them."""
