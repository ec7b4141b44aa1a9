import { finalityLag, payFinal, type RunningService, testNodes, usdtTo } from '../http/service.ts'
import {
  breakNodes,
  correct,
  disagreeOn,
  repairNodes,
  rescan,
  stateOf,
  tickFor,
  tickLater,
  withAddress,
} from '../scan/harness.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf } from '../support/transaction-spec.ts'

/**
 * How a test raises one alarm and ends it. The test checks that each call of `provoke` logs exactly
 * one line, and tries every way in `ends`.
 */
export interface Drive {
  readonly service: RunningService
  /**
   * Where nothing that the service observes can end the alarm, `provoke` also removes the fault
   * before it returns.
   */
  readonly provoke: () => unknown
  /** Empty where the alarm ends by itself, an hour after the fault was last seen. */
  readonly ends: readonly (() => unknown)[]
}

const withFirstNode = (changes: object) => ({
  TRON_NODES: testNodes.map((node, i) => (i === 0 ? { ...node, ...changes } : node)),
})
const firstNode = ({ nodes: [node] }: RunningService) => {
  if (node === undefined) throw new Error('a node')
  return node
}
const heightOf = (service: RunningService) => firstNode(service).chain.tip().height
const addBlocks = (service: RunningService, count: number) => firstNode(service).chain.addEmpty(count)
/**
 * Moves all nodes to another chain: the same blocks up to `height`, then a deposit of 5 USDT to
 * `to`, which is final.
 */
const fork = (service: RunningService, height: number, to = addressOf(9)) => {
  const other = firstNode(service).chain.fork(height)
  other.add([usdtTo(to, 5_000_000n)])
  other.addEmpty(finalityLag + 2)
  for (const node of service.nodes) node.chain = other
}

/**
 * Credits a deposit. `provoke` then rescans its block, which the first node shows without the
 * deposit.
 */
async function withHiddenDeposit() {
  const { service, own } = await withAddress()
  await service.tick()
  const height = heightOf(service) + 1
  payFinal(service, usdtTo(own, 5_000_000n))
  await tickLater(service)
  const provoke = async () => {
    disagreeOn(service, height)
    await rescan(service, height, height)
    await tickLater(service)
  }
  return { service, height, provoke }
}

