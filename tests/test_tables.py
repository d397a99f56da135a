"""Files are whole or refused by name."""

import contextlib
import hashlib
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseaudit import files, samplefiles, tables

JOB = {"release": "0.14.1", "scale": 10.0, "draws": 5000}


def written(path, job=JOB):
    values = np.arange(job["draws"], dtype=np.int64) ** 2
    origin = samplefiles.provenance(job, "operating system", ["numpy", "pyarrow"])
    samplefiles.write(path, ({"x": part} for part in np.split(values, 5)), origin)
    return values


def read(path):
    return np.concatenate(list(samplefiles.read_column(path, "x")))


def test_samples_come_back_with_their_provenance(tmp_path):
    path = tmp_path / "sample.parquet"
    values = written(path)
    assert np.array_equal(read(path), values)
    origin = samplefiles.read_provenance(path)
    assert origin["job"] == JOB
    assert origin["seed"] == "operating system"
    assert origin["name"] == "sample.parquet"
    assert origin["versions"]["numpy"] == np.__version__
    assert set(origin) == {"job", "seed", "versions", "machine", "time", "name"}
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"


def test_too_few_draws_leave_no_file(tmp_path):
    path = tmp_path / "sample.parquet"
    origin = samplefiles.provenance(JOB, 1, [])
    with pytest.raises(ValueError, match=r"sample\.parquet: 3 draws made, 5000 expected"):
        samplefiles.write(path, [{"x": np.arange(3)}], origin)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_what_stood_there(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("before")

    def fail():
        with files.replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_file(tmp_path):
    with pytest.raises(files.DamagedFile, match=r"none\.parquet: no such file"):
        samplefiles.read_provenance(tmp_path / "none.parquet")
    with pytest.raises(files.DamagedFile, match=r"none\.tsv: no such file"):
        tables.read_table(tmp_path / "none.tsv")


@pytest.mark.parametrize("kept", [0, 3, 1000, -1, -2000])
def test_a_truncated_sample(tmp_path, kept):
    path = tmp_path / "sample.parquet"
    written(path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(files.DamagedFile, match=r"sample\.parquet: truncated, damaged or not"):
        samplefiles.read_provenance(path)


def test_every_flipped_bit_of_the_data_is_noticed(tmp_path):
    path = tmp_path / "sample.parquet"
    written(path)
    content = path.read_bytes()
    # A hundred places in the data, a thousand in the footer, the last bytes whole.
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    places = [*np.linspace(4, footer - 1, 100), *np.linspace(footer, len(content) - 1, 1000)]
    values, origin, noticed = read(path), samplefiles.read_provenance(path), 0
    for place in np.unique(places).astype(int):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with contextlib.suppress(files.DamagedFile):
            found = samplefiles.read_provenance(path)
            assert np.array_equal(read(path), values), place  # a bit that nothing reads, at most
            assert found == origin
            continue
        noticed += 1
    assert noticed >= 0.5 * len(places)


def test_another_jobs_sample(tmp_path):
    written(tmp_path / "sample.parquet")
    (tmp_path / "sample.parquet").rename(tmp_path / "other.parquet")
    with pytest.raises(files.DamagedFile, match=r"other\.parquet: holds sample\.parquet"):
        samplefiles.read_provenance(tmp_path / "other.parquet")


def test_a_foreign_file(tmp_path):
    path = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"x": [1, 2]}), path)
    with pytest.raises(files.DamagedFile, match=r"foreign\.parquet: no provenance found"):
        samplefiles.read_provenance(path)


def test_rows_that_went_missing(tmp_path):
    path = tmp_path / "sample.parquet"
    record = json.dumps({"name": path.name, "job": JOB}).encode()
    digests = json.dumps({"provenance": hashlib.sha256(record).hexdigest()}).encode()
    metadata = {samplefiles.PROVENANCE_KEY: record, samplefiles.DIGESTS_KEY: digests}
    pq.write_table(pa.table({"x": [1, 2]}).replace_schema_metadata(metadata), path)
    with pytest.raises(files.DamagedFile, match=r"sample\.parquet: 2 rows found, 5000 expected"):
        samplefiles.read_provenance(path)


def test_a_missing_column(tmp_path):
    path = tmp_path / "sample.parquet"
    written(path)
    with pytest.raises(files.DamagedFile, match="columns x found, y expected"):
        next(samplefiles.read_column(path, "y"))


@given(values=st.lists(st.floats(), min_size=1))
def test_tables_keep_every_bit_of_a_float(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("table") / "table.tsv"
    tables.write_table(path, pd.DataFrame({"release": ["0.10"] * len(values), "value": values}))
    table = tables.read_table(path, text=["release"])
    assert table["release"].tolist() == ["0.10"] * len(values)
    assert np.array_equal(table["value"].to_numpy(float), values, equal_nan=True)


@pytest.mark.parametrize("kept", [-1, -3, 9, 5])
def test_a_table_that_was_cut_is_refused(tmp_path, kept):
    path = tmp_path / "table.tsv"
    tables.write_table(path, pd.DataFrame({"x": [1.5, 2.5], "y": [1, 2]}))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(files.DamagedFile, match=r"table\.tsv: cut short"):
        tables.read_table(path)


def test_not_a_table(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_bytes(b"\xff\xfe\x00broken")
    for read in (tables.read_table, tables.header):
        with pytest.raises(files.DamagedFile, match=r"table\.tsv: not a TSV table"):
            read(path)
    path.write_text("a\tb\n1\t2\t3\n")
    with pytest.raises(files.DamagedFile, match=r"table\.tsv: not a TSV table"):
        tables.read_table(path)
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(files.DamagedFile, match=r"table\.tsv: column release missing"):
        tables.read_table(path, text=["release"])


def test_select_names_what_is_missing():
    table = pd.DataFrame({"source": ["a", "b", "b"], "scale": [1.0, 1.0, 2.0]})
    assert tables.select(table, source="b", scale=2.0).index.tolist() == [2]
    with pytest.raises(ValueError, match=r"scale: 3\.0 asked for, 1\.0, 2\.0 found"):
        tables.select(table, source="b", scale=3.0)
