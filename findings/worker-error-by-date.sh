#!/usr/bin/env bash
# workerd 1.20261117.1: an error of a class of one's own, thrown over RPC, by compatibility date.
#
# One would guess: either a class and its members never cross RPC, or they always do.
# What happens: the same code gives two errors. With a date before 2026-04-21 the caller gets an Error with the message
# "Fault: not enough" and no member. From that date on it gets the name Fault, the message "not enough" and every own
# member, a bigint too. It is an Error in both cases, never an instance of the class.
# Who is hit: callers that match `error.message`, and whoever moves the date for another reason: the text loses its
# prefix. Members that were private to the thrower (a URL, a key, a row) arrive at the caller from then on.
# Instead: return a result for what a caller must tell apart, and throw only what is a bug.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund workerd@1.20261117.1 >&2

cat > worker.js <<'JS'
import { WorkerEntrypoint } from 'cloudflare:workers'

class Fault extends Error {
  name = 'Fault'
  code = 'short'
  missing = 5n
}

export class Ledger extends WorkerEntrypoint {
  async pay() {
    throw new Fault('not enough')
  }
}

export default {
  async test(_, env) {
    const { name, message, code, missing } = await env.LEDGER.pay().catch((error) => error)
    console.log(`SEEN ${name} | ${message} | ${code} | ${typeof missing} ${missing}`)
  },
}
JS
run_at() {
  cat > config.capnp <<CAPNP
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "$1",
  bindings = [(name = "LEDGER", service = (name = "main", entrypoint = "Ledger"))],
))]);
CAPNP
  node_modules/.bin/workerd test config.capnp 2>&1 | sed -n "s/.*SEEN/$1:/p"
}

seen="$(run_at 2026-04-20)
$(run_at 2026-04-21)"
expected='2026-04-20: Error | Fault: not enough | undefined | undefined undefined
2026-04-21: Fault | not enough | short | bigint 5'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
