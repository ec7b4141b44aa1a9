import { atMost, type Figure, figure } from '../figure.ts'
import type { NodeFault } from '../virtual.ts'
import { quantile } from './delays.ts'
import { startPayouts } from './payouts.ts'

const nodes = 3
const minuteMs = 60_000
/** Payouts that are asked for one after the other, and how much time they take together. */
const [steadyCount, steadyMs] = [250, 26_000]
const burstCount = 200
/** Most payouts in one request. */
const askedAtOnce = 20

const faults: Readonly<Record<string, NodeFault>> = {
  'swallows transactions': { kind: 'swallows' },
  'refuses transactions': { kind: 'refuses' },
  'is cut off from the other nodes': { kind: 'stands still' },
  'is slow, 5 s for each answer': { kind: 'slow' },
  'is killed': { kind: 'no answer' },
}

type Payouts = Awaited<ReturnType<typeof startPayouts>>

/**
 * Measures how soon payouts are at a node that passes them on, with one bad node of three and in a
 * burst, and when people hear that no node does.
 */
export async function measurePayoutTroubles(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  let [sendings, repeated] = [0, 0]
  for (const [name, fault] of Object.entries(faults)) {
    const payouts = await startPayouts({ nodes })
    payouts.service.fail(fault)
    for (let i = 0; i < steadyCount; i += 1) {
      payouts.ask(1)
      await payouts.service.run(steadyMs / steadyCount)
    }
    await payouts.service.run(4 * minuteMs)
    payouts.stop()
    figures.push(...delaysOf(`250 payouts in 26 s, one node of three ${name}`, payouts, steadyCount, [2, 6]))
    const sick = fault.kind === 'swallows' || fault.kind === 'refuses' ? null : 1
    for (const arrived of payouts.arrivals.values()) {
      sendings += arrived.length
      repeated += countRepeated(
        arrived.map(({ node }) => node),
        sick,
      )
    }
  }
  const burst = await startPayouts({ nodes })
  for (let i = 0; i < burstCount / askedAtOnce; i += 1) burst.ask(askedAtOnce)
  await burst.service.run(4 * minuteMs)
  burst.stop()
  for (const arrived of burst.arrivals.values()) {
    sendings += arrived.length
    repeated += countRepeated(
      arrived.map(({ node }) => node),
      null,
    )
  }
  figures.push(...delaysOf('200 payouts at once', burst, burstCount, [6, 13]))
  figures.push(
    figure(
      `of ${sendings} sendings: again to the same node, another healthy one not asked yet`,
      repeated,
      '',
      atMost(0, repeated),
    ),
  )
  const refused = await measureRefusal()
  figures.push(figure('nobody takes a payout: from its first sending to the alarm', refused, 's', atMost(90, refused)))
  const again = await measureAgain()
  figures.push(figure('failed, refilled, approved again → signed', again, 's', atMost(15, again)))
  return figures
}

function delaysOf(what: string, payouts: Payouts, count: number, [half, most]: readonly [number, number]) {
  const { sent } = payouts.delays()
  const all = [...sent, ...Array<number>(Math.max(count - sent.length, 0)).fill(Number.POSITIVE_INFINITY)]
  const seconds = (part: number) => quantile(all, part) / 1000
  return [
    figure(`${what}: asked → at an honest node, half`, seconds(0.5), 's', atMost(half, seconds(0.5))),
    figure(`${what}: asked → at an honest node, 99 %`, seconds(0.99), 's', atMost(most, seconds(0.99))),
  ]
}

/**
 * How often a transaction went to the same node twice in a row although another node, not `sick`,
 * had not got it yet.
 */
function countRepeated(numbers: readonly number[], sick: number | null): number {
  return numbers.filter((node, i) => {
    const asked = new Set(numbers.slice(0, i))
    const isUnasked = (other: number) => !asked.has(other) && other !== sick
    return i > 0 && numbers[i - 1] === node && Array.from({ length: nodes }, (_, k) => k + 1).some(isUnasked)
  }).length
}

/**
 * Seconds from the first sending of a payout that every node refuses to its alarm; infinite if
 * there is none within five minutes.
 */
async function measureRefusal(): Promise<number> {
  const payouts = await startPayouts({ nodes })
  const { service, arrivals } = payouts
  for (let node = 1; node <= nodes; node += 1) service.fail({ kind: node === 1 ? 'refuses' : 'swallows' }, node)
  payouts.ask(1)
  const raised = service.sqlite.prepare(`SELECT count(*) AS n FROM alarm WHERE kind = 'payout-refused'`)
  for (let second = 0; second < 300; second += 1) {
    await service.run(1_000)
    const [first] = [...arrivals.values()].flat()
    if (raised.get()?.n === 1 && first !== undefined) {
      payouts.stop()
      return (service.now() - first.at) / 1000
    }
  }
  payouts.stop()
  return Number.POSITIVE_INFINITY
}

/**
 * Seconds from the approval of a payout whose first transaction has failed to its next signed one;
 * infinite if there is none within 25 minutes.
 */
async function measureAgain(): Promise<number> {
  const payouts = await startPayouts({ nodes })
  const { service } = payouts
  const row = service.sqlite.prepare('SELECT id, state FROM payout')
  const until = async (state: string, secondsMax: number) => {
    for (let second = 0; second < secondsMax && row.get()?.state !== state; second += 1) await service.run(1_000)
    return row.get()?.state === state
  }
  payouts.mining.isFailing = true
  payouts.ask(1)
  const isStuck = await until('stuck', 300)
  payouts.mining.isFailing = false
  const approvedAt = service.now()
  void service.ledger.approvePayouts([Number(row.get()?.id)], 'office')
  const isSigned = isStuck && (await until('signed', 1_500))
  payouts.stop()
  return isSigned ? (service.now() - approvedAt) / 1000 : Number.POSITIVE_INFINITY
}
