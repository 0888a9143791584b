from tileas_xdsl.layout.tables import *  # transitional
from tileas_xdsl.layout.tables import Table  # noqa
