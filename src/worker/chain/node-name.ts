/** The parts of a node's label: its name, and the host of its JSON-RPC. */
interface NamedNode {
  /** `name` in `TRON_NODES`, or null. */
  readonly name: string | null
  /** Without a port. */
  readonly host: string
}

const ipv4 = /^\d+(\.\d+){3}$/

/**
 * A node's label for people, in place of its URL: its `name`; else its number with the last two labels of its host, `node 1 (trongrid.io)`; or only the number
 * if the host is an IP address. Earlier labels of a host may identify an account at the provider.
 */
export function nodeName(number: number, { name, host }: NamedNode): string {
  if (name !== null) return name
  const isIpAddress = host.startsWith('[') || ipv4.test(host)
  return isIpAddress ? `node ${number}` : `node ${number} (${host.replace(/\.$/, '').split('.').slice(-2).join('.')})`
}
