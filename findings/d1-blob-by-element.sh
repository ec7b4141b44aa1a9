#!/usr/bin/env bash
# miniflare 5.20261102.0-beta (D1 and Durable Objects in workerd), node 24.21.0 (node:sqlite), @libsql/client 0.18.0
# and sql.js 1.17.0: a Float32Array, a Uint32Array and a DataView bound to a BLOB.
#
# One would guess: a view of an ArrayBuffer is its bytes. D1's documentation says that such a view becomes a BLOB.
# What happens: D1 takes the elements instead, one byte each. Four floats of 16 bytes are 4 bytes, of which each
# fraction is 00; eight words of a SHA-256 are their 8 low bytes; a DataView has no elements and is an empty BLOB. A
# Uint8Array is right. A Durable Object's SQL in the same Worker, and node:sqlite, store the bytes. sql.js takes
# elements too, and refuses a DataView. libsql stores a Float32Array, and refuses the other two.
# Who is hit: embeddings, hashes as words, keys and amounts that are written with a DataView. No error is raised, and
# a test that looks its row up by the same value finds it. So does each other value with the same low bytes.
# Instead: new Uint8Array(view.buffer, view.byteOffset, view.byteLength); CHECK (length(hash) = 32).
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund miniflare@5.20261102.0-beta node@24.21.0 @libsql/client@0.18.0 \
  sql.js@1.17.0 >&2

cat > values.mjs <<'JS'
const query = 'SELECT length(?1) AS bytes, hex(?1) AS hex'
const words = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

/** Asks SQL for the length and the digits of each view, and returns a line for each. */
export async function describe(name, first) {
  const amount = new DataView(new ArrayBuffer(8))
  amount.setBigUint64(0, 25_000_000n)
  const views = [new Uint8Array([1, 2, 3]), new Float32Array([0.25, -0.5, 0.75, 2]), new Uint32Array(words), amount]
  const lines = []
  for (const view of views) {
    let result
    try {
      const { bytes, hex } = await first(query, view)
      result = `${bytes} bytes ${hex.length > 32 ? `${hex.slice(0, 16)}…` : hex}`
    } catch {
      result = 'refused'
    }
    lines.push(`${name}, ${view.constructor.name} of ${view.byteLength}: ${result.trim()}`)
  }
  return lines.join('\n')
}
JS
cat > worker.mjs <<'JS'
import { DurableObject } from 'cloudflare:workers'
import { describe } from './values.mjs'

export class Store extends DurableObject {
  describe() {
    return describe('Durable Object', (query, value) => this.ctx.storage.sql.exec(query, value).one())
  }
}
export default {
  async fetch(_, { DB, STORE }) {
    const d1 = await describe('D1', (query, value) => DB.prepare(query).bind(value).first())
    const query = 'SELECT ?1 = ?2 AS same'
    const { same } = await DB.prepare(query).bind(new Uint32Array([7, 256]), new Uint32Array([1031, 512])).first()
    const lines = [d1, `D1, 7 and 256 as words equal 1031 and 512: ${same}`, await STORE.getByName('one').describe()]
    return new Response(lines.join('\n'))
  },
}
JS
cat > run.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@libsql/client'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import initSql from 'sql.js'
import { describe } from './values.mjs'

const mini = new Miniflare(
  convertV4MiniflareOptions({
    modules: ['worker.mjs', 'values.mjs'].map((path) => ({ type: 'ESModule', path })),
    compatibilityDate: '2026-10-01',
    d1Databases: ['DB'],
    durableObjects: { STORE: { className: 'Store', useSQLite: true } },
    cf: false,
  }),
)
console.log(await (await mini.dispatchFetch('http://worker/')).text())
await mini.dispose()

const builtin = new DatabaseSync(':memory:')
console.log(await describe('node:sqlite', (query, value) => builtin.prepare(query).get(value)))
const libsql = createClient({ url: ':memory:' })
console.log(await describe('libsql', async (sql, value) => (await libsql.execute({ sql, args: [value] })).rows[0]))
const wasm = new (await initSql()).Database()
console.log(await describe('sql.js', (query, value) => wasm.prepare(query).getAsObject([value])))
JS

seen=$(node_modules/.bin/node --no-warnings run.mjs)
expected='D1, Uint8Array of 3: 3 bytes 010203
D1, Float32Array of 16: 4 bytes 00000002
D1, Uint32Array of 32: 8 bytes 6785723A7F8CAB19
D1, DataView of 8: 0 bytes
D1, 7 and 256 as words equal 1031 and 512: 1
Durable Object, Uint8Array of 3: 3 bytes 010203
Durable Object, Float32Array of 16: 16 bytes 0000803E000000BF0000403F00000040
Durable Object, Uint32Array of 32: 32 bytes 67E6096A85AE67BB…
Durable Object, DataView of 8: 8 bytes 00000000017D7840
node:sqlite, Uint8Array of 3: 3 bytes 010203
node:sqlite, Float32Array of 16: 16 bytes 0000803E000000BF0000403F00000040
node:sqlite, Uint32Array of 32: 32 bytes 67E6096A85AE67BB…
node:sqlite, DataView of 8: 8 bytes 00000000017D7840
libsql, Uint8Array of 3: 3 bytes 010203
libsql, Float32Array of 16: 16 bytes 0000803E000000BF0000403F00000040
libsql, Uint32Array of 32: refused
libsql, DataView of 8: refused
sql.js, Uint8Array of 3: 3 bytes 010203
sql.js, Float32Array of 16: 4 bytes 00000002
sql.js, Uint32Array of 32: 8 bytes 6785723A7F8CAB19
sql.js, DataView of 8: refused'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
