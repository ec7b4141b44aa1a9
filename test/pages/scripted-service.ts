/**
 * A service that answers as the test says, for states into which the real one cannot be brought at
 * will.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { buildPages } from '../../src/pages/build.ts'
import type { Reason } from '../../src/worker/common/reasons.ts'
import { callerPagePath, noPageSettings, type PageSettings, withSettings } from '../../src/worker/http/page-settings.ts'
import { listen } from '../support/loopback.ts'

/** How a route answers: by default status 200 and the usual envelope. */
export interface Scripted {
  readonly status?: number
  readonly msg?: string
  /** The value of the header `x-reason`. */
  readonly reason?: Reason
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The whole body, in place of the envelope. */
  readonly body?: string
  /** The answer waits for this promise. */
  readonly after?: Promise<unknown>
}

/** Answers a request. `sent` is its body. */
export type Script = (url: URL, request: IncomingMessage, sent?: string) => Scripted

export interface ScriptedService {
  readonly url: string
  /** The scripts by path. Tests may replace them. */
  readonly routes: Map<string, Script>
  /** All requests so far, each with its path and query, its token, and its body if it has one. */
  readonly requests: { readonly path: string; readonly token: string | null; readonly sent?: string }[]
  /** The built files of the pages by path. They are sent gzipped, as the platform does. */
  readonly files: ReadonlyMap<string, { readonly type: string; readonly content: Buffer; readonly gzipped: Buffer }>
  /** The origins that may embed the page, as in a content security policy. */
  frameAncestors: string
  /** The settings that the service writes into the page's HTML. */
  settings: PageSettings
  close(): Promise<void>
}

/** An amount that becomes a JSON number with exactly these digits. */
export const exact = (digits: string) => `#${digits}#`

/** The policy that `.assets/_headers` and the Worker set. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** Builds the pages and serves them, with scripted routes. */
export async function startScriptedService(): Promise<ScriptedService> {
  const files = await builtFiles()
  const routes = new Map<string, Script>()
  const requests: { path: string; token: string | null; sent?: string }[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const file = files.get(url.pathname)
    if (file !== undefined) {
      const csp = `${policy}; frame-ancestors ${service.frameAncestors}`
      const headers = { 'content-type': file.type, 'content-encoding': 'gzip', 'content-security-policy': csp }
      const isSet = url.pathname === callerPagePath
      const own = isSet ? gzipSync(withSettings(file.content.toString(), service.settings)) : file.gzipped
      response.writeHead(200, headers).end(own)
      return
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? null
    const sent = request.method === 'POST' ? await text(request) : ''
    requests.push({ path: url.pathname + url.search, token, ...(sent === '' ? {} : { sent }) })
    const unknown: Scripted = { status: 404, msg: 'no such path' }
    const {
      status = 200,
      msg = 'success',
      reason,
      data,
      headers,
      body,
      after,
    } = routes.get(url.pathname)?.(url, request, sent) ?? unknown
    await after
    const written = JSON.stringify({ code: status, msg, data }).replaceAll(/"#(-?[\d.]+)#"/g, '$1')
    const word = reason === undefined ? {} : { 'x-reason': reason }
    response.writeHead(status, { 'content-type': 'application/json', ...word, ...headers }).end(body ?? written)
  })
  const { url, close } = await listen(server)
  const service: ScriptedService = {
    url,
    routes,
    requests,
    files,
    frameAncestors: "'none'",
    settings: noPageSettings,
    close,
  }
  return service
}

async function builtFiles(): Promise<ScriptedService['files']> {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'))
  await buildPages(folder)
  const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name))
  const files = new Map(
    names.map((name) => {
      const type = `${types[name.replace(/^.*\./, '')]}; charset=utf-8`
      const content = readFileSync(join(folder, name))
      return [`/${name.replace(/\.html$/, '')}`, { type, content, gzipped: gzipSync(content) }] as const
    }),
  )
  rmSync(folder, { recursive: true })
  return files
}
