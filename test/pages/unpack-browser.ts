/** Unpacks the package's browser into TMPDIR. It is a process of its own, because the package reads TMPDIR from the process's environment. */
import chromium from '@sparticuz/chromium'

await chromium.executablePath()
