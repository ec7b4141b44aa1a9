#!/usr/bin/env bash
# miniflare 5.20261102.0-beta (Durable Objects in workerd 1.20261102.1) and @bufbuild/protobuf 2.17.0: a view of 32
# bytes that is put into storage, and sent by RPC.
#
# One would guess: 32 bytes of a request's body take 32 bytes of storage.
# What happens: put() and kv.put() store the whole ArrayBuffer that the view looks at. Twenty times 32 bytes of a body
# of 1 MB are 20 MB of database; 32 bytes of a body of 10 MB are too big to be stored. get() gives 32 bytes, so that
# no test sees it. RPC sends the whole buffer, which the receiver finds at `.buffer`. In the same object's
# SQL the BLOB is 32 bytes. A field of bytes that @bufbuild/protobuf has decoded is such a view of its whole message.
# Who is hit: hashes, keys and prefixes by subarray(), and fields of decoded messages: the bill for storage, the limit
# of a value, and whoever sends one field of a message to a Worker that has no need of the rest.
# Instead: slice(), which copies, where the view is made.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund miniflare@5.20261102.0-beta node@24.21.0 \
  @bufbuild/protobuf@2.17.0 >&2

cat > worker.mjs <<'JS'
import { DurableObject } from 'cloudflare:workers'

const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`

export class Store extends DurableObject {
  async grown(change) {
    const before = this.ctx.storage.sql.databaseSize
    for (let i = 0; i < 20; i++) await change(i, new Uint8Array(1e6))
    return megabytes(this.ctx.storage.sql.databaseSize - before)
  }
  async run() {
    const { storage } = this.ctx
    const { sql, kv } = storage
    sql.exec('CREATE TABLE digest (bytes BLOB)')
    const insert = 'INSERT INTO digest VALUES (?)'
    const lines = [
      `put of subarray: ${await this.grown((i, body) => storage.put(`put ${i}`, body.subarray(0, 32)))}`,
      `kv.put of subarray: ${await this.grown((i, body) => kv.put(`kv ${i}`, body.subarray(0, 32)))}`,
      `put of slice: ${await this.grown((i, body) => storage.put(`slice ${i}`, body.slice(0, 32)))}`,
      `SQL of subarray: ${await this.grown((_, body) => sql.exec(insert, body.subarray(0, 32)))}`,
    ]
    const value = await storage.get('put 0')
    lines.push(`get: ${value.length} bytes of a buffer of ${value.buffer.byteLength}`)
    const large = await storage.put('large', new Uint8Array(1e7).subarray(0, 32)).then(
      () => 'stored',
      (error) => error.message,
    )
    return [...lines, `put of 32 bytes of 10 MB: ${large}`].join('\n')
  }
  seen(view) {
    return `RPC: ${view.length} bytes of a buffer of ${view.buffer.byteLength}`
  }
}
export default {
  async fetch(_, { STORE }) {
    const store = STORE.getByName('one')
    return new Response(`${await store.run()}\n${await store.seen(new Uint8Array(1e6).subarray(0, 32))}`)
  },
}
JS
cat > run.mjs <<'JS'
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'

const mini = new Miniflare(
  convertV4MiniflareOptions({
    modules: [{ type: 'ESModule', path: 'worker.mjs' }],
    compatibilityDate: '2026-10-01',
    durableObjects: { STORE: { className: 'Store', useSQLite: true } },
    cf: false,
  }),
)
console.log(await (await mini.dispatchFetch('http://worker/')).text())
await mini.dispose()

const message = new BinaryWriter().tag(1, 2).bytes(new Uint8Array(32)).tag(2, 2).bytes(new Uint8Array(1e6)).finish()
const reader = new BinaryReader(message)
reader.tag()
const field = reader.bytes()
console.log(`protobuf: ${field.length} bytes of a buffer of ${field.buffer.byteLength}`)
JS

seen=$(node_modules/.bin/node --no-warnings run.mjs)
expected='put of subarray: 20 MB
kv.put of subarray: 20 MB
put of slice: 0 MB
SQL of subarray: 0 MB
get: 32 bytes of a buffer of 1000000
put of 32 bytes of 10 MB: string or blob too big: SQLITE_TOOBIG
RPC: 32 bytes of a buffer of 1000000
protobuf: 32 bytes of a buffer of 1000038'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
