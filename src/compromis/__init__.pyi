from . import (
    deployment,
    drift,
    estimators,
    evaluation,
    evidence,
    frames,
    integrations,
    metrics,
    model_selection,
    plots,
    regression,
    reports,
    tradeoffs,
    uncertainty,
    weights,
)
from .drift.monitoring import monitor
from .errors import (
    CompromisError,
    DeviceWarning,
    EngineError,
    FewRowsWarning,
    GuaranteeWarning,
    InputError,
    MissingExtra,
    NotBetterWarning,
    OptimismWarning,
)
from .estimators.c45 import C45Classifier
from .estimators.pragma_forest import PragmaForestClassifier
from .estimators.pragma_tree import PragmaTreeClassifier
from .estimators.tuned_decision import TunedDecisionClassifier
from .evaluation.checks import check
from .evaluation.cross_validation import cross_evaluate
from .evaluation.evaluate import Evaluation, evaluate
from .evaluation.model_comparison import compare_models
from .evaluation.scoring import pragma_loss, pragma_scorer
from .evidence.counts import Counts
from .evidence.paired import PairedCounts
from .evidence.points import OperatingPoints
from .evidence.votes import Votes
from .metrics import Metric, metric_value
from .preferences import Preference, Preferences
from .reports.contents import report
from .reports.panel.widget import panel
from .tradeoffs.comparison import compare_curves
from .tradeoffs.curve import TradeoffCurve
from .tradeoffs.roc import roc_hull
from .uncertainty.verdict import Verdict
from .weights.decision import Decision
from .weights.guarantee import Guarantee
from .weights.review import Review
from .weights.search import WeightSearch, search_weights

__version__: str

__all__ = [
    "C45Classifier",
    "CompromisError",
    "Counts",
    "Decision",
    "DeviceWarning",
    "EngineError",
    "Evaluation",
    "FewRowsWarning",
    "Guarantee",
    "GuaranteeWarning",
    "InputError",
    "Metric",
    "MissingExtra",
    "NotBetterWarning",
    "OperatingPoints",
    "OptimismWarning",
    "PairedCounts",
    "PragmaForestClassifier",
    "PragmaTreeClassifier",
    "Preference",
    "Preferences",
    "Review",
    "TradeoffCurve",
    "TunedDecisionClassifier",
    "Verdict",
    "Votes",
    "WeightSearch",
    "check",
    "compare_curves",
    "compare_models",
    "cross_evaluate",
    "deployment",
    "drift",
    "estimators",
    "evaluate",
    "evaluation",
    "evidence",
    "frames",
    "integrations",
    "metric_value",
    "metrics",
    "model_selection",
    "monitor",
    "panel",
    "plots",
    "pragma_loss",
    "pragma_scorer",
    "regression",
    "report",
    "reports",
    "roc_hull",
    "search_weights",
    "tradeoffs",
    "uncertainty",
    "weights",
]
