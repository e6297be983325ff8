from .answers import AnswerCounts
from .count_bounds import CountBounds
from .counts import Counts
from .files import EvidenceFile, merge, read, write
from .grouped import GroupedCounts
from .paired import PairedCounts
from .points import OperatingPoints
from .residuals import ErrorSums
from .strata import Sample
from .votes import Votes

__all__ = [
    "AnswerCounts",
    "CountBounds",
    "Counts",
    "ErrorSums",
    "EvidenceFile",
    "GroupedCounts",
    "OperatingPoints",
    "PairedCounts",
    "Sample",
    "Votes",
    "merge",
    "read",
    "write",
]
