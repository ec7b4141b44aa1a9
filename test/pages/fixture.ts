import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { afterEach, beforeAll, beforeEach, expect, inject } from 'vitest'
import { type OpenPage, openAs, outOfTime, type Reader } from './browser.ts'
import { tokenOf } from './reading.ts'
import { type Scripted, type ScriptedService, startScriptedService } from './scripted-service.ts'
import { newcomer, type Story, serve } from './story.ts'

/** A reader with a large window. */
export const desktop = { width: 1280, height: 860 }

/** The browser of all files. */
export const connectBrowser = (): Promise<Browser> => puppeteer.connect({ browserWSEndpoint: inject('browser') })

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
  /** Opens the page, and waits until the address or what has arrived is there. */
  openLoaded(reader?: Reader, hash?: string): Promise<Page>
  /** Opens the page with a token of these claims. */
  openFor(claims: object, reader?: Reader): Promise<Page>
  /** How far visible things have moved by themselves in the page that was opened first. */
  shift(): Promise<number>
}

/** Whether a page can have another reader: what is there of the last one is what the service's own page has kept. */
const canBeLeft = (page: Page, { url }: ScriptedService) =>
  !page.isClosed() && !outOfTime.has(page) && page.frames().length === 1 && page.url().startsWith(url)

/** What the files of a process share until it ends. */
interface Shared extends Pick<Pages, 'service' | 'browser'> {
  /** The first page of the test before. */
  kept: OpenPage | null
}

async function startShared(): Promise<Shared> {
  const [service, browser] = await Promise.all([startScriptedService(), connectBrowser()])
  return { service, browser, kept: null }
}
let started: Promise<Shared> | null = null

/**
 * Starts browser and service, if no file before has. Each test fails where a page had an error or a violation of its policy. A test
 * has the first page of the one before, as another reader: a browser is three times as fast where it knows the page.
 */
export function usePages(): Pages {
  let shared: Shared
  let opened: OpenPage[] = []
  let refused: OpenPage[] = []
  const pages = {
    tell(story) {
      pages.story = story
      serve(pages.service, story)
    },
    answer: (path, scripted) => void pages.service.routes.set(path, () => scripted),
    asked: (path) => pages.service.requests.filter((one) => one.path.startsWith(path)).length,
    async open(reader = {}, hash = '', url = `${pages.service.url}/deposit`) {
      const before = shared.kept
      shared.kept = null
      await before?.again(url + hash, reader)
      const one = before ?? (await openAs(pages.browser, url + hash, reader))
      opened.push(one)
      return one.page
    },
    async openRefused(url) {
      const one = await openAs(pages.browser, url)
      refused.push(one)
      return one.page
    },
    async openLoaded(reader, hash) {
      const page = await pages.open(reader, hash)
      await page.waitForSelector('.address, .status li, .note')
      return page
    },
    openFor: (claims, reader) => pages.openLoaded(reader, `#token=${tokenOf(claims)}`),
    shift: async () => (await opened[0]?.shift()) ?? Number.NaN,
  } as Pages // browser, service and story are there before the first test
  beforeAll(async () => {
    started ??= startShared()
    shared = await started
    Object.assign(pages, shared)
  })
  beforeEach(() => pages.tell(newcomer()))
  afterEach(async ({ task }) => {
    const all = [...opened, ...refused]
    const [first] = opened
    const faults = opened.flatMap((one) => one.faults)
    ;[opened, refused] = [[], []] // first of all: a page that has crashed can be neither left nor closed
    if (first && task.result?.state !== 'fail' && canBeLeft(first.page, pages.service)) {
      await first.leave() // it asks the service for nothing while the next test begins
      shared.kept = first
    }
    await Promise.all(all.map((one) => one !== shared.kept && one.close()))
    expect(faults, 'errors in a page').toEqual([])
  })
  return pages
}
