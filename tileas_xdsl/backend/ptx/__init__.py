"""The way to PTX: lowering, printer and target."""
