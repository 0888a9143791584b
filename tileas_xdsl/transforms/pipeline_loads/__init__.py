"""Implementation of `tileas-pipeline-loads`: candidate loop, resources, split into agents."""
