import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { root } from './support/project.ts'

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly link?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>
}
/** All packages but this one and its workspace. */
const locked = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && link !== true)

describe('the lock file', () => {
  it('has the hash of every package, binaries of other platforms that its registry does not serve aside', () => {
    expect(locked.length).toBeGreaterThan(100)
    const isForeign = (path: string, { optional, os = ['linux'], cpu = ['x64'] }: LockedPackage) =>
      optional === true && (!os.includes('linux') || !cpu.includes('x64') || path.endsWith('-musl'))
    const unhashed = locked.filter(([path, one]) => !one.integrity?.startsWith('sha512-') && !isForeign(path, one))
    expect(unhashed.map(([path]) => path)).toEqual([])
  })

  it('names the packages of all platforms, each in one version, so that npm ci starts on each', () => {
    const names = new Set(locked.map(([path]) => path.replace(/^.*node_modules\//, '')))
    const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).flatMap((name) => (names.has(name) ? [] : [`${path}: ${name}`])),
    )
    expect(missing).toEqual([])
    expect(locked.filter(([, { version }]) => !/^\d+\.\d+\.\d+/.test(version ?? '')).map(([path]) => path)).toEqual([])
  })
})
