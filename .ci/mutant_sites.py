"""Places in Python and C sources where one small change makes a mutant of the program.

Changed are signs, factors, indices, calls (dropped) and comparisons (swapped), never what people or type
checkers read: docstrings, messages of errors and warnings, ``__repr__``, annotations, imports, defaults.
"""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

KINDS = ("sign", "factor", "index", "call", "comparison")
#: Each operator and what stands there instead, with the kind of the change.
OPERATORS = {
    ast.Add: ("+", "-", "sign"),
    ast.Sub: ("-", "+", "sign"),
    ast.Mult: ("*", "/", "factor"),
    ast.Div: ("/", "*", "factor"),
    ast.Lt: ("<", ">", "comparison"),
    ast.Gt: (">", "<", "comparison"),
    ast.LtE: ("<=", ">=", "comparison"),
    ast.GtE: (">=", "<=", "comparison"),
    ast.Eq: ("==", "!=", "comparison"),
    ast.NotEq: ("!=", "==", "comparison"),
    ast.Is: ("is", "is not", "comparison"),
    ast.IsNot: ("is not", "is", "comparison"),
    ast.And: ("and", "or", "comparison"),
    ast.Or: ("or", "and", "comparison"),
}
IN_C = {sign: (new, kind) for sign, new, kind in OPERATORS.values() if not sign[0].isalpha()}
IN_C |= {"&&": ("||", "comparison"), "||": ("&&", "comparison")}
IN_C |= {f"{sign}=": (f"{new}=", kind) for sign, (new, kind) in IN_C.items() if kind in ("sign", "factor")}
#: Calls that speak to people, or to type checkers.
TOLD = {"warn", "warning", "info", "debug", "error", "cast", "print", "write"}
UNSEEN = {"__repr__", "__str__"}
#: Factors below are tolerances: twice as much is as good.
TOLERANCE = 1e-5
#: A type in front of brackets: they are those of a declaration.
TYPE = re.compile(rb"\b(batch|mask|tensor|double|int|int32_t|ptrdiff_t)\b")
NO_CODE = re.compile(rb'/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*|"[^"\n]*"', re.S | re.M)


@dataclass(frozen=True, order=True)
class Mutant:
    """One change of a file.

    Attributes:
        path: The file, from the root of the checkout.
        start: First byte that is replaced.
        end: The byte behind the last one.
        new: What stands there instead.
        kind: One of ``KINDS``.
        c_code: Whether it is C that a compiler must see.
        line: Number of its line.
        before: The line of the source, without indentation.
        after: The same line with the change; of a dropped call of several lines the rest is not shown.
        shown: ``before -> after`` of the surroundings, for a table.
    """

    path: str
    start: int
    end: int
    new: str
    kind: str
    c_code: bool
    line: int
    before: str
    after: str
    shown: str

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def equivalent(text: str) -> dict[tuple[str, str, str], str]:
    """Reasons of the mutants of a list, by file, line before and line after; blank lines divide them."""
    found = {}
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for block in "\n".join(lines).split("\n\n"):
        if not block.strip():
            continue
        path, before, after, *reason = block.strip().splitlines()
        if before[:2] != "- " or after[:2] != "+ " or not reason:
            raise SystemExit(
                f"equivalent mutants: file, '- line', '+ line' and reason are expected, not\n{block}"
            )
        found[path, before[2:].strip(), after[2:].strip()] = " ".join(reason)
    return found


def gone(root: Path, listed: dict[tuple[str, str, str], str]) -> list[tuple[str, str, str]]:
    """Mutants of a list that the source has no more."""
    files = {path for path, _, _ in listed if (root / path).is_file()}
    there = {(path, each.before, each.after) for path in files for each in mutants_of(root, path)}
    return [each for each in listed if each not in there]


def chosen(root: Path, folders: Sequence[str], seed: int) -> Iterator[Mutant]:
    """All mutants of the folders in random order, kind after kind in turns."""
    found: dict[str, list[Mutant]] = {kind: [] for kind in KINDS}
    for folder in folders:
        if not (root / "dolfinx_impact" / folder).is_dir():
            raise SystemExit(f"there is no folder dolfinx_impact/{folder}")
        for path in sorted((root / "dolfinx_impact" / folder).rglob("*")):
            if path.suffix in (".py", ".c", ".h"):
                for mutant in mutants_of(root, path.relative_to(root).as_posix()):
                    found[mutant.kind].append(mutant)
    for each in found.values():
        random.Random(seed).shuffle(each)
    for turn in itertools.zip_longest(*found.values()):
        yield from filter(None, turn)


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """All mutants of a file, in the order of the text."""
    source = (root / path).read_bytes()
    if path.endswith(".py"):
        places = Places(source, strings="systems/elements/" in path)
        places.visit(ast.parse(source))
        found = places.found
    else:
        found = [(*each, True) for each in places_in_c(source, 0, len(source))]
    return sorted({_mutant(path, source, *each) for each in found})


def _mutant(path: str, source: bytes, start: int, end: int, new: str, kind: str, c_code: bool) -> Mutant:
    first = source.rfind(b"\n", 0, start) + 1
    last = source.find(b"\n", start) % (len(source) + 1)
    tail = source[end:last] if end <= last else b""
    after = source[first:start] + new.encode() + tail
    line = source.count(b"\n", 0, start) + 1
    head, tail = source[max(first, start - 22) : start], tail[:22]
    both = (head + each + tail for each in (source[start:end], new.encode()))
    shown = (" ".join(each.decode(errors="ignore").split()) for each in both)
    lines = [each.decode().strip() for each in (source[first:last], after)]
    return Mutant(path, start, end, new, kind, c_code, line, lines[0], lines[1], " -> ".join(shown))


