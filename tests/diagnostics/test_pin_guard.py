"""What we use of xDSL beyond its public interface.

If a new xDSL fails here, the file named in each test needs a look before the version is raised.
"""

import inspect

import pytest
from xdsl.parser import AttrParser, Parser, ParserState
from xdsl.parser.generic_parser import GenericParser
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriterListener,
    PatternRewriteWalker,
)
from xdsl.tools.command_line_tool import CommandLineTool
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.mlir_lexer import MLIRLexer
from xdsl.xdsl_opt_main import xDSLOptMain


def parameters(function) -> list[str]:
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (Parser._parse_op_result_list, ["self"]),
        (Parser._get_op_by_name, ["self", "name"]),
        (Parser._register_ssa_definition, ["self", "name", "values", "span"]),
        (Parser.parse_operation, ["self"]),
        (Parser.parse_optional_region, ["self", "arguments"]),
        (Parser.resolve_operand, ["self", "operand", "type"]),
        (AttrParser.parse_optional_type, ["self"]),
        (AttrParser.parse_optional_attribute, ["self"]),
        (MLIRLexer._lex_string_literal, ["self", "start_pos"]),
    ],
)
def test_hooks_of_located_parser(method, expected):
    assert parameters(method) == expected


def test_state_of_located_parser():
    assert {"ssa_values", "forward_ssa_references", "forward_block_references"} <= set(
        Parser.__annotations__
    )
    assert "_parser_state" in GenericParser.__annotations__
    assert parameters(ParserState.__init__)[:2] == ["self", "lexer"]


def test_operations_read_their_results_before_their_name():
    """located_parser takes the token after the results as the name of the operation."""
    source = inspect.getsource(Parser.parse_operation)
    assert source.index("_parse_op_result_list") < source.index("_get_op_by_name")


def test_string_literals_are_lexed_with_the_pattern_that_located_parser_replaces():
    assert "_unescaped_characters_regex" in inspect.getsource(MLIRLexer._lex_string_literal)
    assert MLIRLexer._unescaped_characters_regex.pattern == (
        r'"(?:[^"\\\n\v\f]+|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"'
    )


def test_messages_that_are_recognised():
    assert "values used but not defined: " in inspect.getsource(Parser.parse_module)
    assert "' is not registered\"" in inspect.getsource(
        AttrParser._parse_dialect_type_or_attribute_body
    )
    assert "Operation using value defined out of its " in inspect.getsource(IsolatedFromAbove)


def test_hooks_of_tileas_opt():
    for hook in (
        "register_all_frontends",
        "register_all_arguments",
        "setup_pipeline",
        "get_input_name",
        "prepare_input",
        "parse_chunk",
        "apply_passes",
        "output_resulting_program",
        "run",
    ):
        assert hook in vars(xDSLOptMain) or hook in vars(CommandLineTool)
    assert parameters(xDSLOptMain.__init__) == ["self", "description", "args"]
    assert "self.setup_pipeline()" in inspect.getsource(xDSLOptMain.__init__)


def test_hooks_of_rewriting():
    assert parameters(GreedyRewritePatternApplier.match_and_rewrite) == ["self", "op", "rewriter"]
    assert {"operation_insertion_handler", "operation_replacement_handler"} <= set(
        parameters(PatternRewriterListener)
    )
    assert "except Exception" in inspect.getsource(PatternRewriteWalker._process_worklist)
