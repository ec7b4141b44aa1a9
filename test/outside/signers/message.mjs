/**
 * Makes a whole signed transaction as for `broadcasthex`, from its raw data and its signature in
 * hex. Lengths must be below 2^14.
 */
export function messageOf(rawDataHex, signatureHex) {
  const signature = signatureHex.replace(/^0x/, '')
  return `${field('0a', rawDataHex)}${field('12', signature)}`.toLowerCase()
}
const field = (tag, hex) => tag + lengthOf(hex.length / 2) + hex
const lengthOf = (bytes) => Buffer.from(bytes < 128 ? [bytes] : [(bytes & 127) | 128, bytes >> 7]).toString('hex')

/** Prints one message as judge.ts reads it. */
export const show = (what, message) => process.stdout.write(`${what}\t${message}\n`)
