/**
 * One file for all tests on the local chain: files run in parallel, and each test makes blocks that
 * the others would see.
 */
import './deposits.ts'
import './objects.ts'
import './refusals.ts'
