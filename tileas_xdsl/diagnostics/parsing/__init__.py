"""From files and command lines to modules and passes, with located errors."""
