import type { TestProject } from 'vitest/node'
import { startBrowser, stopBrowser } from './browser.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The WebSocket URL of the browser that all files share. */
    browser: string
  }
}

/** Starts one browser for all test processes; each page gets its own browser context. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const browser = await startBrowser()
  project.provide('browser', browser.wsEndpoint())
  return () => stopBrowser(browser)
}
