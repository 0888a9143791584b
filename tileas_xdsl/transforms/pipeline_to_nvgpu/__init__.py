"""Implementation of `convert-pipeline-to-nvgpu`: mbarriers, waits and arithmetic for `cutlass`."""
