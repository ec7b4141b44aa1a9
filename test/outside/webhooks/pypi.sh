# Python: standardwebhooks and svix from PyPI.
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check standardwebhooks==1.1.0 svix==2.9.1
env/bin/python "$HERE/pypi.py"
