"""Implementation of `convert-cute-to-nvgpu`."""