export const scanDrives = {
  async 'scan-stalled'() {
    const { service } = await withAddress()
    const provoke = async () => {
      breakNodes(service)
      await tickFor(service, 240, undefined, 80)
    }
    const answer = async () => {
      repairNodes(service)
      await tickFor(service, 120, () => service.chain.addEmpty(20), 60)
    }
    return { service, provoke, ends: [answer] }
  },
  async 'scan-behind'() {
    const { service } = await withAddress()
    let left = 0
    const provoke = async () => {
      for (const node of service.nodes) {
        node.script = ({ service: asked, calls: [call] }) => {
          const { startNum = 0, endNum = 0 } = (call?.params[0] ?? {}) as { startNum?: number; endNum?: number }
          if (asked !== 'api') return null
          left -= 1
          return left >= 0 && endNum - startNum === 1 ? null : { kind: 'status', status: 500 }
        }
      }
      const each = () => {
        addBlocks(service, 20)
        left = 12 // block requests that succeed: enough for a block or two in a minute in which 20 are made
      }
      await tickFor(service, 900, each, 60)
    }
    const catchUp = async () => {
      repairNodes(service)
      await tickFor(service, 180, () => addBlocks(service, 20), 60)
    }
    const standStill = async () => {
      for (const node of service.nodes) {
        node.script = ({ service: asked }) => (asked === 'api' ? { kind: 'status', status: 500 } : null)
      }
      await tickFor(service, 240, () => addBlocks(service, 20), 60)
    }
    return { service, provoke, ends: [catchUp, standStill] }
  },
  async 'finality-stalled'() {
    const { service } = await withAddress()
    const finalize = async () => {
      service.chain.addEmpty(3)
      await tickLater(service)
    }
    const provoke = async () => {
      await tickFor(service, 240, undefined, 40)
      breakNodes(service) // the alarm must not end: nobody knows what silent nodes would show
      await tickLater(service)
      repairNodes(service)
      await tickLater(service)
    }
    return { service, provoke, ends: [finalize] }
  },
  async 'chain-forked'() {
    const { service } = await withAddress()
    await service.tick()
    let before = firstNode(service).chain
    const provoke = async () => {
      addBlocks(service, 5)
      await tickLater(service)
      before = firstNode(service).chain
      fork(service, heightOf(service) - finalityLag - 1)
      await tickLater(service)
    }
    const returnToStored = async () => {
      for (const node of service.nodes) node.chain = before
      addBlocks(service, 3)
      await tickLater(service)
    }
    const correctIt = async () => {
      await correct(service, heightOf(service) - finalityLag - 5)
      await tickLater(service)
    }
    return { service, provoke, ends: [returnToStored, correctIt] }
  },
  async 'tick-failed'() {
    const { service } = await withAddress()
    await service.tick()
    const failure = `BEFORE UPDATE ON scan BEGIN SELECT RAISE(ABORT, 'it is broken'); END`
    const provoke = async () => {
      await service.db.prepare(`CREATE TRIGGER broken ${failure}`).run()
      await tickFor(service, 60)
    }
    const repair = async () => {
      await service.db.prepare('DROP TRIGGER broken').run()
      await tickLater(service)
    }
    return { service, provoke, ends: [repair] }
  },
  async 'gap-unread'() {
    const { service, height, provoke } = await withHiddenDeposit()
    const read = async () => {
      repairNodes(service)
      await tickLater(service, 300)
    }
    const close = async () => {
      const closing = `UPDATE rescan SET finished_at = 1, closed = 'a test' WHERE finished_at IS NULL AND next_height = ?1`
      await service.db.prepare(closing).bind(height).run()
      await tickLater(service)
    }
    return { service, provoke, ends: [read, close] }
  },
  async 'transaction-unreadable'() {
    const { service, own } = await withAddress()
    await service.tick()
    const height = heightOf(service) + 1
    payFinal(service, { kind: 'bytes', rawData: Uint8Array.of(7), from: addressOf(9), to: own, amount: 5n })
    const provoke = async () => {
      if ((await stateOf(service)).height >= height) await rescan(service, height, height)
      await tickLater(service)
    }
    return { service, provoke, ends: [] }
  },
  async 'nodes-disagree'() {
    const { service, provoke } = await withHiddenDeposit()
    const once = async () => {
      await provoke()
      repairNodes(service)
    }
    return { service, provoke: once, ends: [] }
  },
  async 'node-lies'() {
    const { service } = await withAddress()
    const provoke = async () => {
      const node = firstNode(service)
      node.script = () =>
        changing('eth_getBlockByNumber', (result, { params }) => {
          return params[0] === 'finalized' ? { ...(result as object), timestamp: '0xffffffff' } : result
        })
      await tickLater(service)
      repairNodes(service)
    }
    return { service, provoke, ends: [] }
  },
  async 'node-unfit'() {
    const { service } = await withAddress()
    const node = firstNode(service)
    const provoke = async () => {
      node.supportsFinalized = false
      await tickLater(service.with({}))
      node.supportsFinalized = true
    }
    return { service, provoke, ends: [] }
  },
  async 'node-behind'() {
    const { service } = await withAddress()
    const provoke = async () => {
      firstNode(service).behind = 60
      await tickFor(service, 260, () => addBlocks(service, 20), 60)
    }
    const catchUp = async () => {
      firstNode(service).behind = 0
      for (let head = 1; head <= 3; head += 1) await tickLater(service, 60)
    }
    const remove = async () => {
      firstNode(service).behind = 0
      const [, other] = testNodes
      await tickLater(service.with({ TRON_NODES: [other] }), 60)
    }
    return { service, provoke, ends: [catchUp, remove] }
  },
  async 'node-failing'() {
    const { service } = await withAddress()
    const provoke = async () => {
      firstNode(service).script = ({ service: asked }) => (asked === 'api' ? { kind: 'status', status: 500 } : null)
      await tickFor(service, 260, () => addBlocks(service, 7))
    }
    const answer = async () => {
      repairNodes(service)
      await tickFor(service, 60, () => addBlocks(service, 7))
    }
    const remove = async () => {
      repairNodes(service)
      const [, other] = testNodes
      await tickLater(service.with({ TRON_NODES: [other] }), 60)
    }
    return { service, provoke, ends: [answer, remove] }
  },
  async 'allowance-used-up'() {
    const { service } = await withAddress()
    return { service, provoke: () => tickLater(service.with(withFirstNode({ perDay: 1 }))), ends: [] }
  },
  async 'corrected-credit'() {
    const { service, own } = await withAddress()
    const provoke = async () => {
      const right = firstNode(service).chain
      right.addEmpty(finalityLag)
      await tickLater(service, 60)
      const { height } = right.tip()
      fork(service, height, own)
      await tickLater(service, 60)
      for (const node of service.nodes) node.chain = right
      await correct(service, height)
      right.addEmpty(finalityLag + 2)
      await tickLater(service, 60)
    }
    return { service, provoke, ends: [] }
  },
} satisfies Readonly<Record<string, () => Promise<Drive>>>
