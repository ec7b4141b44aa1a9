#!/bin/sh
# What contracts of several compilers do with Tron's prefix in call data (decision note 60), on a real EVM.
#   test/outside/call-data/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
cp "$here/contracts.mjs" "$folder/"
(
  cd "$folder"
  npm install --silent --no-audit --no-fund --no-save solc-0.4.18@npm:solc@0.4.18 solc-0.4.26@npm:solc@0.4.26 \
    solc-0.5.17@npm:solc@0.5.17 solc-0.6.12@npm:solc@0.6.12 solc-0.7.6@npm:solc@0.7.6 solc-0.8.37@npm:solc@0.8.37 >/dev/null
)
"$here/../../../node_modules/.bin/node" --no-warnings "$folder/contracts.mjs" "$here/../../../node_modules/.bin/anvil"
