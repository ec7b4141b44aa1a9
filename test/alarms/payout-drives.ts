import { expect } from 'vitest'
import { walletEveryMs } from '../../src/worker/payouts/wallet.ts'
import { refusedMs, unsignedMs } from '../../src/worker/payouts/watch.ts'
import type { RunningService } from '../http/service.ts'
import { ask, handIn, mined, mineFinal, send, sign, signedPayout, startPaying } from '../payouts/harness.ts'
import { repairNodes, tickLater } from '../scan/harness.ts'
import { payoutAddress } from '../support/payouts.ts'
import { changing } from '../support/scripted-node.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import type { Drive } from './scan-drives.ts'

/**
 * Sets the balances of the payout address on all nodes: `units` of USDT, and more TRX than any
 * payout or fee needs.
 */
const hold = ({ nodes }: RunningService, units: bigint) => {
  for (const node of nodes) {
    node.balances.set(payoutAddress, 1_000_000_000n)
    node.balances.set(`${usdtAddress} ${payoutAddress}`, units)
  }
}

/**
 * A service with payouts, and the steps that people and the signer take with the payout `id`, the
 * newest one.
 */
async function withPayout() {
  const service = await startPaying()
  const drive = {
    service,
    id: 0,
    transaction: '',
    async ask() {
      drive.id = (await ask(service)).id
    },
    async approve() {
      await send(service, '/approve', { ids: [drive.id] }, 'office')
      await tickLater(service)
    },
    async cancel() {
      await send(service, '/cancel', { ids: [drive.id], why: 'a test' })
      await tickLater(service)
    },
    async handIn() {
      expect(await handIn(service, drive.id, drive.transaction)).toMatchObject({
        id: drive.id,
        txid: expect.anything(),
      })
      await tickLater(service)
    },
  }
  return drive
}

export const payoutDrives = {
  async 'payout-stuck'() {
    const drive = await withPayout()
    const provoke = async () => {
      const signed = await signedPayout(drive.service)
      drive.id = signed.id
      await mineFinal(drive.service, mined(signed, { failed: true, logs: [] }))
    }
    return { service: drive.service, provoke, ends: [drive.approve, drive.cancel] }
  },
  async 'payout-refused'() {
    const { service } = await withPayout()
    const refusal = { code: 'BANDWITH_ERROR', message: '' }
    const provoke = async () => {
      for (const node of service.nodes) node.script = () => changing('/wallet/broadcasthex', () => refusal)
      await signedPayout(service, { timestamp: BigInt(service.lines.length) })
      await tickLater(service, 20)
      await tickLater(service, refusedMs / 1000)
    }
    const takeIt = async () => {
      repairNodes(service)
      await tickLater(service, 120)
    }
    return { service, provoke, ends: [takeIt] }
  },
  async 'payouts-unsigned'() {
    const drive = await withPayout()
    const provoke = async () => {
      await drive.ask()
      drive.transaction = (await sign(drive.service)).transaction
      await tickLater(drive.service, unsignedMs / 1000)
    }
    return { service: drive.service, provoke, ends: [drive.cancel, drive.handIn] }
  },
  async 'payout-unknown'() {
    const drive = await withPayout()
    const { service } = drive
    const provoke = async () => {
      await drive.ask()
      const signed = await sign(service)
      drive.transaction = signed.transaction
      await mineFinal(service, mined(signed))
    }
    const resume = async () => {
      const sql = `UPDATE payout_transaction SET version = version + 1, excused = 'a test', changed_at = changed_at + 1
        WHERE ended = 'unknown' AND excused IS NULL`
      await service.db.prepare(sql).run()
      await tickLater(service)
    }
    return { service, provoke, ends: [drive.handIn, resume] }
  },
  async 'payout-wallet-low'() {
    const drive = await withPayout()
    const { service } = drive
    const holds = async (units: bigint) => {
      hold(service, units)
      await tickLater(service, walletEveryMs / 1000)
    }
    const provoke = async () => {
      await drive.ask()
      await holds(4_999_999n)
    }
    const fill = async () => {
      await holds(5_000_000n)
      // so that only the next payout needs the balance
      await send(service, '/cancel', { ids: [drive.id], why: 'a test' })
    }
    return { service, provoke, ends: [fill, drive.cancel] }
  },
} satisfies Readonly<Record<string, () => Promise<Drive>>>
