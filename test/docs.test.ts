import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unstable_startWorker } from 'wrangler'
import { createDocument } from '../src/http/openapi/document.ts'
import { operations } from '../src/http/openapi/operations.ts'
import { testSecret, testXpub } from './support/configured.ts'

const root = fileURLToPath(new URL('..', import.meta.url).href)
const read = (path: string) => readFileSync(root + path, 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string } // ours has one
const fresh = () => JSON.stringify(createDocument(version))

describe('the OpenAPI document', () => {
  /** What a linter says; it also holds every example against its schema. */
  async function lint(source: string): Promise<string[]> {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
    return problems.map(({ ruleId, location }) => `${ruleId} at ${location[0]?.pointer}`)
  }

  it('passes the linter, but for a 4xx answer that the health check does not have', async () => {
    expect(await lint(fresh())).toEqual(['operation-4xx-response at #/paths/~1health/get/responses'])
  })

  it('would not pass with an example that its schema refuses', async () => {
    const spoilt = fresh().replace('"value":{"code":200,', '"value":{"code":"200",')
    expect((await lint(spoilt)).map((problem) => problem.split(' ')[0])).toContain('no-invalid-media-type-examples')
  })

  it('has every route of the app, and no other', async () => {
    const files = readdirSync(`${root}src/http/routes`)
    const modules: Record<string, { path: string }>[] = await Promise.all(
      files.map((file) => import(`../src/http/routes/${file.replace(/\.ts$/, '')}.ts`)),
    )
    const served = modules.flatMap((module) => Object.values(module).map(({ path }) => path))
    expect(new Set(Object.keys(operations))).toEqual(new Set(served))
  })
})

describe('the deployment', () => {
  let worker: Awaited<ReturnType<typeof unstable_startWorker>>
  // As `wrangler dev` and `wrangler deploy` have it, with the build before it and the asset router in front of it.
  beforeAll(async () => {
    worker = await unstable_startWorker({
      config: `${root}wrangler.toml`,
      envFiles: [`${root}test/no-such-file`], // not the developer's .dev.vars
      bindings: {
        TRON_XPUB: { type: 'plain_text', value: testXpub },
        AUTH_JWT_SECRET: { type: 'plain_text', value: testSecret },
        TRON_NODES: { type: 'json', value: [{ rpc: 'https://one.example/jsonrpc' }] },
      },
      dev: {
        server: { hostname: '127.0.0.1', port: 0 },
        inspector: false,
        watch: false,
        persist: false,
        logLevel: 'none',
      },
    })
    await worker.ready
  })
  afterAll(() => worker.dispose())
  const get = (path: string, method = 'GET') =>
    worker.fetch(`https://wallet.example${path}`, { method, redirect: 'manual' })

  it('serves the document as it is generated now', async () => {
    const response = await get('/openapi.json')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.text()).toBe(fresh())
  })

  it('serves the page and all that it loads, from itself alone', async () => {
    const response = await get('/docs')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const page = await response.text()
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap((match) => match[1] ?? [])
    expect(loaded).toHaveLength(6)
    for (const path of loaded) expect([path, (await get(path)).status]).toEqual([path, 200])
    expect(loaded.filter((path) => !/^\/[a-z]/.test(path))).toEqual([])
  })

  it.each(['/openapi.json', '/docs', '/docs/swagger-ui-bundle.js'])('guards %s in a browser', async (path) => {
    const { headers } = await get(path)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
  })

  it.each(['/', '/docs/nothing', '/openapi.yaml', '/_headers', '/docs/page.css.map'])(
    'leaves %s to the Worker, which knows no such path',
    async (path) => {
      const response = await get(path)
      expect(response.headers.get('x-request-id')).toBeTruthy()
      expect([response.status, await response.text()]).toEqual([404, '{"code":404,"msg":"no such path"}'])
    },
  )

  it('leaves wrong methods on a route to the Worker', async () => {
    const response = await get('/wallet/list', 'POST')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('has nothing of the document in the Worker’s bundle', () => {
    const importers = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.startsWith('http/openapi/') && /'[^']*openapi/.test(read(`src/${file}`)),
    )
    expect(importers).toEqual([])
  })
})

describe('README.md', () => {
  it('shows the typed client as the tests compile and run it', () => {
    const example = read('test/http/openapi/client-example.ts').replaceAll('../../../src/', './src/')
    expect(read('README.md')).toContain(`\`\`\`ts\n${example}\`\`\``)
  })
})
