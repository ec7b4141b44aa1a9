import { describe, expect, it } from 'vitest'
import { configOf, faultsOf } from './parsed.ts'

const audience = '32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228'
const people = { 'Ann@Example.com': 'read approve', '*@example.com': 'read', 'bo@other.example': 'read pay' }
const setting = (changes: object = {}) => ({ DESK_ACCESS: { team: 'acme', audience, people, ...changes } })

describe('DESK_ACCESS', () => {
  it.each([
    ['an object', setting().DESK_ACCESS],
    ['its JSON text', JSON.stringify(setting().DESK_ACCESS)],
  ])('is %s: who may do what, by address or by domain', (_, DESK_ACCESS) => {
    const { deskAccess } = configOf({ DESK_ACCESS })
    expect(deskAccess).toEqual({
      issuer: 'https://acme.cloudflareaccess.com',
      keysUrl: 'https://acme.cloudflareaccess.com/cdn-cgi/access/certs',
      audience,
      people: new Map([
        ['ann@example.com', ['ledger:read', 'ledger:approve']],
        ['*@example.com', ['ledger:read']],
        ['bo@other.example', ['ledger:read', 'ledger:pay']],
      ]),
    })
  })

  it('is nobody without it', () => {
    expect(configOf().deskAccess).toBeNull()
  })

  const peopleExpected = 'DESK_ACCESS.people: an object of 1 to 200 e-mail addresses, or *@ and a domain'
  it.each<[string, object, string]>([
    ['no team', { team: undefined }, 'DESK_ACCESS.team: the name of the team'],
    ['a host as the team', { team: 'acme.cloudflareaccess.com' }, 'DESK_ACCESS.team: the name of the team'],
    ['a path in the team', { team: 'acme/x' }, 'DESK_ACCESS.team: the name of the team'],
    ['no audience', { audience: '' }, 'DESK_ACCESS.audience: the audience tag'],
    ['nobody', { people: {} }, peopleExpected],
    ['a list of people', { people: ['ann@example.com'] }, peopleExpected],
    ['a name that is no address', { people: { ann: 'read' } }, peopleExpected],
    ['everybody', { people: { '*': 'read' } }, peopleExpected],
    ['every domain', { people: { '*@*': 'read' } }, peopleExpected],
    ['one address twice', { people: { 'ann@example.com': 'read', 'ANN@example.com': 'approve' } }, peopleExpected],
    ['a letter that is ASCII in lower case alone', { people: { 'fran\u212A@example.com': 'read' } }, peopleExpected],
    ['such a letter in a domain', { people: { '*@\u212Alub.example': 'read' } }, peopleExpected],
    ['a line end in an address', { people: { 'ann@example.com\n': 'read' } }, peopleExpected],
    ['nothing that somebody may', { people: { 'ann@example.com': '' } }, peopleExpected],
    ['an unknown word', { people: { 'ann@example.com': 'read post' } }, peopleExpected],
    ['a scope with its prefix', { people: { 'ann@example.com': 'ledger:read' } }, peopleExpected],
    ['another member', { emails: [] }, 'DESK_ACCESS: an object with team, audience and people'],
  ])('is refused with %s', (_, changes, fault) => {
    const [found = ''] = faultsOf(setting(changes))
    expect(found.slice(0, fault.length)).toBe(fault)
  })

  it.each(['AUTH_JWKS_URL', 'BACKEND_JWKS_URL'])('is refused with the keys of its team as %s', (name) => {
    const keys = 'https://ACME.cloudflareaccess.com/cdn-cgi/access/certs/'
    expect(faultsOf({ ...setting(), [name]: keys })).toEqual([
      `${name}: another host, port or path than the keys of the team of DESK_ACCESS`,
    ])
  })
})
