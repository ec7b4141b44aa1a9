import type { Page } from 'puppeteer-core'
import { result } from '../devnet/support.ts'
import type { LocalService } from './local-service.ts'
import { openFold, press, seeIn, textOfFirst } from './reading.ts'

/**
 * Buys tea in the pretend shop, whose first page is open. Returns the page of the order, the frame
 * that asks for the payment, the order's address, and the act of a reader who asks for news.
 */
export async function buyTea(page: Page) {
  await Promise.all([page.waitForNavigation(), page.click('button')])
  const frame = await (await page.waitForSelector('iframe'))?.contentFrame()
  if (!frame) throw new Error('the shop has no frame')
  await seeIn(frame, '.pay h2', 'Send 25 USDT')
  await seeIn(frame, '.owner', 'Anna Wei')
  await seeIn(frame, '.actions', `Back to ${new URL(page.url()).host}`)
  await seeIn(page, '#state', 'Waiting for your payment')
  const check = async () => {
    await openFold(frame, 'question')
    await press(frame, 'Check for new payments')
  }
  return { page, frame, to: await textOfFirst(frame, '.address'), check }
}

/** Pays USDT in a block of now: the chain is of an hour ago, and an order counts later blocks. */
export async function payNow({ devnet }: LocalService, to: string, amount: string): Promise<void> {
  const { timestamp } = await result<{ timestamp: string }>(devnet, 'eth_getBlockByNumber', 'latest', false)
  await devnet.advance(Math.max(0, Math.floor(Date.now() / 1_000) + 2 - Number(timestamp)))
  await devnet.pay({ to, amount, currency: 'USDT' })
  await devnet.mine(4)
}
