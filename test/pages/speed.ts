/**
 * Opens the deposit page as a phone does on a slow connection, with an empty cache and a service that answers at once, and prints when the
 * browser had drawn what: JSON, for `npm run bench -- page`. The argument is how often.
 */
import type { Browser, Page } from 'puppeteer-core'
import { startBrowser, stopBrowser } from './browser.ts'
import { type ScriptedService, startScriptedService } from './scripted-service.ts'
import { regular, serve } from './story.ts'

/** A phone of the middle class has about a quarter of the speed of the machine that this runs on. */
const cpuSlowdown = 4
/** A slow 4G connection: 150 ms for a round trip, 1.6 Mbit/s down, 0.75 Mbit/s up. Rates are in bytes a second. */
const slow4G = { latency: 150, download: 1_600_000 / 8, upload: 750_000 / 8 }

/** Milliseconds from the navigation until the browser has drawn it. */
interface Times {
  words?: number
  choice?: number
  address?: number
}

const [service, started] = await Promise.all([startScriptedService(), startBrowser()])
serve(service, regular())
const times: Times[] = []
for (let round = 0; round <= Number(process.argv[2]); round += 1) times.push(await openOnce(started, service))
process.stdout.write(JSON.stringify(times.slice(1))) // the first warms up the browser
await Promise.all([stopBrowser(started), service.close()])

/** Opens the page once, as somebody who chooses a currency as soon as that is possible. */
async function openOnce(browser: Browser, { url }: ScriptedService): Promise<Times> {
  const context = await browser.createBrowserContext() // with a cache of its own
  const page = await context.newPage()
  await page.setViewport({ width: 390, height: 844 })
  await page.emulateCPUThrottling(cpuSlowdown)
  await page.emulateNetworkConditions(slow4G)
  await page.evaluateOnNewDocument(chooseAtOnce)
  await page.goto(`${url}/deposit`)
  const drawn = await drawnTimes(page)
  await context.close()
  return drawn
}

async function drawnTimes(page: Page): Promise<Times> {
  const handle = await page.waitForFunction(() => {
    const { drawn } = window as unknown as { drawn: Times } // chooseAtOnce sets it
    return Object.keys(drawn).length === 3 ? drawn : null
  })
  return (await handle.jsonValue()) ?? {}
}

/** Runs in the page before its own script. */
function chooseAtOnce(): void {
  const drawn: Times = {}
  Object.assign(window, { drawn })
  const noted = new Set<keyof Times>()
  const note = (name: keyof Times, selector: string) => {
    const found = document.querySelector<HTMLElement>(selector)
    if (found === null || noted.has(name)) return
    noted.add(name)
    if (name === 'choice') found.click()
    requestAnimationFrame(() =>
      setTimeout(() => {
        drawn[name] = performance.now() // after the drawing
      }),
    )
  }
  new MutationObserver(() => {
    note('words', 'h1')
    note('choice', 'input[value="2"]')
    note('address', '.address + button')
  }).observe(document, { childList: true, subtree: true })
}
