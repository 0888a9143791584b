"""Which tiles are worth computing anew where their elements are taken."""
