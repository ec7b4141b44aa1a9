import type { TestProject } from 'vitest/node'
import { startBrowser, stopBrowser } from './browser.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser of all files listens. */
    browser: string
  }
}

/** One browser for all processes. Their pages are in contexts of their own. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const browser = await startBrowser()
  project.provide('browser', browser.wsEndpoint())
  return () => stopBrowser(browser)
}
