/**
 * What must hold in the database at any moment, as queries that return no row. They are written
 * from the meaning of the tables, and use none of the service's own SQL.
 */
export const audits: Readonly<Record<string, string>> = {
  'a wallet is the sum of its entries': `
    SELECT wallet.id FROM wallet LEFT JOIN (
      SELECT wallet_id, sum(amount) AS total, count(*) AS n, max(id) AS newest FROM stored_flow GROUP BY wallet_id) AS f
        ON f.wallet_id = wallet.id
    WHERE balance <> coalesce(total, 0) OR entry_count <> coalesce(n, 0) OR newest_entry <> coalesce(newest, 0)
      OR balance < 0`,
  'each entry has the balance and the numbers after it': `
    SELECT id FROM (
      SELECT id, balance, number, type_number, sum(amount) OVER (PARTITION BY wallet_id ORDER BY id) AS run,
        row_number() OVER (PARTITION BY wallet_id ORDER BY id) AS n, row_number() OVER (PARTITION BY wallet_id, type
          ORDER BY id) AS of_type
      FROM stored_flow) WHERE balance <> run OR number <> n OR type_number <> of_type`,
  'a credited transfer has one entry of its amount, in the wallet of its user': `
    SELECT t.id, f.id FROM (SELECT * FROM stored_transfer WHERE state = 'credited') AS t FULL JOIN (
      SELECT stored_flow.*, uid, cuy FROM stored_flow JOIN wallet ON wallet.id = wallet_id WHERE type = 1) AS f
        ON f.transfer_id = t.id
    WHERE t.id IS NULL OR f.id IS NULL OR t.amount <> f.amount OR t.uid <> f.uid OR t.cuy <> f.cuy`,
  'a transfer has at most one entry': `SELECT transfer_id FROM stored_flow WHERE transfer_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1`,
  'an order changes a wallet once': `SELECT osn FROM stored_flow WHERE osn IS NOT NULL GROUP BY wallet_id, type, osn HAVING count(*) > 1`,
  'what users transfer to each other sums to zero': `
    SELECT osn FROM stored_flow JOIN wallet ON wallet.id = wallet_id WHERE type = 3 GROUP BY osn, cuy
      HAVING sum(amount) <> 0`,
  'the sums of a day are those of its entries': `
    WITH to_day AS (
      SELECT cuy, type, stored_flow.created_at / 86400000 AS day, count(*) AS n, sum(amount) AS s FROM stored_flow
        JOIN wallet ON wallet.id = wallet_id
      GROUP BY 1, 2, 3)
    SELECT * FROM (SELECT cuy, type, day, sum(n) OVER earlier AS n, sum(s) OVER earlier AS s FROM to_day
      WINDOW earlier AS (PARTITION BY cuy, type ORDER BY day)) AS a
    FULL JOIN day AS b ON b.cuy = a.cuy AND b.type = a.type AND b.day = a.day
    WHERE coalesce(n, 0) <> coalesce(entries, 0) OR coalesce(s, 0) <> coalesce(high * 1000000000 + low, 0)`,
  'a payout has taken its money once, and a cancelled one has given it back': `
    SELECT payout.id FROM payout LEFT JOIN (
      SELECT p.id, sum(f.amount) AS total FROM payout AS p JOIN wallet ON wallet.uid = p.uid AND wallet.cuy = p.cuy
        JOIN stored_flow AS f ON f.wallet_id = wallet.id AND f.osn = p.osn AND f.type IN (2, 4, 5)
          GROUP BY p.id) AS money ON money.id = payout.id
    WHERE coalesce(total, 0) <> iif(state = 'cancelled', 0, -(amount + fee))`,
  'a payout has at most one transaction that can be mined': `
    SELECT payout_id FROM payout_transaction WHERE ended IS NULL GROUP BY payout_id HAVING count(*) > 1`,
  'a signed payout has an open transaction, and no other one has': `
    SELECT payout.id FROM payout LEFT JOIN payout_transaction AS t ON payout_id = payout.id AND ended IS NULL
    WHERE (state = 'signed') <> (t.id IS NOT NULL) OR (state = 'signed' AND t.txid <> payout.txid)`,
  'one transaction has paid a paid payout': `
    SELECT payout.id FROM payout LEFT JOIN payout_transaction AS t ON payout_id = payout.id AND ended = 'paid'
    GROUP BY payout.id HAVING count(t.id) <> (state = 'paid')`,
  'the sums of open payouts are those of the rows': `
    SELECT * FROM (SELECT state, cuy, count(*) AS n, sum(amount) AS s FROM payout
      WHERE state NOT IN ('paid', 'cancelled') GROUP BY 1, 2) AS a
      FULL JOIN payout_sum AS b ON b.state = a.state AND b.cuy = a.cuy
    WHERE coalesce(n, 0) <> coalesce(b.count, 0) OR coalesce(s, 0) <> coalesce(b.amount, 0)`,
  'the sums of the hours are those of the approved payouts': `
    WITH each AS (
      SELECT cuy, uid, approved_at / 3600000 AS hour, amount FROM payout WHERE counted = 1
      UNION ALL SELECT cuy, 0, approved_at / 3600000, amount FROM payout WHERE counted = 1),
    total AS (SELECT cuy, uid, hour, sum(amount) AS s, count(*) AS n FROM each GROUP BY 1, 2, 3)
    SELECT * FROM total FULL JOIN payout_hour AS p ON p.cuy = total.cuy AND p.uid = total.uid AND p.hour = total.hour
    WHERE (coalesce(s, 0) <> coalesce(p.amount, 0) OR coalesce(n, 0) <> coalesce(p.count, 0))
      AND (p.hour IS NOT NULL OR total.hour >= (SELECT max(changed_at) / 3600000 - 48 FROM payout))`,
  'what a transaction has moved for an approved payout counts': `
    SELECT payout.id FROM payout JOIN payout_transaction AS t ON payout_id = payout.id
    WHERE t.moved <> '[]' AND approved_at IS NOT NULL AND counted = 0`,
  'a rule has approved nothing above its limit': `SELECT id FROM payout WHERE approved_by = '' AND amount > limit_each`,
  'the totals are those of the transfers': `
    WITH t AS (SELECT cuy, state, count(*) AS n, sum(CAST(raw AS INTEGER)) AS s FROM stored_transfer
      WHERE state IN ('held', 'refused', 'credited') GROUP BY 1, 2)
    SELECT * FROM t FULL JOIN (SELECT * FROM total WHERE kind IN ('held', 'refused', 'credited')) AS u ON u.cuy = t.cuy
      AND u.kind = t.state
    WHERE coalesce(n, 0) <> coalesce(number, 0) OR coalesce(s, 0) <> coalesce(part_5 * 1000000000000 + part_6, 0)`,
  'a holding is what its address got and lost': `
    WITH moves AS (
      SELECT cuy, to_address AS address, CAST(raw AS INTEGER) AS units FROM stored_transfer
        WHERE state IN ('held', 'refused', 'credited', 'moved')
      UNION ALL SELECT cuy, from_address, -CAST(raw AS INTEGER) FROM stored_transfer WHERE state = 'moved'
      UNION ALL SELECT cuy, unhex(address), -CAST(raw AS INTEGER) FROM issuer_act WHERE kind = 'destroyed'),
    sums AS (SELECT cuy, stored_address.id AS address_id, sum(units) AS s FROM moves JOIN stored_address USING (address)
      GROUP BY 1, 2)
    SELECT * FROM sums FULL JOIN stored_holding AS h ON h.cuy = sums.cuy AND h.address_id = sums.address_id
    WHERE coalesce(s, 0) <> coalesce(part_5 * 1000000000000 + part_6, 0)`,
  'a decision has its effect, and no review ends without one': `
    SELECT t.id FROM stored_transfer AS t LEFT JOIN decision AS d ON unhex(d.txid) = t.txid AND d.position = t.position
      AND d.decision = t.review
    WHERE (review IN ('credit', 'refuse') AND d.txid IS NULL) OR (review = 'open' AND (state = 'credited' OR EXISTS (
      SELECT 1 FROM decision WHERE unhex(decision.txid) = t.txid AND decision.position = t.position)))`,
  'what is held or refused has its event': `
    SELECT id FROM stored_transfer AS t WHERE state IN ('held', 'refused') AND NOT EXISTS (
      SELECT 1 FROM stored_event AS e WHERE e.txid = t.txid AND e.position = t.position AND e.uid = t.uid
        AND e.type = 'deposit.' || t.state AND e.reason = t.reason)`,
  'a payout has the event of its state': `
    SELECT id FROM payout WHERE NOT EXISTS (SELECT 1 FROM stored_event AS e WHERE e.about ->> 'id' = payout.id
      AND e.type = 'payout.' || state)`,
  // A block of a wrong chain can pay it by one transaction, and after the correction the chain by
  // another one.
  'a payout is asked for and cancelled once in events, and paid once by each transaction': `
    SELECT type FROM stored_event WHERE type IN ('payout.waiting', 'payout.cancelled', 'payout.paid')
    GROUP BY about ->> 'id', type, iif(type = 'payout.paid', about ->> 'txid', NULL) HAVING count(*) > 1`,
  'an entry and an event share no number': 'SELECT stored_flow.id FROM stored_flow JOIN stored_event USING (id)',
  'time never goes back':
    'SELECT id FROM (SELECT id, created_at, lag(created_at) OVER (ORDER BY id) AS before FROM stored_flow) WHERE created_at < before',
  'an order counts its entries, and nothing else': `
    SELECT o.id FROM payment_order AS o LEFT JOIN (
      SELECT CAST(mark AS INTEGER) AS id, sum(amount) AS total FROM stored_flow WHERE type = 1 AND mark <> ''
        GROUP BY 1) AS f
        ON f.id = o.id
    WHERE credited <> iif(state = 'cancelled', 0, min(coalesce(total, 0), 9007199254740991))
      OR (state = 'paid') <> (credited >= at_least) OR (state = 'open' AND credited > 0) OR (state = 'partly' AND credited = 0)`,
  'the entry of a deposit names the order that has it': `
    SELECT f.id FROM stored_flow AS f JOIN stored_transfer AS t ON t.id = f.transfer_id
      LEFT JOIN order_deposit AS d ON d.transfer_id = t.id
    WHERE f.mark <> coalesce(CAST(d.order_id AS TEXT), '')`,
  'a transfer is of one order, at its address, in its time': `
    SELECT d.transfer_id FROM order_deposit AS d JOIN payment_order AS o ON o.id = d.order_id
      JOIN stored_address AS a ON a.id = o.address_id LEFT JOIN stored_transfer AS t ON t.id = d.transfer_id
    WHERE t.to_address IS NOT a.address OR t.cuy IS NOT o.cuy
      OR made_at NOT BETWEEN o.created_at + 1 AND o.held_until - 1
      OR (SELECT count(*) FROM order_deposit AS other WHERE other.transfer_id = d.transfer_id) > 1`,
  'an order that takes has its entry if it has taken, and no other': `
    SELECT o.id FROM payment_order AS o LEFT JOIN wallet AS w ON w.uid = o.uid AND w.cuy = o.cuy
      LEFT JOIN stored_flow AS f ON f.wallet_id = w.id AND f.type = 4 AND f.osn = o.reference
    WHERE take = 1 AND coalesce(f.amount, 0) < 0 <> taken`,
  'no two orders hold an address at once': `
    SELECT one.id FROM payment_order AS one
      JOIN payment_order AS other ON other.address_id = one.address_id AND other.id > one.id
    WHERE other.created_at < one.held_until`,
  'an order has the events of its end once': `
    SELECT o.id FROM payment_order AS o WHERE state IN ('paid', 'expired', 'cancelled') AND 1 <> (
      SELECT count(*) FROM stored_event AS e WHERE e.type = 'order.' || o.state AND e.about ->> 0 = o.id)`,
  'no key is broken': 'PRAGMA foreign_key_check',
}
