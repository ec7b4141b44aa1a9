import { describe, expect, it } from 'vitest'
import { useDesk } from './desk-fixture.ts'
import { desktop } from './fixture.ts'
import { poke, press, see, seeIn } from './reading.ts'

const at = useDesk()
const { pages, open } = at

describe('signing in', () => {
  it('shows who reads, and needs no token where Cloudflare Access has signed the reader in', async () => {
    const summary = pages.service.routes.get('/ledger/summary')
    at.desk.summary.reader = { name: 'ann@example.com', scopes: ['ledger:read'] }
    pages.service.routes.set('/ledger/summary', () => ({ data: at.desk.summary }))
    const page = await open(desktop, '')
    await seeIn(page, 'header', 'ann@example.com')
    expect(await page.$eval('section:has(#token)', (section) => (section as HTMLElement).hidden)).toBe(true)
    const asked: string[] = []
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (request.url().endsWith('/ledger/summary')) asked.push(request.headers()['x-requested-with'] ?? '')
      if (request.isNavigationRequest()) void request.respond({ status: 200, body: 'left' })
      else void request.continue()
    })
    await poke(page)
    await expect.poll(() => asked).toEqual(['XMLHttpRequest'])
    pages.answer('/ledger/summary', { status: 401, body: '<html>' }) // Cloudflare's answer once the session has ended
    await poke(page)
    await seeIn(page, '#state', 'Your session has ended')
    await seeIn(page, '.status', 'Load the page again')
    if (summary !== undefined) pages.service.routes.set('/ledger/summary', summary)
    await Promise.all([page.waitForNavigation(), press(page, 'Sign out')])
    expect(page.url()).toMatch(/\/cdn-cgi\/access\/logout$/)
    page.removeAllListeners('request')
    await page.setRequestInterception(false)
  })

  it('says that somebody who has signed in may not use the desk, and takes a token all the same', async () => {
    const summary = pages.service.routes.get('/ledger/summary')
    pages.answer('/ledger/summary', { status: 403, msg: 'nobody of this address' })
    const page = await open(desktop, '')
    await seeIn(page, '#state', 'You are signed in, but may not use the desk')
    await seeIn(page, '.status', 'DESK_ACCESS')
    if (summary !== undefined) pages.service.routes.set('/ledger/summary', summary)
    await page.type('#token', 'good')
    await page.keyboard.press('Enter')
    await seeIn(page, '#state', 'All is well')
  })

  it('takes a pasted token, which the tab alone keeps until the reader signs out', async () => {
    const page = await open(desktop, '')
    await seeIn(page, '#state', 'Sign in to see')
    await page.type('#token', 'no token')
    await page.keyboard.press('Enter')
    await see(page, 'That is no token')
    await page.type('#token', 'Bearer good')
    await page.keyboard.press('Enter')
    await seeIn(page, '#state', 'All is well')
    const kept = () => [document.cookie, JSON.stringify(localStorage), location.href]
    expect((await page.evaluate(kept)).join()).not.toContain('good')
    expect(await page.$eval('#token', (input) => (input as HTMLInputElement).value)).toBe('') // safe: an input
    await page.reload()
    await seeIn(page, '#state', 'All is well')
    await Promise.all([page.waitForNavigation(), press(page, 'Sign out')])
    await seeIn(page, '#state', 'Sign in to see')
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('good')
  })
})
