import type { Page } from 'puppeteer-core'
import { beforeEach } from 'vitest'
import type { Reader } from './browser.ts'
import { serveDesk } from './desk-service.ts'
import { type DeskStory, wellDesk } from './desk-story.ts'
import { desktop, type Pages, usePages } from './fixture.ts'

/** What tests of the desk share. */
export interface DeskPages {
  readonly pages: Pages
  /**
   * The data with which the service answers. Each test begins with `wellDesk`, and can change it at
   * any time.
   */
  desk: DeskStory
  open(reader?: Reader, hash?: string): Promise<Page>
}

/** Prepares browser and service for the tests of a file, and opens the desk signed in. */
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
