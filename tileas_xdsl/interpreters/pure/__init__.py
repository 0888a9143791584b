"""Pure operations of our dialects for xDSL's own `Interpreter` (`InterpreterFunctions`)."""
