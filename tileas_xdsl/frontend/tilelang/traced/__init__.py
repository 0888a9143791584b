"""The traced program: how it is recognised, traced and read; its launches, loops and names."""
