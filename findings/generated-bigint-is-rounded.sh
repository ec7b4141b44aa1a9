#!/usr/bin/env bash
# @hey-api/openapi-ts 0.99.0 (plugin transformers) and orval 8.38.0 (useBigInt): a property of the format int64.
#
# One would guess: both generate `bigint` as its type so that no digit is lost; that is what the option is for.
# What happens: both read the answer with JSON.parse, which has rounded it before anything else is done.
# hey-api makes a bigint of the rounded number, so 9007199254740993 becomes 9007199254740992n, which looks exact. What is
# read is sent as a text and not as a number. From 10^21 on it is an error, for "1e+21" is no bigint.
# orval changes the type alone: what TypeScript calls a bigint is a number, so that adding 1n is a TypeError, and a bigint in
# a request is one, too.
# Who is hit: sums in sun, and amounts of tokens with 18 decimals, where 2^53 is less than a hundredth of a token.
# Instead: amounts as text in the schema; or a client whose parser can be replaced, with a parser that keeps digits.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund @hey-api/openapi-ts@0.99.0 orval@8.38.0 typescript@5.9.3 esbuild@0.28.0 \
  node@24.21.0 >&2
export PATH="$work/node_modules/.bin:$PATH"
cat > api.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "Example", "version": "1" },
  "paths": {
    "/wallet": {
      "get": {
        "operationId": "getWallet",
        "responses": {
          "200": {
            "description": "a wallet",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Wallet" } } }
          }
        }
      },
      "put": {
        "operationId": "putWallet",
        "requestBody": {
          "required": true,
          "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Wallet" } } }
        },
        "responses": { "204": { "description": "stored" } }
      }
    }
  },
  "components": {
    "schemas": {
      "Wallet": {
        "type": "object",
        "required": ["sun"],
        "properties": { "sun": { "type": "integer", "format": "int64" } }
      }
    }
  }
}
JSON
port=$(node --print 'const s = net.createServer().listen(0, () => s.close()); s.address().port')
export SERVER="http://127.0.0.1:$port"
cat > generate.mjs <<'JS'
import { createClient } from '@hey-api/openapi-ts'
import { generate } from 'orval'

await createClient({
  input: 'api.json',
  output: 'hey-api',
  logs: { level: 'silent' },
  plugins: [
    '@hey-api/client-fetch',
    { name: '@hey-api/transformers', bigInt: true },
    { name: '@hey-api/sdk', transformer: true },
  ],
})
await generate({
  input: { target: 'api.json' },
  output: { target: 'orval/api.ts', client: 'fetch', baseUrl: process.env.SERVER, override: { useBigInt: true } },
})
JS
node generate.mjs >log.txt 2>&1 || { cat log.txt >&2; exit 1; }
bundle() { esbuild --bundle --format=esm --platform=node --log-level=error "$@"; }
bundle orval/api.ts --outfile=orval.mjs
bundle --outfile=hey-api.mjs <<'TS'
export * from './hey-api/sdk.gen'
export { client } from './hey-api/client.gen'
TS
cat > run.mjs <<'JS'
import { createServer } from 'node:http'
import { client, getWallet as getByHeyApi, putWallet as putByHeyApi } from './hey-api.mjs'
import { getWallet as getByOrval, putWallet as putByOrval } from './orval.mjs'

let sun = '9007199254740993'
let received = ''
const server = createServer(async (request, response) => {
  for await (const chunk of request) received = String(chunk)
  const isGet = request.method === 'GET'
  response.writeHead(isGet ? 200 : 204, isGet ? { 'content-type': 'application/json' } : {})
  response.end(isGet ? `{"sun":${sun}}` : undefined)
})
const { SERVER: baseUrl } = process.env
await new Promise((resolve) => server.listen(new URL(baseUrl).port, '127.0.0.1', resolve))
client.setConfig({ baseUrl })

const { data } = await getByHeyApi()
console.log(`hey-api reads ${sun} as the ${typeof data.sun} ${data.sun}`)
await putByHeyApi({ body: data })
console.log(`hey-api sends ${received}`)
const answer = await getByOrval()
console.log(`orval reads ${sun} as the ${typeof answer.data.sun} ${answer.data.sun}`)
for (const [what, act] of [
  ['adds 1n', () => answer.data.sun + 1n],
  ['sends 1n', () => putByOrval({ sun: 1n })],
]) {
  try {
    await act()
    console.log(`orval ${what}`)
  } catch (error) {
    console.log(`orval ${what}: ${error.name}`)
  }
}
sun = '1000000000000000000000'
const large = await getByHeyApi().catch((error) => ({ error }))
console.log(`hey-api reads ${sun}: ${large.error?.name ?? large.data.sun}`)
server.close()
server.closeAllConnections()
JS

seen=$(node --no-warnings run.mjs)
expected='hey-api reads 9007199254740993 as the bigint 9007199254740992
hey-api sends {"sun":"9007199254740992"}
orval reads 9007199254740993 as the number 9007199254740992
orval adds 1n: TypeError
orval sends 1n: TypeError
hey-api reads 1000000000000000000000: SyntaxError'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
