"""UFL expressions on a tape: values, simplifications and derivatives."""

import math

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI

from dolfinx_impact.algebra.expressions.reader import NotRead, Reader
from dolfinx_impact.algebra.expressions.tape import Tape
from dolfinx_impact.systems.elements.batch_code import LawReader, NotGenerated

MESH = dmesh.create_unit_interval(MPI.COMM_SELF, 2)
UNARY = {"exp": lambda a: math.exp(a), "sin": math.sin, "cos": math.cos, "fabs": abs}
BINARY = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}


def value(tape, number, inputs):
    """The number that an expression is."""
    return float(tape.values([number], np.zeros(0), inputs)[0])


@st.composite
def expressions(draw):
    """A tape, an expression of two inputs on it, and the same as a function."""
    tape = Tape()
    known = [(tape.input(k), lambda x, k=k: x[k]) for k in range(2)]
    known += [(tape.constant(c), lambda x, c=c: c) for c in (0.0, 1.0, -0.7)]
    for _ in range(draw(st.integers(1, 8))):
        name = draw(st.sampled_from([*UNARY, *BINARY]))
        chosen = [draw(st.sampled_from(known)) for _ in range(1 if name in UNARY else 2)]
        operation = {**UNARY, **BINARY}[name]
        number = tape.apply(name, *(each for each, _ in chosen))
        parts = [function for _, function in chosen]
        known.append((number, lambda x, op=operation, parts=parts: op(*(part(x) for part in parts))))
    return tape, *known[-1]


POINTS = st.tuples(st.floats(0.1, 0.9), st.floats(-0.9, -0.1))


@given(expressions(), POINTS)
def test_simplified_expressions_have_the_same_values(given_expression, x):
    tape, number, function = given_expression
    try:
        expected = function(x)
    except OverflowError:
        return
    assert value(tape, number, x) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(expressions(), POINTS)
def test_both_modes_give_the_same_derivatives(given_expression, x):
    """The reverse mode, the forward mode, and differences of the complex-free function."""
    tape, number, function = given_expression
    inputs = [tape.input(0), tape.input(1)]
    gradient = tape.gradient(number, inputs)
    for k in range(2):
        change = {inputs[j]: tape.constant(float(j == k)) for j in range(2)}
        (along,) = tape.directional([number], change)
        try:
            one, other = value(tape, gradient[k], x), value(tape, along, x)
            h = 1e-6
            sides = [function([x[j] + sign * h * (j == k) for j in range(2)]) for sign in (1, -1)]
        except OverflowError:
            return
        if max(map(abs, (one, *sides))) > 1e3:
            return
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
        assert one == pytest.approx((sides[0] - sides[1]) / (2 * h), rel=1e-4, abs=1e-4)


def test_inputs_are_replaced():
    tape = Tape()
    x, y = tape.input(0), tape.input(1)
    product = tape.apply("*", tape.apply("+", x, tape.constant(2.0)), y)
    (found,) = tape.replaced([product], {x: tape.constant(3.0), y: x})
    assert value(tape, found, [7.0]) == 35.0
    assert tape.value(tape.replaced([product], {x: x, y: tape.constant(0.0)})[0]) == 0.0


@pytest.mark.parametrize(
    "function",
    [
        lambda F: ufl.det(F) ** (-2 / 3) * ufl.tr(F.T * F),
        lambda F: ufl.ln(ufl.det(F)) / ufl.sqrt(ufl.inner(F, F)),
        lambda F: ufl.conditional(ufl.gt(F[0, 0], F[1, 1]), ufl.exp(F[0, 1]), ufl.min_value(F[0, 2], 0.3)),
        lambda F: ufl.conditional(ufl.And(ufl.le(F[0, 0], 9), ufl.Not(ufl.ge(F[1, 0], 9))), F[2, 2], 0),
        lambda F: ufl.tr(ufl.inv(F)) + ufl.dot(F, F)[1, 2] + ufl.inner(ufl.dev(F), ufl.sym(F)),
        lambda F: ufl.conditional(ufl.lt(F[0, 0], F[1, 1]), F, F.T * ufl.max_value(F[2, 2], 1))[1, 2],
        lambda F: ufl.diff(ufl.tr(F * F), F)[0, 1] if isinstance(F, ufl.classes.Variable) else F[0, 1],
    ],
)
def test_ufl_expressions_are_read(function):
    """Against UFL's own evaluation of the expression of numbers."""
    numbers = np.array([[1.1, 0.2, -0.1], [0.3, 0.9, 0.15], [-0.2, 0.05, 1.3]])
    F = fem.Constant(MESH, np.eye(3))
    tape = Tape()
    inputs = np.array([[tape.input(3 * i + j) for j in range(3)] for i in range(3)])
    read = [int(reader(tape, {F: inputs}).read(function(ufl.variable(F)))) for reader in (Reader, LawReader)]
    found, also = tape.values(read, np.zeros(0), numbers.ravel())
    assert also == pytest.approx(found, rel=1e-15)  # kernels have no minimum, but selections
    expected = function(ufl.variable(ufl.as_matrix(numbers.tolist())))
    if "diff" in function.__code__.co_names:
        assert found == 2 * numbers[1, 0]
        return
    assert found == pytest.approx(float(ufl.as_ufl(expected)(())), rel=1e-13)


def test_the_tape_does_not_differentiate_what_only_numpy_evaluates():
    tape = Tape()
    x = tape.input(0)
    with pytest.raises(NotImplementedError, match="'tan': let UFL do it"):
        tape.gradient(tape.apply("tan", x), [x])


def test_parameters_are_the_constants_of_now():
    """A matrix between two numbers."""
    stiff, shape, x = fem.Constant(MESH, 2.0), fem.Constant(MESH, np.eye(2)), fem.Constant(MESH, 0.0)
    tape = Tape()
    reader = Reader(tape, {x: np.array(tape.input(0))})
    read = reader.read(ufl.as_vector([stiff * x, shape[1, 0] * x, fem.Constant(MESH, 5.0) - x]))
    shape.value[1, 0] = 4.0
    stiff.value = 3.0
    found = tape.function(list(read))(np.array([[1.0], [2.0]]), reader.parameters())
    assert np.array_equal(found, [[3.0, 4.0, 4.0], [6.0, 8.0, 3.0]])


@pytest.mark.parametrize(
    "expression, name",
    [
        (lambda: ufl.bessel_J(1, fem.Constant(MESH, 1.0)), "BesselJ"),
        (lambda: ufl.SpatialCoordinate(MESH)[0], "SpatialCoordinate"),
    ],
)
def test_what_is_not_read_is_named(expression, name):
    for reader, error, message in (
        (Reader, NotRead, name),
        (LawReader, NotGenerated, f"{name} has no code in element kernels"),
    ):
        with pytest.raises(error) as caught:
            reader(Tape(), {}).read(expression())
        assert str(caught.value) == message
