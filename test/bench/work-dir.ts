import { root } from '../support/project.ts'

/** Bundles, seeded databases and running ones. Git ignores the folder, and it can be deleted at any time. */
export const workDir = `${root}.wrangler/bench/`
