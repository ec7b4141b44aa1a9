import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { openCheckpoint, parseNoteKey } from '../../src/worker/archive/note.ts'
import { growTree } from '../../src/worker/archive/segment.ts'
import { rootOf } from '../../src/worker/archive/tree.ts'
import { parseConfig } from '../../src/worker/config/config.ts'
import { read } from '../http/service.ts'
import { testVariables } from '../support/variables.ts'
import { archive, names, segments, startArchived, textAt } from './harness.ts'
import { testSealKey } from './seal-key.ts'

const post = (osn: string) => [{ uid: 7, cuy: 2, type: 5, osn, amt: '1' }]

/** Opens a note with a key as `GET /ledger/checkpoint` has it. */
function open(note: string, key: string) {
  const parsed = parseNoteKey(key, sha256)
  if (parsed === null) throw new Error('no key')
  return openCheckpoint(note, parsed, { sha256, verify: ed25519.verify })
}

describe('a checkpoint', () => {
  it('is signed after each segment, over all lines so far', async () => {
    const service = await startArchived({ SEAL_KEY: testSealKey })
    for (const osn of ['a', 'b', 'c']) {
      await service.post(post(osn))
      await archive(service)
    }
    const response = await service.ledger('/ledger/checkpoint')
    const { data } = await response.json<{
      data: Record<'origin' | 'root' | 'note' | 'key', string> & { size: number }
    }>()
    const list = await segments()
    const notes = await Promise.all((await names()).filter((name) => name.includes('/checkpoints/')).map(textAt))
    expect(notes).toHaveLength(list.length)
    let text = ''
    for (const [i, segment] of list.entries()) {
      text += segment.text
      const tree = growTree([], 0, text)
      const checkpoint = open(notes[i] ?? '', data.key)
      expect(checkpoint).toMatchObject({ ok: true, value: { origin: segment.head.name, size: segment.head.last + 1 } })
      expect(checkpoint.ok && checkpoint.value.root).toEqual(rootOf(tree, sha256))
    }
    const last = list.at(-1)?.head
    expect(data).toMatchObject({ origin: last?.name, size: (last?.last ?? 0) + 1, note: notes.at(-1) })
    expect(data.note).toContain(`\n${data.root}\n`)
    expect(await service.rpc.checkpoint()).toEqual({ ok: true, ...data })
  })

  it('is none without SEAL_KEY, and needs the scope ledger:read', async () => {
    const service = await startArchived()
    await archive(service)
    expect(await read(await service.ledger('/ledger/checkpoint'))).toMatchObject({
      status: 404,
      body: { code: 404, msg: 'no such checkpoint' },
    })
    expect((await service.ledger('/ledger/checkpoint', {}, { scope: 'ledger:post' })).status).toBe(403)
    expect((await service.get('/ledger/checkpoint')).status).toBe(401)
    expect(await service.rpc.checkpoint()).toMatchObject({ ok: false, error: { kind: 'not-found' } })
    expect((await names()).filter((name) => name.includes('/checkpoints/'))).toEqual([])
  })

  it('has no key or secret beside it in the bucket, nor in any log line', async () => {
    const service = await startArchived({ SEAL_KEY: testSealKey })
    await archive(service)
    const all = [...service.lines, ...(await Promise.all((await names()).map(textAt)))].join('\n')
    expect(all).not.toContain(testSealKey)
    expect(all).not.toContain(testSealKey.slice(22))
  })
})

describe('the settings of the archive', () => {
  const bucket = { put: () => null, get: () => null, list: () => null }
  const faults = (changes: Record<string, unknown>) => {
    const db = { prepare: () => null, batch: () => null } as unknown as D1Database
    const parsed = parseConfig({ ...testVariables(db), BUCKET: bucket, ...changes })
    return parsed.ok ? parsed.value.archive : parsed.error
  }
  const expected =
    'an Ed25519 private key as PKCS#8 in base64: openssl genpkey -algorithm ed25519 -outform DER | base64'

  it('are none by default', () => {
    expect([faults({}), faults({ ARCHIVE: '' }), faults({ SEAL_KEY: testSealKey })]).toEqual([null, null, null])
  })

  it('are a bucket, and a key', () => {
    expect(faults({ ARCHIVE: 'BUCKET' })).toEqual({ bucket, sealKey: null })
    expect(faults({ ARCHIVE: 'BUCKET', SEAL_KEY: testSealKey })).toEqual({
      bucket,
      sealKey: base64.decode(testSealKey),
    })
  })

  it.each([
    [{ ARCHIVE: 'NONE' }, 'ARCHIVE: the name of an R2 bucket binding'],
    [{ ARCHIVE: 'DB' }, 'ARCHIVE: the name of an R2 bucket binding'],
    [{ ARCHIVE: 'BUCKET', SEAL_KEY: 'secret' }, `SEAL_KEY: ${expected}`],
    [{ ARCHIVE: 'BUCKET', SEAL_KEY: testSealKey.slice(0, -4) }, `SEAL_KEY: ${expected}`],
    [{ ARCHIVE: 'BUCKET', SEAL_KEY: btoa('x'.repeat(48)) }, `SEAL_KEY: ${expected}`],
  ])('refuse %o', (changes, fault) => {
    expect(faults(changes)).toEqual([fault])
  })
})
