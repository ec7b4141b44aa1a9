import { deriveAddress, parseExtendedPublicKey } from '../../../src/addresses/derive.ts'
import { formatBase58 } from '../../../src/chain/address.ts'

let key: ReturnType<typeof parseExtendedPublicKey> | null = null

/** Derives `/{xpub}/{from}/{count}` with the service's own code and returns the last address. It is never deployed. */
export default {
  fetch(request) {
    const [, xpub = '', from, count] = new URL(request.url).pathname.split('/')
    key ??= parseExtendedPublicKey(xpub)
    if (!key.ok) return new Response(key.error, { status: 400 })
    let last = ''
    for (let i = 0; i < Number(count); i += 1) last = formatBase58(deriveAddress(key.value, Number(from) + i))
    return new Response(last)
  },
} satisfies ExportedHandler
