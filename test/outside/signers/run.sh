#!/bin/sh
# Has libraries of other teams make signed bytes, and the service's own code read them: the rows of docs/guides/signers.md.
# It installs pinned packages in a temporary folder, and fails where a row is another one than in the guide.
#   test/outside/signers/run.sh [tronweb|wallet-core|wdk|ledger|tronpy|trident|anychain|gotron …]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
node=$here/../../../node_modules/.bin/node
folder=$(mktemp -d)
listening=
finish() {
  [ -z "$listening" ] || kill "$listening" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM
failed=0

# Prints the row of a library: its name there, and the command that makes its bytes.
row() {
  name=$1
  shift
  "$node" "$here/case.ts" "$folder/case.json"
  "$node" "$here/node.ts" "$folder/case.json" >"$folder/url" &
  listening=$!
  while [ ! -s "$folder/url" ]; do sleep 0.1; done
  if "$@" "$folder/case.json" "$(cat "$folder/url")" >"$folder/made"; then
    "$node" "$here/judge.ts" "$folder/case.json" "$name" <"$folder/made" || failed=1
  else
    echo "$name: it made nothing" >&2
    failed=1
  fi
  kill "$listening"
  listening=
  : >"$folder/url"
}

# Installs packages of npm, once for all that are named.
npm_packages() {
  [ -d "$folder/npm" ] || { mkdir "$folder/npm" && cp "$here"/*.mjs "$folder/npm/"; }
  (cd "$folder/npm" && npm install --silent --no-audit --no-fund --no-save "$@" >/dev/null)
}

[ $# -gt 0 ] || set -- tronweb wallet-core wdk ledger tronpy trident anychain gotron
for library; do
  case $library in
  tronweb)
    npm_packages tronweb@6.5.1
    row 'tronweb 6.5.1 (npm)' "$node" "$folder/npm/tronweb.mjs"
    ;;
  wallet-core)
    npm_packages @trustwallet/wallet-core@4.8.2 long@5.3.2
    row '@trustwallet/wallet-core 4.8.2 (npm)' "$node" "$folder/npm/wallet-core.mjs"
    ;;
  wdk)
    npm_packages @tetherto/wdk-wallet-tron@1.0.0-beta.8
    row '@tetherto/wdk-wallet-tron 1.0.0-beta.8 (npm)' "$node" "$folder/npm/wdk.mjs"
    ;;
  ledger)
    npm_packages tronweb@6.5.1 @ledgerhq/hw-app-trx@6.36.6 @noble/curves@1.9.7
    row '@ledgerhq/hw-app-trx 6.36.6 (npm)' "$node" "$folder/npm/ledger.mjs"
    ;;
  tronpy)
    python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet tronpy==0.6.2 protobuf==6.33.1
    row 'tronpy 0.6.2 (PyPI)' "$folder/python/bin/python" "$here/with_tronpy.py"
    ;;
  trident)
    mvn -q -B -f "$here/trident/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$folder/java" >/dev/null
    row 'trident 0.10.0 (Maven)' java -cp "$folder/java/*" "$here/trident/Sign.java"
    ;;
  anychain)
    cp -r "$here/anychain" "$folder/rust"
    cargo build --quiet --release --manifest-path "$folder/rust/Cargo.toml"
    row 'anychain-tron 0.2.14 (crates.io)' "$folder/rust/target/release/signers"
    ;;
  gotron)
    cp -r "$here/gotron" "$folder/go"
    (cd "$folder/go" && go mod tidy 2>/dev/null && go build -o signers .)
    row 'gotron-sdk 0.26.0 (Go)' "$folder/go/signers"
    ;;
  *)
    echo "unknown: $library" >&2
    exit 2
    ;;
  esac
done
exit $failed
