import { SignJWT } from 'jose'
import { backendAuthSchema, type TokenConfig } from '../../worker/config/auth.ts'
import { type Bindings, parseBindings } from '../../worker/config/schemas.ts'
import { readTextFile } from '../files.ts'
import { createTerminal } from '../signing/terminal.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import type { Options, PersonParts } from './options.ts'

const lifetimeMs = 3_600_000
const secretName = 'BACKEND_JWT_SECRET'

/** The words of `--scope`, each with the scope that it stands for. */
const scopeOf: ReadonlyMap<string, string> = new Map(
  ['read', 'approve', 'pay'].map((word) => [word, `ledger:${word}`] as const),
)

/**
 * Parses `--scope`: words separated by commas. Returns the scopes of a token, separated by spaces.
 */
export function readScopes({ scope = '' }: Options): string {
  const scopes = scope.split(',').map((word) => scopeOf.get(word.trim()))
  if (scopes.every((one) => one !== undefined)) return [...new Set(scopes)].join(' ')
  throw new OptionError(`--scope: words of ${[...scopeOf.keys()].join(', ')}, with commas between them`)
}

/** Makes a token for a person's name, valid for an hour. `scope` is a list separated by spaces. */
export type SignToken = (name: string, scope: string) => Promise<string>

/**
 * Reads `BACKEND_JWT_SECRET`, and returns a function that signs tokens with it. The secret is in a
 * file (`--secret`), in the configuration, or typed without echo. It is never an argument, which
 * others on the machine can read.
 */
export async function openSecret(
  options: Options,
  values: Bindings,
  { streams, clock }: PersonParts,
): Promise<SignToken> {
  const given =
    options.secret === undefined ? values[secretName] : (await readTextFile(options.secret)).replace(/\r?\n$/, '')
  const typed = () => createTerminal(streams, options.stdin === true).askSecret(`${secretName} (not shown): `)
  const secret = given === undefined || given === '' ? await typed() : given
  const parsed = parseBindings(backendAuthSchema, { ...values, [secretName]: secret })
  if (!parsed.ok) throw new ToolError(parsed.error.join('; '), 'give the secret that the deployment has')
  const { secrets, ...claims } = parsed.value
  const key = new TextEncoder().encode(secrets[0] ?? '')
  return (name, scope) => sign(key, claims, name, scope, clock.now() + lifetimeMs)
}

function sign(
  key: Uint8Array,
  { issuer, audience }: Pick<TokenConfig, 'issuer' | 'audience'>,
  name: string,
  scope: string,
  endMs: number,
): Promise<string> {
  const token = new SignJWT({ scope }).setProtectedHeader({ alg: 'HS256' }).setSubject(name)
  if (issuer !== null) token.setIssuer(issuer)
  if (audience !== null) token.setAudience(audience)
  return token.setExpirationTime(new Date(endMs)).sign(key)
}
