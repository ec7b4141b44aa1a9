#!/usr/bin/env bash
# PyJWT 2.13.0 and 2.15.1 (PyPI): PyJWKClient and a key that is new in the set.
#
# One would guess: a token whose key is unknown makes the client fetch the set once more, as it always did.
# What happens: since 2.14 not within 30 seconds of any fetch, the first one and those of other tokens included. A token
# of a key that was published a second ago is refused with "Unable to find a signing key", and the set is not asked for.
# Who is hit: services that publish a key and sign with it at once, for instance all tests of a rotation, and each start
# of a verifier just before a rotation. With 2.13 none of them was refused.
# Instead: publish a key at least half a minute before the first token; cooldown_duration=0 in tests.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 2.13.0 2.15.1; do
  python3 -m venv "$version" >/dev/null || { echo "python3's venv is missing" >&2; exit 77; }
  "$version/bin/pip" install --quiet --disable-pip-version-check "pyjwt==$version" >&2
done

cat > run.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
import jwt

published, fetches = ["old"], 0


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        global fetches
        fetches += 1
        self.send_response(200)
        self.end_headers()
        keys = [{"kty": "oct", "kid": kid, "k": "AA", "use": "sig", "alg": "HS256"} for kid in published]
        self.wfile.write(json.dumps({"keys": keys}).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = jwt.PyJWKClient(f"http://127.0.0.1:{server.server_port}/")
client.get_signing_key("old")
published.append("new")
try:
    answer = "found " + client.get_signing_key("new").key_id
except jwt.PyJWKClientError as error:
    answer = str(error)
print(f"PyJWT {jwt.__version__}: {answer}, {fetches} fetches")
PY

seen=$(for version in 2.13.0 2.15.1; do "$version/bin/python" run.py; done)
expected='PyJWT 2.13.0: found new, 2 fetches
PyJWT 2.15.1: Unable to find a signing key that matches: "new", 1 fetches'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
