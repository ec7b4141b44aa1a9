/**
 * `npm run docs`: writes the static files of a deployment into `.assets`: /openapi.json, the page
 * /docs with all that it loads, and the pages for people. wrangler runs it before each start and
 * each deployment. None of this is in the Worker's bundle.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPages } from '../../../src/pages/build.ts'
import { httpsSeconds } from '../../../src/worker/http/middleware/every-request.ts'
import { createDocument } from '../../../src/worker/http/openapi/document.ts'
import { bundleWorker, licencesText, packagesIn, readServedPackage } from './licences.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url).href)
const sources = join(root, 'src/worker/http/openapi')
const assets = join(root, '.assets')
const page = join(assets, 'docs')
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/** The files of swagger-ui-dist that /docs loads, and the package's licence. */
const packaged = ['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css', 'LICENSE', 'NOTICE']
/** Our own files that /docs loads. */
const own = ['page.js', 'page.css', 'icon.svg']

const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
]
/**
 * The headers of static files: they allow nothing from other origins, nothing inline and no frames.
 * swagger-ui.css has icons as `data:`. A path that two rules match gets both policies, and browsers
 * enforce both: the pages for people, unlike Swagger UI, must not even insert text as HTML.
 */
const headers = `/*
  Content-Security-Policy: ${policy.join('; ')}
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

// safe: package.json has a version
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

mkdirSync(page, { recursive: true })
// Before the pages, which make some of its schemas too: the document lists them in the order in
// which they are made.
const document = JSON.stringify(createDocument(version))
const [pages, worker] = await Promise.all([buildPages(assets), bundleWorker(root)])
const served = [...packagesIn([pages, worker]), 'swagger-ui-dist'].map((name) => readServedPackage(root, name))
writeFileSync(join(assets, 'licences.txt'), licencesText(root, served))
writeFileSync(join(assets, '_headers'), headers)
writeFileSync(join(assets, 'openapi.json'), document)
copyFileSync(join(sources, 'page.html'), join(assets, 'docs.html'))
for (const name of own) copyFileSync(join(sources, name), join(page, name))
for (const name of packaged) copyFileSync(join(swaggerUi, name), join(page, name))
// Old files are removed one by one: emptying the folder would break a running service that serves
// from it.
for (const name of readdirSync(page)) {
  if (!own.includes(name) && !packaged.includes(name)) rmSync(join(page, name), { recursive: true })
}
