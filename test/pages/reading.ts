/** What tests read from an open page, and how they wait. */
import type { Frame, Page } from 'puppeteer-core'

/** Waits until the page shows this text. */
export async function see(page: Page | Frame, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.textContent.includes(wanted), {}, text)
}

/** Waits until an element has this text among its own. */
export async function seeIn(page: Page | Frame, selector: string, text: string): Promise<void> {
  const includes = (where: string, wanted: string) => document.querySelector(where)?.textContent.includes(wanted)
  await page.waitForFunction(includes, {}, selector, text)
}

/** The text of the first element of a selector. */
export async function textOfFirst(page: Page | Frame, selector: string): Promise<string> {
  return page.$eval(selector, (element) => element.textContent)
}

/** The texts that the page shows below an element: not those of hidden or closed parts. */
export async function shownText(page: Page, selector: string): Promise<string> {
  return page.$$eval(`${selector} *`, (all) =>
    all
      .filter((one) => one.checkVisibility())
      .flatMap((one) => [...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE))
      .map(({ textContent }) => textContent)
      .join(' '),
  )
}

/** Waits until the page has drawn what it is now, and knows what has moved in that. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/** Makes the page ask the service now, as it does when a connection is back. */
export async function poke(page: Page | Frame): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
}

/** Chooses a currency, and waits until it is what is to be sent. */
export async function choose(page: Page | Frame, cuy: number): Promise<void> {
  await (await page.waitForSelector(`input[value="${cuy}"]`))?.click()
  await page.waitForSelector(`input[value="${cuy}"]:checked`)
}

/** Presses the button with this label. */
export async function press(page: Page | Frame, label: string): Promise<void> {
  await page.$$eval('button', (all, text) => all.find((one) => one.textContent === text)?.click(), label)
}

/** Opens a part below the screen, once it is drawn. */
export async function openFold(page: Page | Frame, name: string): Promise<void> {
  await page.waitForSelector(`[data-fold="${name}"] summary`)
  await page.$eval(`[data-fold="${name}"] summary`, (summary) => (summary as HTMLElement).click()) // it is one
}

/** A token with these claims. Nobody checks it here. */
export const tokenOf = (claims: object, mark = '') =>
  `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${mark}`

/** Chinese with the space of another language in it, or with English that nothing marks as such. */
export const strange =
  /[\u4e00-\u9fff，。：；！？] +[\u4e00-\u9fff，。：；！？]|[，。：；！？（）] (?!·)| [，。：；！？（）]|[\u4e00-\u9fff] ?[.,!?](?!\w)|[a-z]+ [a-z]+ [a-z]+/

/** The texts of a page, and those that only a screen reader says, that are strange in its language: in English any Chinese is. */
export async function foreignTexts(page: Page, tag: string): Promise<string[]> {
  const texts = await page.evaluate(
    (other) => {
      const all = [...document.querySelectorAll('body *')]
      const blocks =
        'p, li, h1, h2, h3, h4, dt, dd, td, th, label, button, summary, strong, caption, figcaption, option, text'
      const own = all.filter((one) => one.closest(other) === null && one.checkVisibility())
      const leaves = own.filter((one) => one.matches(blocks) && one.querySelector(blocks) === null)
      const shown = leaves.map((one) => {
        const copy = one.cloneNode(true) as Element // as the original
        for (const foreign of copy.querySelectorAll(`${other}, code`)) foreign.replaceWith('x')
        return copy.textContent
      })
      return [...shown, ...own.map((one) => one.getAttribute('aria-label') ?? '')]
    },
    tag === 'en' ? '[lang^="zh"]:not(html)' : '[lang="en"]:not(html)',
  )
  const isForeign = (text: string) => (tag === 'en' ? /\p{Script=Han}/u : strange).test(text)
  return [...texts, await page.title()].filter(isForeign)
}

/** Asks about a transaction, and waits for the answer. */
export async function askAbout(page: Page | Frame, pasted: string): Promise<string> {
  await page.$eval('#txid', (input, text) => Object.assign(input, { value: text }), pasted)
  await page.$eval('form .result', (result) => result.replaceChildren())
  await page.$eval('form', (form) => form.requestSubmit())
  const isAnswered = () => /^(?!Looking|正在查询)./.test(document.querySelector('form .result')?.textContent ?? '')
  await page.waitForFunction(isAnswered)
  return textOfFirst(page, 'form .result')
}

/** Asks the box of the desk, and waits for the answer. */
export async function askDesk(page: Page, question: string): Promise<string> {
  await page.waitForSelector('#question') // it comes with the first answer
  await page.$eval('#question', (input, text) => Object.assign(input, { value: text }), question)
  await page.$eval('form:has(#question)', (form) => (form as HTMLFormElement).requestSubmit()) // it is a form
  await page.waitForFunction(() => document.querySelector('.result > h3') !== null)
  return textOfFirst(page, '.result')
}

/** The text of the file that a button of the desk gives. */
export async function downloadedBy(page: Page, selector: string): Promise<string> {
  return page.evaluate(async (wanted) => {
    const blob = new Promise<Blob>((resolve) => {
      const create = URL.createObjectURL
      URL.createObjectURL = (made) => {
        if (made instanceof Blob) resolve(made)
        return create(made)
      }
    })
    document.querySelector<HTMLElement>(wanted)?.click()
    return (await blob).text()
  }, selector)
}

/** Shows a list of the desk, and waits until it is read. */
export async function showList(page: Page, name: string): Promise<void> {
  await page.waitForSelector(`[data-list="${name}"]`)
  await page.$eval(`[data-list="${name}"]`, (button) => (button as HTMLElement).click()) // it is a button
  await page.waitForSelector('section:has(> #lists) .list:not(.skeleton)')
}

/** Sets a field of the filter of the desk, as a reader does. */
export async function filterBy(page: Page, field: string, value: string): Promise<void> {
  await page.$eval(
    `#filter-${field}`,
    (one, text) => {
      ;(one as HTMLInputElement).value = text // or a select
      one.dispatchEvent(new Event('change', { bubbles: true }))
    },
    value,
  )
  await page.waitForSelector('section:has(> #lists) .list:not(.skeleton)')
}
