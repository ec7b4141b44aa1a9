/**
 * `npm run docs`: writes the static files of a deployment into `.assets`: /openapi.json, the page at /docs with everything
 * that it loads, and the pages for people. wrangler runs it before every start and every deploy. The bundle of the Worker
 * has none of it.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPages } from '../../../src/pages/build.ts'
import { httpsSeconds } from '../../../src/worker/http/middleware/every-request.ts'
import { createDocument } from '../../../src/worker/http/openapi/document.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url).href)
const sources = join(root, 'src/worker/http/openapi')
const assets = join(root, '.assets')
const page = join(assets, 'docs')
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/** The files that the page loads from the package, and the licence of the package. */
const packaged = ['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css', 'LICENSE', 'NOTICE']
/** The other files that the page loads. */
const own = ['page.js', 'page.css', 'icon.svg']

/**
 * Nothing from other origins, nothing inline, no frames. `data:` is for the icons in swagger-ui.css. Headers of two rules for a path are
 * two policies, and both hold: the pages for people cannot insert text as HTML either. Swagger UI does.
 */
const headers = `/*
  Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
  Cross-Origin-Opener-Policy: same-origin
  Referrer-Policy: no-referrer
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Strict-Transport-Security: max-age=${httpsSeconds}
/deposit
  Content-Security-Policy: require-trusted-types-for 'script'; trusted-types 'none'
/desk
  Content-Security-Policy: require-trusted-types-for 'script'; trusted-types 'none'
`

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string } // package.json has one

mkdirSync(page, { recursive: true })
await buildPages(assets)
writeFileSync(join(assets, '_headers'), headers)
writeFileSync(join(assets, 'openapi.json'), JSON.stringify(createDocument(version)))
copyFileSync(join(sources, 'page.html'), join(assets, 'docs.html'))
for (const name of own) copyFileSync(join(sources, name), join(page, name))
for (const name of packaged) copyFileSync(join(swaggerUi, name), join(page, name))
// The folder is not emptied before: a running service continues to serve it. Other files are from older builds.
for (const name of readdirSync(page)) {
  if (!own.includes(name) && !packaged.includes(name)) rmSync(join(page, name), { recursive: true })
}
