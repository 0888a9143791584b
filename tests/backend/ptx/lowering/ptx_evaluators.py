"""Two evaluators of tiny programs: of operations by their values, of text by its registers.

Words of 32 bits, `add`, `sub`, `mad`, `setp.lt`, branches, and stores to an address of 0.
"""

import re

from tileas_xdsl.dialects.ptx import BraOp, RetOp

MASK = 2**32 - 1


def compute(name, a, b, c=0):
    return {"add": a + b, "sub": a - b, "mad": a * b + c}[name] & MASK


def _elementwise(op, values):
    count = max(map(len, values))
    rows = zip(*(x if len(x) == count else x * count for x in values), strict=True)
    return [[compute(op.name[4:], *row) for row in rows]]


def _extract(op, values):
    start = op.start.value.data
    return [values[0][start : start + op.result.type.count.data]]


RESULTS = {
    "ptx.const": lambda op, values: [[op.value.value.data]],
    "ptx.ld_param": lambda op, values: [[0]],
    "ptx.pack": lambda op, values: [[x for part in values for x in part]],
    "ptx.extract": _extract,
    "ptx.unpack": lambda op, values: [[x] for x in values[0]],
    "ptx.setp": lambda op, values: [[values[0][0] < values[1][0]]],
    "ptx.add": _elementwise,
    "ptx.sub": _elementwise,
    "ptx.mad": _elementwise,
}
"""By operation: its results from the values of its operands, all of them lists of registers."""


def run_ir(entry):
    """What is stored, by address, when values are what the operations say."""
    env, memory = {}, {}
    block = entry.body.first_block
    while True:
        for op in block.ops:
            values = [env.get(operand) for operand in op.operands]
            if op.name == "ptx.st":
                place = op.offset.value.data if op.offset else 0
                memory.update({place + 4 * i: x for i, x in enumerate(values[1])})
            elif op.name in RESULTS:
                env.update(zip(op.results, RESULTS[op.name](op, values), strict=True))
        if isinstance(op, RetOp):
            return memory
        block, passed = _edge(op, values)
        env.update(zip(block.args, [env[value] for value in passed], strict=True))


def _edge(op, values):
    if isinstance(op, BraOp):
        return op.target, op.arguments
    if values[0][0]:
        return op.then_target, op.then_arguments
    return op.else_target, op.else_arguments


def run_text(text):
    """What is stored, by address, when the instructions of the text run."""
    lines = [line.strip().rstrip(";") for line in text[text.index("{") + 1 :].splitlines()]
    labels = {line[:-1]: at for at, line in enumerate(lines) if line.endswith(":")}
    registers, memory, at = {}, {}, 0
    while lines[at] != "ret":
        line = lines[at]
        at += 1
        guard = re.match(r"@(!?)(%p\d+) ", line)
        if guard and registers[guard[2]] == (guard[1] == "!"):
            continue
        head, *operands = re.split(r"[ ,]+", line[guard.end() if guard else 0 :])
        name = head.split(".")[0]
        if name == "bra":
            at = labels[operands[0]]
        else:
            _step(name, operands, registers, memory)
    return memory


def _step(name, operands, registers, memory):
    def get(operand):
        return registers[operand] if operand[0] == "%" else int(operand)

    match name:
        case "mov":
            registers[operands[0]] = get(operands[1])
        case "ld":
            registers[operands[0]] = 0
        case "setp":
            registers[operands[0]] = get(operands[1]) < get(operands[2])
        case "st":
            offset = operands[0].strip("[]").partition("+")[2]
            memory[int(offset or 0)] = get(operands[1])
        case "add" | "sub" | "mad":
            registers[operands[0]] = compute(name, *map(get, operands[1:]))
