import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bundleService, bundleWorker } from '../bundles.ts'
import { type Figure, figure, type Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { median, perSecond } from '../rounds.ts'
import { seedAddresses } from '../seeds.ts'
import { noNode, serviceVariables } from '../variables.ts'

const entriesOfPost = 20
const eventsMin = 100
/** The most milliseconds until all events of a round have arrived. */
const giveUpMs = 120_000

/**
 * Events a second that reach an endpoint which answers at once. The time begins when their entries
 * are posted.
 */
export async function measureEvents({ rounds, work }: Scale): Promise<readonly Figure[]> {
  let received = 0
  const receiver = createServer((request, response) => {
    received += 1
    request.resume().once('end', () => response.end())
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const [service, writing] = [await bundleService(), await bundleWorker('writing')]
  const variables = {
    ...serviceVariables([noNode]),
    WEBHOOKS: [{ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, secretVar: 'WEBHOOK_SECRET' }],
    WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
  }
  const workers = await startWorkers(
    [
      { name: 'service', script: service.script, database: 'ledger', variables, hasObjects: true },
      {
        name: 'post',
        script: writing.script,
        database: null,
        services: { LEDGER: { worker: 'service', exportName: 'Ledger' } },
      },
    ],
    { ledger: seedAddresses(10) },
  )
  let round = 0
  const deliver = async (posts: number) => {
    const wanted = received + posts * entriesOfPost
    round += 1
    await getText(`${workers.url('post')}/post/${round}/${posts}/${entriesOfPost}`)
    await until(() => received >= wanted)
  }
  try {
    await getText(`${workers.url('post')}/post/0/1/1`) // registers the endpoint, which receives only later events
    await until(() => workers.look('service', 'SELECT count(*) FROM webhook') === 1)
    const values: number[] = []
    const posts = Math.max(5, Math.round(100 * work))
    await deliver(5)
    for (let i = 0; i < rounds; i += 1) values.push(await perSecond(posts * entriesOfPost, () => deliver(posts)))
    const value = median(values)
    const target = { text: `≥ ${eventsMin}`, isReached: value >= eventsMin }
    return [figure('events delivered to an endpoint that answers at once', value, 'events/s', target)]
  } finally {
    await workers.stop()
    receiver.close()
  }
}

async function until(isDone: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + giveUpMs
  while (!isDone()) {
    if (Date.now() > giveUpAt) throw new Error('the events did not arrive')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
