import { describe, expect, it } from 'vitest'
import { countedMax } from '../../src/worker/common/counted.ts'
import { usePages } from './fixture.ts'
import { openFold, poke, press, textOfFirst } from './reading.ts'
import { transfer } from './story.ts'

const pages = usePages()

describe('a list', () => {
  it('is counted truthfully: where the service counts no further, the page says "or more" until it has read all', async () => {
    const all = Array.from({ length: 45 }, (_, n) => transfer(45 - n, 'credited'))
    pages.service.routes.set('/tron/deposits', ({ searchParams }) => {
      const before = Number(searchParams.get('before') ?? Number.POSITIVE_INFINITY)
      const list = all.filter(({ id }) => id < before).slice(0, Number(searchParams.get('limit')))
      return { data: { list, count: countedMax } }
    })
    const page = await pages.openLoaded()
    await openFold(page, 'arrivals')
    const heading = () => textOfFirst(page, '[data-fold="arrivals"] h2')
    await expect.poll(heading).toBe('Earlier deposits (1,000+)')
    const button = () => page.$eval('[data-fold="arrivals"] .folded > button', (one) => !(one as HTMLElement).hidden)
    for (const shown of [13, 23, 33, 43]) {
      expect(await button()).toBe(true)
      await press(page, 'Show older')
      const items = '[data-fold="arrivals"] li[data-state]'
      await expect.poll(() => page.$$eval(items, ({ length }) => length)).toBe(shown)
    }
    await press(page, 'Show older')
    await expect.poll(heading).toBe('Earlier deposits (45)')
    await poke(page)
    await expect.poll(() => pages.asked('/tron/deposits')).toBeGreaterThan(4)
    expect([await heading(), await button()]).toEqual(['Earlier deposits (45)', false])
  })
})
