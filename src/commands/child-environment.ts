/**
 * The environment variables that are passed on to a program whose output this process parses: where
 * to find programs and files, network and account. Variables that change its output
 * (`WRANGLER_LOG`, `FORCE_COLOR`, `NODE_DEBUG`, `RUST_LOG`) or its target (`CLOUDFLARE_ENV`) are
 * left out. `NODE_OPTIONS` is passed on, because it sets memory and certificates; it may make the
 * program print lines of its own, so the parser looks for its JSON among other lines
 * (`wrangler.ts`).
 */
const handedOn: readonly RegExp[] = [
  /^(PATH|PATHEXT|HOME|USER|USERNAME|LOGNAME|SHELL|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|USERPROFILE|HOMEDRIVE|HOMEPATH)$/i,
  /^(APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(\(X86\))?|TMPDIR|TMP|TEMP|XDG_\w+_HOME|XDG_RUNTIME_DIR)$/i,
  /^(LANG|LC_\w+|TZ)$/i,
  /^((HTTP|HTTPS|ALL|NO)_PROXY|SSL_CERT_FILE|SSL_CERT_DIR)$/i,
  /^NODE_(OPTIONS|EXTRA_CA_CERTS|USE_SYSTEM_CA|USE_ENV_PROXY|TLS_REJECT_UNAUTHORIZED|COMPILE_CACHE)$/,
  /^(CLOUDFLARE|CF)_(?!ENV$|INCLUDE_PROCESS_ENV$|LOAD_DEV_VARS)\w+$/,
  /^WRANGLER_(API_ENVIRONMENT|AUTH_DOMAIN|AUTH_URL|TOKEN_URL|REVOKE_URL|CLIENT_ID|CF_AUTHORIZATION_TOKEN|KEYRING_SERVICE_NAME)$/,
  /^WRANGLER_(CACHE_DIR|SEND_METRICS|SEND_ERROR_REPORTS|LOG_PATH|OUTPUT_FILE_PATH|OUTPUT_FILE_DIRECTORY)$/,
]

/**
 * The environment for a program whose output is parsed: those variables of `own` that `handedOn`
 * allows, and `additions`, which win.
 */
export function childEnvironment(
  additions: Readonly<Record<string, string>> = {},
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const known = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && handedOn.some((form) => form.test(entry[0])),
  )
  return { ...Object.fromEntries(known), ...additions }
}

/**
 * Additional variables for wrangler: no questions, no colours, and the usual amount of output. All
 * three are set, because wrangler reads unset ones from a file `.env` beside wrangler.toml.
 */
export const wranglerVariables = { CI: '1', NO_COLOR: '1', WRANGLER_LOG: 'log' } as const

/**
 * The last `printedCharsMax` characters of a program's output, in one line, for an error message.
 */
export function lastPrinted(output: string): string {
  const line = output.replace(/\s+/g, ' ').trim()
  if (line === '') return 'it has printed nothing'
  return `the last that it printed is: ${line.length > printedCharsMax ? '…' : ''}${line.slice(-printedCharsMax)}`
}

const printedCharsMax = 400
