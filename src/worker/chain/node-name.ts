interface NamedNode {
  /** The `name` of the node in `TRON_NODES`; null if the node has none. */
  readonly name: string | null
  /** The host of the node's JSON-RPC URL, without a port. */
  readonly host: string
}

const ipv4 = /^\d+(\.\d+){3}$/

/**
 * Names a node for people without its URL, which may contain a key. A node without a `name` is
 * called by its number and the end of its host, such as `node 1 (trongrid.io)`; by the number alone
 * if the host is an IP address. The beginning of a host may identify an account at the provider, so
 * it is left out.
 */
export function nodeName(number: number, { name, host }: NamedNode): string {
  if (name !== null) return name
  const isIpAddress = host.startsWith('[') || ipv4.test(host)
  return isIpAddress ? `node ${number}` : `node ${number} (${host.replace(/\.$/, '').split('.').slice(-2).join('.')})`
}
