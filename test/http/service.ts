import { type Address, parseAddress } from '../../src/addresses/address.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createService } from '../../src/compose.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { addressOf, type BuiltChain, createChain, type TransactionSpec, usdt } from '../support/chain-builder.ts'
import { testSecret, testVariables } from '../support/configured.ts'
import { freshDatabase } from '../support/database.ts'
import { connect, createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'

/** The first two addresses of the tests' extended public key (fact sheet, section 13). */
export const firstAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
export const secondAddress = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'

/** The whole service over D1 and two nodes, as callers meet it. */
export interface RunningService {
  readonly chain: BuiltChain
  readonly nodes: readonly ScriptedNode[]
  readonly db: D1Database
  readonly lines: string[]
  /** Seconds since 1970; time also goes by itself. */
  readonly clock: { seconds: number }
  /** One answer to a caller, or to nobody in particular. */
  get(path: string, uid?: number | null, init?: RequestInit): Promise<Response>
  tick(): Promise<void>
}

/** Starts it on an empty database, with these variables beside or in place of the usual ones. */
export async function startService(variables: Record<string, unknown> = {}): Promise<RunningService> {
  const db = await freshDatabase()
  const chain = createChain()
  chain.addEmpty(finalityLag + 1)
  const nodes = [createScriptedNode(chain), createScriptedNode(chain)]
  for (const node of nodes) node.decimals.set(usdt, 6)
  const reach = connect(
    nodes.map((node, i) => {
      const host = `https://${i === 0 ? 'one' : 'two'}.example`
      return { rpc: `${host}/jsonrpc`, api: host, node }
    }),
  )
  const lines: string[] = []
  const clock = { seconds: tokenNow }
  const startedAt = performance.now()
  let names = 0
  const service = createService({
    clock: {
      now: () => (clock.seconds * 1000 + Math.floor(performance.now() - startedAt)) as UnixMs,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      random: () => 0.5,
    },
    log: createLogger((line) => lines.push(line)),
    fetch: (input, init) => reach(String(input), init ?? {}),
    uniqueName: () => `name-${++names}`,
  })
  const bindings = { ...testVariables(db), ...variables }
  return {
    chain,
    nodes,
    db,
    lines,
    clock,
    async get(path, uid = 7, init = {}) {
      const claims = { sub: String(uid), exp: tokenNow + 86_400 }
      const headers = uid === null ? {} : bearer(await signHs256(claims, testSecret))
      const request = new Request(`https://wallet.example${path}`, {
        ...init,
        headers: { ...headers, ...init.headers },
      })
      return service.fetch(request, bindings)
    },
    tick: () => service.tick(bindings),
  }
}

/** Blocks from the newest to the newest final one, as the nodes have it. */
export const finalityLag = 18

/** The address that an answer of `/tron/generate` shows. */
export async function addressIn(response: Response): Promise<Address> {
  const { data } = await response.json<{ data: { address: string } }>()
  const address = parseAddress(data.address)
  if (!address.ok) throw new Error(`no address: ${data.address}`)
  return address.value
}

const payer = addressOf(99)

/** A TRX transfer. */
export const trxTo = (to: Address, amount: bigint): TransactionSpec => ({ kind: 'trx', from: payer, to, amount })
/** A USDT transfer. */
export const usdtTo = (to: Address, amount: bigint): TransactionSpec => ({
  kind: 'token',
  contract: usdt,
  from: payer,
  to,
  amount,
})

/** Mines the transfers in one block and makes it final; answers their txids. */
export function payFinal({ chain }: RunningService, ...specs: TransactionSpec[]): string[] {
  const block = chain.add(specs)
  chain.addEmpty(finalityLag)
  return block.transactions.map((transaction) => transaction.txid)
}

/** Status and whole body of an answer, as text where digits matter. */
export async function wholeOf(response: Response): Promise<{ readonly status: number; readonly text: string }> {
  return { status: response.status, text: await response.text() }
}
