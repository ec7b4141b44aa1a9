import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The stored result of compiling the token: its creation code and the selectors of its functions. */
export interface TokenArtifact {
  readonly compiler: string
  /** `0x` and hex digits. */
  readonly bytecode: string
  /** Signature to 8 hex digits. */
  readonly selectors: Readonly<Record<string, string>>
}

/** The stored artifact; `node test/devnet/token/compile.ts` writes it. */
const artifactPath = fileURLToPath(new URL('TestUSDT.json', import.meta.url).href)

interface Solc {
  version(): string
  compile(input: string): string
}
interface SolcOutput {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly contracts?: {
    'TestUSDT.sol'?: {
      TestUSDT?: { evm: { bytecode: { object: string }; methodIdentifiers: Record<string, string> } }
    }
  }
}

/** Compiles the token's source. With these settings the code is the same on all machines. */
export function compileToken(): TokenArtifact {
  const solc = createRequire(import.meta.url)('solc') as Solc // the package has no types
  const content = readFileSync(fileURLToPath(new URL('TestUSDT.sol', import.meta.url).href), 'utf8')
  const settings = {
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 200 },
    metadata: { appendCBOR: false, bytecodeHash: 'none' },
    outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.methodIdentifiers'] } },
  }
  const input = { language: 'Solidity', sources: { 'TestUSDT.sol': { content } }, settings }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput // solc's documented output
  const contract = output.contracts?.['TestUSDT.sol']?.TestUSDT
  if (contract === undefined || output.errors !== undefined) {
    throw new Error(output.errors?.map((error) => error.formattedMessage).join('\n') ?? 'solc returned no contract')
  }
  const { bytecode, methodIdentifiers } = contract.evm
  return { compiler: solc.version(), bytecode: `0x${bytecode.object}`, selectors: methodIdentifiers }
}

/** The stored artifact. */
export function readTokenArtifact(): TokenArtifact {
  return JSON.parse(readFileSync(artifactPath, 'utf8')) as TokenArtifact // a test compares it with the source
}

/** The selector of one of the token's functions, 8 hex digits. */
export function tokenSelector(signature: string): string {
  const entry = Object.entries(readTokenArtifact().selectors).find(([name]) => name === signature)
  if (entry === undefined) throw new Error(`the test token has no function ${signature}`)
  return entry[1]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(artifactPath, `${JSON.stringify(compileToken(), null, 2)}\n`)
}
