/** Reads the page as a camera would: from its pixels. */
import type { Page } from 'puppeteer-core'
import decodeQr from 'qr/decode.js'

/** How many pixels around the QR code the camera sees. */
const aroundPx = 30

/**
 * The text of the QR code, read from a screenshot of it and its surroundings, with only black and
 * white.
 */
export async function scannedText(page: Page): Promise<string> {
  const clip = await page.$eval(
    '.qr',
    (code, around) => {
      const { left, top, right, bottom } = code.getBoundingClientRect()
      const [x, y] = [Math.max(0, left - around), Math.max(0, top - around)]
      return {
        x,
        y,
        width: Math.min(innerWidth, right + around) - x,
        height: Math.min(innerHeight, bottom + around) - y,
      }
    },
    aroundPx,
  )
  const shown = await page.screenshot({ encoding: 'base64', clip, captureBeyondViewport: false })
  const { width, height, data } = await pixelsOf(page, shown)
  // The decoder would find contrasts that no camera does, such as dark grey on darker grey: here
  // both become black.
  const blackOrWhite = data.map((value) => (value < 128 ? 0 : 255))
  // no time limit, for slow machines
  return decodeQr({ width, height, data: blackOrWhite }, { timeLimit: Number.POSITIVE_INFINITY })
}

interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** The pixels of a PNG, decoded by the browser that has drawn it. */
async function pixelsOf(page: Page, png: string): Promise<Pixels> {
  const reader = await page.browserContext().newPage()
  const { width, height, data } = await reader.evaluate(async (base64) => {
    const image = new Image()
    image.src = `data:image/png;base64,${base64}`
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height)
    const drawing = canvas.getContext('2d')
    drawing?.drawImage(image, 0, 0)
    const pixels = drawing?.getImageData(0, 0, image.width, image.height).data ?? new Uint8ClampedArray()
    let text = ''
    for (let at = 0; at < pixels.length; at += 0x8000) text += String.fromCharCode(...pixels.subarray(at, at + 0x8000))
    return { width: image.width, height: image.height, data: btoa(text) }
  }, png)
  await reader.close()
  return { width, height, data: Buffer.from(data, 'base64') }
}
