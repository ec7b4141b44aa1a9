import { describe, expect, it } from 'vitest'
import { seenPauseMs } from '../../src/worker/payouts/conclusions.ts'
import { sendAtOnceMax, sendMarginMs, sendPausesMsMin } from '../../src/worker/payouts/send.ts'
import { type RunningService, threeNodes } from '../http/service.ts'
import { breakNodes, headOf, repairNodes, tickLater } from '../scan/harness.ts'
import { changing } from '../support/scripted-node.ts'
import {
  ask,
  handIn,
  mined,
  mineFinal,
  passBlocks,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
  withKilledSending,
} from './harness.ts'

/** How many transactions each node has received. */
const sentTo = ({ nodes }: RunningService) => nodes.map(({ broadcasts }) => broadcasts.length)
const allSent = ({ nodes }: RunningService) => nodes.flatMap(({ broadcasts }) => broadcasts)

describe('what is stored as signed', () => {
  it('is sent by the next tick if the service was killed between stored and sent', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { transaction, txid, ...signed } = await sign(service)
    expect(await handIn(withKilledSending(service), id, transaction)).toEqual({ id, state: 'signed', txid })
    expect(allSent(service)).toEqual([])
    await tickLater(service.with({}))
    expect(new Set(allSent(service))).toEqual(new Set([transaction]))
    await mineFinal(service, mined(signed))
    expect(await stateOfPayout(service, id)).toBe('paid/0')
  })

  it('is sent again if the service was killed while it was sending', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { transaction } = await sign(service)
    breakNodes(service)
    await handIn(service, id, transaction)
    expect(allSent(service)).toEqual([])
    repairNodes(service)
    await tickLater(service.with({}), 10)
    expect(allSent(service)).toEqual([]) // the run that died still claims them, and might have sent them
    await tickLater(service.with({}), 10)
    expect(allSent(service)).toEqual([transaction])
  })

  it('is sent to each of three nodes within ten seconds, then to the nodes in turn, ever more rarely, until it is final', async () => {
    const service = await startPaying({ TRON_NODES: threeNodes })
    const before = service.clock.seconds
    const { transaction, ...signed } = await signedPayout(service)
    expect(service.clock.seconds - before).toBeLessThan(10)
    const rounds: number[][] = [sentTo(service)]
    expect(rounds).toEqual([[1, 1, 1]])
    for (const pauseMs of sendPausesMsMin.slice(2, 5)) {
      await tickLater(service, pauseMs / 1000 - 3)
      rounds.push(sentTo(service))
      await tickLater(service, 4)
      rounds.push(sentTo(service))
    }
    const sums = rounds.map((round) => round.reduce((sum, one) => sum + one, 0))
    expect(sums).toEqual([3, 3, 4, 4, 5, 5, 6])
    expect(rounds.at(-1)).toEqual([2, 2, 2])
    expect(new Set(allSent(service))).toEqual(new Set([transaction]))
    await mineFinal(service, mined(signed))
    const { length } = allSent(service)
    await tickLater(service, 120)
    expect(allSent(service)).toHaveLength(length)
  })

  it.each([
    ['sent', withKilledSending, 3],
    ['sent again', (service: RunningService) => service, 4],
  ])('is %s after a clock that was ahead has stepped back', async (_, during, sendings) => {
    const service = await startPaying()
    const { id } = await ask(service)
    const expiration = BigInt(Math.floor(service.clock.seconds) + 3_000) * 1_000n
    const { transaction } = await sign(service, { expiration })
    service.clock.seconds += 600
    await handIn(during(service), id, transaction)
    service.clock.seconds -= 600
    await tickLater(service, sendPausesMsMin[2] / 1000)
    expect(allSent(service)).toHaveLength(sendings)
  })

  it('goes to another node if one does not take it', async () => {
    const service = await startPaying()
    const [first, second] = service.nodes
    if (first === undefined || second === undefined) throw new Error('two nodes')
    first.script = ({ calls }) => (calls[0]?.method === '/wallet/broadcasthex' ? { kind: 'status', status: 500 } : null)
    await signedPayout(service)
    expect(sentTo(service)).toEqual([0, 3])
  })

  it.each([
    ['is sent again', 'more', 5_000, 4],
    ['is not sent any more', 'less', -5_000, 3],
  ])('%s if %s time is left than a node needs', async (_, __, beyondMs, sendings) => {
    const service = await startPaying()
    const dueMs = Math.ceil(service.clock.seconds) * 1000 + sendPausesMsMin[0] + sendPausesMsMin[1] + sendPausesMsMin[2]
    await signedPayout(service, { expiration: BigInt(dueMs + sendMarginMs + beyondMs) })
    for (let second = 0; second < 40; second += 1) await tickLater(service, 1)
    expect(allSent(service)).toHaveLength(sendings)
  })

  it('is not sent for some minutes once it was seen in a block, and then again if it is not final, whatever a node shows', async () => {
    const service = await startPaying()
    const fork = service.chain.fork(service.chain.tip().height)
    const signed = await signedPayout(service)
    service.chain.add([mined(signed)])
    await tickLater(service, 5)
    for (let i = 0; i < 6; i += 1) await tickLater(service, seenPauseMs / 1000 / 6 - 2)
    expect(allSent(service)).toHaveLength(3)
    fork.addEmpty(1)
    fork.add([mined(signed)])
    for (const node of service.nodes) node.chain = fork
    await tickLater(service, 15)
    await tickLater(service, 15)
    expect(allSent(service)).toHaveLength(4)
  })

  it.each([
    'SUCCESS',
    'DUP_TRANSACTION_ERROR',
    'TRANSACTION_EXPIRATION_ERROR',
    'CONTRACT_VALIDATE_ERROR',
    'TAPOS_ERROR',
  ])('is where it was if all nodes say %s: their words are kept for people, each once', async (code) => {
    const service = await startPaying()
    const said = { result: code === 'SUCCESS', code, message: '' }
    for (const node of service.nodes) node.script = () => changing('/wallet/broadcasthex', () => said)
    const { id } = await signedPayout(service)
    for (let i = 0; i < 4; i += 1) await tickLater(service, 60)
    expect(await stateOfPayout(service, id)).toBe('signed/0')
    const { answers } = (await shown(service, id)) as { readonly answers?: readonly object[] }
    expect(answers).toMatchObject(
      ['one', 'two'].map((host, i) => ({ node: `node ${i + 1} (${host}.example)`, answer: code })),
    )
  })

  it('is sent in one run, of more payouts than are sent at the same time too', async () => {
    const service = await startPaying()
    const head = await headOf(service)
    const count = sendAtOnceMax + 5
    for (let i = 0; i < count; i += 1) {
      const { id } = await ask(service)
      const { transaction } = await sign(service, { timestamp: BigInt(head.timestamp + i) })
      await handIn(withKilledSending(service), id, transaction)
    }
    await tickLater(service)
    expect(new Set(allSent(service)).size).toBe(count)
    expect(allSent(service)).toHaveLength(3 * count)
    await passBlocks(service, 1)
  })
})

