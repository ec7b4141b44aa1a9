#!/bin/sh
# Has libraries of other teams derive the service's addresses, and the wallet of a mnemonic in several spellings: the rows of
# docs/guides/signers.md. It installs pinned packages in a temporary folder, and fails where a row is another one than in the guide.
#   test/outside/keys/run.sh [npm|python|go|rust|java …]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
node=$here/../../../node_modules/.bin/node
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
failed=0
"$node" "$here/judge.ts" case "$folder/case.json"

# Prints the rows that a command makes.
rows() {
  if "$@" "$folder/case.json" >"$folder/made" 2>"$folder/errors"; then
    "$node" "$here/judge.ts" <"$folder/made" || failed=1
  else
    tail -n 5 "$folder/errors" >&2
    failed=1
  fi
}

[ $# -gt 0 ] || set -- npm python go rust java
for language; do
  case $language in
  npm)
    mkdir "$folder/npm"
    cp "$here/libraries.mjs" "$folder/npm/"
    (
      cd "$folder/npm"
      npm install --silent --no-audit --no-fund --no-save ethers@6.17.0 tronweb@6.5.1 bip32@5.0.1 tiny-secp256k1@2.2.4 bip39@3.1.2 \
        @scure/bip32@2.4.0 @scure/bip39@2.4.0 hdkey@2.1.0 bip39-light@1.0.7 bitcore-lib@11.5.1 bitcore-mnemonic@11.5.1 >/dev/null
    )
    rows "$node" "$folder/npm/libraries.mjs"
    ;;
  python)
    python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet bip_utils==2.12.3 hdwallet==3.6.1 mnemonic==0.21
    rows "$folder/python/bin/python" "$here/libraries.py"
    ;;
  go)
    cp -r "$here/go" "$folder/go"
    (cd "$folder/go" && go mod tidy 2>/dev/null && go build -o keys .)
    rows "$folder/go/keys"
    ;;
  rust)
    cp -r "$here/rust" "$folder/rust"
    cargo build --quiet --release --manifest-path "$folder/rust/Cargo.toml"
    rows "$folder/rust/target/release/keys"
    ;;
  java)
    mvn -q -B -f "$here/java/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$folder/java" >/dev/null
    rows java -cp "$folder/java/*" "$here/java/Keys.java"
    ;;
  *)
    echo "unknown: $language" >&2
    exit 2
    ;;
  esac
done
exit $failed
