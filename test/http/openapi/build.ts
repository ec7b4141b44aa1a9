/**
 * `npm run docs`: makes what the deployment serves beside the Worker, into `.assets`: /openapi.json, and the page at /docs
 * with all that it loads. Nothing of it is in the Worker's bundle.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDocument } from '../../../src/http/openapi/document.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url).href)
const sources = join(root, 'src/http/openapi')
const assets = join(root, '.assets')
const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** Nothing from elsewhere, nothing inline, in nobody's frame. `data:` is for the icons in swagger-ui.css. */
const headers = `/*
  Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
  Cross-Origin-Opener-Policy: same-origin
  Referrer-Policy: no-referrer
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
`

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string } // npm requires it

// Emptied first: what an earlier build made must not be deployed. Only its contents, since wrangler may watch the folder.
rmSync(join(assets, 'docs'), { recursive: true, force: true })
mkdirSync(join(assets, 'docs'), { recursive: true })
writeFileSync(join(assets, '_headers'), headers)
writeFileSync(join(assets, 'openapi.json'), JSON.stringify(createDocument(version)))
copyFileSync(join(sources, 'page.html'), join(assets, 'docs.html'))
for (const name of ['page.js', 'page.css']) copyFileSync(join(sources, name), join(assets, 'docs', name))
for (const name of [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
]) {
  copyFileSync(join(swaggerUi, name), join(assets, 'docs', name))
}
