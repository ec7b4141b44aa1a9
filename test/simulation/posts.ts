import { isWholeStored, sendPost } from './callers/post.ts'
import { offered } from './deployed.ts'
import type { Environment, SentEntry, SentPost } from './environment.ts'
import { finish, type SimulatedRun } from './simulated-run.ts'
import type { Stored } from './stored.ts'

/**
 * Sends a post of ledger entries: a new post, one that was sent before, or one with a part of
 * another post. A post without an answer is sent again later.
 */
export function startPost(run: SimulatedRun): void {
  const { backends: env, stored } = run
  const post = drawPost(env, stored)
  for (let copies = env.random.chance(0.1) ? env.random.int(2, 5) : 1; copies > 0; copies -= 1) send(run, post, 3)
}

function send(run: SimulatedRun, post: SentPost, triesLeft: number): void {
  const { backends: env } = run
  const ending = run.post((backend) => sendPost(backend, post))
  void ending.then(() => {
    if (!post.isAnswered && triesLeft > 0)
      env.scheduler.after(env.random.int(1, 5_000), () => send(run, post, triesLeft - 1))
  })
}

/**
 * Sends again, soon, the accepted posts that a restored database lacks. Until then they count as
 * never sent, so a post with a part of a lost post may be accepted before the lost one.
 */
export function postAgain(run: SimulatedRun): void {
  const { backends: env, stored } = run
  for (const post of env.posts) {
    if (!post.isAccepted || isWholeStored(stored, post.entries)) continue
    post.isAccepted = false
    post.isAnswered = false
    env.count('post lost with the database')
    env.scheduler.after(env.random.int(1, 20_000), () => send(run, post, 3))
  }
}

/**
 * Sends some posts again in a healthy environment: posts without an answer get one, and accepted
 * posts get their answer again.
 */
export async function settlePosts(run: SimulatedRun): Promise<void> {
  const { backends: env } = run
  const open = env.posts.filter(({ isAnswered }) => !isAnswered)
  const accepted = env.posts.filter(({ isAccepted }) => isAccepted)
  for (const post of [...open, ...accepted.slice(0, 10)]) {
    await finish(
      env,
      run.post((backend) => sendPost(backend, post)),
    )
  }
}

function drawPost(env: Environment, stored: Stored): SentPost {
  const { random, posts } = env
  const kind = random.int(1, 10)
  const known = posts.length > 0 ? random.pick(posts) : undefined
  if (kind <= 2 && known !== undefined) return known
  const entries = known === undefined || kind > 4 ? drawEntries(env, stored) : drawVariant(env, stored, known, kind)
  const post: SentPost = { entries, isAccepted: false, isAnswered: false }
  posts.push(post)
  return post
}

/** A known post with another mark, or with a new entry beside its own. */
function drawVariant(env: Environment, stored: Stored, { entries }: SentPost, kind: number): readonly SentEntry[] {
  const changed = env.random.int(0, entries.length - 1)
  if (kind === 4) return [...drawEntries(env, stored).filter(({ type }) => type !== 3), ...entries]
  return entries.map((entry, i) => {
    if (i !== changed) return entry
    return entry.type === 3 || env.random.chance(0.3) ? { ...entry, mark: `${entry.mark}.` } : another(entry)
  })
}

const another = (entry: SentEntry) => ({ ...entry, amount: entry.amount < 0n ? entry.amount - 1n : entry.amount + 1n })

function drawEntries(env: Environment, stored: Stored): SentEntry[] {
  const { random, posts, scenario } = env
  const number = posts.length + 1
  const full = stored.wallets().filter(({ balance }) => balance > 0n)
  const mark = random.chance(0.3) ? `m${number}` : ''
  const draw = (type: SentEntry['type'], osn: string): SentEntry => {
    const isDebit = type === 2 || type === 3 || type === 4 || (type === 9 && random.chance(0.5))
    const anyWallet = { uid: random.int(1, scenario.users), cuy: random.pick(offered(env)).cuy, balance: 0n }
    const { uid, cuy, balance } = isDebit && full.length > 0 && random.chance(0.9) ? random.pick(full) : anyWallet
    // Half of what the wallet has, so that several debits at once are sometimes too much.
    const units = isDebit ? -random.int(1, Math.max(5, Math.ceil(Number(balance) * 0.5))) : random.int(1, 10_000)
    return { uid, cuy, type, osn, amount: BigInt(units), mark }
  }
  const types = [2, 4, 4, 5, 5, 9] as const
  const entries = Array.from({ length: random.int(0, 3) }, (_, i) => draw(random.pick(types), `p${number}-${i}`))
  if (entries.length > 0 && random.chance(0.7)) return entries
  const from = draw(3, `p${number}`)
  const to = (from.uid % scenario.users) + 1
  return [...entries, from, { ...from, uid: to, amount: -from.amount }]
}
