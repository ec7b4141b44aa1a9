import { afterAll, beforeAll, describe } from 'vitest'
import { placeInSecondCell } from '../http/service.ts'

// The tests of routes once more, for users in the second of three cells. The databases of the other cells throw if anything of them is read. Left out are the
// two routes that speak for all cells, and the owner of reserved addresses, whom each cell has: `borders.test.ts` has those.
beforeAll(() => placeInSecondCell(true))
afterAll(() => placeInSecondCell(false))

const files = import.meta.glob(['../http/routes/*.test.ts', '!../http/routes/{health,currencies,reserved}.test.ts'])
for (const [path, load] of Object.entries(files)) describe(path, async () => void (await load()))
