import { transformSync } from 'esbuild'
import { keepBuild } from '../devnet/kept-build.ts'
import { root } from '../support/project.ts'

/** The bundle of a version of the Worker, and how it is run. */
export interface KeptBundle {
  readonly script: string
  readonly compatibilityDate: string
  readonly compatibilityFlags: readonly string[]
  /** The classes of its Durable Objects by their bindings. */
  readonly objects: Readonly<Record<string, string>>
}

/** Bundles the Worker as it is in this repository. */
export async function bundleCurrent(): Promise<KeptBundle> {
  const { script, options } = await keepBuild(root)
  // safe: wrangler makes these of its configuration
  const { compatibilityDate, compatibilityFlags, durableObjects } = options as {
    readonly compatibilityDate: string
    readonly compatibilityFlags: readonly string[]
    readonly durableObjects: Readonly<Record<string, { readonly className: string }>>
  }
  return {
    script: transformSync(script, { minify: true, format: 'esm', target: 'es2024' }).code,
    compatibilityDate,
    compatibilityFlags,
    objects: Object.fromEntries(Object.entries(durableObjects).map(([binding, { className }]) => [binding, className])),
  }
}
