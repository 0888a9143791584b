"""Executable semantics: `tile` runs `nv_tileas` on numpy tiles, `ptx` emulates PTX text."""
