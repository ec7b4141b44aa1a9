import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { usePages } from './fixture.ts'
import { choose, poke, seeIn } from './reading.ts'
import { exact } from './scripted-service.ts'
import { order, payAddress, transfer } from './story.ts'

const pages = usePages()
const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const claims = { sub: '7', order: '1041' }
const link = (page: Page) =>
  page.$$eval('.destination a', (all) =>
    all.map(({ href, target, rel, textContent }) => [href, target, rel, textContent]),
  )
const opens = (query: string) => [
  [`https://link.trustwallet.com/send?${query}`, '_blank', 'noopener noreferrer', 'Open Trust Wallet'],
]

describe('the button that opens a wallet', () => {
  it('is there only where the operator has chosen one, and only on mainnet', async () => {
    pages.story.orders = [order({ amt: '25.5' })]
    const page = await pages.openFor(claims)
    expect(await link(page)).toEqual([])
    pages.service.settings = { ...noPageSettings, wallet: 'trust' }
    pages.story.network = 'Nile'
    await page.reload()
    await seeIn(page, '.badge', 'Nile')
    expect(await link(page)).toEqual([])
  })

  it('carries the address, the token or TRX, and what is missing, as the wallet documents it', async () => {
    pages.service.settings = { ...noPageSettings, wallet: 'trust' }
    pages.story.orders = [order({ amt: '25.5' })]
    const page = await pages.openFor(claims)
    expect(await link(page)).toEqual(opens(`asset=c195_t${usdt}&address=${payAddress}&amount=25.5`))
    pages.story.transfers = [transfer(5, 'credited', { amt: exact('20.000001') })]
    await poke(page)
    await seeIn(page, '.pay h2', 'Send 5.499999 USDT more')
    expect(await link(page)).toEqual(opens(`asset=c195_t${usdt}&address=${payAddress}&amount=5.499999`))
    const free = await pages.openFor({ sub: '7' })
    await choose(free, 1)
    await seeIn(free, '.pay h2', 'Send TRX')
    expect(await link(free)).toEqual(opens(`asset=c195&address=${payAddress}`))
  })
})
