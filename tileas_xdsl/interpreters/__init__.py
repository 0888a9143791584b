"""What programs mean: `tile` runs `nv_tileas` on numpy tiles."""
