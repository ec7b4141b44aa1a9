import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { type CommandEnd, type CommandOptions, runCommand } from '../../support/command.ts'
import { root } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'
import { bindingsFor, type CollectChain, gasAddress } from './harness.ts'

const script = 'src/tools/collect/start.ts'

/** A folder of an operator, with the configuration of a deployment on a local chain. */
export interface TestDeployment {
  readonly folder: string
  readonly path: (name: string) => string
  run(args: readonly string[], options?: CommandOptions): Promise<CommandEnd>
  /** Starts the command without waiting for its end. */
  start(args: readonly string[]): ChildProcessByStdio<null, Readable, Readable>
  /** Puts a program in the place of wrangler that answers with these rows. Returns what it was called with, each time. */
  replaceWrangler(output: string): { readonly environment: Record<string, string>; readonly calls: () => string[][] }
  remove(): void
}

/** The folder, with the top level and the environment nile of wrangler.toml, and their secrets. */
export function createDeployment({ devnet }: Pick<CollectChain, 'devnet'>): TestDeployment {
  const folder = mkdtempSync(join(tmpdir(), 'collect-'))
  const path = (name: string) => join(folder, name)
  const toml = (list: unknown) => JSON.stringify(list).replace(/"(\w+)":/g, '$1=') // inline tables
  const { TRON_NODES, CURRENCIES } = bindingsFor(devnet)
  const section = (prefix: string) => `[[${prefix}d1_databases]]
binding = "DB"\ndatabase_name = "x"\ndatabase_id = "0b54dd61-7b1c-4d0c-8d9e-1ad0a25a2f05"
migrations_dir = "${root}migrations"\n[${prefix}vars]\nTRON_CHAIN_ID = "0x6465766e"
TRON_NODES = ${toml(TRON_NODES)}\nCURRENCIES = ${toml(CURRENCIES)}\nOPERATOR_ADDRESSES = ["${gasAddress}"]\n`
  writeFileSync(
    path('wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"\n${section('')}${section('env.nile.')}`,
  )
  for (const name of ['.dev.vars', '.dev.vars.production', '.dev.vars.nile']) {
    writeFileSync(path(name), `TRON_XPUB="${testXpub}"\nAUTH_JWT_SECRET="0123456789abcdef0123456789abcdef"\n`)
  }
  const searched = (first: string) => [first, `${root}node_modules/.bin`, process.env.PATH ?? ''].join(delimiter)
  return {
    folder,
    path,
    run: (args, options = {}) => runCommand(script, args, { cwd: folder, ...options }),
    start: (args) =>
      spawn(`${root}node_modules/.bin/node`, [`${root}${script}`, ...args], {
        cwd: folder,
        env: { PATH: searched(''), HOME: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    replaceWrangler(output) {
      mkdirSync(path('bin'), { recursive: true })
      writeFileSync(path('bin/calls'), '')
      writeFileSync(path('bin/output'), output)
      const lines = ['#!/bin/sh', `printf '%s\\n' "$*" >> '${path('bin/calls')}'`, `cat '${path('bin/output')}'`]
      writeFileSync(path('bin/wrangler'), `${lines.join('\n')}\n`)
      chmodSync(path('bin/wrangler'), 0o755)
      const calls = () =>
        readFileSync(path('bin/calls'), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => line.split(' '))
      return { environment: { PATH: searched(path('bin')) }, calls }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Makes a block twice a second while work goes on, as `npm start` does. */
export async function whileMining<T>({ devnet }: CollectChain, work: Promise<T>): Promise<T> {
  let isOver = false
  const mining = (async () => {
    while (!isOver) {
      await devnet.mine(1)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })()
  try {
    return await work
  } finally {
    isOver = true
    await mining
  }
}
