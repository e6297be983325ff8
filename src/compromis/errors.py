"""What compromis raises and warns.

CompromisError
├── InputError (ValueError)        what was received, and what to do
├── EngineError (RuntimeError)     an engine (polars, DuckDB, Dask, Spark) could not run a query, and what it said
└── MissingExtra (ImportError)     which extra to install

NotBetterWarning     (UserWarning) a result that is no better than no model, or that chance explains
FewRowsWarning       (UserWarning) weights searched for a class of few rows
GuaranteeWarning     (UserWarning) a constraint that cannot be guaranteed on new rows
DeviceWarning (UserWarning)        data on a graphics card was copied to the host
OptimismWarning (UserWarning)      a loss that looks better than it is, and by how much
"""

from __future__ import annotations

_LONGEST = 1000


def shortened(sentence: str) -> str:
    """Return a sentence of at most 1,000 characters: names that a file brings may be long, and stand in the middle of it."""
    if len(sentence) <= _LONGEST:
        return sentence
    return f"{sentence[: _LONGEST - 405]} ... {sentence[-400:]}"


class CompromisError(Exception):
    """Every error that compromis raises on purpose.

    Examples
    --------
    >>> import compromis as cp
    >>> issubclass(cp.InputError, cp.CompromisError), issubclass(cp.MissingExtra, cp.CompromisError)
    (True, True)
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))


class InputError(CompromisError, ValueError):
    """Input that cannot be used; the message is one sentence that says what was received and what to do.

    Parameters
    ----------
    message : str
        The sentence.
    parameter : str, optional
        The name of the parameter that was wrong. The sentence begins with it, and a front end puts its own name for it there.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.Preference(precision_at_full_recall=10)
    Traceback (most recent call last):
        ...
    compromis.errors.InputError: precision_at_full_recall is a share between 0 and 1, got 10; for 10 % write 0.1
    """

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class EngineError(CompromisError, RuntimeError):
    """An engine could not run a query; the message says which one, and what it said.

    Examples
    --------
    >>> import compromis as cp
    >>> issubclass(cp.EngineError, cp.CompromisError), issubclass(cp.EngineError, RuntimeError)
    (True, True)
    """


class MissingExtra(CompromisError, ImportError):
    """An optional part of compromis is not installed; the message names the extra to install.

    Examples
    --------
    >>> import compromis as cp
    >>> try:
    ...     raise cp.MissingExtra("displays need matplotlib; pip install 'compromis[plot]'")
    ... except ImportError as error:
    ...     print(error)
    displays need matplotlib; pip install 'compromis[plot]'
    """


class NotBetterWarning(UserWarning):
    """A result that is no better than no model, or that chance explains as well.

    Examples
    --------
    >>> import warnings
    >>> import compromis as cp
    >>> from sklearn.dummy import DummyClassifier
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = cp.TunedDecisionClassifier(DummyClassifier()).fit([[0]] * 40, ["a", "b"] * 20)
    >>> caught[0].category.__name__
    'NotBetterWarning'
    """


class FewRowsWarning(UserWarning):
    """Weights searched for a class that matters but has fewer than 20 rows, so that they are uncertain.

    Examples
    --------
    >>> import warnings
    >>> import compromis as cp
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     search = cp.search_weights(["a", "a", "b"], [[3, 1], [2, 2], [1, 3]])
    >>> print(caught[0].message)
    class 'a' has 2 rows, class 'b' has 1 row: weights found on so few rows are uncertain; label more of them, or average
    over resamples (resamples=20), and read the interval of the verdict
    """


class GuaranteeWarning(UserWarning):
    """A constraint that is to hold on new rows with a confidence, which these rows do not give.

    ``warnings.simplefilter("error", cp.GuaranteeWarning)`` makes it an error.

    Examples
    --------
    >>> import warnings
    >>> import compromis as cp
    >>> wanted = {"b": cp.Preference(min_recall=0.5, confidence=0.9)}
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", cp.GuaranteeWarning)
    ...     search = cp.search_weights(["a", "a", "b"], [[3, 1], [2, 2], [1, 3]], preferences=wanted)
    >>> search.guarantee.given, caught[-1].category.__name__
    (False, 'GuaranteeWarning')
    """


class OptimismWarning(UserWarning):
    """A loss measured on the rows on which something was chosen, so that it looks better than it is.

    Examples
    --------
    >>> import warnings
    >>> import compromis as cp
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)  # nothing to learn
    >>> plane = cp.Preferences(metric="kulczynski")
    >>> tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=plane, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = cp.cross_evaluate(tuned, X, y, cv=3, preferences=plane)
    >>> caught[-1].category.__name__, result.optimism > 0.1
    ('OptimismWarning', True)
    """


class DeviceWarning(UserWarning):
    """Data on a graphics card was copied to the host's memory.

    Examples
    --------
    >>> import compromis as cp
    >>> issubclass(cp.DeviceWarning, UserWarning)
    True
    """
