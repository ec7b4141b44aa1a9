/** `npm run desk`: prints the address of the local desk with a token that is valid for an hour. */
import { printLine } from '../support/project.ts'
import { deskAddress, readPorts, readVariable } from './local.ts'

const secret = readVariable('BACKEND_JWT_SECRET')
printLine(
  secret === undefined
    ? 'There is no BACKEND_JWT_SECRET in .dev.vars, so there is no desk.'
    : await deskAddress(`http://127.0.0.1:${readPorts().service}`, secret),
)
