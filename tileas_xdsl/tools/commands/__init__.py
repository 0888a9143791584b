"""The commands of `tileas`, one a file."""
