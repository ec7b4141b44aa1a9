import { afterAll, beforeAll, describe } from 'vitest'
import { placeInSecondCell } from '../http/service.ts'

// Runs the tests of the routes again for users in the second of three cells. The databases of the
// other cells throw on any read. Three files are left out, because those routes read every cell:
// health, currencies and reserved addresses. `borders.test.ts` tests them.
beforeAll(() => placeInSecondCell(true))
afterAll(() => placeInSecondCell(false))

const files = import.meta.glob(['../http/routes/*.test.ts', '!../http/routes/{health,currencies,reserved}.test.ts'])
for (const [path, load] of Object.entries(files)) describe(path, async () => void (await load()))
