import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reservedUid } from '../../../src/worker/common/ids.ts'
import { createMemoryHost } from '../../support/memory-host.ts'
import { createLocalDatabase, type LocalDatabase } from '../local-database.ts'
import { lookMs, startWalk, transfer, usdtOf, type Walk } from './walk.ts'

let walk: Walk
let old: LocalDatabase
let restored: LocalDatabase

beforeAll(async () => {
  walk = await startWalk()
  old = createLocalDatabase()
  restored = createLocalDatabase({ hasTables: false })
})
afterAll(async () => {
  for (const database of [old, restored]) database.remove()
  await walk.stop()
})

interface Summary {
  readonly currencies: readonly { readonly symbol: string; readonly owed: number; readonly held: number }[]
  readonly differences: readonly unknown[]
  readonly alarms: readonly unknown[]
}

// The comments below name the steps by their numbers in docs/guides/repair.md.
it('the way back from a restore ends with every deposit at its user, and with sums that are equal', async () => {
  const { chain, deploy, deposit, pass } = walk
  const issued = (index: number) => ({ code: 200, data: { address: chain.depositAt(index) } })
  const host = createMemoryHost()
  let service = deploy(old, host)
  await service.tick()
  expect([await service.address(7), await service.address(8)]).toMatchObject([issued(0), issued(1)])
  await deposit(service, 0, '25')
  await deposit(service, 0, '3.5', 'TRX')
  const early = transfer(7, 8, '2', 'early')
  expect(await service.post(...early)).toMatchObject({ code: 200, data: { replayed: false } })

  const backup = join(old.folder, 'backup.sql')
  expect(await old.wrangler('d1', 'export', 'DB', '--local', '--env=', '--output', backup)).toMatchObject({ code: 0 })

  // What happens after the backup is lost with the old database.
  expect(await service.address(9)).toMatchObject(issued(2))
  await deposit(service, 2, '10')
  await deposit(service, 1, '4')
  const late = transfer(9, 8, '6', 'late')
  expect(await service.post(...late)).toMatchObject({ code: 200 })
  service.close()

  // Steps 1 and 2: issuing is switched off, the backup goes into an empty database, and the scan
  // goes on.
  const executed = await restored.wrangler('d1', 'execute', 'DB', '--local', '--env=', '--yes', '--file', backup)
  expect([executed.code, executed.all]).toMatchObject([0, expect.any(String)])
  service = deploy(restored, host, { ISSUE_ADDRESSES: 'off' })
  await service.tick()
  for (const uid of [9, 10]) expect(await service.address(uid)).toMatchObject({ code: 503 })
  await deposit(service, 2, '5') // arrives between the restore and the reservation
  expect([await usdtOf(service, 7), await usdtOf(service, 8)]).toEqual([23, 6])

  // Steps 3 and 4: the addresses that were issued after the backup are reserved, and their blocks
  // are read again.
  const variables = { TRON_CHAIN_ID: '0x6465766e' }
  const reserve = await restored.operateWith(variables, 'reserve', '--to', '4')
  expect([reserve.code, reserve.out]).toEqual([0, expect.stringMatching(/^3 addresses are reserved, up to index 4: /)])
  const [, printed = ''] = /npm run operate -- (rescan .+)\n/.exec(reserve.out) ?? []
  expect(printed).toMatch(/^rescan --from \d+ --to \d+ --reason "restored" --local$/)
  expect((await restored.operateWith(variables, ...printed.replaceAll('"', '').split(' '))).code).toBe(0)
  await pass(lookMs)
  await service.tick()
  await deposit(service, 2, '7') // arrives after the reservation
  service.close()

  // Step 5: addresses are issued again, but none that somebody had before.
  service = deploy(restored, host)
  expect([await service.address(9), await service.address(10)]).toMatchObject([issued(5), issued(6)])

  // Step 6: what arrived at the reserved addresses is transferred to the user who had the address.
  const whose = await service.ledger(`/ledger/address?address=${chain.depositAt(2)}`)
  expect(whose).toMatchObject({ uid: reservedUid, reserved: true })
  const found = await service.ledger<{ list: readonly { osn: string; amt: number; cuy: number }[] }>(
    `/ledger/entries?uid=${reservedUid}&type=1`,
  )
  expect(found.list.map(({ amt, cuy }) => [amt, cuy]).sort()).toEqual([
    [10, 2],
    [5, 2],
    [7, 2],
  ])
  expect(await service.post(...late)).toMatchObject({ code: 422 }) // user 9 has not got the money back yet
  for (const { osn, amt } of found.list) {
    const given = transfer(reservedUid, 9, `${amt}`, `restored:${osn}`)
    expect(await service.post(...given)).toMatchObject({ code: 200, data: { replayed: false } })
    expect(await service.post(...given)).toMatchObject({ code: 200, data: { replayed: true } })
  }

  // Step 7: the backend posts its entries again.
  expect(await service.post(...early)).toMatchObject({ code: 200, data: { replayed: true } })
  expect(await service.post(...late)).toMatchObject({ code: 200, data: { replayed: false } })
  const balances = await Promise.all([7, 8, 9, reservedUid].map((uid) => usdtOf(service, uid)))
  expect(balances).toEqual([23, 12, 16, 0])

  // Two days of comparisons: the wallets' sums must be what the addresses hold.
  for (let i = 0; i < 2; i += 1) {
    await pass(86_400_000)
    for (let tick = 0; tick < 6; tick += 1) {
      await pass(61_000)
      // the reading of a balance is judged once the scan has passed all blocks that the balance may
      // include
      await chain.devnet.mine(70)
      await service.tick()
    }
  }
  const { currencies, differences, alarms } = await service.ledger<Summary>('/ledger/summary')
  expect(currencies.map(({ symbol, owed, held }) => [symbol, owed, held])).toEqual([
    ['TRX', 3.5, 3.5],
    ['USDT', 51, 51],
  ])
  expect([differences, alarms]).toEqual([[], []])
  service.close()
}, 180_000)
