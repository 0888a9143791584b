"""Parts of the pass `convert-cute-to-nvgpu`."""
