"""Implementation of `tileas-plan-cta`: along which dimension CTAs divide a tile block."""
