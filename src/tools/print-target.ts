/** Prints on what a command of an environment acts, or why that cannot be read, as JSON: see `target-apart.ts`, which runs it. */
import { err, ok, type Result } from '../common/result.ts'
import { readConfiguration } from './configuration.ts'
import { chainIn, configurationAdvice, describeTarget } from './target.ts'
import type { Target } from './target-apart.ts'
import type { ToolRefusal } from './tool-error.ts'

const { env } = JSON.parse(process.argv[2] ?? '{}') as { readonly env?: string }
process.stdout.write(JSON.stringify(readTarget()))

function readTarget(): Result<Target, ToolRefusal> {
  const source = readConfiguration(env, process.env)
  if (!source.ok) return err({ why: source.error, next: configurationAdvice })
  return ok({ line: describeTarget(source.value), chainId: chainIn(source.value) })
}
