import type { Page } from 'puppeteer-core'
import { beforeEach } from 'vitest'
import type { Reader } from './browser.ts'
import { serveDesk } from './desk-service.ts'
import { type DeskStory, wellDesk } from './desk-story.ts'
import { desktop, type Pages, usePages } from './fixture.ts'

/** What the tests of the desk share. */
export interface DeskPages {
  readonly pages: Pages
  /** What the service has: all is well where a test begins. A test can change it at any time. */
  desk: DeskStory
  open(reader?: Reader, hash?: string): Promise<Page>
}

/** Starts browser and service for the tests of a file. */
export function useDesk(): DeskPages {
  const pages = usePages()
  const shared: DeskPages = {
    pages,
    desk: wellDesk(),
    open: (reader = desktop, hash = '#token=good') => pages.open(reader, hash, `${pages.service.url}/desk`),
  }
  beforeEach(() => {
    shared.desk = wellDesk()
    serveDesk(pages.service, shared.desk)
  })
  return shared
}
