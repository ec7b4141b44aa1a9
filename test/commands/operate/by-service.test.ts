import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tokenBase58 } from '../../devnet/control.ts'
import { localBackendToken } from '../../devnet/local.ts'
import { type LocalService, startLocalService } from '../../pages/local-service.ts'
import { payoutAddress } from '../../pages/payout-fixture.ts'
import { npmRun } from '../../support/command.ts'
import { bearer } from '../../support/tokens.ts'

const secret = 'a secret of the backends, for these tests only'
const to = 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4'
let service: LocalService
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'by-service-'))
  writeFileSync(join(folder, 'secret'), secret)
  const trx = { cuy: 1, symbol: 'TRX', name: 'TRON', decimals: 6, reviewFrom: '50' }
  const usdt = { cuy: 2, symbol: 'USDT', name: 'Test USDT', contract: tokenBase58, decimals: 6 }
  service = await startLocalService({
    CURRENCIES: JSON.stringify([trx, usdt]),
    PAYOUTS: JSON.stringify({ address: payoutAddress }),
    BACKEND_JWT_SECRET: secret,
  })
}, 180_000)
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs the command through npm, as a person does. */
const operate = (...words: string[]) =>
  npmRun(['operate', '--', ...words, '--local', '--secret', join(folder, 'secret'), '--service', service.url])

async function shop(
  path: string,
  body?: object,
): Promise<{ readonly list: readonly Readonly<Record<string, unknown>>[] }> {
  const headers = { ...bearer(await localBackendToken(secret)), 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(service.url + path, { headers, ...sent })
  return ((await response.json()) as { data: Awaited<ReturnType<typeof shop>> }).data // safe: the service's own reply
}

it('a person decides a deposit, and approves and cancels payouts, from a terminal', async () => {
  // safe: the service's own reply
  const { data } = (await (await fetch(`${service.url}/tron/generate`)).json()) as { data: { address: string } }
  const { txid } = await service.devnet.pay({ to: data.address, amount: '60', currency: 'TRX' })
  await service.devnet.mine(5)
  const held = async () => (await shop('/ledger/deposits?state=held')).list[0]
  while ((await held()) === undefined) await service.cron()
  const { position } = (await held()) ?? {}
  const name = ['--name', 'anna']
  const decided = await operate('deposits', 'decide', txid, String(position), 'credit', ...name, '--reason', 'known')
  expect([decided.code, decided.all]).toEqual([
    0,
    expect.stringContaining(`credited: deposit of 60 TRX at ${data.address} (user 1, ${txid})\n`),
  ])

  const payout = (osn: string) => ({ uid: 1, cuy: 1, amt: '10', to, osn })
  const { list } = await shop('/ledger/payouts', { payouts: ['a', 'b'].map(payout) })
  const [first, second] = list.map(({ id }) => String(id))
  const approved = await operate('payouts', 'approve', first ?? '', ...name)
  expect([approved.code, approved.all]).toEqual([
    0,
    expect.stringContaining(`approved: payout ${first}, 10 TRX to ${to}`),
  ])
  const cancelled = await operate('payouts', 'cancel', second ?? '', ...name, '--reason', 'twice')
  expect([cancelled.code, cancelled.all]).toEqual([0, expect.stringContaining(`cancelled: payout ${second}, 10 TRX`)])
  expect((await shop('/ledger/payouts')).list.map(({ state, by, approved_by: who }) => [state, by, who])).toEqual([
    ['cancelled', 'shop', undefined],
    ['approved', 'shop', 'anna'],
  ])
})
