/**
 * What the README shows to a program in another repository. The folder `elsewhere` is such a program: it has packages and a compiler
 * of its own, and nothing of this repository but what `/openapi.json` says.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depositBase58 } from './devnet/support.ts'
import { signToken } from './http/auth/sign-token-example.ts'
import { type LocalService, startLocalService } from './pages/local-service.ts'
import { runCommand } from './support/command.ts'
import { root } from './support/project.ts'
import { testSecret } from './support/variables.ts'

const here = `${root}test/elsewhere/`
const readme = readFileSync(`${root}README.md`, 'utf8')
const example = readFileSync(`${here}deposits-example.ts`, 'utf8')
const command = 'npx openapi-typescript https://wallet.example/openapi.json -o wallet.d.ts'
const generator = 'test/elsewhere/node_modules/openapi-typescript/bin/cli.js'
/** That of this folder, and that of the repository. */
const compilers = ['test/elsewhere/node_modules/typescript/bin/tsc', 'node_modules/typescript/bin/tsc'] as const
const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  module: 'nodenext',
  target: 'es2022',
  types: [],
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: true,
}

let service: LocalService
/** A folder outside of the repository, with the packages of this one. */
const folder = mkdtempSync(join(tmpdir(), 'elsewhere-'))
beforeAll(async () => {
  service = await startLocalService({ AUTH_JWT_SECRET: testSecret })
  symlinkSync(`${root}node_modules`, join(folder, 'node_modules'))
  cpSync(`${here}deposits-example.ts`, join(folder, 'deposits-example.ts'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const [, , from = '', ...rest] = command.split(' ')
  const generated = await runCommand(generator, [from.replace('https://wallet.example', service.url), ...rest], {
    cwd: folder,
  })
  expect(generated).toMatchObject({ code: 0 })
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await service.stop()
})

/** What a compiler says of files there. */
function compile(files: readonly string[], compiler: (typeof compilers)[number]) {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return runCommand(compiler, ['-p', '.'], { cwd: folder })
}

describe('a program in another repository', () => {
  it('is shown in the README as it is tested', () => {
    expect(readme).toContain(`\`\`\`sh\nnpm install openapi-fetch\n${command}\n\`\`\``)
    expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``)
  })

  it('compiles with the types that are generated from /openapi.json, and lists a deposit', async () => {
    for (const compiler of compilers)
      expect(await compile(['deposits-example.ts'], compiler)).toEqual({ code: 0, out: '', all: '' })
    const { newestDeposits } = (await import(join(folder, 'deposits-example.js'))) as {
      newestDeposits(baseUrl: string, token: string): Promise<string[]>
    } // as the example exports it
    const token = await signToken(1, testSecret)
    const issued = await fetch(`${service.url}/tron/generate`, { headers: { authorization: `Bearer ${token}` } })
    expect(await issued.json()).toMatchObject({ data: { address: depositBase58 } })
    const { txid } = await service.devnet.pay({ to: depositBase58, amount: '25', currency: 'USDT' })
    await service.devnet.mine(3)
    await expect.poll(() => newestDeposits(service.url, token), { timeout: 60_000, interval: 1_000 }).toHaveLength(1)
    const [line] = await newestDeposits(service.url, token)
    expect(line).toMatch(new RegExp(`^\\d{4}-.*Z \\+25 \\(${txid}:0\\)$`))
    await expect(newestDeposits(service.url, 'no token')).rejects.toThrow('a valid bearer token is required')
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
})
