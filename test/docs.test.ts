import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unstable_startWorker } from 'wrangler'
import { webhookTypes } from '../src/worker/common/event-types.ts'
import { nodeStates } from '../src/worker/common/node-states.ts'
import { allReasons } from '../src/worker/common/reasons.ts'
import { createDocument, documentedOperations } from '../src/worker/http/openapi/document.ts'
import { ledgerRoutes, operations, routes } from '../src/worker/http/routes.ts'
import { summarySchema } from '../src/worker/schemas/summary.ts'
import { refusals } from '../src/worker/tron/node-errors.ts'
import { signToken } from './http/auth/sign-token-example.ts'
import { addDifferences, addEvents, faults, wellDesk } from './pages/desk-story.ts'
import { embeddingExample } from './pages/embedding-page.ts'
import { runCommand } from './support/command.ts'
import { testSecret, testXpub } from './support/variables.ts'
import { runWrangler } from './support/wrangler.ts'

const root = fileURLToPath(new URL('..', import.meta.url).href)
const read = (path: string) => readFileSync(root + path, 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string } // safe: package.json has a version
const fresh = () => JSON.stringify(createDocument(version))

/** The part of the document that a test reads. */
interface OpenApi {
  readonly paths: Readonly<
    Record<string, { readonly [Method in 'get' | 'post']?: { readonly tags: readonly string[] } }>
  >
  readonly webhooks: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly requestBody: {
            readonly content: { readonly 'application/json': { readonly schema: { $ref: string } } }
          }
        }
      }
    >
  >
}

/** The part of an operation that a test reads. */
interface Described {
  readonly parameters: readonly { readonly name?: string; readonly description?: string }[]
  readonly responses: Readonly<Record<string, { readonly content: { 'application/json': { examples: unknown } } }>>
}

describe('the OpenAPI document', () => {
  /**
   * The problems that Redocly's linter finds in a document. The linter also checks every example
   * against its schema.
   */
  async function lint(source: string): Promise<string[]> {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
    return problems.map(({ ruleId, location }) => `${ruleId} at ${location[0]?.pointer}`)
  }

  it('passes the linter', async () => {
    expect(await lint(fresh())).toEqual([])
  })

  it('has the shape of each summary that the desk is tested with', () => {
    for (const change of [() => undefined, addDifferences, addEvents, ...faults.map(([, change]) => change)]) {
      const desk = wellDesk()
      change(desk)
      // amounts become JSON numbers, as the service writes them
      const text = JSON.stringify(desk.summary).replace(/"#(-?[\d.]+)#"/g, '$1')
      expect(summarySchema().safeParse(JSON.parse(text)).error).toBeUndefined()
    }
  })

  it('says of which transaction /ledger/transaction must be asked, and what excludes what', () => {
    const { paths } = JSON.parse(fresh()) as {
      paths: Record<string, { get: { parameters: { name: string; required?: boolean; description?: string }[] } }>
    }
    const parameter = (path: string, name: string) => paths[path]?.get.parameters.find((one) => one.name === name)
    expect(parameter('/ledger/transaction', 'txid')?.required).toBe(true)
    for (const [path, name, other] of [
      ['/wallet/flow/list', 'page', 'before'],
      ['/ledger/entries', 'page', 'before'],
      ['/ledger/deposits', 'txid', 'uid'],
      ['/ledger/deposits', 'address', 'uid'],
    ] as const) {
      const said = [name, other].map((one) => parameter(path, one)?.description ?? '').join(' ')
      expect(said, `${path} ${name}`).toMatch(new RegExp(`not .*\\b(${name}|${other})\\b`, 'i'))
    }
  })

  it('begins with three calls, and has the cause and the cure of each reason with its schema', () => {
    const { info, components } = JSON.parse(fresh()) as {
      info: { description: string }
      components: { schemas: { Reason: { 'x-enumDescriptions': Record<string, string> } } }
    } // the document as the service generates it
    expect([...info.description.matchAll(/^curl \$WALLET(\S+)/gm)].map(([, path]) => path)).toEqual([
      '/tron/generate',
      '/tron/deposits',
      '/ledger/entries',
    ])
    expect(info.description).toContain('(#reasons)')
    expect(info.description.length).toBeLessThan(2_500)
    const { 'x-enumDescriptions': texts } = components.schemas.Reason
    expect(Object.keys(texts)).toEqual(allReasons())
    expect(texts.dust).toBe(
      '422. **Cause:** The amount is less than the smallest amount in a wallet. **Cure:** This does not change. Send more at once.',
    )
  })

  it('does not pass with an example that its schema refuses', async () => {
    const wrong = fresh().replace('"value":{"code":200,', '"value":{"code":"200",')
    expect((await lint(wrong)).map((problem) => problem.split(' ')[0])).toContain('no-invalid-media-type-examples')
  })

  it('says what the service does with a long URL, the smallest `after`, and `page` beside `before`', () => {
    const { paths } = JSON.parse(fresh()) as { paths: Record<string, Record<string, Described>> } // our own document
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).map((one) => [path, Object.keys(one.responses)] as const),
    )
    for (const [path, statuses] of described) expect([path, statuses]).toEqual([path, expect.arrayContaining(['414'])])
    const operation = (path: string) => ({ ...paths[path] }).get
    expect(operation('/ledger/events')?.parameters[0]).toMatchObject({
      name: 'after',
      schema: { type: 'integer', minimum: 0 },
    })
    for (const path of ['/wallet/flow/list', '/ledger/entries']) {
      const refused = operation(path)?.responses[400]?.content['application/json'].examples
      expect(refused).toMatchObject({ 'page-with-before': { value: { msg: 'page: not allowed with before' } } })
      const page = operation(path)?.parameters.find(({ name }) => name === 'page')
      expect(page?.description).toContain('Not allowed with `before`')
    }
  })

  it('has the routes of backends in a group of their own, and a webhook for each type of event', () => {
    const { paths, webhooks } = JSON.parse(fresh()) as OpenApi // our own document
    const groups = Object.entries(paths).map(([path, { get, post }]) => [path, get?.tags, post?.tags])
    for (const [path, ...tags] of groups) {
      const isOwn = String(path).startsWith('/ledger/')
      for (const tag of tags.flat())
        expect([path, tag === undefined || (tag === 'Ledger') === isOwn]).toEqual([path, true])
    }
    expect(paths['/ledger/entries']).toMatchObject({ get: { tags: ['Ledger'] }, post: { tags: ['Ledger'] } })
    expect(Object.keys(webhooks)).toEqual(webhookTypes)
    for (const [type, { post }] of Object.entries(webhooks)) {
      const { $ref } = post.requestBody.content['application/json'].schema
      const ofSchema = /^#\/components\/schemas\/(Deposit|Entry|Payout|Order|Address|LedgerSealed)\w*$/
      expect([type, $ref]).toEqual([type, expect.stringMatching(ofSchema)])
    }
  })

  it('has every route of the app, and the app has every route file', async () => {
    const served = [...routes, ...ledgerRoutes].map(({ path }) => path)
    expect(new Set(Object.keys(operations()))).toEqual(new Set<string>(served))
    const posts = ledgerRoutes.filter(({ method }) => method === 'POST')
    const documented = Object.entries(operations()).filter(([, methods]) => 'post' in methods)
    expect(documented.map(([path]) => path)).toEqual(posts.map(({ path }) => path))
    const files = readdirSync(`${root}src/worker/http/routes`)
    const modules: Record<string, { handle?: unknown; path?: string }>[] = await Promise.all(
      files.map((file) => import(`../src/worker/http/routes/${file}`)),
    )
    const found = modules.map((module) => Object.values(module).filter((value) => value.handle !== undefined))
    expect(found.map(({ length }) => length)).toEqual(files.map(() => 1))
    expect(new Set(found.flat().map(({ path }) => path))).toEqual(new Set<string>(served))
  })
})

