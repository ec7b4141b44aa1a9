/** What a node is called, and the host of its JSON-RPC. */
interface NamedNode {
  /** `name` in `TRON_NODES`, or null. */
  readonly name: string | null
  /** Without a port. */
  readonly host: string
}

const ipv4 = /^\d+(\.\d+){3}$/

/**
 * What people read in place of a node's URL: its `name`; without one its number with the last two labels of its host, `node 1
 * (trongrid.io)`, or the number alone if the host is an IP address. Labels before these can belong to an account at the provider.
 */
export function nodeName(number: number, { name, host }: NamedNode): string {
  if (name !== null) return name
  const isIpAddress = host.startsWith('[') || ipv4.test(host)
  return isIpAddress ? `node ${number}` : `node ${number} (${host.replace(/\.$/, '').split('.').slice(-2).join('.')})`
}