class Places(ast.NodeVisitor):
    """Where a module can be changed; ``found`` has first and last byte, replacement, kind, whether it is C.

    Args:
        source: The module.
        strings: Whether its strings of several lines are C code.
    """

    def __init__(self, source: bytes, strings: bool) -> None:
        self.source, self.strings = source, strings
        self.found: list[tuple[int, int, str, str, bool]] = []
        self._lines = [0, *(place.end() for place in re.finditer(rb"\n", source))]

    def _span(self, node: ast.AST) -> tuple[int, int]:
        at = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        return self._lines[at[0] - 1] + at[2], self._lines[at[1] - 1] + at[3]

    def _add(self, start: int, end: int, new: str, kind: str) -> None:
        self.found.append((start, end, new, kind, False))

    def _operator(self, op: ast.AST, start: int, end: int) -> None:
        """The operator that is the only one between two places, but for parentheses and comments."""
        if type(op) not in OPERATORS:
            return
        old, new, kind = OPERATORS[type(op)]
        between = re.sub(rb"#[^\n]*", lambda each: b" " * len(each[0]), self.source[start:end])
        place = re.search(re.escape(old.encode()).replace(rb"\ ", rb"\s+"), between)
        if place:
            self._add(start + place.start(), start + place.end(), new, kind)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Signs and factors of numbers; of texts and lists they would be no operators at all."""
        sides = (node.left, node.right)
        if not any(_is_no_number(side) for side in sides):
            self._operator(node.op, self._span(node.left)[1], self._span(node.right)[0])
        if isinstance(node.op, (ast.Mult, ast.Div, ast.Pow)):
            for side in sides:
                self._number(side)
        self.generic_visit(node)

    def _number(self, node: ast.AST) -> None:
        """A factor or an exponent: integers grow by one, others are doubled."""
        if not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
            return
        value = node.value
        if isinstance(value, int) or abs(value) > TOLERANCE:
            new = repr(value + 1 if isinstance(value, int) else 2 * value)
            self._add(*self._span(node), new, "factor")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """A minus sign becomes a plus sign, but not that of a tolerance."""
        size = getattr(node.operand, "value", 1.0)
        if isinstance(node.op, ast.USub) and not (isinstance(size, float) and size <= TOLERANCE):
            start = self._span(node)[0]
            self._add(start, start + 1, "+", "sign")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """``+=`` and its like."""
        if not _is_no_number(node.value):
            self._operator(node.op, self._span(node.target)[1], self._span(node.value)[0])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Each of ``a < b < c``."""
        sides = [self._span(each) for each in (node.left, *node.comparators)]
        for op, left, right in zip(node.ops, sides, sides[1:]):
            self._operator(op, left[1], right[0])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Each of ``a and b and c``."""
        sides = [self._span(each) for each in node.values]
        for left, right in zip(sides, sides[1:]):
            self._operator(node.op, left[1], right[0])
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Whole numbers in brackets, as they stand or as ends of ranges."""
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for each in inner:
            for index in (each.lower, each.upper) if isinstance(each, ast.Slice) else (each,):
                if isinstance(index, ast.Constant) and type(index.value) is int:
                    self._add(*self._span(index), str(index.value + 1), "index")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call whose result nobody uses; not docstrings."""
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and _name(node.value) not in TOLD:
            self._add(*self._span(node), "pass", "call")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Templates of C code."""
        if self.strings and isinstance(node.value, str) and re.search(r";.*\n", node.value):
            self.found += [(*each, True) for each in places_in_c(self.source, *self._span(node))]

    def visit_Call(self, node: ast.Call) -> None:
        """Nothing in what is told."""
        if _name(node) not in TOLD:
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The body alone: neither types nor defaults."""
        if node.name not in UNSEEN:
            for each in node.body:
                self.visit(each)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value, not the type."""
        if node.value:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Nothing in messages."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nothing in texts."""


def _is_no_number(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    return isinstance(node, (ast.List, ast.Tuple, ast.JoinedStr))


def _name(call: ast.Call) -> str:
    """Last part of the name of what is called."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def places_in_c(source: bytes, start: int, end: int) -> Iterator[tuple[int, int, str, str]]:
    """Places in C code: first and last byte, replacement, kind."""
    code = source[start:end]
    template = code.lstrip(b"rb")[:1] == b'"'  # of Python: the quotation marks around it are none of C
    code = NO_CODE.sub(lambda each: b" " * len(each[0]), code.replace(b'"', b" ") if template else code)
    for place in re.finditer(rb" ([-+*/<>=!&|]{1,2}) ", code):
        if (old := place[1].decode()) in IN_C:
            yield start + place.start(1), start + place.end(1), *IN_C[old]
    for place in re.finditer(rb"(?<![\w.])\d+\.\d+(?![\w.])", code):
        if float(place[0]) > 0.0:
            yield start + place.start(), start + place.end(), repr(2 * float(place[0])), "factor"
    for place in re.finditer(rb"\[(\d+)\]", code):
        if not TYPE.search(re.split(rb"[;={}\n]", code[: place.start()])[-1]):
            yield start + place.start(1), start + place.end(1), str(int(place[1]) + 1), "index"
    for place in re.finditer(rb"(?<=\n)[ \t]+(\w+\([^;{}]*\);)", code):
        yield start + place.start(1), start + place.end(1), ";", "call"
