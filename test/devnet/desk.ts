/** `npm run desk`: prints the address of the local desk with a token that is valid for an hour. */
import { printLine } from '../support/project.ts'
import { deskAddress, readPorts } from './local.ts'

const address = await deskAddress(`http://127.0.0.1:${readPorts().service}`)
printLine(
  address ?? 'There is no BACKEND_JWT_SECRET in .dev.vars, with which "npm start" has the desk: run that first.',
)
