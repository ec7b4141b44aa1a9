/**
 * Imitates Cloudflare Access in front of the real service, as browsers and the service see it:
 * tests cannot sign in to the real Access.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { Log, LogLevel, Miniflare, type MiniflareOptions, Response } from 'miniflare'
import { bundleService } from '../bench/bundles.ts'
import { tokenAddress } from '../devnet/control.ts'
import { createDatabaseFile, fileOfD1 } from '../support/database-file.ts'
import { listen } from '../support/loopback.ts'
import { agreedDecimals } from '../support/payouts.ts'
import { root } from '../support/project.ts'
import type { ScriptedService } from './scripted-service.ts'

/** The name of the Access team, and the audience of the application that Access protects. */
const team = 'acme'
const audience = '32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228'
const issuer = `https://${team}.cloudflareaccess.com`

/** A running service with the imitated Access in front of it. */
export interface Edge {
  /** The URL through Access, where people open the desk. */
  readonly url: string
  /** The URL past Access, which backends use. */
  readonly service: string
  /** Every request that Access has passed on, with the status of the service's answer. */
  readonly passed: { readonly method: string; readonly path: string; readonly status: number }[]
  /** The value of the session cookie of somebody who has signed in with this e-mail address. */
  session(email: string): Promise<string>
  stop(): Promise<void>
}

/**
 * Starts the service and the imitated Access. `files` are the static pages; `variables` add to
 * those of `npm start`.
 */
export async function startEdge(
  files: ScriptedService['files'],
  variables: Readonly<Record<string, unknown>>,
): Promise<Edge> {
  const state = mkdtempSync(join(tmpdir(), 'access-state-'))
  createDatabaseFile(fileOfD1(join(state, 'd1'), 'wallet'), agreedDecimals(tokenAddress))
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'team-1', alg: 'RS256', use: 'sig' }]
  const { script } = await bundleService()
  const env = { ...localVariables(), ...variables, DESK_ACCESS: { team, audience, people: variables.people } }
  const miniflare = new Miniflare(optionsOf(state, script, env, keys))
  await miniflare.ready
  const { origin: service } = await miniflare.unsafeGetDirectURL('wallet')
  const passed: Edge['passed'] = []
  const server = createServer((incoming, answer) => {
    const { method = '', url: path = '' } = incoming
    answer.on('close', () => passed.push({ method, path, status: answer.statusCode }))
    pass(incoming, answer, files, service)
  })
  const { url, close } = await listen(server)
  return {
    url,
    service,
    passed,
    session: (email) => {
      const now = Math.floor(Date.now() / 1000)
      const claims = { aud: [audience], email, iss: issuer, iat: now, nbf: now, exp: now + 3_600, type: 'app' }
      return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'team-1' }).sign(privateKey)
    },
    async stop() {
      server.closeAllConnections()
      await close()
      await miniflare.dispose()
      rmSync(state, { recursive: true, force: true })
    },
  }
}

/** The variables with which `npm start` runs the service. */
function localVariables(): Readonly<Record<string, string>> {
  const lines = readFileSync(`${root}test/devnet/dev.vars`, 'utf8').matchAll(/^(\w+)=(["'])(.*)\2$/gm)
  return Object.fromEntries([...lines].map(([, name, , value]) => [name, value]))
}

/** Miniflare's options. The service can fetch the team's keys, and nothing else. */
function optionsOf(state: string, script: string, env: object, keys: readonly JWK[]): MiniflareOptions {
  const objectOf = (exportName: string) => ({ type: 'durable-object', worker: 'wallet', exportName })
  const stored = { type: 'durable-object', storage: 'sqlite' }
  const json = Object.entries(env).map(([name, value]) => [name, { type: 'json', value }] as const)
  const handler = async ({ url }: { readonly url: string }) =>
    url === `${issuer}/cdn-cgi/access/certs` ? Response.json({ keys }) : new Response(null, { status: 503 })
  return {
    host: '127.0.0.1',
    port: 0,
    cf: false, // otherwise Miniflare fetches the content of `request.cf` from the network
    log: new Log(LogLevel.ERROR),
    telemetry: { enabled: false },
    resourcePersistencePath: state,
    handleStructuredLogs: () => {},
    workers: [
      {
        config: {
          name: 'wallet',
          compatibilityDate: '2026-11-01',
          manifest: { mainModule: 'index.js', modules: { 'index.js': { type: 'esm', contents: script } } },
          env: {
            ...Object.fromEntries(json),
            DB: { type: 'd1', id: 'wallet' },
            SCANNER: objectOf('Scanner'),
            ENDPOINT: objectOf('Endpoint'),
          },
          exports: { Scanner: stored, Endpoint: stored },
        },
        dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }], outboundService: { type: 'fetcher', handler } },
      },
    ],
  } as MiniflareOptions // safe: Miniflare checks its options when it starts
}

/**
 * Handles a request as Access does. Without a session a page is redirected to the sign-in and a
 * script gets 401. With one the request passes, with the assertion that only Access can add.
 */
function pass(
  incoming: IncomingMessage,
  answer: ServerResponse,
  files: ScriptedService['files'],
  service: string,
): void {
  const session = /(?:^|; )CF_Authorization=([^;]+)/.exec(incoming.headers.cookie ?? '')?.[1]
  if (session === undefined) {
    const isScript = incoming.headers['x-requested-with'] === 'XMLHttpRequest'
    answer.writeHead(isScript ? 401 : 302, isScript ? {} : { location: `${issuer}/cdn-cgi/access/login` }).end()
    return
  }
  const file = files.get(incoming.url ?? '')
  if (file !== undefined) {
    answer.writeHead(200, { 'content-type': file.type }).end(file.content)
    return
  }
  const { method, url = '/' } = incoming
  // the service gets the `host` header that the browser sent to Access
  const headers = { ...incoming.headers, 'cf-access-jwt-assertion': session }
  const passed = request(`${service}${url}`, { method, headers }, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers)
    got.pipe(answer)
  })
  passed.on('error', () => answer.destroy())
  incoming.pipe(passed)
}
