"""The tables and figures of the source, recomputed by this package beside what is printed there.

>>> from symdecouple.reproduction import EXPERIMENTS
>>> sorted(EXPERIMENTS)[1:4]
['discrimination', 'orthogonality', 'orthokurtosis']
"""

from symdecouple.reproduction.catalogue import EXPERIMENTS, Experiment, reproduce
from symdecouple.reproduction.result import Result, Row

__all__ = ["EXPERIMENTS", "Experiment", "Result", "Row", "reproduce"]
