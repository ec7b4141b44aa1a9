// The sums that triggers keep beside the rows, made from the rows at once. `movement` and `summand`
// have a trigger each that adds to holdings and totals, so these must exist already.

const held = `state IN ('held', 'refused', 'credited', 'moved')`

/** SQL that stores the sums of a database that has all its rows and triggers, and no sums yet. */
export const rebuildSums = `
INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
  SELECT cuy, to_address, 1, raw, height, changed_at FROM stored_transfer WHERE ${held};
INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
  SELECT cuy, from_address, -1, raw, height, changed_at FROM stored_transfer WHERE state = 'moved';
INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
  SELECT cuy, unhex(address), -1, raw, height, created_at FROM issuer_act WHERE kind = 'destroyed' AND raw <> '0';
INSERT INTO stored_holding (cuy, address_id, sent, changed_height, due_at)
  SELECT cuy, stored_address.id, count(*), max(height), (SELECT advanced_at FROM scan) + 60000
    FROM sent JOIN stored_address ON stored_address.address = unhex(sent.address) GROUP BY cuy, stored_address.id
  ON CONFLICT (cuy, address_id) DO UPDATE SET sent = excluded.sent,
    changed_height = max(changed_height, excluded.changed_height);
INSERT INTO summand (cuy, kind, number, units, from_address, to_address)
  SELECT cuy, state, 1, raw, from_address, to_address FROM stored_transfer WHERE ${held};
INSERT INTO total (cuy, kind, number, changed_at)
  SELECT cuy, 'credited', 0, min(created_at) FROM payment_order
    WHERE NOT EXISTS (SELECT 1 FROM total WHERE total.cuy = payment_order.cuy) GROUP BY cuy;
INSERT INTO payout_sum (state, cuy, count, amount)
  SELECT state, cuy, count(*), sum(amount) FROM payout WHERE state IN ('waiting', 'approved', 'signed', 'stuck')
    GROUP BY state, cuy;
INSERT INTO payout_hour (cuy, uid, hour, amount, count)
  SELECT cuy, owner.value, approved_at / 3600000, sum(amount), count(*)
    FROM payout CROSS JOIN json_each(json_array(0, uid)) AS owner
    WHERE counted = 1 AND approved_at / 3600000 >= (SELECT max(changed_at) / 3600000 - 48 FROM payout) GROUP BY 1, 2, 3;
INSERT INTO unnamed_outflow (contract, to_address, raw, transaction_id)
  SELECT DISTINCT value ->> 'contract', value ->> 'to', value ->> 'raw', payout_transaction.id
    FROM payout_transaction CROSS JOIN json_each(moved) WHERE payout_id IS NULL;`
