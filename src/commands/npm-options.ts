import { OptionError } from './tool-error.ts'

/**
 * Names of npm's own options, by the option of a command that npm takes for them if `--` is missing
 * (npm 10 and 11, tried in November 2026): npm completes the beginning of its own names (`--to` and
 * `--token` become `--token-description`), or reads single letters (`--gas` becomes `-g -a -s`).
 */
const otherNames: Readonly<Record<string, string>> = {
  to: 'token_description',
  token: 'token_description',
  gas: 'global',
  scan: 'all',
}

/**
 * Names of options that npm has, too, and that a person may have set in npm's own configuration
 * file. So the variable in the environment does not show that npm has taken the option, if the
 * command has got an option of this name.
 */
const alsoOfNpm = ['scope']

/**
 * The options that choose the deployment on which a command acts. A command that lacks them refuses
 * them, too, if npm has taken them.
 */
const placeOptions = ['production', 'env']

/**
 * Refuses an option that npm has taken because `--` is missing before it, as in
 * `gap list --env=nile`. Otherwise the command would run without it, on another database or with
 * another meaning. npm passes its options on in the environment, as `npm_config_env`. It has a
 * `--production` of its own, which it passes on only as `NODE_ENV=production`, so this is refused,
 * too, unless the command got the option. `options` are the names of the command's options.
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
