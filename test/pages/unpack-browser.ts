/** Run by itself: unpacks the browser of the package into the folder for temporary files, which is that of the whole process. */
import chromium from '@sparticuz/chromium'

await chromium.executablePath()
