/** Reads and operates open pages in tests, and waits for what the pages show. */
import type { Frame, Page } from 'puppeteer-core'

/** Waits until the page's text contains this text, visible or not. */
export async function see(page: Page | Frame, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.textContent.includes(wanted), {}, text)
}

/** Waits until the first element of the selector contains this text. */
export async function seeIn(page: Page | Frame, selector: string, text: string): Promise<void> {
  const includes = (where: string, wanted: string) => document.querySelector(where)?.textContent.includes(wanted)
  await page.waitForFunction(includes, {}, selector, text)
}

/**
 * The text of the first element that matches the selector. Does not wait for it, and throws if
 * there is none.
 */
export async function textOfFirst(page: Page | Frame, selector: string): Promise<string> {
  return page.$eval(selector, (element) => element.textContent)
}

/** The visible texts below an element, without those in hidden or closed parts. */
export async function shownText(page: Page, selector: string): Promise<string> {
  return page.$$eval(`${selector} *`, (all) =>
    all
      .filter((one) => one.checkVisibility())
      .flatMap((one) => [...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE))
      .map(({ textContent }) => textContent)
      .join(' '),
  )
}

/** Waits until the browser has drawn the page's present state and counted its layout shifts. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/**
 * Makes the page ask the service at once, as if the browser had reported that it is online again.
 */
export async function poke(page: Page | Frame): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
}

/** Clicks a currency, and waits until the page shows that currency as chosen. */
export async function choose(page: Page | Frame, cuy: number): Promise<void> {
  await (await page.waitForSelector(`input[value="${cuy}"]`))?.click()
  await page.waitForSelector(`input[value="${cuy}"]:checked`)
}

/** Presses the first button with exactly this text. Throws if there is none. */
export async function press(page: Page | Frame, label: string): Promise<void> {
  const isPressed = await page.$$eval(
    'button',
    (buttons, text) => {
      const button = buttons.find(({ textContent }) => textContent === text)
      button?.click()
      return button !== undefined
    },
    label,
  )
  if (!isPressed) throw new Error(`no button "${label}"`)
}

/** Waits for a folded part of the page, and opens it. */
export async function openFold(page: Page | Frame, name: string): Promise<void> {
  await page.waitForSelector(`[data-fold="${name}"] summary`)
  // safe: a summary element
  await page.$eval(`[data-fold="${name}"] summary`, (summary) => (summary as HTMLElement).click())
}

/** A token with these claims and no valid signature. Tokens with different `mark`s differ. */
export const tokenOf = (claims: object, mark = '') =>
  `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${mark}`

/**
 * Matches Chinese text with Latin spacing or punctuation, or with English words that are not marked
 * as English.
 */
export const strange =
  /[\u4e00-\u9fff，。：；！？] +[\u4e00-\u9fff，。：；！？]|[，。：；！？（）] (?!·)| [，。：；！？（）]|[\u4e00-\u9fff] ?[.,!?](?!\w)|[a-z]+ [a-z]+ [a-z]+/

/**
 * The texts of a page, and the labels for screen readers, that are not in its language `tag`. In
 * English any Chinese character counts.
 */
export async function foreignTexts(page: Page, tag: string): Promise<string[]> {
  const texts = await page.evaluate(
    (other) => {
      const all = [...document.querySelectorAll('body *')]
      const blocks =
        'p, li, h1, h2, h3, h4, dt, dd, td, th, label, button, summary, strong, caption, figcaption, option, text'
      const own = all.filter((one) => one.closest(other) === null && one.checkVisibility())
      const leaves = own.filter((one) => one.matches(blocks) && one.querySelector(blocks) === null)
      const shown = leaves.map((one) => {
        const copy = one.cloneNode(true) as Element // safe: a copy of an element
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

/** Enters a txid in the form of the deposit page; returns the text of the page's answer. */
export async function askAbout(page: Page | Frame, pasted: string): Promise<string> {
  await page.$eval('#txid', (input, text) => Object.assign(input, { value: text }), pasted)
  await page.$eval('form .result', (result) => result.replaceChildren())
  await page.$eval('form', (form) => form.requestSubmit())
  const isAnswered = () => /^(?!Looking|正在查询)./.test(document.querySelector('form .result')?.textContent ?? '')
  await page.waitForFunction(isAnswered)
  return textOfFirst(page, 'form .result')
}

/** Enters a question in the search of the desk; returns the text of the answer. */
export async function askDesk(page: Page, question: string): Promise<string> {
  await page.waitForSelector('#question') // the desk draws the field after the service's first answer
  await page.$eval('#question', (input, text) => Object.assign(input, { value: text }), question)
  await page.$eval('form:has(#question)', (form) => (form as HTMLFormElement).requestSubmit()) // safe: a form
  await page.waitForFunction(() => document.querySelector('.result > h3') !== null)
  return textOfFirst(page, '.result')
}

/** Presses a button that offers a file; returns the file's text. */
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

/** Chooses a list of the desk, and waits until the desk shows the list. */
export async function showList(page: Page, name: string): Promise<void> {
  await page.waitForSelector(`[data-list="${name}"]`)
  await page.$eval(`[data-list="${name}"]`, (button) => (button as HTMLElement).click()) // safe: a button
  await page.waitForSelector('section:has(> #lists) .list:not(.skeleton)')
}

/** Sets a field of the desk's filter as a reader does. */
export async function filterBy(page: Page, field: string, value: string): Promise<void> {
  await page.$eval(
    `#filter-${field}`,
    (one, text) => {
      ;(one as HTMLInputElement).value = text // safe: an input, or a select, which also has `value`
      one.dispatchEvent(new Event('change', { bubbles: true }))
    },
    value,
  )
  await page.waitForSelector('section:has(> #lists) .list:not(.skeleton)')
}
