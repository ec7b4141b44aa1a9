import type { Address } from '../../src/addresses/address.ts'
import { deriveAddress, parseExtendedPublicKey } from '../../src/addresses/derive.ts'
import type { Txid } from '../../src/chain/block.ts'
import type { Uid } from '../../src/ledger/entry.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { testXpub } from '../support/configured.ts'
import { drawPayment, type Move, type Payment } from './payments.ts'
import type { Random } from './random.ts'
import type { Scenario } from './scenario.ts'
import type { Scheduler } from './scheduler.ts'

/** A move of money in the chain that stays: what the oracle knows. */
export interface Fact extends Move {
  readonly txid: Txid
  readonly height: number
  readonly hash: string
  /** The recipient had been shown to its owner before, and the scan reads this block: it must be credited unasked. */
  readonly promised: boolean
}

/** Everything outside the service, and what is true. */
export interface World {
  readonly scenario: Scenario
  readonly random: Random
  readonly scheduler: Scheduler
  /** The chain that stays. */
  readonly chain: BuiltChain
  /** By txid and position. */
  readonly facts: ReadonlyMap<string, Fact>
  /** Deposit addresses in the database, and their owners. */
  readonly owners: Map<Address, Uid>
  /** Deposit addresses that their owners were shown. */
  readonly shown: Map<Address, Uid>
  /** How often each fault, lie and trap came. */
  readonly counts: Map<string, number>
  /** The first promise that was broken. */
  broken: string | null
  /** From when on nothing goes wrong any more. */
  healed: boolean
  /** From when on every node can be asked again: whatever the service answers now must be the whole truth. */
  calm: boolean
  /** Newest height that is final for a node that lags behind nobody. */
  finalized(): number
  /** The height from which the scan reads, where the configuration says so. */
  startHeight(): number | null
  /** Makes the next block; returns what was paid in it. */
  produce(): readonly Payment[]
  count(fault: string): void
  /** Remembers the first broken promise; the run ends there. */
  breach(why: string): void
  trace(line: () => string): void
}

/** The deposit address at an index: derived by the service's own code, each index once for all runs. */
export function depositAddress(index: number): Address {
  const known = derived[index]
  if (known !== undefined) return known
  const address = deriveAddress(depositKey, index)
  derived[index] = address
  return address
}
const derived: Address[] = []
const depositKey = readKey()

function readKey() {
  const key = parseExtendedPublicKey(testXpub)
  if (!key.ok) throw new Error(key.error)
  return key.value
}

/** A world in which the scenario's first blocks exist already. */
export function createWorld(
  scenario: Scenario,
  random: Random,
  scheduler: Scheduler,
  write: ((line: string) => void) | null,
): World {
  const chain = createChain()
  const facts = new Map<string, Fact>()
  const world: World = {
    scenario,
    random,
    scheduler,
    chain,
    facts,
    owners: new Map(),
    shown: new Map(),
    counts: new Map(),
    broken: null,
    healed: false,
    calm: false,
    finalized: () => chain.tip().height - scenario.finalityLag,
    startHeight: () => (scenario.startAfter === null ? null : chain.firstHeight + scenario.startAfter),
    produce() {
      const payments = world.healed ? [] : drawBlock(world)
      const block = chain.add(payments.map(({ spec }) => spec))
      const start = world.startHeight()
      for (const [i, { moves }] of payments.entries()) {
        const txid = block.transactions[i]?.txid
        if (txid === undefined) continue
        for (const move of moves) {
          const promised = world.shown.has(move.to) && (start === null || block.height >= start)
          facts.set(`${txid}:${move.position}`, { ...move, txid, height: block.height, hash: block.hash, promised })
        }
      }
      return payments
    },
    count: (fault) => world.counts.set(fault, (world.counts.get(fault) ?? 0) + 1),
    breach(why) {
      world.trace(() => `BROKEN ${why}`)
      world.broken ??= why
    },
    trace: (line) => write?.(`${((scheduler.now() - startMs) / 1000).toFixed(3).padStart(9)} ${line()}`),
  }
  chain.addEmpty(scenario.finalityLag + scenario.blocksBefore)
  return world
}

/** When every run begins, in milliseconds since 1970. */
export const startMs = 1_800_000_000_000

function drawBlock({ random, scenario, chain, shown, owners }: World): readonly Payment[] {
  const crowdAt = chain.firstHeight + scenario.finalityLag + scenario.blocksBefore + 15
  const count = chain.tip().height === crowdAt ? scenario.crowd : 0
  const next = owners.size
  const unshown = [...owners.keys()].filter((address) => !shown.has(address))
  const parties = { shown: [...shown.keys()], unshown: [...unshown, depositAddress(next), depositAddress(next + 1)] }
  return Array.from({ length: count || random.int(0, scenario.transactionsMax) }, () => drawPayment(random, parties))
}
