import { describe, expect, it } from 'vitest'
import guide from '../../docs/guides/providers.md?raw'
import { configOf } from './parsed.ts'

interface Entry {
  readonly name: string
  readonly rpc: string
  readonly keyVar: string
  readonly keyHeader?: string
}

/** Parses an inline table of TOML. */
const parsed = (toml: string): Entry => JSON.parse(toml.replaceAll(/(\w+) = /g, '"$1": '))
/**
 * The rows of the table in the guide whose header begins with `first`, each as a list of its cells.
 */
const rowsOf = (first: string) => {
  const table = guide.slice(guide.indexOf(`\n| ${first}`)).split('\n\n')[0] ?? ''
  return [...table.matchAll(/^\| (.*) \|$/gm)]
    .slice(2)
    .map(([, row = '']) => row.split(' | ').map((cell) => cell.trim()))
}
const entries = rowsOf('`name`').map((row) => {
  const [name, rpc, api, rest] = row.map((cell) => cell.replaceAll('`', ''))
  return parsed(`{ name = "${name}", rpc = "${rpc}", api = "${api}", ${rest} }`)
})

describe('the guide to providers', () => {
  it('has the entry of each provider that it names with both URLs', () => {
    expect(rowsOf('provider').map(([name]) => name)).toEqual([
      ...['TronGrid', 'QuickNode', 'Chainstack', 'Alchemy', 'Ankr', 'Tatum', 'GetBlock', 'NOWNodes', 'dRPC'],
      'own java-tron',
    ])
    expect(entries.map(({ name }) => name)).toEqual([
      ...['TronGrid', 'QuickNode', 'Chainstack', 'Alchemy', 'Ankr', 'Tatum', 'GetBlock', 'Our own'],
    ])
  })

  it.each(entries)('has a valid entry, whose key is sent: $name', (entry) => {
    const [node] = configOf({ TRON_NODES: [entry], [entry.keyVar]: 'a/key' }).nodes
    const services = [node?.rpc, node?.api]
    if (entry.rpc.includes('{key}')) for (const one of services) expect(one?.url).toContain('/a%2Fkey')
    else
      for (const one of services)
        expect(one?.keyHeader).toEqual({ name: entry.keyHeader ?? 'TRON-PRO-API-KEY', value: 'a/key' })
  })

  it('shows two of them as they are written in wrangler.toml', () => {
    const shown = [...guide.matchAll(/^ {2}(\{ name = .* \}),$/gm)].map(([, toml = '']) => parsed(toml))
    expect(shown).toEqual(entries.filter(({ name }) => ['TronGrid', 'Ankr'].includes(name)))
  })

  it('can have all of them at once: they are nodes of their own', () => {
    const keys = Object.fromEntries(entries.map(({ keyVar }) => [keyVar, 'k']))
    expect(configOf({ TRON_NODES: entries, ...keys }).nodes).toHaveLength(entries.length)
  })

  it('says of each provider and question either "not known", or shows a page', () => {
    const rows = rowsOf('provider')
    const unproven = rows.flatMap(([name, , ...cells]) =>
      cells.filter((cell) => !/not known|https:\/\/|^your own$/.test(cell)).map((cell) => [name, cell]),
    )
    expect(unproven).toEqual([])
  })
})
