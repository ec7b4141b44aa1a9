import { cellOption, placeOptions } from '../place.ts'

const texts = { type: 'string', multiple: true, default: [] as string[] } as const
const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const

/** The options that say with what an archive is verified: those of `rebuild`. */
export const sealOptions = { verifier: texts, checkpoint: texts } as const

/** The options of `verify`. */
export const verifyOptions = { ...sealOptions, nodes: text, from: text } as const

/** The options of `missing`. */
export const missingOptions = {
  ...sealOptions,
  ...placeOptions,
  ...cellOption,
  local: flag,
  'put-back': flag,
  service: text,
  secret: text,
  stdin: flag,
} as const

/** The names of the options of all commands of `npm run audit`. */
export const auditOptionNames = Object.keys({ ...verifyOptions, ...missingOptions })
