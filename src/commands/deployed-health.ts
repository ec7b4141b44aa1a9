import * as z from 'zod/mini'
import { err, ok, parseJson, type Result } from '../worker/common/result.ts'
import { isSafeUrl } from '../worker/common/safe-url.ts'
import { readBytes } from '../worker/platform/read-bytes.ts'
import type { CommandPlatform } from './node-pool.ts'
import { plainText } from './node-replies.ts'
import { OptionError } from './tool-error.ts'

/** Time limit of one request for the health of a deployment, in milliseconds. */
export const healthMsMax = 10_000
const replyBytesMax = 64 * 1024

/** The option that names the address of a deployment. */
export const serviceOption = { service: { type: 'string' } } as const

/** What a running service says of itself at `/health`. */
export interface DeployedHealth {
  readonly version: string
  /** The number of the newest migration that its database has whole. */
  readonly migration: number
  /** `ok`, `behind` or `stopped`. */
  readonly status: string
  /** The sentence that says more about the status. */
  readonly msg: string
}

/** A service that answers, and its address. */
export interface AnsweringService {
  readonly url: string
  readonly health: DeployedHealth
}

const text = z.pipe(z.string(), z.transform(plainText))
const envelope = z.object({
  code: z.int(),
  msg: text,
  data: z.optional(z.object({ version: text, migration: z.int(), status: text })),
})

/**
 * The addresses at which a deployment is asked: the one of `--service`, otherwise those in its
 * configuration. None has a slash at its end.
 */
export function addressesOf(service: string | undefined, urls: readonly string[]): readonly string[] {
  if (service === undefined) return urls
  if (isSafeUrl(service) && !/[?#]/.test(service)) return [service.replace(/\/+$/, '')]
  throw new OptionError('--service: the URL of the service, with https (http only for this machine)')
}

/** Shows only the host of a URL, because the path may contain a key. */
export function hostInUrl(url: string): string {
  return new URL(url).host
}

/**
 * Asks these addresses one after the other, and returns the first that answers as this service. The
 * error says of each why it does not.
 */
export async function askHealth(
  urls: readonly string[],
  platform: CommandPlatform,
): Promise<Result<AnsweringService, string>> {
  const whys: string[] = []
  for (const url of urls) {
    const answer = await askOne(url, platform)
    if (answer.ok) return ok({ url, health: answer.value })
    whys.push(`${hostInUrl(url)} ${answer.error}`)
  }
  return err(whys.join('; '))
}

/**
 * Asks one address, within `healthMsMax`. It follows no redirect: the page at its end would be
 * another service's.
 */
async function askOne(url: string, { clock, fetch }: CommandPlatform): Promise<Result<DeployedHealth, string>> {
  const [late, done] = [new AbortController(), new AbortController()]
  const isLate = () => {
    if (!done.signal.aborted) late.abort()
  }
  void clock.sleep(healthMsMax, done.signal).then(isLate)
  try {
    const response = await fetch(`${url}/health`, { redirect: 'manual', signal: late.signal })
    const { status } = response
    if (status >= 300 && status < 400) {
      await response.body?.cancel()
      return err('redirects, as a page does where people must sign in')
    }
    const bytes = await readBytes(response.body, replyBytesMax)
    const answer = envelope.safeParse(parseJson(new TextDecoder().decode(bytes ?? new Uint8Array())))
    if (!answer.success) return err(`does not answer as this service (status ${status})`)
    const { msg, data } = answer.data
    return data === undefined ? err(`answers ${status}: ${msg}`) : ok({ ...data, msg })
  } catch (error) {
    if (late.signal.aborted) return err(`has not answered within ${healthMsMax / 1000} s`)
    // `fetch` throws only errors
    const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } }
    return err(`cannot be reached: ${cause?.code ?? plainText(message)}`)
  } finally {
    done.abort()
  }
}