describe('a transaction that no node passes on', () => {
  /** Makes the broadcast of every node answer with this code, and store nothing. */
  const answerWith = (service: RunningService, ...codes: readonly (string | null)[]) => {
    for (const [i, code] of codes.entries()) {
      const node = service.nodes[i]
      if (node === undefined) throw new Error('three nodes')
      const said = { result: code === 'SUCCESS', code, message: '' }
      node.script = ({ calls }) => {
        if (calls[0]?.method !== '/wallet/broadcasthex') return null
        return code === null ? { kind: 'status', status: 503 } : changing('/wallet/broadcasthex', () => said)
      }
    }
  }
  const raised = ({ lines }: RunningService) =>
    lines.flatMap((line) => {
      const { alarm, said } = JSON.parse(line) as { readonly alarm?: string; readonly said?: string }
      return alarm === 'payout-refused' ? [said] : []
    })

  it.each<[string, readonly (string | null)[], string]>([
    [
      'refused, by the answers of those who were asked',
      ['SIGERROR', 'SIGERROR', null],
      'node 1 (one.example): SIGERROR, node 2 (two.example): SIGERROR, no answer of node 3 (three.example)',
    ],
    [
      'swallowed: nodes say that they have it, and no final block contains it',
      ['SUCCESS', 'SUCCESS', 'SUCCESS'],
      'node 1 (one.example): SUCCESS, node 2 (two.example): SUCCESS, node 3 (three.example): SUCCESS',
    ],
    [
      'answered by nobody',
      [null, null, null],
      'no answer of node 1 (one.example), node 2 (two.example), node 3 (three.example)',
    ],
  ])('is told within 90 s of the first sending as %s', async (_, codes, said) => {
    const service = await startPaying({ TRON_NODES: threeNodes })
    answerWith(service, ...codes)
    const sentAt = service.clock.seconds
    await signedPayout(service)
    while (raised(service).length === 0 && service.clock.seconds <= sentAt + 90) {
      while (service.chain.tip().timeMs <= (service.clock.seconds + 1) * 1000) service.chain.addEmpty(1)
      await tickLater(service, 4)
    }
    expect(service.clock.seconds).toBeLessThanOrEqual(sentAt + 90)
    expect(raised(service)).toEqual([said])
  })

  it('is not told while a node that has it may pass it on, nor once it was seen in a block', async () => {
    const service = await startPaying({ TRON_NODES: threeNodes })
    answerWith(service, 'SIGERROR', 'SUCCESS', 'SIGERROR')
    const signed = await signedPayout(service)
    await tickLater(service, 40)
    expect(raised(service)).toEqual([])
    service.chain.addEmpty(15)
    service.chain.add([mined(signed)])
    for (let i = 0; i < 4; i += 1) {
      await tickLater(service, 15)
      service.chain.addEmpty(3)
    }
    expect(raised(service)).toEqual([])
  })
})
