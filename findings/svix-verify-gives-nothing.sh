#!/usr/bin/env bash
# svix 1.99.1 and 2.5.0 (npm), 1.99.1 and 2.9.1 (PyPI): what verify() returns.
#
# One would guess: the parsed event, as in the receivers that everybody has copied, and as standardwebhooks does.
# What happens: from version 2 on verify() checks the signature and returns undefined, or None in Python. Version 2 of
# the npm package wants Node 22, so `npm install svix` takes 1.99.1 where npm runs on Node 20, and 2.5.0 on Node 22 and
# later.
# Who is hit: a receiver that says `const event = webhook.verify(body, headers)`. It works on a laptop with Node 20, and
# fails at the first good delivery on a server with Node 24; where it says `event?.type` it drops each event silently.
# Instead: pin the version, verify first, then parse the body with a parser that keeps the digits of amounts.
set -euo pipefail
for tool in node npm python3; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > run.mjs <<'JS'
import { createRequire } from 'node:module'

const require = createRequire(`${process.cwd()}/`)
const { Webhook } = require('svix')
const webhook = new Webhook(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)
const [now, body] = [new Date(), '{"type":"deposit"}']
const headers = {
  'svix-id': 'msg_1',
  'svix-timestamp': String(Math.floor(now.getTime() / 1000)),
  'svix-signature': webhook.sign('msg_1', now, body),
}
const event = webhook.verify(body, headers)
const { version, engines } = require('svix/package.json')
console.log(`npm ${version}: ${JSON.stringify(event)}, Node ${engines?.node ?? 'any'}`)
JS
cat > run.py <<'PY'
import base64
import datetime
from importlib.metadata import version
from svix.webhooks import Webhook

webhook = Webhook("whsec_" + base64.b64encode(bytes([7]) * 32).decode())
now, body = datetime.datetime.now(tz=datetime.timezone.utc), '{"type":"deposit"}'
headers = {
    "svix-id": "msg_1",
    "svix-timestamp": str(int(now.timestamp())),
    "svix-signature": webhook.sign("msg_1", now, body),
}
print(f"PyPI {version('svix')}: {webhook.verify(body, headers)}")
PY
of_npm() {
  npm install --prefix "npm-$1" --silent --no-audit --no-fund "svix@$1" node@24.21.0 >&2
  (cd "npm-$1" && node_modules/.bin/node ../run.mjs)
}
of_pypi() {
  python3 -m venv "pypi-$1" >/dev/null || { echo "python3's venv is missing" >&2; exit 77; }
  "pypi-$1/bin/pip" install --quiet --disable-pip-version-check "svix==$1" >&2
  "pypi-$1/bin/python" run.py
}

seen=$(of_npm 1.99.1 && of_npm 2.5.0 && of_pypi 1.99.1 && of_pypi 2.9.1)
expected=$(
  cat <<'TEXT'
npm 1.99.1: {"type":"deposit"}, Node any
npm 2.5.0: undefined, Node >=22
PyPI 1.99.1: {'type': 'deposit'}
PyPI 2.9.1: None
TEXT
)
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
