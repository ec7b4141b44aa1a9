import { findBrowser } from './browser.ts'

/** Where the browser has to be unpacked, this is done once for all files. */
export default async (): Promise<void> => void (await findBrowser())
