"""What a stranger does first, with the kernels of every room; `make package` and cibuildwheel run it with an installed wheel."""

import compromis as cp


def main() -> None:
    assert "site-packages" in cp.__file__, cp.__file__
    preferences = cp.Preferences.prioritise(["bad"])
    report = cp.evaluate(["good", "bad", "bad"], ["good", "bad", "good"], preferences=preferences)
    assert report.summary.accuracy == 2 / 3
    votes = [[9, 1], [6, 4], [2, 8]] * 20  # fewer rows would be warned of
    search = cp.search_weights(["good", "bad", "bad"] * 20, votes, preferences=preferences, labels=["good", "bad"])
    assert search.optimal
    assert search.counts.matrix.tolist() == [[20, 0], [0, 40]]
    X, y = [[i] for i in range(200)], ["good"] * 125 + ["bad"] * 75
    forest = cp.PragmaForestClassifier(10, preferences=preferences, random_state=0).fit(X, y)
    assert forest.predict([[3], [190]]).tolist() == ["good", "bad"]
    assert cp.C45Classifier().fit(X, y).predict([[3], [190]]).tolist() == ["good", "bad"]
    points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    assert cp.TradeoffCurve(points, metric="f").intervals[0].threshold == 0.9
    assert "</table>" in report._repr_html_()
    print(cp.__version__)


if __name__ == "__main__":
    main()
