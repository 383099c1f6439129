"""Command lines of programs on several ranks: help is printed once, bad input is an error on all ranks."""

import pytest
from mpi4py import MPI

from dolfinx_impact import parallel

pytestmark = pytest.mark.mpi

COMM = MPI.COMM_WORLD


def parser():
    made = parallel.Parser(description="Drops a part.")
    made.add_argument("--height", type=float, default=1.0)
    return made


def test_every_rank_has_the_options():
    assert COMM.allgather(parser().parse_args(["--height", "2"]).height) == [2.0] * COMM.size


def test_help_is_printed_by_rank_0(capsys):
    with pytest.raises(SystemExit) as end:
        parser().parse_args(["--help"])
    said = COMM.allgather(capsys.readouterr().out)
    assert end.value.code == 0 and "Drops a part." in said[0] and not any(said[1:])


def test_bad_input_is_an_error_and_no_exit(capsys):
    bad = {"--height high": "invalid float value: 'high'", "--width 1": "unrecognized arguments: --width 1"}
    for words, message in bad.items():
        with pytest.raises(ValueError, match=message):
            parser().parse_args(words.split())
    assert capsys.readouterr() == ("", "")
