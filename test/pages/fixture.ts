import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { afterEach, beforeAll, beforeEach, expect, inject } from 'vitest'
import { type OpenPage, openAs, outOfTime, type Reader } from './browser.ts'
import { tokenOf } from './reading.ts'
import { type Scripted, type ScriptedService, startScriptedService } from './scripted-service.ts'
import { newcomer, type Story, serve } from './story.ts'

/** The browser settings of a reader at a desktop. */
export const desktop = { width: 1280, height: 860 }

/** Connects to the browser that all test files share. */
export const connectBrowser = (): Promise<Browser> => puppeteer.connect({ browserWSEndpoint: inject('browser') })

/** What the tests of a file share: one browser and one scripted service. */
export interface Pages {
  readonly service: ScriptedService
  readonly browser: Browser
  /** The data with which the service answers. Each test begins with `newcomer`. */
  story: Story
  /** Replaces the data with which the service answers. */
  tell(story: Story): void
  /** Makes a path answer the same to every request. */
  answer(path: string, scripted: Scripted): void
  /** How many requests so far had a path that begins with this. */
  asked(path: string): number
  /** Opens a URL, by default that of the deposit page with this fragment. */
  open(reader?: Reader, hash?: string, url?: string): Promise<Page>
  /** Opens a URL where errors in the browser are expected. */
  openRefused(url: string): Promise<Page>
  /** Opens the deposit page and waits for an address, a transfer or a note. */
  openLoaded(reader?: Reader, hash?: string): Promise<Page>
  /** Opens the deposit page with a token of these claims. */
  openFor(claims: object, reader?: Reader): Promise<Page>
  /** The layout shifts without an action of the reader, in the page that was opened first. */
  shift(): Promise<number>
}

/**
 * Whether the next test may get this page: it must not be closed, hold a stopped clock or a frame,
 * or show another site.
 */
const canBeLeft = (page: Page, { url }: ScriptedService) =>
  !page.isClosed() && !outOfTime.has(page) && page.frames().length === 1 && page.url().startsWith(url)

/** What the test files that run in one process share. */
interface Shared extends Pick<Pages, 'service' | 'browser'> {
  /** The first page of the last test, cleared for the next reader. */
  kept: OpenPage | null
}

async function startShared(): Promise<Shared> {
  const [service, browser] = await Promise.all([startScriptedService(), connectBrowser()])
  return { service, browser, kept: null }
}
let started: Promise<Shared> | null = null

/**
 * Prepares browser and service for the tests of a file; they are started once for each process. A
 * test fails if one of its pages had an error or violated its policy. The first page that a test
 * opens is a page of the test before, cleared for another reader: the browser shows it in a third
 * of the time that a new page takes.
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
  } as Pages // safe: `beforeAll` adds browser and service, and `beforeEach` adds the story
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
    ;[opened, refused] = [[], []] // first of all, because leaving or closing a crashed page throws
    if (first && task.result?.state !== 'fail' && canBeLeft(first.page, pages.service)) {
      await first.leave() // otherwise its requests would reach the service during the next test
      shared.kept = first
    }
    await Promise.all(all.map((one) => one !== shared.kept && one.close()))
    expect(faults, 'errors in a page').toEqual([])
  })
  return pages
}
