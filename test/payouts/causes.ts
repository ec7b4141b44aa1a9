import { formatBase58 } from '../../src/worker/chain/address.ts'
import { writable } from '../../src/worker/d1/database.ts'
import type { Fact } from '../../src/worker/ledger/stops.ts'
import { withoutTriggers } from '../d1/fixtures.ts'
import type { RunningService } from '../http/service.ts'
import { retiredUsdt } from '../scan/harness.ts'
import { act, deprecate, fee, freeze, pause } from '../scan/issuer-acts.ts'
import { payoutAddress } from '../support/payouts.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { mineFinal, recipient } from './harness.ts'

/** Runs statements without the triggers, which would refuse them. */
const change = ({ db }: RunningService, ...statements: readonly string[]) => withoutTriggers(writable(db), statements)

/**
 * Brings about a fact. Returns the service in which it holds: another one if it takes another
 * configuration.
 */
export type Cause = (service: RunningService) => Promise<RunningService>
const by =
  (cause: (service: RunningService) => unknown): Cause =>
  async (service) => {
    await cause(service)
    return service
  }

/** The sender of the deposits of tests (`usdtTo`). */
const sender = formatBase58(addressOf(99))

/**
 * Brings about each fact that can be known to be wrong. The scan must have been started, and a
 * payout be signed.
 */
export const causes: Readonly<Record<Fact, Cause>> = {
  forked: by((service) => change(service, `UPDATE scan SET halted = 'chain-forked'`)),
  restored: by(({ scannerHost }) =>
    scannerHost.values.set('payouts', { newest: { id: 9_999, digest: 'ab'.repeat(32) }, restoredAt: null }),
  ),
  'unknown-transaction': by((service) =>
    mineFinal(service, { kind: 'trx', from: payoutAddress, to: recipient, amount: 1n }),
  ),
  // The row that an instance with another configured address would have stored. An instance that
  // notices the other address itself answers nothing at all.
  'address-replaced': by((service) =>
    change(service, `UPDATE payout_transaction SET address = '${'f'.repeat(40)}' WHERE ended IS NULL`),
  ),
  'decimals-unknown': by((service) => {
    for (const { decimals } of service.nodes) decimals.delete(usdtAddress)
    return change(service, 'DELETE FROM agreed_decimals', 'DELETE FROM token')
  }),
  'decimals-differ': by((service) => change(service, 'UPDATE agreed_decimals SET decimals = 8')),
  frozen: by((service) => act(service, freeze(payoutAddress))),
  paused: by((service) => act(service, pause)),
  'fee-unconfirmed': by((service) => act(service, fee(10n, 1_000_000n))),
  deprecated: by((service) => act(service, deprecate(addressOf(98)))),
  retired: async (service) => service.with({ CURRENCIES: retiredUsdt }),
  'from-operator': async (service) => service.with({ OPERATOR_ADDRESSES: [sender] }),
}
