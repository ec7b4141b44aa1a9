/**
 * What docs/integrate.md shows to a program in another repository. The folder `elsewhere` is such a
 * program: it has packages and a compiler of its own, and nothing of this repository but what
 * `/openapi.json` says.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDocument } from '../src/worker/http/openapi/document.ts'
import { runCommand } from './support/command.ts'
import { root } from './support/project.ts'

const here = `${root}test/elsewhere/`
const page = readFileSync(`${root}docs/integrate.md`, 'utf8')
const example = readFileSync(`${here}deposits-example.ts`, 'utf8')
const command = 'npx openapi-typescript https://wallet.example/openapi.json -o wallet.d.ts'
const generator = 'test/elsewhere/node_modules/openapi-typescript/bin/cli.js'
const clientGenerator = 'test/elsewhere/node_modules/@hey-api/openapi-ts/bin/run.js'
/**
 * The compiler of the folder `elsewhere`, and that of the repository, which also checks the
 * declarations of packages.
 */
const compilers = [
  ['test/elsewhere/node_modules/typescript/bin/tsc', { skipLibCheck: true }],
  ['node_modules/typescript/bin/tsc', {}],
] as const
const commonOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  module: 'nodenext',
  target: 'es2022',
  types: [],
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: true,
}

/** A folder outside of the repository, linked to the packages of the repository. */
const folder = mkdtempSync(join(tmpdir(), 'elsewhere-'))
beforeAll(async () => {
  symlinkSync(`${root}node_modules`, join(folder, 'node_modules'))
  cpSync(`${here}deposits-example.ts`, join(folder, 'deposits-example.ts'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  // docs.test.ts shows that it is served
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(createDocument('1')))
  const [, , from = '', ...rest] = command.split(' ')
  const generated = await runCommand(generator, [from.replace('https://wallet.example/', ''), ...rest], { cwd: folder })
  expect(generated).toMatchObject({ code: 0 })
  cpSync(`${here}payment-example.ts`, join(folder, 'payment-example.ts'))
  const made = await runCommand(clientGenerator, ['-i', 'openapi.json', '-o', 'client', '--no-log-file'], {
    cwd: folder,
  })
  expect(made).toMatchObject({ code: 0 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Compiles files of `folder`. Returns the exit code and the output. */
function compile(files: readonly string[], [compiler, options]: readonly [string, object]) {
  const compilerOptions = { ...commonOptions, ...options }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return runCommand(compiler, ['-p', '.'], { cwd: folder })
}

describe('a program in another repository', () => {
  it('is shown in the documentation as it is tested', () => {
    expect(page).toContain(`\`\`\`sh\nnpm install openapi-fetch\n${command}\n\`\`\``)
    expect(page).toContain(`\`\`\`ts\n${example}\`\`\``)
  })

  // Only the types are tested here. pages/walk.test.ts runs the example.
  it('compiles with the types that are generated from /openapi.json', async () => {
    for (const compiler of compilers)
      expect(await compile(['deposits-example.ts'], compiler)).toEqual({ code: 0, out: '', all: '' })
  })

  it('does not compile with a path, a value of a parameter, a type or a member that is not there', async () => {
    const wrong = [
      ["'/wallet/flow/list'", "'/wallet/flows'"],
      ['limit: 10', 'limit: true'],
      ["type: '1'", "type: '7'"],
      ['flow.osn', 'flow.txid'],
    ] as const
    const files = wrong.map(([right, replaced], i) => {
      expect(example).toContain(right)
      writeFileSync(join(folder, `wrong-${i}.ts`), example.replace(right, replaced))
      return `wrong-${i}.ts`
    })
    const { code, all } = await compile(files, compilers[1])
    expect([code, new Set(all.match(/^wrong-\d\.ts(?=\(\d+,\d+\): error TS)/gm))]).toEqual([2, new Set(files)])
  })

  // Only the types are tested here. pages/walk.test.ts runs the example.
  it('compiles with the client that another generator makes of /openapi.json', async () => {
    const bundled = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom', 'dom.iterable'] }
    for (const [compiler, options] of compilers) {
      const files = ['payment-example.ts']
      expect(await compile(files, [compiler, { ...options, ...bundled }])).toEqual({ code: 0, out: '', all: '' })
    }
  })

  it('does not compile with a client and an amount, a type or a word that is not there', async () => {
    const client = readFileSync(`${here}payment-example.ts`, 'utf8')
    const wrong = [
      ["amt: '5'", 'amt: true'],
      ["type: '4'", "type: '7'"],
      ["'entry.posted'", "'entry.lost'"],
      ['event.data.entry', 'event.data.flow'],
    ] as const
    const files = wrong.map(([right, replaced], i) => {
      expect(client).toContain(right)
      writeFileSync(join(folder, `wrong-client-${i}.ts`), client.replace(right, replaced))
      return `wrong-client-${i}.ts`
    })
    const options = {
      skipLibCheck: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.iterable'],
    }
    const { all } = await compile(files, [compilers[1][0], options])
    expect(new Set(all.match(/^wrong-client-\d\.ts(?=\(\d+,\d+\): error TS)/gm))).toEqual(new Set(files))
  })
})
