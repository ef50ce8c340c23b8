"""Print the sizes of functions and modules: the aims of the house, added up."""

import ast
import statistics
from pathlib import Path

PACKAGES = ("graphstore", "ingest", "topology", "dream", "export", "service", "cli")
DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef)


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a body without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def branches(node: ast.AST) -> int:
    """Cyclomatic complexity: one plus the decisions."""
    kinds = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension)
    return 1 + sum(
        isinstance(part, (*kinds, ast.BoolOp, ast.match_case)) for part in ast.walk(node)
    )


def main() -> None:
    """Read the seven packages and print one line a figure."""
    files = sorted(file for package in PACKAGES for file in Path(package).rglob("*.py"))
    sizes = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    functions = [
        (file, node)
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, DEFINITION)
    ]
    lengths = sorted(body_lines(node) for _, node in functions)
    print(f"{len(files)} modules, {sum(sizes.values())} lines, {len(functions)} functions")
    tenth = lengths[len(lengths) * 9 // 10]
    print(f"body: median {statistics.median(lengths):.0f}, nine in ten <= {tenth}")
    for limit, what in ((25, "25"), (50, "50")):
        print(f"bodies over {what} lines: {sum(length > limit for length in lengths)}")
    print(f"complexity over 8: {sum(branches(node) > 8 for _, node in functions)}")
    long = ", ".join(f"{file} ({size})" for file, size in sizes.items() if size > 400)
    print(f"modules over 400 lines: {long or 'none'}")


if __name__ == "__main__":
    main()
