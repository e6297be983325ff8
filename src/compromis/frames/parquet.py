"""Parquet, read by pyarrow a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, groupby
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute
from pyarrow import parquet, types

from compromis._files import UNPACKED
from compromis.errors import CompromisError, InputError
from compromis.frames.content import RATIO, Content
from compromis.frames.tables import MISSING, Coder, Numbers, Table, Texts, check_names, check_texts, text_of

ROWS = 1 << 16
CELLS = 1 << 22
"""Rows, and cells, of a batch at most."""
LETTERS = 1 << 24
"""Bytes of its texts, about."""
CELLS_PER_BYTE = 100
"""How many cells a byte of a file may hold beyond the limit: a column of one value takes next to none."""
_CELL = 8
"""Bytes of a value in memory."""
_COPIES = 5
"""How many times its decompressed size a group of rows of long texts takes until it is read."""
_BUFFER = 1 << 20


class Parquet:
    """A table in Parquet.

    Attributes
    ----------
    names : list of str
        The columns.
    rows : int
        How many rows there are.
    """

    def __init__(self, content: Content) -> None:
        self._content = content
        stream = content.stream()
        # the open file is handed over, not its name, which pyarrow might take for an address; and without threads, which ended
        # a process with SIGABRT now and then
        self._size = stream.seek(0, 2)
        with _refusing(content.source):
            metadata = parquet.read_metadata(stream)
            schema = metadata.schema.to_arrow_schema()
            self.names = list(schema.names)
            check_names(self.names, content.source)
            repeated = [field.name for field in schema if _is_text(field.type)]
            options: dict[str, Any] = {"metadata": metadata, "pre_buffer": False, "buffer_size": _BUFFER}
            self._file = parquet.ParquetFile(stream, read_dictionary=repeated, **options)
        self._metadata = metadata
        self._types = {field.name: field.type for field in schema}
        self.rows = int(metadata.num_rows)
        self._done = 0

    @property
    def share(self) -> float:
        """The share of the rows that were read."""
        return self._done / max(1, self.rows)

    def tables(self, texts: Sequence[str], numbers: Sequence[str]) -> Iterator[Table]:
        """Yield some rows after the other; numbers and dates are written out where texts are wanted, NaN is missing."""
        wanted, done, source = [*dict.fromkeys((*texts, *numbers))], 0, self._content.source
        coders = {name: Coder() for name in texts}
        wrong: dict[str, list[str]] = {name: [] for name in numbers}
        for batch in self.batches(wanted):
            columns: dict[str, Any] = {}
            for name in wanted:
                column = batch.column(name)
                if name in numbers and (types.is_integer(column.type) or types.is_floating(column.type)):
                    columns[name] = Numbers(_floats(column))
                    continue
                with _refusing(source):
                    coded = _coded(column, Coder() if name in numbers else coders[name])
                columns[name] = coded.numbers(wrong[name]) if name in numbers else coded
            held = sum(len(coder.labels) for coder in coders.values()) + sum(map(len, wrong.values()))
            check_texts(held, sum(coder.letters for coder in coders.values()), source)
            rows = np.arange(done + 1, done + batch.num_rows + 1)
            yield Table(source=source, columns=columns, rows=rows)
            done += batch.num_rows

    def empty(self) -> Any:
        """Return the table without its rows."""
        schema = self._file.schema_arrow
        return pyarrow.record_batch([pyarrow.array([], field.type) for field in schema], schema=schema)

    def batches(self, wanted: Sequence[str]) -> Iterator[Any]:
        """Yield the columns wanted as batches of pyarrow."""
        source = self._content.source
        self._check_cells(self.rows * max(1, len(wanted)))
        for name in wanted:
            _refuse_nested(self._types[name], f"column {name!r} of {source}")
        with _refusing(source):
            parts = [
                self._file.iter_batches(size, row_groups=groups, columns=list(wanted), use_threads=False)
                for size, groups in self._rows_together(wanted)
            ]
        batches = chain.from_iterable(parts)
        while True:
            with _refusing(source):
                batch = next(batches, None)
                if batch is None:
                    return
                self._check_bytes(batch, batch.nbytes)
                batch = self._with_own_texts(batch)
                batch.validate(full=True)  # texts of damaged pages may be no UTF-8
            self._done += batch.num_rows
            yield batch

    def _rows_together(self, wanted: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """Yield how many rows come in a batch, and of which groups of rows: fewer of many columns, and of long texts."""
        most = min(ROWS, CELLS // max(1, len(wanted)))
        sizes = [
            max(1, min(most, LETTERS * group.num_rows // max(1, group.total_byte_size))) if group.num_rows else most
            for group in self._groups()
        ]
        for _, groups in groupby(range(len(sizes)), key=lambda place: sizes[place].bit_length()):
            together = list(groups)
            yield min(sizes[place] for place in together), together

    def _groups(self) -> Iterator[Any]:
        """Yield what is known of each group of rows; pyarrow may end the process where the columns of a damaged one are looked at."""
        return map(self._metadata.row_group, range(self._metadata.num_row_groups))

    def _with_own_texts(self, batch: Any) -> Any:
        """Return a batch without the texts that only other rows hold: its dictionaries are those of a whole group of rows."""
        columns, letters = batch.columns, 0
        for place, column in enumerate(columns):
            if not (hasattr(column, "dictionary") and _is_text(column.dictionary.type)):
                continue
            texts, lengths = column.dictionary, pyarrow.compute.binary_length(column.dictionary)
            used = column.indices.dictionary_encode() if len(texts) > len(column) else None
            letters += pyarrow.compute.sum(lengths if used is None else lengths.take(used.dictionary)).as_py() or 0
            self._check_bytes(batch, _COPIES * letters)
            if used is not None:
                codes, texts = used.indices.cast(column.type.index_type), texts.take(used.dictionary)
                columns[place] = pyarrow.DictionaryArray.from_arrays(codes, texts, ordered=column.type.ordered)
        return pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)

    def _check_bytes(self, batch: Any, size: int) -> None:
        """Refuse rows that take too much memory; texts are held in several ways while they are read."""
        if size > UNPACKED.most:
            UNPACKED.check(size, f"reading {batch.num_rows:,} rows of {self._content.source} takes {size:,} bytes")

    def _check_cells(self, cells: int) -> None:
        """Refuse a small file that says itself that it becomes a large one."""
        source, most = self._content.source, UNPACKED.most
        if _CELL * cells > most and cells > CELLS_PER_BYTE * self._size:
            raise InputError(
                f"{source} has {self.rows:,} rows in {self._size:,} bytes, more than {CELLS_PER_BYTE:,} cells in a byte; set "
                f"{UNPACKED.setting} to {_CELL * cells} to read it all the same"
            )
        unpacked = max((group.total_byte_size for group in self._groups()), default=0)
        if _COPIES * unpacked > most and unpacked > RATIO * self._size:
            raise InputError(
                f"a group of rows of {source} becomes {unpacked:,} bytes when it is decompressed, more than the limit of {most:,} "
                f"allows, as reading takes {_COPIES} times as much; set {UNPACKED.setting} to {_COPIES * unpacked} to raise it"
            )


def _coded(column: Any, coder: Coder) -> Texts:
    """Return a column of a batch under the codes of the whole file."""
    column = column if hasattr(column, "dictionary") else column.dictionary_encode()
    values = column.dictionary.to_pylist()
    if not _is_text(column.dictionary.type):
        values = [None if value is None or value != value else text_of(value) for value in values]
    own = column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return coder.code([*values, None]).take(own)


def _is_text(kind: Any) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _refuse_nested(kind: Any, what: str) -> None:
    """Refuse a type that holds neither labels nor numbers."""
    inner = kind.value_type if types.is_dictionary(kind) else kind
    binary = types.is_binary(inner) or types.is_large_binary(inner) or types.is_fixed_size_binary(inner)
    if binary or types.is_nested(inner):
        raise InputError(f"{what} holds lists, bytes or records; labels and numbers are needed")


def _floats(column: Any) -> Any:
    values = column.cast(pyarrow.float64(), safe=False).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    values = np.array(values)
    values.view(np.int64)[np.isnan(values)] = MISSING
    return values


@contextmanager
def _refusing(source: str) -> Iterator[None]:
    """Make one sentence of the errors of pyarrow."""
    try:
        yield
    except (CompromisError, MemoryError):
        raise
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        said = "; ".join(line.strip() for line in str(error).splitlines()[:3] if line.strip()) or type(error).__name__
        raise InputError(f"{source} cannot be read as Parquet: {said[:300]}") from error
