"""Register layout conversions: in a thread, by shuffles, through shared memory."""
