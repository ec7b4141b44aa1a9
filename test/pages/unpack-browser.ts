/**
 * Unpacks the package's browser into TMPDIR. This file runs in its own process, because the package
 * reads TMPDIR from the environment of the process.
 */
import chromium from '@sparticuz/chromium'

await chromium.executablePath()
