/** All tests on the local chain are one file: each makes blocks for the others, so that they must not run at the same time. */
import './deposits.ts'
import './objects.ts'
import './refusals.ts'
