import { ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createApp } from '../../src/http/app.ts'
import type { CompletedRequest, HttpParts } from '../../src/http/context.ts'
import type { Amount } from '../../src/ledger/amount.ts'
import { nativeAsset } from '../../src/ledger/asset.ts'
import { type Currency, type CurrencyId, indexCurrencies } from '../../src/ledger/currencies.ts'
import type { Uid } from '../../src/ledger/entry.ts'
import type { LogFields } from '../../src/platform/logger.ts'
import { createUsage } from '../../src/platform/usage.ts'

/** TRX as shipped. */
export const trx: Currency = {
  cuy: 1 as CurrencyId,
  symbol: 'TRX',
  asset: nativeAsset,
  decimals: 6,
  scale: 6,
  minDeposit: 0n,
}
/** A token whose ledger keeps fewer decimals than its contract. */
export const fine: Currency = { ...trx, cuy: 2 as CurrencyId, symbol: 'FINE', decimals: 18, scale: 6 }
/** The caller that the parts below let in. */
const caller = 7 as Uid

/** One line that was written to the log. */
interface Line {
  readonly level: string
  readonly event: string
  readonly fields: LogFields
}

/** An app whose use cases stand outside: each test says what they answer. `asked` has what they were asked. */
export function appWith(changes: Partial<HttpParts> = {}) {
  const lines: Line[] = []
  const answered: CompletedRequest[] = []
  const asked: unknown[] = []
  let requests = 0
  const write = (level: string) => (event: string, fields: LogFields) => {
    lines.push({ level, event, fields })
  }
  const unasked = () => Promise.reject(new Error('this use case was not to be asked'))
  const parts: HttpParts = {
    clock: { now: () => 1_790_000_000_000 as UnixMs },
    log: { info: write('info'), warn: write('warn'), error: write('error'), alarm: write('alarm') },
    requestId: () => `request-${++requests}`,
    createUsage,
    cors: null,
    observe: (one) => answered.push(one),
    authenticate: () => Promise.resolve(ok(caller)),
    admit: () => Promise.resolve(true),
    currencies: indexCurrencies([fine, trx]),
    generateAddress: unasked,
    readBalance: unasked,
    recharge: unasked,
    rechargeTransaction: unasked,
    listWallets: () => Promise.resolve([{ currency: trx, amount: 0n as Amount }]),
    listFlows: unasked,
    readHealth: unasked,
    ...changes,
  }
  const app = createApp(parts)
  const get = (path: string, init: RequestInit = {}) => app.fetch(new Request(`https://wallet.example${path}`, init))
  return { app, get, parts, lines, answered, asked }
}

/** Status and whole body of an answer. */
export async function read(response: Response): Promise<{ readonly status: number; readonly body: unknown }> {
  return { status: response.status, body: await response.json() }
}
