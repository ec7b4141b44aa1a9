import { OptionError } from './tool-error.ts'

/**
 * What npm makes of an option that it takes for itself, where that is another one (npm 10 and 11, tried in November 2026): it
 * completes the beginning of a name of its own (`--to` and `--token` are `--token-description`), or reads single letters (`--gas` is `-g -a -s`).
 */
const otherNames: Readonly<Record<string, string>> = {
  to: 'token_description',
  token: 'token_description',
  gas: 'global',
  scan: 'all',
}

/** Options that a person can have set for npm itself, in a file: where the command has its own, npm has taken none. */
const alsoOfNpm = ['scope']

/** The options that decide on which database a command acts. They are looked for whether the command has them or not. */
const placeOptions = ['production', 'env']

/**
 * Refuses an option that npm has taken for itself, because `--` is missing before it: `gap list --env=nile`. The
 * command would run without it, on another database or with another meaning. npm hands its options on in the environment, as
 * `npm_config_env`. It has an own `--production`, which it hands on as `NODE_ENV=production` only, so that is refused as well unless
 * the command got its own. `options` are the names of those that the command has.
 */
export function refuseTakenOptions(
  options: readonly string[],
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const option of new Set([...placeOptions, ...options])) {
    if (alsoOfNpm.includes(option) && args.some((one) => one === `--${option}` || one.startsWith(`--${option}=`)))
      continue
    const names = [option.replaceAll('-', '_'), otherNames[option]]
    if (names.every((name) => environment[`npm_config_${name}`] === undefined)) continue
    throw new OptionError(`npm has taken --${option} for itself. Write "--" before the options, as here:`)
  }
  const isRunByNpm = environment.npm_lifecycle_event !== undefined
  if (!isRunByNpm || environment.NODE_ENV !== 'production' || args.includes('--production')) return
  throw new OptionError(
    'NODE_ENV is "production": npm sets that if it takes --production for itself. (If it is your own, unset it.) ' +
      'Write "--" before the options, as here:',
  )
}
