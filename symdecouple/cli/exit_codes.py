"""What the shell is told: the exit codes of all commands, once."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """The exit code of a command; the values are a contract with scripts.

    ``check`` and ``explain``: PROVED where C1 and C2 both are, REFUTED where at least one is, UNDECIDED otherwise.
    ``explore``: OK where every set and order was answered, PARTIAL where time ran out before. ``decouple``: OK
    (which is PROVED's number) where every value was computed, PARTIAL where some were refused. ``transfer``: OK where
    the result was written, PARTIAL where a channel was refused and nothing was written, or the table of ``--cube``
    alone was not. All: BAD_INPUT where something cannot be read, or a result cannot be written, standard output among
    it.
    """

    PROVED = 0
    OK = 0
    REFUTED = 1
    UNDECIDED = 2
    BAD_INPUT = 3
    PARTIAL = 4
    INTERNAL = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141
