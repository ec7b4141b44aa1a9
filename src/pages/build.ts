/**
 * Builds the pages. `npm run docs` runs it, so that every deployment has their files beside the
 * Worker.
 */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'

const sources = fileURLToPath(new URL('.', import.meta.url).href)

/**
 * The names of the pages. Each is the name of a folder beside this file, and a path of the service.
 */
const pages = ['deposit', 'desk']

/**
 * Scripts that a page's main script imports, and that stay separate files. `deposit/first` loads
 * before the main script. All others load when they are needed: of the languages only the reader's.
 */
const apartScripts = [
  'deposit/first',
  'deposit/wallet',
  ...pages.flatMap((page) => languagesOf(page).map((language) => `${page}/languages/${language}`)),
]

/**
 * The languages of a page. A file whose name has a hyphen, such as `en-payouts.ts`, is a part of a
 * language and not one itself.
 */
function languagesOf(page: string): string[] {
  const names = readdirSync(join(sources, page, 'languages')).map((file) => file.slice(0, -3))
  return names.filter((name) => /^\w+$/.test(name))
}

/**
 * Keeps `apartScripts` out of the main script, which imports them by the names of their built files
 * instead.
 */
const apart: Plugin = {
  name: 'apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/(first|wallet|languages\/\w+)\.ts$/ }, ({ path, kind }) =>
      kind === 'entry-point' ? null : { path: path.replace(/ts$/, 'js'), external: true },
    ),
}

/** Runs `shapes.ts`, and puts the values that it exports in its place. */
const shapes: Plugin = {
  name: 'shapes',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]pages[\\/]shapes\.ts$/ }, async ({ path }) => {
      const values: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href)
      const lines = Object.entries(values).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
      return { contents: lines.join('\n'), loader: 'js' }
    }),
}

/**
 * Writes the pages into the folder of static files: for each page its HTML, its scripts and one
 * style sheet. Returns what they are made of.
 */
export async function buildPages(assets: string): Promise<Metafile> {
  for (const name of pages) {
    mkdirSync(join(assets, name), { recursive: true })
    copyFileSync(join(sources, name, 'page.html'), join(assets, `${name}.html`))
  }
  const { metafile } = await build({
    metafile: true,
    entryPoints: [
      ...pages.flatMap((name) => ['ts', 'css'].map((type) => join(sources, name, `page.${type}`))),
      ...apartScripts.map((name) => join(sources, `${name}.ts`)),
    ],
    plugins: [apart, shapes],
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
  return metafile
}
