import * as z from 'zod/mini'
import { parseJson } from '../../worker/common/result.ts'
import { readTextFile } from '../files.ts'
import { ToolError } from '../tool-error.ts'
import { base58Text, contentShape, offerSchema, shownPayout, txidText } from './payout.ts'

// Files that travel between a machine with a network and one without: `fetch` writes the first,
// `sign` the second. Neither contains a secret.

const common = { version: z.literal(1), chainId: z.string(), address: base58Text }
const fetchedFormat = 'tron-wallet-service/payouts-fetched'
const signedFormat = 'tron-wallet-service/payouts-signed'

const fetchedSchema = z.strictObject({
  format: z.literal(fetchedFormat),
  ...common,
  /** What the service offers to be signed; null if it offers nothing. */
  offer: z.nullable(offerSchema),
  /** The payouts of the last 31 days. */
  known: z.array(shownPayout),
  /**
   * Transactions that a quorum of the nodes of the fetching machine shows as failed in a final
   * block.
   */
  failed: z.array(txidText),
})
const signedPayout = z.strictObject({
  ...contentShape,
  txid: txidText,
  transaction: z.string().check(z.regex(/^([0-9a-f]{2})+$/)),
})
const signedSchema = z.strictObject({ format: z.literal(signedFormat), ...common, signed: z.array(signedPayout) })

/** A transaction to hand in, with the payout that it pays. */
export type SignedPayout = z.infer<typeof signedPayout>
type Content<T> = Omit<T, 'format' | 'version'>

/** Adds format and version to the content of a file that `payout -- fetch` writes. */
export const fetchedFile = (content: Content<z.infer<typeof fetchedSchema>>) => ({
  format: fetchedFormat,
  version: 1,
  ...content,
})
/** Adds format and version to the content of a file that `payout -- sign` writes. */
export const signedFile = (content: Content<z.infer<typeof signedSchema>>) => ({
  format: signedFormat,
  version: 1,
  ...content,
})

/**
 * Reads a file of `fetch`. Throws a `ToolError` if it is for another chain or payout address than
 * `own`.
 */
export const readFetchedFile = (path: string, own: Own) => readStep(path, fetchedSchema, 'fetch', own)
/**
 * Reads a file of `sign`. Throws a `ToolError` if it is for another chain or payout address than
 * `own`.
 */
export const readSignedFile = (path: string, own: Own) => readStep(path, signedSchema, 'sign', own)

/** The chain and the payout address that a file must be for. */
type Own = Readonly<Record<'chainId' | 'address', string>>

async function readStep<T extends Own>(path: string, schema: z.ZodMiniType<T>, command: string, own: Own): Promise<T> {
  const parsed = schema.safeParse(parseJson(await readTextFile(path)))
  if (!parsed.success) {
    const name = `payout -- ${command}`
    throw new ToolError(`${path} is not a file of "${name}", version 1`, `name the file that "${name}" has written`)
  }
  const { chainId, address } = parsed.data
  if (chainId === own.chainId && address === own.address) return parsed.data
  throw new ToolError(
    `${path} is for ${address} on chain ${chainId}, and the settings here for ${own.address} on ${own.chainId}`,
    'name the right deployment (--production, --env), or make the file again',
  )
}
