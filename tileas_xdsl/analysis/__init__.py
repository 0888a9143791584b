"""Analyses of tile programs; nothing here changes the IR."""
