from tileas_xdsl.layout.recovery import *  # transitional
