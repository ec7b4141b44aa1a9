# Python, openapi-generator: pydantic. It reads every amount as a float.
mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=. > generated.log
java -jar openapi-generator-cli-7.17.0.jar generate -g python -i "$DOCUMENT" -o made >> generated.log 2>&1
echo "left out: $((LEDGER_ROUTES - $(grep -c 'def .*_with_http_info' made/openapi_client/api/ledger_api.py)))"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check ./made
env/bin/python "$HERE/openapi-generator-python.py"
