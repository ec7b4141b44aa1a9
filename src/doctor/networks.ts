const mainnet = '0x2b6653dc'

/** The public networks by chain id. */
const networks: ReadonlyMap<string, string> = new Map([
  [mainnet, 'mainnet'],
  ['0xcd8690dc', 'Nile'],
  ['0x94a9059e', 'Shasta'],
])

/** A public network's name, or null: then the chain is somebody's own. */
export function networkOf(chainId: string): string | null {
  return networks.get(chainId) ?? null
}

/** Whether real money is there. */
export function isMainnet(chainId: string): boolean {
  return chainId === mainnet
}
