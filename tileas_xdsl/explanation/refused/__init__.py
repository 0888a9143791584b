"""Why a kernel is refused, as data and text, and the sizes with which it would compile."""
