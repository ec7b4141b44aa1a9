import { err, type Result } from '../../worker/common/result.ts'
import { serviceVersion } from '../../worker/platform/version.ts'
import { type AnsweringService, askHealth, hostInUrl } from '../deployed-health.ts'
import type { CommandPlatform } from '../node-pool.ts'

/** How long a deployment is asked until it shows the new version, in milliseconds. */
export const confirmMsMax = 60_000
/** The pause between two questions. */
const pauseMs = 2_000

/**
 * Asks the deployment until it shows this version with the newest migration `migration`, for at
 * most `confirmMsMax` and one more question. The error says what it has shown last.
 */
export async function confirmDeployed(
  urls: readonly string[],
  migration: number,
  platform: CommandPlatform,
): Promise<Result<AnsweringService, string>> {
  const { clock } = platform
  const end = clock.now() + confirmMsMax
  for (;;) {
    const answer = await askHealth(urls, platform)
    if (answer.ok && isExpected(answer.value, migration)) return answer
    if (clock.now() >= end) return answer.ok ? err(describeService(answer.value)) : answer
    await clock.sleep(pauseMs)
  }
}

const isExpected = ({ health }: AnsweringService, migration: number) =>
  health.version === serviceVersion && health.migration === migration

/** What a service has shown, in a phrase. */
export function describeService({ url, health }: AnsweringService): string {
  const { version, migration, status, msg } = health
  return `${hostInUrl(url)} runs ${version}, newest migration ${migration}, ${status}${status === 'ok' ? '' : ` (${msg})`}`
}

/** The addresses on workers.dev that wrangler has printed. */
export const printedUrls = (output: string) => output.match(/https:\/\/[a-z0-9.-]+\.workers\.dev\b/g) ?? []
