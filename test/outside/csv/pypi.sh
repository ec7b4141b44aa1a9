# Python: pandas, polars, pyarrow and DuckDB from PyPI.
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1
env/bin/python "$HERE/pypi.py"
