# Python, openapi-python-client: attrs classes and httpx. It reads every amount as a float.
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.0
env/bin/openapi-python-client generate --path "$DOCUMENT" --output-path client --meta none > generated.log 2>&1
echo "left out: $(grep -ci "unsupported\|unable to" generated.log || true)"
PYTHONPATH=. env/bin/python "$HERE/openapi-python-client.py"
