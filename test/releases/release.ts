/**
 * `npm run release` writes what a release keeps for the tests of later ones: the hashes of its
 * migrations.
 */
import { releaseMigrations } from '../../migrations/released.ts'

releaseMigrations()
