import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'

/**
 * How the Worker is bundled, wherever this repository does it; a deployment is bundled by wrangler.
 */
export const workerBundle = {
  bundle: true,
  write: false as const,
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:*', 'node:*'],
} satisfies BuildOptions

/** A package whose code is served. */
export interface ServedPackage {
  readonly name: string
  readonly version: string
  /** Its licence as SPDX names it. */
  readonly licence: string
  /** The text of its licence, and of its notice if it has one. */
  readonly text: string
}

/** The names of the packages of which code is in these bundles. */
export function packagesIn(metafiles: readonly Metafile[]): readonly string[] {
  const used = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  )
  const names = used.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  return [...new Set(names)].sort((a, b) => a.localeCompare(b))
}

/** The bundle of the Worker, for `packagesIn`. */
export async function bundleWorker(root: string): Promise<Metafile> {
  const entryPoints = [join(root, 'src/worker/index.ts')]
  return (await build({ ...workerBundle, entryPoints, metafile: true, minify: true, logLevel: 'error' })).metafile
}

/**
 * Packages that come without a text of their licence, and where it is instead. Their `package.json`
 * names the licence and the author; the texts are the standard ones, from files that are here.
 */
const elsewhere: Readonly<Record<string, (root: string) => string>> = {
  '@bufbuild/protobuf': (root) => {
    const google = firstComment(root, 'node_modules/@bufbuild/protobuf/dist/esm/wire/varint.js')
    return `Copyright Buf Technologies, Inc. Apache-2.0: see swagger-ui-dist. A part of it has these terms:\n\n${google}`
  },
  'drizzle-orm': () => 'Copyright Drizzle Team. Apache-2.0: see swagger-ui-dist.',
  standardwebhooks: (root) => {
    const own = readFileSync(join(root, 'LICENSE'), 'utf8')
    return `Copyright Standard Webhooks\n\n${own.slice(own.indexOf('Permission is')).trim()}`
  },
}

/** The comment at the top of a file, without its slashes. */
function firstComment(root: string, path: string): string {
  const [comment = ''] = /^(?:\/\/.*\n)+/.exec(readFileSync(join(root, path), 'utf8')) ?? []
  if (!comment.startsWith('// Copyright')) throw new Error(`${path} has no comment with its licence any more`)
  return comment.replaceAll(/^\/\/ ?/gm, '').trim()
}

/** Reads what a package in `root` says of its licence. Throws if there is no text of it. */
export function readServedPackage(root: string, name: string): ServedPackage {
  const folder = join(root, 'node_modules', name)
  // safe: each package has these
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string
    license: string
  }
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)(\.(md|txt))?$/i.test(file))
  const other = elsewhere[name]
  if ((files.length === 0) === (other === undefined)) throw new Error(`${name}: where is the text of its licence?`)
  if (other !== undefined) return { name, version, licence: license, text: other(root) }
  const texts = files.sort((a, b) => a.localeCompare(b)).map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return { name, version, licence: license, text: texts.join('\n\n') }
}

/**
 * The text of `/licences.txt`: our own licence, and those of the packages whose code is served,
 * with the copyright that each licence asks to be kept.
 */
export function licencesText(root: string, packages: readonly ServedPackage[]): string {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim()
  const parts = packages.map(({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}`)
  const line = `\n\n${'-'.repeat(80)}\n\n`
  return `${[`This service\n\n${own}`, ...parts].join(line)}\n`
}
