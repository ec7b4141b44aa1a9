import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildPages } from '../src/pages/build.ts'
import {
  bundleWorker,
  licencesText,
  packagesIn,
  readServedPackage,
  type ServedPackage,
} from './http/openapi/licences.ts'
import { root } from './support/project.ts'
import { textOf } from './support/source-files.ts'

let served: readonly ServedPackage[]
beforeAll(async () => {
  const pages = await buildPages(mkdtempSync(join(tmpdir(), 'licences-')))
  served = [...packagesIn([pages, await bundleWorker(root)]), 'swagger-ui-dist'].map((name) =>
    readServedPackage(root, name),
  )
})

describe('the licences of what is served', () => {
  it('have every package of the bundles, and none that only builds or tests', () => {
    const names = served.map(({ name }) => name)
    // safe: package.json has both
    const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >
    expect(Object.keys(dependencies).filter((name) => !names.includes(name))).toEqual([])
    expect(Object.keys(devDependencies).filter((name) => names.includes(name))).toEqual(['lean-qr', 'swagger-ui-dist'])
  })

  it('allow that their code is served with ours, and ask for nothing but their text', () => {
    const allowed = ['MIT', 'Apache-2.0', '(Apache-2.0 AND BSD-3-Clause)', 'Unlicense']
    expect(served.filter(({ licence }) => !allowed.includes(licence))).toEqual([])
  })

  it('are one text, with the copyright and the terms of each', () => {
    const parts = licencesText(root, served).split(`\n${'-'.repeat(80)}\n`)
    expect(parts).toHaveLength(served.length + 1)
    for (const [index, { name, version }] of served.entries()) {
      expect(parts[index + 1]).toContain(`${name} ${version}`)
      expect(parts[index + 1]).toMatch(/copyright|public domain/i)
      expect(parts[index + 1]).toMatch(
        /Permission is hereby granted|Apache-2\.0: see swagger-ui-dist|Apache License|Anyone is free/,
      )
    }
    expect(parts[0]).toContain('the maintainers of this project')
    expect(parts.at(-1)).toContain('Apache License')
  })

  it('are linked from the pages that have them', () => {
    expect(textOf('src/worker/http/openapi/page.html')).toContain('<a href="/licences.txt">')
    for (const page of ['desk', 'deposit']) {
      expect(textOf(`src/pages/${page}/page.html`)).toContain('<link rel="license" href="/licences.txt">')
    }
  })

  it('stop the build where a package has no text of its licence', () => {
    const folder = mkdtempSync(join(tmpdir(), 'licences-'))
    mkdirSync(join(folder, 'node_modules/silent'), { recursive: true })
    writeFileSync(join(folder, 'node_modules/silent/package.json'), '{"version":"1.0.0","license":"MIT"}')
    expect(() => readServedPackage(folder, 'silent')).toThrow('silent: where is the text of its licence?')
  })
})
