import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * The stored result of compiling the token: its creation code and the selectors of its functions.
 */
export interface TokenArtifact {
  readonly compiler: string
  /** `0x` and hex digits. */
  readonly bytecode: string
  /** The function's signature, with its selector as 8 hex digits. */
  readonly selectors: Readonly<Record<string, string>>
}

/** The contracts, each with the file of its source. */
const sources = { TestUSDT: 'TestUSDT.sol', FalseToken: 'OddTokens.sol', RevertingToken: 'OddTokens.sol' } as const
export type ContractName = keyof typeof sources
export const contractNames = Object.keys(sources) as readonly ContractName[]

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url).href)
/** The path of the stored artifact, which `node test/devnet/token/compile.ts` writes. */
const artifactPath = (name: ContractName) => pathOf(`${name}.json`)

interface Solc {
  version(): string
  compile(input: string): string
}
interface SolcContract {
  readonly evm: { readonly bytecode: { readonly object: string }; readonly methodIdentifiers: Record<string, string> }
}
interface SolcOutput {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolcContract>>>>
}

/** Compiles the source of a contract. With these settings the code is the same on all machines. */
export function compileToken(name: ContractName = 'TestUSDT'): TokenArtifact {
  const file = sources[name]
  const solc = createRequire(import.meta.url)('solc') as Solc // the package has no types
  const content = readFileSync(pathOf(file), 'utf8')
  const settings = {
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 200 },
    metadata: { appendCBOR: false, bytecodeHash: 'none' },
    outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.methodIdentifiers'] } },
  }
  const input = { language: 'Solidity', sources: { [file]: { content } }, settings }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput // solc's documented output
  const contract = output.contracts?.[file]?.[name]
  if (contract === undefined || output.errors !== undefined) {
    throw new Error(output.errors?.map((error) => error.formattedMessage).join('\n') ?? 'solc returned no contract')
  }
  const { bytecode, methodIdentifiers } = contract.evm
  return { compiler: solc.version(), bytecode: `0x${bytecode.object}`, selectors: methodIdentifiers }
}

/**
 * Reads the stored artifact of a contract. A test compares the artifact with the contract's source.
 */
export function readTokenArtifact(name: ContractName = 'TestUSDT'): TokenArtifact {
  // safe: this file, run as a program, has written it
  return JSON.parse(readFileSync(artifactPath(name), 'utf8')) as TokenArtifact
}

/** The selector of one of the token's functions, 8 hex digits. */
export function tokenSelector(signature: string): string {
  const entry = Object.entries(readTokenArtifact().selectors).find(([name]) => name === signature)
  if (entry === undefined) throw new Error(`the test token has no function ${signature}`)
  return entry[1]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of contractNames) {
    writeFileSync(artifactPath(name), `${JSON.stringify(compileToken(name), null, 2)}\n`)
  }
}
