/** Builds the pages for people: run by `npm run docs`, so that their files are beside the Worker in every deployment. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const sources = fileURLToPath(new URL('.', import.meta.url).href)

/** The pages, by their paths. */
const pages = ['deposit', 'desk']

/**
 * Scripts that a page's own script imports: one of the page for callers is loaded first, others when they are used, and of the languages one.
 */
const apartScripts = [
  'deposit/first',
  'deposit/papers',
  'desk/acts',
  'desk/chain-story',
  'desk/files',
  'desk/statement-view',
  ...pages.flatMap((page) => languagesOf(page).map((language) => `${page}/languages/${language}`)),
]

/** The languages of a page. A language can have further files, with a hyphen in their names. */
function languagesOf(page: string): string[] {
  const names = readdirSync(join(sources, page, 'languages')).map((file) => file.slice(0, -3))
  return names.filter((name) => /^\w+$/.test(name))
}

/** Keeps them out of the page's own script, which imports them under the names that the browser knows. */
const apart: Plugin = {
  name: 'apart',
  setup: ({ onResolve }) =>
    onResolve(
      { filter: /^\.\/(first|papers|acts|chain-story|files|statement-view|languages\/\w+)\.ts$/ },
      ({ path, kind }) => (kind === 'entry-point' ? null : { path: path.replace(/ts$/, 'js'), external: true }),
    ),
}

/** Writes the pages into the folder of a deployment's static files: of each one page, its scripts and one style sheet. */
export async function buildPages(assets: string): Promise<void> {
  for (const name of pages) {
    mkdirSync(join(assets, name), { recursive: true })
    copyFileSync(join(sources, name, 'page.html'), join(assets, `${name}.html`))
  }
  await build({
    entryPoints: [
      ...pages.flatMap((name) => ['ts', 'css'].map((type) => join(sources, name, `page.${type}`))),
      ...apartScripts.map((name) => join(sources, `${name}.ts`)),
    ],
    plugins: [apart],
    outbase: sources,
    outdir: assets,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  })
}
