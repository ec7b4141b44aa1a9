/**
 * `npm start -- --cells 3`: a folder with the configuration and the data of a local deployment with
 * several cells.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { keyAt, openMnemonic, parsePath } from '../../src/commands/signing/account-key.ts'
import { parseMnemonic } from '../../src/commands/signing/mnemonic.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { root } from '../support/project.ts'

/** The most cells of a local deployment. Each cell costs a database and a scanner. */
export const localCellsMax = 9
const usersPerCell = 1_000_000
/** The public test mnemonic of `test/devnet/dev.vars`. */
const words = `${'test '.repeat(11)}junk`

/** A cell of the local deployment, as an entry of `CELLS`. */
export interface LocalCell {
  readonly db: string
  readonly uids: string
  /** The name of the variable that has the cell's extended public key. */
  readonly xpub: string
  readonly payouts?: object
}

/**
 * The cells of a local deployment. Each has a million users, the last one all further users.
 * `payouts` are the payout settings of the first cell, or null.
 */
export function localCells(count: number, payouts: object | null): readonly LocalCell[] {
  return Array.from({ length: count }, (_, i) => {
    const [from, to] = [i === 0 ? 1 : i * usersPerCell, i + 1 === count ? '' : (i + 1) * usersPerCell - 1]
    const own = i === 0 ? payouts : { ...payouts, address: payoutAddressAt(i) }
    const suffix = i === 0 ? '' : `_${i + 1}`
    const cell = { db: `DB${suffix}`, uids: `${from}-${to}`, xpub: `TRON_XPUB${suffix}` }
    return payouts === null || own === null ? cell : { ...cell, payouts: own }
  })
}

/**
 * The payout address of the cell at `index`, from 0. The first cell has the payout address in
 * `test/devnet/dev.vars`.
 */
export function payoutAddressAt(index: number): string {
  return formatBase58(keyAt(mnemonic(), payoutPathAt(index)).address)
}

/** The derivation path of the payout address of the cell at `index`. */
function payoutPathAt(index: number) {
  const path = parsePath(`m/44'/195'/2'/0/${index}`)
  if (path === null) throw new Error('it is a path')
  return path
}

/**
 * The extended public key of the cell at `index`, which is at least 1. Accounts 1 and 2 of the
 * mnemonic are taken: by the gas and payout addresses.
 */
const keyOf = (index: number) => openMnemonic(mnemonic()).extendedPublicKey(index + 2)

function mnemonic() {
  const parsed = parseMnemonic(words)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

/**
 * Writes wrangler.json and .dev.vars of a deployment with `count` cells to `folder`: the project's
 * own files, with more databases and `CELLS`. `variables` is the text of the project's `.dev.vars`.
 * `payouts` are the `PAYOUTS` in it, or null.
 */
export async function writeCellsFolder(
  folder: string,
  count: number,
  variables: string,
  payouts: object | null,
): Promise<void> {
  const { experimental_readRawConfig } = await import('wrangler') // takes seconds
  const cells = localCells(count, payouts)
  const { rawConfig } = experimental_readRawConfig({ config: `${root}wrangler.toml` })
  const { env: _, main, assets, d1_databases: databases = [], ...others } = rawConfig
  const more = cells.slice(1).map(({ db }) => {
    const name = `tron-wallet-${db.toLowerCase()}`
    return { binding: db, database_name: name, database_id: name }
  })
  const config = {
    ...others,
    main: `${root}${main}`,
    assets: { ...assets, directory: `${root}${assets?.directory}` },
    build: { ...others.build, watch_dir: `${root}src` },
    d1_databases: [...databases, ...more].map((one) => ({ ...one, migrations_dir: `${root}migrations` })),
  }
  const kept = variables.split('\n').filter((line) => !/^(PAYOUTS|CELLS)=/.test(line))
  const keys = cells.flatMap(({ xpub }, i) => (i === 0 ? [] : `${xpub}="${keyOf(i)}"`))
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}wrangler.json`, JSON.stringify(config, null, 1))
  writeFileSync(`${folder}.dev.vars`, [...kept, `CELLS='${JSON.stringify(cells)}'`, ...keys, ''].join('\n'))
}
