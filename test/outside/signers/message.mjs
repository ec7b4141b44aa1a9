/** The whole signed message of raw data and a signature in hex, as for `broadcasthex`. */
export function messageOf(rawDataHex, signatureHex) {
  const signature = signatureHex.replace(/^0x/, '')
  return `${field('0a', rawDataHex)}${field('12', signature)}`.toLowerCase()
}
const field = (tag, hex) => tag + lengthOf(hex.length / 2) + hex
const lengthOf = (bytes) => Buffer.from(bytes < 128 ? [bytes] : [(bytes & 127) | 128, bytes >> 7]).toString('hex')

/** Prints one message. */
export const show = (what, message) => process.stdout.write(`${what}\t${message}\n`)
