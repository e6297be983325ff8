"""Tune the votes of Spark ML's random forest in place: only vote patterns leave the cluster.

Needs pyspark (and Java 17): ``pip install pyspark pyarrow pandas``, then ``python examples/spark_forest.py``. On a cluster of your own,
give its address: ``python examples/spark_forest.py spark://host:7077``.
"""

from __future__ import annotations

import sys
import warnings

import compromis as cp

warnings.filterwarnings("ignore", message=".*pandas >= 3")  # pyspark warns of every newer pandas


def main(master: str = "local[2]", rows: int = 20_000, trees: int = 20) -> None:
    from pyspark.ml.classification import RandomForestClassifier
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as sql

    spark = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    # three classes, the last one rare and the one that matters
    data = spark.range(rows).select(
        *(sql.randn(seed).alias(f"x{seed}") for seed in range(4)), sql.rand(9).alias("luck")
    )
    score = sql.col("x0") + 0.5 * sql.col("x1") * sql.col("x2")
    data = data.withColumn(
        "label", sql.when(score + sql.col("luck") > 2.6, 2.0).when(score > 0.4, 1.0).otherwise(0.0)
    ).drop("luck")
    data = VectorAssembler(inputCols=["x0", "x1", "x2", "x3"], outputCol="features").transform(data)
    train, tune, test = data.randomSplit([0.5, 0.25, 0.25], seed=0)
    forest = RandomForestClassifier(numTrees=trees, maxDepth=6, seed=0).fit(train)

    def votes(part):
        """Each class's votes as a column; rawPrediction adds up the trees' class shares, here rounded to hundredths of a tree."""
        raw = vector_to_array(sql.col("rawPrediction"))
        columns = [sql.round(raw[place] * 100).cast("int").alias(f"votes{place}") for place in range(3)]
        return forest.transform(part).select(sql.col("label").cast("int").alias("label"), "prediction", *columns)

    columns = {"votes0": 0, "votes1": 1, "votes2": 2}
    preferences = cp.Preferences(
        {2: cp.Preference(10, precision_at_full_recall=0.5, recall_at_full_precision=0.9)}, metric="f"
    )
    found = cp.frames.search_weights(votes(tune), truth="label", proba=columns, preferences=preferences)
    print(found)
    before = cp.frames.evaluate(votes(test), truth="label", proba=columns, preferences=preferences)
    after = cp.frames.evaluate(
        votes(test), truth="label", proba=columns, weights=found.search.decision, preferences=preferences
    )
    print(f"rows never seen: loss {before.summary.loss:.4f} with Spark's own decision, {after.summary.loss:.4f} tuned")
    for label in (0, 1, 2):
        one, two = before.per_class[label], after.per_class[label]
        print(
            f"class {label}: recall {one.recall:.3f} -> {two.recall:.3f}, precision {one.precision:.3f} -> {two.precision:.3f}"
        )
    predicted = cp.frames.decide(votes(test), proba=columns, weights=found.search.decision)
    predicted.select("label", "prediction", "decision").show(5)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:2])
