"""The thread-code library that all lowerings share: tiles as code of the threads of a block."""
