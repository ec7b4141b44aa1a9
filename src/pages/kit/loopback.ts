/**
 * Whether the host of a URL (`URL.hostname`) is this machine: `localhost`, or a loopback address.
 */
export const isThisMachine = (hostname: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)

/** Whether pages may link to an address: an https URL, or an http URL of this machine. */
export function isSafeLink(address: string): boolean {
  try {
    const { protocol, hostname } = new URL(address)
    return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))
  } catch {
    return false
  }
}
