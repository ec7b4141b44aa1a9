import { createSealer } from '../../../src/worker/archive/seal.ts'
import { archiveNext, originOf } from '../../../src/worker/archive/write.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { writable } from '../../../src/worker/d1/database.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { cellName } from './archive-builder.ts'
import { folderBucket } from './folder-bucket.ts'

/** An Ed25519 key for tests only, as `SEAL_KEY`. */
const sealKey = Buffer.from('MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f', 'base64')
const startMs = 1_780_000_000_000

/**
 * Writes an archive as the service does, by its own code over a database with its triggers, into a
 * folder. Returns the verifier key. `rounds`: how often it writes, each time after some of
 * everything has happened.
 */
export async function writeRealArchive(folder: string, rounds: number): Promise<string> {
  const { sqlite, connect } = openSqliteD1()
  const db = writable(connect(async (work) => work()))
  const seal = createSealer(sealKey, originOf(cellName))
  let [verifier, time] = ['', startMs]
  const parts = {
    ...{ db, bucket: folderBucket(folder), clock: { now: () => time as UnixMs }, folder: cellName, cell: 1 },
    seal: async (tree: Parameters<typeof seal>[0]) => {
      const sealed = await seal(tree)
      verifier = sealed.verifier
      return sealed
    },
  }
  sqlite.exec(foundation)
  for (let round = 1; round <= rounds; round += 1) {
    // the first round is older than the archive, so that it is copied
    if (round > 1) while ((await archiveNext(parts)) === 'more');
    time += 60_000
    sqlite.exec(happens(round, time))
  }
  while ((await archiveNext(parts)) === 'more');
  sqlite.close()
  return verifier
}

const hex = (digits: string, length: number) => digits.padStart(length, '0')
const token = hex('dac17f958d2ee523a2206206994597c13d831ec7', 40)
const foundation = `
INSERT INTO stored_setting VALUES ('TRON_CHAIN_ID', '0x1', ${startMs});
INSERT INTO stored_currency VALUES (1, NULL, 6, 6, ${startMs}), (2, '${token}', 18, 6, ${startMs});
INSERT INTO agreed_decimals VALUES ('${token}', 18, ${startMs});
INSERT INTO scan (id, height, finalized, finalized_time, finalized_at, advanced_at, caught_up_at, tried_at)
  VALUES (1, 5000, 5000, ${startMs}, ${startMs}, ${startMs}, ${startMs}, ${startMs});`

/** The acts of a round, as the service writes them: triggers do the rest. */
function happens(round: number, time: number): string {
  const final = 4_900 + round * 100 // the finalized height
  const entries = (list: readonly object[]) =>
    `INSERT INTO posting (entries, posted_by, created_at) VALUES ('${JSON.stringify(list)}', 'shop', ${time});`
  const address = `unhex('${hex((0xa000 + round).toString(16), 40)}')`
  const transfer = (position: number, cuy: number, raw: string, amount: number) => `
    INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native,
        state, reason, amount, created_at, changed_at)
      VALUES (unhex('${hex(round.toString(16), 64)}'), ${position}, ${final + 50}, ${cuy}, ${round},
        unhex('${hex('ffff', 40)}'), ${address}, '${raw}', ${cuy === 1 ? 1 : 0},
        ${amount > 0 ? `'credited', NULL` : `'refused', 'below-minimum'`}, ${amount}, ${time}, ${time});`
  const user = round
  return `
    INSERT INTO stored_address (id, uid, address, issued_height, created_at)
      VALUES (${round}, ${user}, ${address}, ${final}, ${time});
    UPDATE scan SET height = ${final + 100}, finalized = ${final + 100}, finalized_time = ${time},
      finalized_at = ${time};
    ${transfer(0, 1, '7000000', 7_000_000)}
    ${transfer(1, 2, '9000000000000000000', 9_000_000)}
    ${transfer(2, 2, '1', 0)}
    ${entries([
      { uid: user, cuy: 2, type: 3, osn: `gift-${round}`, amount: -1_500_000, mark: 'für "dich"' },
      { uid: 999, cuy: 2, type: 3, osn: `gift-${round}`, amount: 1_500_000, mark: '' },
      { uid: user, cuy: 2, type: 4, osn: `order-${round}`, amount: -250_000, mark: '' },
    ])}
    INSERT INTO payout (uid, cuy, osn, amount, fee, to_address, contract, raw, mark, posted_by,
        created_at, changed_at, attempts_max)
      VALUES (${user}, 2, 'payout-${round}', 1000000, ${round % 2 === 0 ? 0 : 10_000}, '${hex('eeee', 40)}',
        '${token}', '1000000000000000000', '', 'shop', ${time}, ${time}, 3);
    UPDATE payout SET state = 'cancelled', version = version + 1, changed_at = ${time},
        cancelled_by = 'shop', why = 'no'
      WHERE osn = 'payout-${round}' AND ${round % 3} = 0;`
}
