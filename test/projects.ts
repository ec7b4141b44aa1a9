/** Which files a project has, as patterns from the root. */
export interface ProjectFiles {
  readonly include: string[]
  readonly exclude?: string[]
}

/**
 * The projects of vitest and their files. A file that is in none of them, or in two, fails
 * `projects.test.ts`.
 */
export const projects = {
  checks: { include: ['test/checks.test.ts'] },
  simulation: { include: ['test/simulation/**/*.test.ts'] },
  unit: {
    include: [
      'test/{architecture,docs,elsewhere,generated,licences,lockfile,pages,projects,stated-numbers,what-stays}.test.ts',
      'test/{commands,devnet,releases,rivals,shop,webhooks}/**/*.test.ts',
    ],
    exclude: ['test/webhooks/**/*.d1.test.ts'], // these files need workerd
  },
  worker: {
    include: [
      'test/{addresses,alarms,archive,cells,chain,common,config,d1,deposits,events,http,ledger,migrations,orders,payouts,platform}/**/*.test.ts',
      'test/{reconciliation,rpc,scan,scheduled,search,tron}/**/*.test.ts',
      'test/webhooks/**/*.d1.test.ts',
    ],
    exclude: ['test/cells/routes.test.ts'], // this file runs files of this project once more
  },
  cells: { include: ['test/cells/routes.test.ts'] },
  integration: { include: ['test/integration/**/*.test.ts'] },
  pages: { include: ['test/pages/**/*.test.ts'] },
} satisfies Readonly<Record<string, ProjectFiles>>
