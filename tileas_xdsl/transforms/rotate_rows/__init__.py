"""Implementation of `tileas-rotate-rows`: what is loaded again where rows are rotated otherwise."""
