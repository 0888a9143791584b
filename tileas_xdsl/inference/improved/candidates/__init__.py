"""Candidate layouts of loops and buffers: prescribed, transferred, extended, or along memory."""
