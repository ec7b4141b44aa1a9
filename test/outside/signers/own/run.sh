#!/bin/sh
# A signer of a team's own, in Python and in Java: each signs payouts of `npm start` on this machine, of TRX and of a token, until they
# are paid. It starts the service on ports of its own, and removes nothing but temporary folders: its chain stays in .devnet.
#   PORT=8931 DEVNET_PORT=9931 test/outside/signers/own/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../../..
node=$root/node_modules/.bin/node
export PORT="${PORT:-8931}" DEVNET_PORT="${DEVNET_PORT:-9931}"
folder=$(mktemp -d)
running=
finish() {
  [ -z "$running" ] || kill "$running" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM

python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tronpy==0.6.2 protobuf==6.33.1
mvn -q -B -f "$here/../trident/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$folder/java" >/dev/null

"$node" "$here/../case.ts" "$folder/case.json"
(cd "$root" && exec "$node" test/devnet/start.ts) >"$folder/log" 2>&1 &
running=$!
until grep -q 'Ctrl-C stops it' "$folder/log"; do
  kill -0 "$running" || { cat "$folder/log" >&2; exit 1; }
  sleep 1
done
"$node" "$here/ask.ts" "$here" "$folder"
