import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { usePages } from './fixture.ts'
import { seeIn } from './reading.ts'
import { transfer } from './story.ts'

const pages = usePages()

interface Held {
  readonly path: string
  /** Answers with this data. */
  readonly answer: (data: object) => void
  /** Resolves when the browser has ended the request. */
  readonly ended: Promise<unknown>
}

/** Makes the service hold the requests that ask for it, once they name a mark. */
function holdRequests(): readonly Held[] {
  const held: Held[] = []
  const script = pages.service.routes.get('/tron/deposits')
  pages.service.routes.set('/tron/deposits', (url, request: IncomingMessage) => {
    const answer = script?.(url, request) ?? {}
    if (!url.searchParams.has('wait')) return answer
    if (!url.searchParams.has('mark')) return { data: { list: [], count: 0, mark: 'one-1' } }
    const { promise: after, resolve } = Promise.withResolvers<void>()
    const ended = new Promise((over) => request.once('close', over))
    const data = {}
    const answerWith = (given: object) => {
      Object.assign(data, given) // the service writes the data when `after` has resolved
      resolve()
    }
    held.push({ path: url.pathname + url.search, answer: answerWith, ended })
    return { data, after }
  })
  return held
}

describe('a page that shows an address', () => {
  it('waits with one held request, and says that a payment is on its way as soon as that is answered', async () => {
    const held = holdRequests()
    const page = await pages.openLoaded()
    await expect
      .poll(() => held.map(({ path }) => path), { timeout: 10_000 })
      .toEqual(['/tron/deposits?limit=20&wait=18&mark=one-1'])
    const before = pages.asked('/')
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(pages.asked('/')).toBe(before)
    held[0]?.answer({ list: [transfer(1, 'seen')], count: 1, mark: 'one-2' })
    await seeIn(page, '.status', 'On its way')
    expect(held).toHaveLength(1)
  })

  it('ends the held request while it is hidden, and reads all again when it is looked at', async () => {
    const held = holdRequests()
    const page = await pages.openLoaded()
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(1)
    const show = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    await show(true)
    await held[0]?.ended
    const before = pages.asked('/tron/deposits')
    await show(false)
    await expect.poll(() => pages.asked('/tron/deposits'), { timeout: 10_000 }).toBeGreaterThan(before)
    const next = pages.service.requests.filter(({ path }) => path.startsWith('/tron/deposits'))[before]
    expect(next?.path).toBe('/tron/deposits?limit=20')
  })

  it('asks at its usual pace where the service holds nothing', async () => {
    await pages.openLoaded()
    await expect.poll(() => pages.asked('/tron/deposits?limit=20&wait=18'), { timeout: 10_000 }).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(pages.asked('/tron/deposits')).toBe(2)
  })
})
