import type { Browser, Page } from 'puppeteer-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type OpenPage, openAs, type Reader, startBrowser, stopBrowser } from './browser.ts'
import { type Scripted, type ScriptedService, startScriptedService } from './scripted-service.ts'
import { newcomer, type Story, serve } from './story.ts'

/** A reader with a large window. */
export const desktop = { width: 1280, height: 860 }

/** What the tests of a file share: one browser and one scripted service. */
export interface Pages {
  readonly service: ScriptedService
  readonly browser: Browser
  /** What the service has about the caller: of a newcomer where a test begins. */
  story: Story
  /** Changes what the service has. */
  tell(story: Story): void
  /** Makes a path answer the same each time. */
  answer(path: string, scripted: Scripted): void
  /** How many requests have begun with a path. */
  asked(path: string): number
  /** Opens an address, the page by default. */
  open(reader?: Reader, hash?: string, url?: string): Promise<Page>
  /** Opens an address in which the browser reports errors, as it has to. */
  openRefused(url: string): Promise<Page>
  /** Opens the page, and waits until everything is there. */
  openLoaded(reader?: Reader, hash?: string): Promise<Page>
  /** How far visible things have moved by themselves in the page that was opened first. */
  shift(): Promise<number>
}

/** Starts browser and service for the tests of a file. Each test fails where a page had an error or a violation of its policy. */
export function usePages(): Pages {
  let opened: OpenPage[] = []
  const pages = {
    tell(story) {
      pages.story = story
      serve(pages.service, story)
    },
    answer: (path, scripted) => void pages.service.routes.set(path, () => scripted),
    asked: (path) => pages.service.requests.filter((one) => one.path.startsWith(path)).length,
    async open(reader = {}, hash = '', url = `${pages.service.url}/deposit`) {
      const one = await openAs(pages.browser, url + hash, reader)
      opened.push(one)
      return one.page
    },
    async openRefused(url) {
      const one = await openAs(pages.browser, url)
      opened.push({ ...one, faults: [] })
      return one.page
    },
    async openLoaded(reader, hash) {
      const page = await pages.open(reader, hash)
      await page.waitForSelector('.balances li')
      return page
    },
    shift: async () => (await opened[0]?.shift()) ?? Number.NaN,
  } as Pages // browser, service and story are there before the first test
  beforeAll(async () => {
    const [service, browser] = await Promise.all([startScriptedService(), startBrowser()])
    Object.assign(pages, { service, browser })
  })
  beforeEach(() => pages.tell(newcomer()))
  afterEach(async () => {
    const faults = opened.flatMap((one) => one.faults)
    await Promise.all(opened.map((one) => one.close()))
    opened = []
    expect(faults, 'errors in a page').toEqual([])
  })
  afterAll(async () => {
    await stopBrowser(pages.browser)
    await pages.service.close()
  })
  return pages
}
