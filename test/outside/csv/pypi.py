import os

import duckdb
import pandas
import polars
import pyarrow.compute
import pyarrow.csv

path = os.environ["STATEMENT"]


def show(name, types, total):
    print(f"{name}: id {types['id']}, uid {types['uid']}, amt {types['amt']}, balance {types['balance']}; entries {total:.6f}")


rows = pandas.read_csv(path)
show("pandas", rows.dtypes, rows[rows.kind == "entry"].amt.sum())
rows = polars.read_csv(path)
show("polars", rows.schema, rows.filter(polars.col("kind") == "entry")["amt"].sum())
rows = pyarrow.csv.read_csv(path)
entries = rows.filter(pyarrow.compute.equal(rows["kind"], "entry"))
show("pyarrow", {name: rows.schema.field(name).type for name in rows.schema.names}, pyarrow.compute.sum(entries["amt"]).as_py())
rows = duckdb.sql(f"select * from read_csv('{path}')")
total = duckdb.sql(f"select sum(amt) from read_csv('{path}') where kind = 'entry'").fetchall()[0][0]
show("duckdb", dict(zip(rows.columns, rows.types)), total)