describe('the deployment', () => {
  let worker: Awaited<ReturnType<typeof unstable_startWorker>>
  // The Worker runs as with `wrangler dev` and `wrangler deploy`: built first, and behind the
  // router that serves static files.
  beforeAll(async () => {
    worker = await unstable_startWorker({
      config: `${root}wrangler.toml`,
      envFiles: [`${root}test/no-such-file`], // without the .dev.vars of the developer
      bindings: {
        TRON_XPUB: { type: 'plain_text', value: testXpub },
        PAGE_ORIGINS: { type: 'plain_text', value: 'https://shop.example' },
        AUTH_JWT_SECRET: { type: 'plain_text', value: testSecret },
        TRON_NODES: { type: 'json', value: [{ rpc: 'https://one.example/jsonrpc', api: 'https://one.example' }] },
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

  it('serves the generated document', async () => {
    const response = await get('/openapi.json')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.text()).toBe(fresh())
  })

  it('serves the page and everything that it loads, from its own origin only', async () => {
    const response = await get('/docs')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const page = await response.text()
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap((match) => match[1] ?? [])
    expect(loaded).toHaveLength(7)
    for (const path of loaded) expect([path, (await get(path)).status]).toEqual([path, 200])
    expect(loaded.filter((path) => !/^\/[a-z]/.test(path))).toEqual([])
  })

  it.each(['/openapi.json', '/docs', '/docs/swagger-ui-bundle.js', '/desk'])(
    'protects %s in a browser',
    async (path) => {
      const { headers } = await get(path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
      const policy = headers.get('content-security-policy')
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
    },
  )

  it('serves the page for callers through the Worker, which alone opens it to frames', async () => {
    const response = await get('/deposit')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(response.headers.get('x-request-id')).toBeTruthy()
    expect(response.headers.get('x-frame-options')).toBeNull()
    expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors https://shop.example, require-trusted-types-for 'script'; trusted-types 'none'",
    )
    const page = await response.text()
    const linked = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].flatMap((match) => match[1] ?? [])
    expect(linked).toEqual(['/deposit/first.js', '/licences.txt', '/deposit/page.css', '/deposit/page.js'])
    for (const path of linked) {
      const { status, headers } = await get(path)
      expect([path, status, headers.get('x-frame-options')]).toEqual([path, 200, 'DENY'])
    }
    for (const path of ['/deposit/', '/deposit.html', '/%64eposit', '/deposit/index']) {
      const { status, headers } = await get(path)
      const isPage = status === 200
      expect([path, isPage, isPage || headers.get('location') === '/deposit' || status === 404]).toEqual([
        path,
        false,
        true,
      ])
    }
  })

  it.each(['/', '/docs/nothing', '/openapi.yaml', '/_headers', '/docs/page.css.map'])(
    'passes %s to the Worker, where it is 404',
    async (path) => {
      const response = await get(path)
      expect(response.headers.get('x-request-id')).toBeTruthy()
      expect(response.status).toBe(404)
    },
  )

  it('passes other methods of a route to the Worker', async () => {
    const response = await get('/wallet/list', 'POST')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('has no documentation in the bundle of the Worker, and neither the key tool nor its packages', async () => {
    const out = mkdtempSync(join(tmpdir(), 'bundle-'))
    const options = ['--dry-run', '--env=', '--outdir', out, '--metafile', join(out, 'meta.json')]
    await runWrangler(['deploy', ...options], 'the Worker cannot be built')
    const bundle = readFileSync(join(out, 'index.js'), 'utf8')
    expect(bundle).toContain('/wallet/flow/list')
    const texts = documentedOperations()
      .flatMap(({ operation, failures }) => [
        operation.description,
        ...failures.flatMap(({ cause, cure }) => [cause, cure]),
      ])
      .map((text) => /[\w ,.:]{12,}/.exec(text)?.[0] ?? text) // a part that no minifier writes in another way
    expect(texts.length).toBeGreaterThan(200)
    expect(texts.filter((text) => bundle.includes(text))).toEqual([])

    // as esbuild writes it
    const { inputs } = JSON.parse(readFileSync(join(out, 'meta.json'), 'utf8')) as { inputs: object }
    const names = Object.keys(inputs)
    expect(names.some((name) => name.endsWith('src/worker/compose.ts'))).toBe(true)
    // the service derives addresses
    expect(names.some((name) => name.includes('node_modules/@scure/bip32/'))).toBe(true)
    const isOfTools = /(^|\/)src\/commands\/|node_modules\/(tronweb|age-encryption|@scure\/bip39|ethers)\//
    expect(names.filter((name) => isOfTools.test(name))).toEqual([])
  })
})

describe('the pages for readers', () => {
  const start = read('docs/start.md')
  const page = read('docs/integrate.md')

  it('shows how to sign a valid token', async () => {
    expect(page).toContain(`\`\`\`ts\n${read('test/http/auth/sign-token-example.ts')}\`\`\``)
    const key = new TextEncoder().encode(testSecret)
    const { payload } = await jwtVerify(await signToken(7, testSecret), key, { requiredClaims: ['exp'] })
    expect(payload.sub).toBe('7')
  })

  it('has each secret of a deployment in its first commands, which .dev.vars.example has for the doctor', () => {
    const put = start.match(/(?<=secret put )[A-Z_]+/g)
    expect(read('.dev.vars.example').match(/[A-Z_]+(?==")/g)).toEqual(put)
    expect(start).toContain('cp .dev.vars.example .dev.vars.production ')
  })

  it('has a page for the operator that shows what npm run keys prints', async () => {
    const args = ['show', '--stdin', '--allow-pipe']
    const { out } = await runCommand('src/commands/keys/start.ts', args, { input: `${'test '.repeat(11)}junk\n` })
    expect(out).toContain(testXpub)
    expect(start).toContain('](guides/collecting.md)')
    expect(read('docs/guides/collecting.md')).toContain(`\`\`\`\n${out}\`\`\``)
  })

  it('names every option of npm run collect on that page', () => {
    const options = [...read('src/commands/collect/command-line.ts').matchAll(/'?\b([a-z-]+)'?: (?:text|flag)\b/g)]
    expect(options.length).toBeGreaterThan(10)
    const missing = options.filter(([, name]) => !read('docs/guides/collecting.md').includes(`--${name}`))
    expect(missing).toEqual([])
  })

  it('shows how to embed the deposit page, as a test does', () => {
    expect(page).toContain(`\`\`\`html\n${embeddingExample('https://wallet.example')}\n\`\`\``)
  })

  it('shows how to ask for a payment, as the shop of npm start does', () => {
    expect(page).toContain(`\`\`\`ts\n${read('test/shop/payment-token-example.ts')}\`\`\``)
  })

  it('shows the receiver of events that a test runs', () => {
    expect(read('docs/guides/backends.md')).toContain(`\`\`\`ts\n${read('test/webhooks/receiver-example.ts')}\`\`\``)
  })
})

it('the guide to providers has each refusal and each state of a node in the words of the doctor', () => {
  const cells = read('docs/guides/providers.md')
    .split('\n')
    .map((line) => line.split('|')[1]?.trim())
  const words = [
    ...Object.values(refusals).map(({ says }) => says),
    ...Object.values(nodeStates).map(({ word }) => word),
  ]
  expect(words.filter((one) => !cells.includes(one))).toEqual([])
})
