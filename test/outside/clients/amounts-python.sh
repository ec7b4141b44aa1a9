# Python: which readers keep the digits of an amount, and which writers make an exponent, which the service refuses.
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check msgspec==0.20.0 orjson==3.11.4 pydantic==2.12.5 simplejson==3.20.2
env/bin/python "$HERE/amounts-python.py"
