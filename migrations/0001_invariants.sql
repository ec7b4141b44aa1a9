-- The triggers, and views for people. They are written by hand. docs/database.md has the reason for each rule.
--
-- Four properties of SQLite shape these triggers:
--  * REPLACE deletes the conflicting row without firing delete triggers, so BEFORE INSERT refuses every existing key.
--  * The conflict clause of the outer statement (OR IGNORE, OR REPLACE) also applies to the statements inside its
--    triggers, so no rule depends on a constraint alone: each chain ends in a RAISE that checks what was stored.
--    Only ON CONFLICT DO UPDATE keeps its own meaning.
--  * In BEFORE INSERT, NEW.id is -1 if the statement gives no id.
--  * INSERT … SELECT of several rows fires the triggers row by row, so each row is checked against those before it.

-- address: an address belongs to one user for ever --------------------------------------------------------------------

-- A table whose name begins with stored_ has a view for people, whose name lacks that prefix. The view shows bytes as hex digits, and adds values from other
-- tables. The service itself reads the tables.
CREATE VIEW address AS
SELECT id, id - 1 AS derivation_index, uid, lower(hex(address)) AS address, issued_height, created_at, for_orders FROM stored_address;
--> statement-breakpoint
CREATE TRIGGER address_is_new BEFORE INSERT ON stored_address
BEGIN
  SELECT RAISE(ABORT, 'address: already issued')
    WHERE EXISTS (SELECT 1 FROM stored_address WHERE address = NEW.address OR id = NEW.id);
  SELECT RAISE(ABORT, 'address: another database has its user')
    WHERE EXISTS (SELECT 1 FROM user_range WHERE NEW.uid NOT BETWEEN first AND last AND NEW.uid <> 9007199254740991);
  SELECT RAISE(ABORT, 'address: id must be the highest plus one')
    WHERE NEW.id <> (SELECT max(id) + 1 FROM stored_address)
      -- A reserved address, which no user is shown, may also be one below the lowest id.
      AND NOT (NEW.uid = 9007199254740991 AND NEW.id = (SELECT min(id) - 1 FROM stored_address));
  SELECT RAISE(ABORT, 'address: issued_height must not be below the finalized height')
    WHERE NEW.issued_height < (SELECT finalized FROM scan)
      -- A reserved address was issued by a database that was lost, after the newest address that is stored here, but nobody knows at which height. It gets the
      -- height of that newest address.
      AND NOT (NEW.uid = 9007199254740991 AND NEW.issued_height IS (
        SELECT issued_height FROM stored_address ORDER BY id DESC LIMIT 1))
      -- An address that is older than the newest final block was issued before a restore, and is put back from the archive.
      AND NOT NEW.created_at < (SELECT finalized_time FROM scan);
  SELECT RAISE(ABORT, 'address: unpaid must list older addresses of its user')
    WHERE EXISTS (SELECT 1 FROM json_each(NEW.unpaid) WHERE NOT EXISTS (
      SELECT 1 FROM stored_address WHERE id = value AND uid = NEW.uid AND for_orders = 0));
END;
--> statement-breakpoint
CREATE TRIGGER address_is_never_changed BEFORE UPDATE ON stored_address
BEGIN
  SELECT RAISE(ABORT, 'address: rows are never changed')
    WHERE NEW.id IS NOT OLD.id OR NEW.uid IS NOT OLD.uid
      OR NEW.address IS NOT OLD.address OR NEW.created_at IS NOT OLD.created_at OR NEW.unpaid IS NOT OLD.unpaid OR NEW.for_orders IS NOT OLD.for_orders
      -- Only a correction changes a row: it lowers an issued_height that came from the wrong finalized height.
      OR NEW.issued_height > OLD.issued_height
      OR NEW.issued_height IS NOT (SELECT finalized FROM correction ORDER BY id DESC LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER address_is_never_deleted BEFORE DELETE ON stored_address
BEGIN
  SELECT RAISE(ABORT, 'address: rows are never deleted');
END;
--> statement-breakpoint

-- wallet: a balance changes only with a new entry ---------------------------------------------------------------------

CREATE TRIGGER wallet_starts_empty BEFORE INSERT ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: already exists')
    WHERE EXISTS (SELECT 1 FROM wallet WHERE id = NEW.id OR (uid = NEW.uid AND cuy = NEW.cuy));
  SELECT RAISE(ABORT, 'wallet: another database has its user')
    WHERE EXISTS (SELECT 1 FROM user_range WHERE NEW.uid NOT BETWEEN first AND last AND NEW.uid <> 9007199254740991);
  SELECT RAISE(ABORT, 'wallet: must start empty')
    WHERE NEW.balance <> 0 OR NEW.entry_count <> 0 OR NEW.newest_entry <> 0;
END;
--> statement-breakpoint
CREATE TRIGGER wallet_follows_its_newest_entry BEFORE UPDATE ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: only a new entry changes it')
    WHERE NEW.id IS NOT OLD.id OR NEW.uid IS NOT OLD.uid OR NEW.cuy IS NOT OLD.cuy
      OR NEW.entry_count IS NOT OLD.entry_count + 1
      OR NEW.newest_entry IS OLD.newest_entry
      OR NEW.newest_entry IS NOT (SELECT id FROM stored_flow WHERE wallet_id = OLD.id ORDER BY id DESC LIMIT 1)
      OR NEW.balance IS NOT (SELECT balance FROM stored_flow WHERE id = NEW.newest_entry);
END;
--> statement-breakpoint
CREATE TRIGGER wallet_is_never_deleted BEFORE DELETE ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: rows are never deleted');
END;
--> statement-breakpoint

-- flow: entries are only ever added, and each fits its wallet ---------------------------------------------------------

CREATE VIEW flow AS
SELECT stored_flow.id, wallet_id, wallet.uid, wallet.cuy, type, coalesce(stored_flow.osn, stored_transfer.osn) AS osn, stored_flow.amount,
  stored_flow.balance, iif(type = 1, 'deposit', mark) AS mark, stored_flow.created_at, posted_by, number, type_number
FROM stored_flow JOIN wallet ON wallet.id = wallet_id LEFT JOIN stored_transfer ON stored_transfer.id = transfer_id;
--> statement-breakpoint
-- The highest id of an entry or of another event. Both take their ids from this one sequence, so no id is used twice.
CREATE VIEW last_event AS
SELECT max(coalesce((SELECT max(id) FROM stored_flow), 0), coalesce((SELECT max(id) FROM stored_event), 0)) AS id;
--> statement-breakpoint
CREATE TRIGGER flow_fits_its_wallet BEFORE INSERT ON stored_flow
BEGIN
  SELECT RAISE(ABORT, 'flow: already exists')
    WHERE EXISTS (SELECT 1 FROM stored_flow WHERE osn = NEW.osn AND wallet_id = NEW.wallet_id AND type = NEW.type)
      OR EXISTS (SELECT 1 FROM stored_flow WHERE wallet_id = NEW.wallet_id AND transfer_id = NEW.transfer_id);
  SELECT RAISE(ABORT, 'flow: ids must increase') WHERE NEW.id <= (SELECT id FROM last_event);
  SELECT RAISE(ABORT, 'flow: balance must be the wallet''s balance plus the amount')
    WHERE NOT EXISTS (SELECT 1 FROM wallet WHERE id = NEW.wallet_id AND balance + NEW.amount = NEW.balance);
  SELECT RAISE(ABORT, 'flow: numbers must follow the ones before')
    WHERE NEW.number <> (SELECT entry_count + 1 FROM wallet WHERE id = NEW.wallet_id)
      OR NEW.type_number <> 1 + coalesce(
        (SELECT type_number FROM stored_flow WHERE wallet_id = NEW.wallet_id AND type = NEW.type ORDER BY id DESC LIMIT 1), 0);
  SELECT RAISE(ABORT, 'flow: created_at must not decrease')
    WHERE NEW.created_at < (SELECT created_at FROM stored_flow ORDER BY id DESC LIMIT 1);
  SELECT RAISE(ABORT, 'flow: created_at must not be in the future')
    WHERE NEW.created_at > unixepoch('subsec') * 1000 + 60000
      -- After the clock has stepped back, a new entry may repeat the time of the newest one, even if that is in the future now.
      AND NEW.created_at IS NOT (SELECT created_at FROM stored_flow ORDER BY id DESC LIMIT 1);
  SELECT RAISE(ABORT, 'flow: a recharge requires its credited transfer')
    WHERE NEW.type = 1 AND NOT EXISTS (
      SELECT 1 FROM wallet JOIN stored_transfer ON stored_transfer.id = NEW.transfer_id AND state = 'credited'
          AND stored_transfer.uid = wallet.uid AND stored_transfer.cuy = wallet.cuy AND amount = NEW.amount
        WHERE wallet.id = NEW.wallet_id);
  SELECT RAISE(ABORT, 'flow: a payout has its key')
    WHERE NEW.type IN (2, 4, 5) AND EXISTS (
      SELECT 1 FROM wallet JOIN payout ON payout.uid = wallet.uid AND payout.cuy = wallet.cuy AND osn = NEW.osn
        WHERE wallet.id = NEW.wallet_id AND (
          (NEW.type = 2 AND NEW.amount <> -amount) OR (NEW.type = 4 AND fee > 0 AND NEW.amount <> -fee)
          OR (NEW.type = 5 AND (state <> 'cancelled' OR NEW.amount <> amount + fee))));
  SELECT RAISE(ABORT, 'flow: an order has its key')
    WHERE NEW.type = 4 AND EXISTS (
      SELECT 1 FROM wallet JOIN payment_order AS own ON own.uid = wallet.uid AND own.reference = NEW.osn AND own.cuy = wallet.cuy
        WHERE wallet.id = NEW.wallet_id AND take = 1 AND NOT (taken = 1 AND NEW.amount = -min(credited, own.amount)));
  SELECT RAISE(ABORT, 'flow: a recharge names the order of its deposit')
    WHERE NEW.type = 1 AND NEW.mark <> '' AND NEW.mark IS NOT (
      SELECT CAST(order_id AS TEXT) FROM stored_transfer CROSS JOIN ordered_transfer ON address = to_address AND transfer_id = stored_transfer.id
        WHERE stored_transfer.id = NEW.transfer_id);
  SELECT RAISE(ABORT, 'flow: the owner of reserved addresses only gives, in transfers')
    WHERE NEW.type <> 1 AND NOT (NEW.type = 3 AND NEW.amount < 0)
      AND EXISTS (SELECT 1 FROM wallet WHERE id = NEW.wallet_id AND uid = 9007199254740991);
END;
--> statement-breakpoint
CREATE TRIGGER flow_updates_its_wallet AFTER INSERT ON stored_flow
BEGIN
  UPDATE wallet SET balance = NEW.balance, entry_count = entry_count + 1, newest_entry = NEW.id
    WHERE id = NEW.wallet_id;
  -- The sums run on: the row of a new day starts with those of the newest row before it.
  INSERT INTO day (cuy, type, day, entries, high, low)
    SELECT wallet.cuy, NEW.type, max(NEW.created_at / 86400000, coalesce(day, 0)), coalesce(entries, 0) + 1,
      coalesce(high, 0) + (coalesce(low, 0) + NEW.amount) / 1000000000, (coalesce(low, 0) + NEW.amount) % 1000000000
    FROM wallet LEFT JOIN (
      SELECT * FROM day WHERE cuy = (SELECT cuy FROM wallet WHERE id = NEW.wallet_id) AND type = NEW.type ORDER BY day DESC LIMIT 1)
    WHERE wallet.id = NEW.wallet_id
    ON CONFLICT (cuy, type, day) DO UPDATE SET entries = excluded.entries, high = excluded.high, low = excluded.low;
  SELECT RAISE(ABORT, 'flow: the wallet was not updated')
    WHERE NOT EXISTS (
      SELECT 1 FROM wallet WHERE id = NEW.wallet_id AND newest_entry = NEW.id AND balance = NEW.balance);
END;
--> statement-breakpoint
CREATE TRIGGER flow_is_never_changed BEFORE UPDATE ON stored_flow
BEGIN
  SELECT RAISE(ABORT, 'flow: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER flow_is_never_deleted BEFORE DELETE ON stored_flow
BEGIN
  SELECT RAISE(ABORT, 'flow: rows are never deleted');
END;
--> statement-breakpoint

-- posting: the entries of a post are created together or not at all ---------------------------------------------------

-- Creates the entries of a post, and checks the rules that they must meet together. SQLite has no triggers for whole statements, so a post is inserted as one
-- row. RAISE(IGNORE) at the end keeps this row from being stored.
CREATE TRIGGER posting_creates_its_entries BEFORE INSERT ON posting
BEGIN
  SELECT RAISE(ABORT, 'posting: type 1 is for deposits')
    WHERE EXISTS (SELECT 1 FROM json_each(NEW.entries) WHERE CAST(value ->> 'type' AS INTEGER) = 1);
  SELECT RAISE(ABORT, 'posting: transfers must share an osn')
    WHERE 1 < (
      SELECT count(DISTINCT value ->> 'osn') FROM json_each(NEW.entries) WHERE CAST(value ->> 'type' AS INTEGER) = 3);
  SELECT RAISE(ABORT, 'posting: transfers must sum to zero in each currency')
    WHERE EXISTS (
      SELECT 1 FROM json_each(NEW.entries) WHERE CAST(value ->> 'type' AS INTEGER) = 3
        GROUP BY CAST(value ->> 'cuy' AS INTEGER) HAVING sum(value ->> 'amount') <> 0);
  INSERT INTO wallet (uid, cuy, balance, entry_count, newest_entry)
    SELECT DISTINCT CAST(value ->> 'uid' AS INTEGER), CAST(value ->> 'cuy' AS INTEGER), 0, 0, 0
    FROM json_each(NEW.entries)
    WHERE NOT EXISTS (SELECT 1 FROM wallet WHERE uid = value ->> 'uid' AND cuy = value ->> 'cuy');
  -- SQLite completes this SELECT before it inserts the first row, so balance and entry_count are those before the post. The window functions add the entries
  -- that come earlier in the list.
  INSERT INTO stored_flow (id, wallet_id, type, osn, amount, balance, mark, created_at, posted_by, number, type_number)
    SELECT (SELECT id FROM last_event) + row_number() OVER (ORDER BY key),
      wallet.id, value ->> 'type', value ->> 'osn', value ->> 'amount',
      balance + sum(value ->> 'amount') OVER (PARTITION BY wallet.id ORDER BY key ROWS UNBOUNDED PRECEDING),
      value ->> 'mark', max(NEW.created_at, coalesce((SELECT created_at FROM stored_flow ORDER BY id DESC LIMIT 1), 0)),
      NEW.posted_by,
      entry_count + row_number() OVER (PARTITION BY wallet.id ORDER BY key),
      row_number() OVER (PARTITION BY wallet.id, value ->> 'type' ORDER BY key) + coalesce(
        (SELECT type_number FROM stored_flow WHERE wallet_id = wallet.id AND type = value ->> 'type'
          ORDER BY stored_flow.id DESC LIMIT 1), 0)
    FROM json_each(NEW.entries) CROSS JOIN wallet ON uid = value ->> 'uid' AND cuy = value ->> 'cuy'
    ORDER BY key;
  SELECT RAISE(ABORT, 'posting: an entry was not created')
    WHERE json_array_length(NEW.entries) <> (
      SELECT count(*) FROM json_each(NEW.entries)
        CROSS JOIN wallet ON wallet.uid = value ->> 'uid' AND wallet.cuy = value ->> 'cuy'
        CROSS JOIN stored_flow ON osn = value ->> 'osn' AND wallet_id = wallet.id AND stored_flow.type = value ->> 'type'
        WHERE amount = value ->> 'amount' AND mark = value ->> 'mark' AND posted_by = NEW.posted_by);
  SELECT RAISE(IGNORE);
END;
--> statement-breakpoint

-- credit: a credited transfer becomes one entry -----------------------------------------------------------------------

-- Only this trigger creates the entry of a credited transfer. The inserted row itself is never stored.
CREATE TRIGGER credit_creates_its_entry BEFORE INSERT ON credit
BEGIN
  INSERT INTO wallet (uid, cuy, balance, entry_count, newest_entry)
    SELECT NEW.uid, NEW.cuy, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM wallet WHERE uid = NEW.uid AND cuy = NEW.cuy);
  INSERT INTO stored_flow (id, wallet_id, type, transfer_id, amount, balance, mark, created_at, posted_by, number, type_number)
    SELECT (SELECT id FROM last_event) + 1, id, 1, NEW.transfer_id, NEW.amount, balance + NEW.amount,
      coalesce(CAST(NEW.order_id AS TEXT), ''),
      max(NEW.created_at, coalesce((SELECT created_at FROM stored_flow ORDER BY id DESC LIMIT 1), 0)), '', entry_count + 1,
      1 + coalesce(
        (SELECT type_number FROM stored_flow WHERE wallet_id = wallet.id AND type = 1 ORDER BY stored_flow.id DESC LIMIT 1), 0)
    FROM wallet WHERE uid = NEW.uid AND cuy = NEW.cuy;
  SELECT RAISE(ABORT, 'credit: its entry was not created')
    WHERE NOT EXISTS (
      SELECT 1 FROM wallet JOIN stored_flow ON stored_flow.id = wallet.newest_entry
        WHERE wallet.uid = NEW.uid AND wallet.cuy = NEW.cuy
          AND transfer_id = NEW.transfer_id AND amount = NEW.amount);
  -- The order of the deposit counts it. `pays`: it is the deposit with which enough is credited.
  UPDATE payment_order SET newest_entry = entry.id, credited = entry.sum,
      state = iif(entry.pays, 'paid', iif(state = 'open', 'partly', state)),
      ended_at = iif(entry.pays, entry.created_at, ended_at),
      held_until = iif(entry.pays AND ended_at IS NULL, min(held_until, entry.created_at + 86400000), held_until),
      late = iif(entry.pays, coalesce((SELECT units FROM order_in_time WHERE order_id = NEW.order_id), 0) < at_least, late),
      taken = iif(entry.pays, take = 1 AND entry.balance >= min(entry.sum, amount), taken)
    FROM (
      SELECT flow.id, flow.created_at, flow.balance, own.id AS order_id, min(own.credited + flow.amount, 9007199254740991) AS sum,
        own.state <> 'paid' AND own.credited + flow.amount >= own.at_least AS pays
      FROM payment_order AS own CROSS JOIN stored_flow AS flow ON flow.id = (SELECT id FROM last_event)
      WHERE own.id = NEW.order_id AND own.state <> 'cancelled') AS entry
    WHERE payment_order.id = entry.order_id;
  SELECT RAISE(IGNORE);
END;
--> statement-breakpoint

-- transfer: a transfer changes only by allowed steps, and each step has its effects -----------------------------------

CREATE VIEW transfer AS
SELECT id, version, lower(hex(txid)) AS txid, position, osn, height, cuy, uid, lower(hex(from_address)) AS from_address,
  lower(hex(to_address)) AS to_address, raw, native, state, reason, amount, review, sought, seconds, seen_by, created_at, changed_at
FROM stored_transfer;
--> statement-breakpoint
CREATE TRIGGER transfer_is_new BEFORE INSERT ON stored_transfer
BEGIN
  SELECT RAISE(ABORT, 'transfer: already stored')
    WHERE EXISTS (SELECT 1 FROM stored_transfer WHERE txid = NEW.txid AND position = NEW.position)
      OR EXISTS (SELECT 1 FROM stored_transfer WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'transfer: only what was seen is dropped') WHERE NEW.state = 'dropped';
  SELECT RAISE(ABORT, 'transfer: a new one is not sought') WHERE NEW.sought <> 0;
  SELECT RAISE(ABORT, 'transfer: a new one is not decided') WHERE NEW.review IS NOT NULL AND NEW.review <> 'open';
  SELECT RAISE(ABORT, 'transfer: its block is not final')
    WHERE NEW.state IN ('held', 'refused', 'credited', 'moved')
      AND NEW.height > coalesce((SELECT finalized FROM scan), -1);
  SELECT RAISE(ABORT, 'transfer: the scan is halted')
    WHERE NEW.state = 'credited' AND EXISTS (SELECT 1 FROM scan WHERE halted IS NOT NULL);
  SELECT RAISE(ABORT, 'transfer: to_address does not belong to this caller')
    WHERE NEW.state <> 'moved' AND NOT EXISTS (SELECT 1 FROM stored_address WHERE address = NEW.to_address AND uid = NEW.uid);
  SELECT RAISE(ABORT, 'transfer: final before its address was issued')
    WHERE NEW.state <> 'moved' AND NEW.height <= (SELECT issued_height FROM stored_address WHERE address = NEW.to_address);
END;
--> statement-breakpoint
-- It fires for every column but sought, which has a trigger of its own below.
CREATE TRIGGER transfer_takes_its_steps BEFORE UPDATE OF id, version, txid, position, height, cuy, uid, from_address, to_address, raw, native, state, reason,
    amount, review, seconds, seen_by, created_at, changed_at ON stored_transfer
BEGIN
  SELECT RAISE(ABORT, 'transfer: its key must not change')
    WHERE NEW.id IS NOT OLD.id OR NEW.txid IS NOT OLD.txid OR NEW.position IS NOT OLD.position
      OR NEW.created_at IS NOT OLD.created_at;
  SELECT RAISE(ABORT, 'transfer: another version was decided about') WHERE NEW.version IS NOT OLD.version + 1;
  SELECT RAISE(ABORT, 'transfer: no such step')
    WHERE (
      -- A sought transfer may be found again in another block: then that changes, and nothing else. A decided transfer is above the finalized height only
      -- after a correction, which makes it seen again.
      -- generated from transferSteps
      (OLD.state IS 'seen' AND NEW.state IN ('seen', 'dropped', 'held', 'refused', 'credited', 'moved'))
      OR (OLD.state IS 'dropped' AND NEW.state IN ('seen', 'held', 'refused', 'credited', 'moved'))
      OR (OLD.state IS 'held' AND NEW.state IS 'seen' AND OLD.height > (SELECT finalized FROM scan))
      OR (OLD.state IS 'held' AND NEW.state IN ('held', 'refused', 'credited', 'moved'))
      OR (OLD.state IS 'refused' AND NEW.state IS 'seen' AND OLD.height > (SELECT finalized FROM scan))
      OR (OLD.state IS 'refused' AND NEW.state IN ('held', 'refused', 'credited', 'moved') AND EXISTS (
        SELECT 1 FROM rescan WHERE kind = 'request' AND finished_at IS NULL AND to_height >= OLD.height AND next_height <= OLD.height))
      OR (OLD.state IS 'refused' AND NEW.state IN ('held', 'credited') AND OLD.review IS 'refuse' AND NEW.review IS 'credit')
      OR (OLD.state IS 'credited' AND NEW.state IS 'credited' AND OLD.sought = 1
        AND (NEW.cuy, NEW.uid, NEW.from_address, NEW.to_address, NEW.raw, NEW.native, NEW.reason, NEW.amount, NEW.review, NEW.seconds, NEW.seen_by)
          IS (OLD.cuy, OLD.uid, OLD.from_address, OLD.to_address, OLD.raw, OLD.native, OLD.reason, OLD.amount, OLD.review, OLD.seconds, OLD.seen_by))
      -- end of transferSteps
    ) IS NOT TRUE;
  SELECT RAISE(ABORT, 'transfer: what is held for review stays so until it is decided')
    WHERE NEW.review IS NOT OLD.review AND NOT ((OLD.review IS NULL AND NEW.review IS 'open')
      OR ((OLD.review IS 'open' OR (OLD.review IS 'refuse' AND NEW.review IS 'credit')) AND EXISTS (
        SELECT 1 FROM decision WHERE txid = lower(hex(NEW.txid)) AND position = NEW.position AND decision = NEW.review)));
  SELECT RAISE(ABORT, 'transfer: its block is not read yet')
    WHERE NEW.state = 'dropped' AND NEW.height > coalesce((SELECT height FROM scan), -1);
  SELECT RAISE(ABORT, 'transfer: its block is not final')
    WHERE NEW.state IN ('held', 'refused', 'credited', 'moved')
      AND NEW.height > coalesce((SELECT finalized FROM scan), -1);
  SELECT RAISE(ABORT, 'transfer: the scan is halted')
    WHERE NEW.state = 'credited' AND OLD.state <> 'credited' AND EXISTS (SELECT 1 FROM scan WHERE halted IS NOT NULL);
  SELECT RAISE(ABORT, 'transfer: to_address does not belong to this caller')
    WHERE NEW.state <> 'moved' AND NOT EXISTS (SELECT 1 FROM stored_address WHERE address = NEW.to_address AND uid = NEW.uid);
  SELECT RAISE(ABORT, 'transfer: final before its address was issued')
    WHERE NEW.state <> 'moved' AND NEW.height <= (SELECT issued_height FROM stored_address WHERE address = NEW.to_address);
END;
--> statement-breakpoint
CREATE TRIGGER transfer_is_sought_where_it_is_read_again BEFORE UPDATE OF sought ON stored_transfer
BEGIN
  SELECT RAISE(ABORT, 'transfer: only what is read again is sought')
    WHERE NEW.sought > OLD.sought AND NEW.height <= coalesce((SELECT finalized FROM scan), NEW.height)
      AND NOT EXISTS (SELECT 1 FROM rescan INDEXED BY rescan_open WHERE kind = 'request' AND finished_at IS NULL
        AND to_height >= NEW.height AND next_height <= NEW.height);
  SELECT RAISE(ABORT, 'transfer: the scan is halted')
    WHERE NEW.sought < OLD.sought AND EXISTS (SELECT 1 FROM scan WHERE halted IS NOT NULL);
END;
--> statement-breakpoint
CREATE TRIGGER transfer_has_its_effects AFTER INSERT ON stored_transfer
BEGIN
  INSERT INTO credit (uid, cuy, transfer_id, amount, created_at, order_id)
    SELECT NEW.uid, NEW.cuy, NEW.id, NEW.amount, NEW.changed_at, (SELECT order_id FROM ordered_transfer WHERE address = NEW.to_address AND transfer_id = NEW.id)
    WHERE NEW.state = 'credited';
  INSERT INTO stored_event (id, type, uid, created_at, txid, position, cuy, raw, address, seconds, about)
    SELECT (SELECT id FROM last_event) + 1, 'deposit.seen', NEW.uid, NEW.changed_at, NEW.txid, NEW.position, NEW.cuy, NEW.raw, NEW.to_address, NEW.seconds,
      (SELECT json_array(order_id) FROM ordered_transfer WHERE address = NEW.to_address AND transfer_id = NEW.id)
    WHERE NEW.state = 'seen';
  SELECT RAISE(ABORT, 'transfer: its event was not stored')
    WHERE NEW.state = 'seen' AND NOT EXISTS (
      SELECT 1 FROM stored_event WHERE id = (SELECT id FROM last_event)
        AND txid = NEW.txid AND position = NEW.position AND type = 'deposit.seen');
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT NEW.cuy, NEW.to_address, 1, NEW.raw, NEW.height, NEW.changed_at
      WHERE NEW.state IN ('held', 'refused', 'credited', 'moved');
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT NEW.cuy, NEW.from_address, -1, NEW.raw, NEW.height, NEW.changed_at WHERE NEW.state = 'moved';
END;
--> statement-breakpoint
-- The transfer may have been stored before: a correction deletes what moved, and time what was dropped. Then its event of this reason is there already, and
-- the row is noted for the archive.
CREATE TRIGGER transfer_has_its_reason AFTER INSERT ON stored_transfer WHEN NEW.state IN ('held', 'refused')
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'transfer', json_array(NEW.id) FROM archive
    WHERE EXISTS (SELECT 1 FROM stored_event
      WHERE txid = NEW.txid AND position = NEW.position AND type = 'deposit.' || NEW.state AND reason = NEW.reason AND uid = NEW.uid);
  INSERT INTO stored_event (id, type, uid, created_at, txid, position, cuy, raw, address, reason)
    SELECT (SELECT id FROM last_event) + 1, 'deposit.' || NEW.state, NEW.uid, NEW.changed_at, NEW.txid, NEW.position, NEW.cuy, NEW.raw, NEW.to_address,
      NEW.reason
    WHERE NOT EXISTS (SELECT 1 FROM stored_event
      WHERE txid = NEW.txid AND position = NEW.position AND type = 'deposit.' || NEW.state AND reason = NEW.reason AND uid = NEW.uid);
  SELECT RAISE(ABORT, 'transfer: its event was not stored')
    WHERE NOT EXISTS (SELECT 1 FROM stored_event
      WHERE txid = NEW.txid AND position = NEW.position AND type = 'deposit.' || NEW.state AND reason = NEW.reason AND uid = NEW.uid);
END;
--> statement-breakpoint
CREATE TRIGGER transfer_step_has_its_effects AFTER UPDATE OF uid, height, cuy, from_address, to_address, raw, native, state, reason,
    amount, seconds, seen_by, changed_at ON stored_transfer
BEGIN
  -- A step that makes neither an entry nor an event (below) is noted for the archive.
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'transfer', json_array(NEW.id) FROM archive
    WHERE NOT ((NEW.state = 'credited' AND OLD.state <> 'credited') OR NEW.state = 'dropped'
      OR (NEW.state = 'seen' AND (OLD.state = 'dropped' OR NEW.uid IS NOT OLD.uid))
      OR (NEW.state IN ('held', 'refused') AND (NEW.state, NEW.reason, NEW.uid) IS NOT (OLD.state, OLD.reason, OLD.uid) AND NOT EXISTS (
        SELECT 1 FROM stored_event WHERE txid = NEW.txid AND position = NEW.position AND uid = NEW.uid
        AND type = 'deposit.' || NEW.state AND reason = NEW.reason)));
  INSERT INTO credit (uid, cuy, transfer_id, amount, created_at, order_id)
    SELECT NEW.uid, NEW.cuy, NEW.id, NEW.amount, NEW.changed_at, (SELECT order_id FROM ordered_transfer WHERE address = NEW.to_address AND transfer_id = NEW.id)
    WHERE NEW.state = 'credited' AND OLD.state <> 'credited';
  -- The holding of a transfer that was found again in another block is compared only with balances that include that block.
  UPDATE stored_holding SET changed_height = max(changed_height, NEW.height), due_at = min(due_at, NEW.changed_at + 60000)
    WHERE OLD.state = 'credited' AND cuy = NEW.cuy AND address_id = (SELECT id FROM stored_address WHERE address = NEW.to_address);
  -- A seen transfer has turned out to belong to another user or to none: its former user gets deposit.dropped.
  INSERT INTO stored_event (id, type, uid, created_at, txid, position)
    SELECT (SELECT id FROM last_event) + 1, 'deposit.dropped', OLD.uid, NEW.changed_at, NEW.txid, NEW.position
    WHERE OLD.state = 'seen' AND NEW.uid IS NOT OLD.uid;
  -- A transfer gets one event for each reason and user: if a reason comes back later, there is no second event. A correction by itself makes none.
  INSERT INTO stored_event (id, type, uid, created_at, txid, position, cuy, raw, address, seconds, reason, about)
    SELECT (SELECT id FROM last_event) + 1, 'deposit.' || NEW.state, NEW.uid, NEW.changed_at, NEW.txid, NEW.position,
      iif(NEW.state = 'dropped', NULL, NEW.cuy), iif(NEW.state = 'dropped', NULL, NEW.raw),
      iif(NEW.state = 'dropped', NULL, NEW.to_address),
      iif(NEW.state = 'seen', NEW.seconds, NULL), NEW.reason,
      iif(NEW.state = 'seen', (SELECT json_array(order_id) FROM ordered_transfer WHERE address = NEW.to_address AND transfer_id = NEW.id), NULL)
    WHERE NEW.state = 'dropped' OR (NEW.state = 'seen' AND (OLD.state = 'dropped' OR NEW.uid IS NOT OLD.uid))
      OR (NEW.state IN ('held', 'refused') AND (NEW.state, NEW.reason, NEW.uid) IS NOT (OLD.state, OLD.reason, OLD.uid) AND NOT EXISTS (
        SELECT 1 FROM stored_event WHERE txid = NEW.txid AND position = NEW.position AND uid = NEW.uid
        AND type = 'deposit.' || NEW.state AND reason = NEW.reason));
  SELECT RAISE(ABORT, 'transfer: its event was not stored')
    WHERE ((NEW.state = 'dropped' OR (NEW.state = 'seen' AND (OLD.state = 'dropped' OR NEW.uid IS NOT OLD.uid))) AND NOT EXISTS (
      SELECT 1 FROM stored_event WHERE id = (SELECT id FROM last_event)
        AND txid = NEW.txid AND position = NEW.position AND type = 'deposit.' || NEW.state))
    OR (NEW.state IN ('held', 'refused') AND (NEW.state, NEW.reason, NEW.uid) IS NOT (OLD.state, OLD.reason, OLD.uid) AND NOT EXISTS (
        SELECT 1 FROM stored_event WHERE txid = NEW.txid AND position = NEW.position AND uid = NEW.uid
        AND type = 'deposit.' || NEW.state AND reason = NEW.reason));
END;
--> statement-breakpoint
CREATE TRIGGER transfer_step_changes_its_holdings AFTER UPDATE ON stored_transfer
  -- Nothing is to be done if the transfer is in the same holding before and after, with the same amount.
  WHEN NOT (OLD.state IN ('held', 'refused', 'credited', 'moved') AND NEW.state IN ('held', 'refused', 'credited')
    AND (OLD.cuy, OLD.to_address, OLD.raw) = (NEW.cuy, NEW.to_address, NEW.raw))
BEGIN
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT OLD.cuy, OLD.to_address, -1, OLD.raw, NEW.height, NEW.changed_at
      WHERE OLD.state IN ('held', 'refused', 'credited', 'moved');
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT NEW.cuy, NEW.to_address, 1, NEW.raw, NEW.height, NEW.changed_at
      WHERE NEW.state IN ('held', 'refused', 'credited', 'moved');
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT NEW.cuy, NEW.from_address, -1, NEW.raw, NEW.height, NEW.changed_at WHERE NEW.state = 'moved';
END;
--> statement-breakpoint
CREATE TRIGGER transfer_is_in_its_sum AFTER INSERT ON stored_transfer WHEN NEW.state NOT IN ('seen', 'dropped')
BEGIN
  INSERT INTO summand (cuy, kind, number, units, from_address, to_address)
    VALUES (NEW.cuy, NEW.state, 1, NEW.raw, NEW.from_address, NEW.to_address);
END;
--> statement-breakpoint
CREATE TRIGGER transfer_step_is_in_its_sum AFTER UPDATE OF state, cuy, raw, from_address, to_address ON stored_transfer
  WHEN (NEW.state, NEW.cuy, NEW.raw, NEW.from_address, NEW.to_address)
    IS NOT (OLD.state, OLD.cuy, OLD.raw, OLD.from_address, OLD.to_address)
BEGIN
  INSERT INTO summand (cuy, kind, number, units, from_address, to_address)
    SELECT OLD.cuy, OLD.state, -1, OLD.raw, OLD.from_address, OLD.to_address WHERE OLD.state NOT IN ('seen', 'dropped');
  INSERT INTO summand (cuy, kind, number, units, from_address, to_address)
    SELECT NEW.cuy, NEW.state, 1, NEW.raw, NEW.from_address, NEW.to_address WHERE NEW.state NOT IN ('seen', 'dropped');
END;
--> statement-breakpoint
CREATE TRIGGER transfer_is_rarely_deleted BEFORE DELETE ON stored_transfer
BEGIN
  SELECT RAISE(ABORT, 'transfer: only a correction deletes what moved, and time what was dropped')
    WHERE NOT (OLD.state = 'moved' AND OLD.height > coalesce((SELECT finalized FROM scan), OLD.height))
      AND NOT (OLD.state = 'dropped' AND OLD.review IS NULL AND OLD.changed_at <= (SELECT tried_at FROM scan) - 86400000);
  -- What was archived may be another state of the row. The txid and the id may be stored again, so the time of this row tells it from later ones.
  INSERT INTO archive_change (after_event, kind, key)
    SELECT (SELECT id FROM last_event), 'removed', json_array(OLD.id, lower(hex(OLD.txid)), OLD.position, OLD.created_at) FROM archive;
  -- The id may be used again, by a transfer that no order counts.
  DELETE FROM order_deposit
    WHERE (order_id, transfer_id) IN (
      SELECT order_id, transfer_id FROM ordered_transfer WHERE address = OLD.to_address AND transfer_id = OLD.id);
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT OLD.cuy, OLD.to_address, -1, OLD.raw, 0, finalized_at FROM scan WHERE OLD.state = 'moved';
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT OLD.cuy, OLD.from_address, 1, OLD.raw, 0, finalized_at FROM scan WHERE OLD.state = 'moved';
  INSERT INTO summand (cuy, kind, number, units, from_address, to_address)
    SELECT OLD.cuy, OLD.state, -1, OLD.raw, OLD.from_address, OLD.to_address WHERE OLD.state = 'moved';
END;
--> statement-breakpoint

-- decision: a decision about a transfer in review is made once --------------------------------------------------------

CREATE TRIGGER decision_is_new BEFORE INSERT ON decision
BEGIN
  SELECT RAISE(ABORT, 'decision: already made')
    WHERE EXISTS (SELECT 1 FROM decision
      WHERE txid = NEW.txid AND position = NEW.position AND decision = NEW.decision);
  SELECT RAISE(ABORT, 'decision: the scan is halted')
    WHERE NEW.decision = 'credit' AND EXISTS (SELECT 1 FROM scan WHERE halted IS NOT NULL);
  SELECT RAISE(ABORT, 'decision: the transfer is not held for review')
    WHERE NOT EXISTS (SELECT 1 FROM stored_transfer WHERE txid = unhex(NEW.txid) AND position = NEW.position AND (
      (state = 'held' AND review = 'open') OR (state = 'refused' AND review = 'refuse' AND NEW.decision = 'credit')));
END;
--> statement-breakpoint
CREATE TRIGGER decision_is_never_changed BEFORE UPDATE ON decision
BEGIN
  SELECT RAISE(ABORT, 'decision: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER decision_is_never_deleted BEFORE DELETE ON decision
BEGIN
  SELECT RAISE(ABORT, 'decision: rows are never deleted');
END;
--> statement-breakpoint

-- sent: each transaction that an address of the service has sent counts for its holding, for its fee -------------------

CREATE TRIGGER sent_is_counted BEFORE INSERT ON sent
BEGIN
  SELECT RAISE(ABORT, 'sent: already stored')
    WHERE EXISTS (SELECT 1 FROM sent WHERE txid = NEW.txid AND address = NEW.address);
  SELECT RAISE(ABORT, 'sent: its block is not final') WHERE NEW.height > coalesce((SELECT finalized FROM scan), -1);
  SELECT RAISE(ABORT, 'sent: not an address of the service')
    WHERE NOT EXISTS (SELECT 1 FROM stored_address WHERE address = unhex(NEW.address));
  INSERT INTO stored_holding (cuy, address_id, sent, changed_height, due_at)
    SELECT NEW.cuy, stored_address.id, 1, NEW.height, advanced_at + 60000 FROM scan CROSS JOIN stored_address
      WHERE address = unhex(NEW.address)
    ON CONFLICT (cuy, address_id) DO UPDATE SET sent = sent + 1,
      changed_height = max(changed_height, excluded.changed_height), due_at = min(due_at, excluded.due_at);
END;
--> statement-breakpoint
CREATE TRIGGER sent_is_never_deleted BEFORE DELETE ON sent
BEGIN
  SELECT RAISE(ABORT, 'sent: only a correction deletes it')
    WHERE OLD.height <= coalesce((SELECT finalized FROM scan), OLD.height);
  UPDATE stored_holding SET sent = sent - 1
    WHERE cuy = OLD.cuy AND address_id = (SELECT id FROM stored_address WHERE address = unhex(OLD.address));
END;
--> statement-breakpoint

-- issuer_act: what an issuer did stays, except that a correction deletes it --------------------------------------------

CREATE TRIGGER issuer_act_is_new BEFORE INSERT ON issuer_act
BEGIN
  SELECT RAISE(ABORT, 'issuer_act: already stored')
    WHERE EXISTS (SELECT 1 FROM issuer_act WHERE txid = NEW.txid AND position = NEW.position);
  SELECT RAISE(ABORT, 'issuer_act: its block is not final') WHERE NEW.height > coalesce((SELECT finalized FROM scan), -1);
  SELECT RAISE(ABORT, 'issuer_act: a new one is not confirmed') WHERE NEW.confirmed_at IS NOT NULL;
END;
--> statement-breakpoint
-- An act on an issued address makes one event, even if a correction has the act read and stored again. Destroyed tokens leave the holding of their address.
-- `type GLOB 'address.*'` is only the condition of the index event_act.
CREATE TRIGGER issuer_act_has_its_effects AFTER INSERT ON issuer_act
BEGIN
  INSERT INTO stored_event (id, type, uid, created_at, txid, position, cuy, raw, address)
    SELECT (SELECT id FROM last_event) + 1, 'address.' || NEW.kind, uid, NEW.created_at, unhex(NEW.txid), NEW.position, NEW.cuy, NEW.raw,
      address
    FROM stored_address WHERE address = unhex(NEW.address) AND NEW.kind IN ('frozen', 'released', 'destroyed')
      AND NOT EXISTS (SELECT 1 FROM stored_event INDEXED BY event_act
        WHERE txid = unhex(NEW.txid) AND position = NEW.position AND type = 'address.' || NEW.kind AND type GLOB 'address.*');
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT NEW.cuy, unhex(NEW.address), -1, NEW.raw, NEW.height, NEW.created_at WHERE NEW.kind = 'destroyed' AND NEW.raw <> '0';
  SELECT RAISE(ABORT, 'issuer_act: its event was not stored')
    WHERE NEW.kind IN ('frozen', 'released', 'destroyed') AND EXISTS (SELECT 1 FROM stored_address WHERE address = unhex(NEW.address))
      AND NOT EXISTS (SELECT 1 FROM stored_event INDEXED BY event_act
        WHERE txid = unhex(NEW.txid) AND position = NEW.position AND type = 'address.' || NEW.kind AND type GLOB 'address.*');
END;
--> statement-breakpoint
CREATE TRIGGER issuer_act_keeps_its_facts BEFORE UPDATE ON issuer_act
BEGIN
  SELECT RAISE(ABORT, 'issuer_act: only a fee is ever confirmed, once')
    WHERE (NEW.txid, NEW.position, NEW.height, NEW.place, NEW.cuy, NEW.kind, NEW.address, NEW.raw, NEW.basis_points, NEW.created_at)
        IS NOT (OLD.txid, OLD.position, OLD.height, OLD.place, OLD.cuy, OLD.kind, OLD.address, OLD.raw, OLD.basis_points, OLD.created_at)
      OR OLD.confirmed_at IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER issuer_act_is_never_deleted BEFORE DELETE ON issuer_act
BEGIN
  SELECT RAISE(ABORT, 'issuer_act: only a correction deletes it')
    WHERE OLD.height <= coalesce((SELECT finalized FROM scan), OLD.height);
  INSERT INTO movement (cuy, address, sign, raw, height, moved_at)
    SELECT OLD.cuy, unhex(OLD.address), 1, OLD.raw, 0, finalized_at FROM scan WHERE OLD.kind = 'destroyed' AND OLD.raw <> '0';
END;
--> statement-breakpoint

-- movement: what an address got or lost changes its holding -----------------------------------------------------------

-- movement is an empty table and not a view with an INSTEAD OF trigger: an export (wrangler d1 export) writes triggers before views, so it could not be
-- restored.
CREATE TRIGGER movement_changes_its_holding BEFORE INSERT ON movement
BEGIN
  INSERT INTO stored_holding (cuy, address_id, part_0, part_1, part_2, part_3, part_4, part_5, part_6, changed_height, due_at)
    SELECT NEW.cuy, stored_address.id,
      NEW.sign * CAST(substr(digits, 1, 12) AS INTEGER), NEW.sign * CAST(substr(digits, 13, 12) AS INTEGER),
      NEW.sign * CAST(substr(digits, 25, 12) AS INTEGER), NEW.sign * CAST(substr(digits, 37, 12) AS INTEGER),
      NEW.sign * CAST(substr(digits, 49, 12) AS INTEGER), NEW.sign * CAST(substr(digits, 61, 12) AS INTEGER),
      NEW.sign * CAST(substr(digits, 73, 12) AS INTEGER),
      NEW.height, NEW.moved_at + 60000
    FROM (SELECT substr(hex(zeroblob(42)) || NEW.raw, -84) AS digits) CROSS JOIN stored_address
    WHERE address = NEW.address
    ON CONFLICT (cuy, address_id) DO UPDATE SET
      part_0 = part_0 + excluded.part_0, part_1 = part_1 + excluded.part_1, part_2 = part_2 + excluded.part_2,
      part_3 = part_3 + excluded.part_3, part_4 = part_4 + excluded.part_4, part_5 = part_5 + excluded.part_5,
      part_6 = part_6 + excluded.part_6, changed_height = max(changed_height, excluded.changed_height);
  -- due_at has a statement of its own, which runs only if it changes: SQLite rewrites the index of every column that is set.
  UPDATE stored_holding SET due_at = NEW.moved_at + 60000
    WHERE cuy = NEW.cuy AND address_id = (SELECT id FROM stored_address WHERE address = NEW.address) AND due_at > NEW.moved_at + 60000;
  SELECT RAISE(IGNORE);
END;
--> statement-breakpoint

-- holding, day and total: sums follow their rows ----------------------------------------------------------------------

CREATE VIEW holding AS
SELECT lower(hex(stored_address.address)) AS address, stored_holding.* FROM stored_holding JOIN stored_address ON stored_address.id = address_id;
--> statement-breakpoint
-- The sums in total follow updates of holdings only. So a holding must be inserted and deleted without a reading: the sums would miss it.
CREATE TRIGGER holding_begins_without_a_reading BEFORE INSERT ON stored_holding
BEGIN
  SELECT RAISE(ABORT, 'holding: it begins without a reading')
    WHERE NEW.balance IS NOT NULL OR NEW.differing <> 0 OR NEW.accepted <> '0';
END;
--> statement-breakpoint
CREATE TRIGGER holding_is_in_its_sums AFTER UPDATE OF cuy, balance, read_from, accepted, differing, difference ON stored_holding
  WHEN (NEW.cuy, NEW.balance, NEW.read_from, NEW.accepted, NEW.differing, NEW.difference)
    IS NOT (OLD.cuy, OLD.balance, OLD.read_from, OLD.accepted, OLD.differing, OLD.difference)
BEGIN
  INSERT INTO summand (cuy, kind, number, units) SELECT OLD.cuy, 'read', -1, OLD.balance WHERE OLD.balance IS NOT NULL;
  INSERT INTO summand (cuy, kind, number, units) SELECT NEW.cuy, 'read', 1, NEW.balance WHERE NEW.balance IS NOT NULL;
  INSERT INTO summand (cuy, kind, number, units) SELECT OLD.cuy, 'fees', -1, OLD.accepted WHERE OLD.accepted <> '0';
  INSERT INTO summand (cuy, kind, number, units) SELECT NEW.cuy, 'fees', 1, NEW.accepted WHERE NEW.accepted <> '0';
  -- A difference is in its sum only once three readings in a row have found it.
  INSERT INTO summand (cuy, kind, number, units) SELECT OLD.cuy, 'difference', -1, OLD.difference WHERE OLD.differing >= 3;
  INSERT INTO summand (cuy, kind, number, units) SELECT NEW.cuy, 'difference', 1, NEW.difference WHERE NEW.differing >= 3;
END;
--> statement-breakpoint
-- Adds units to a total (number 1), or takes them out again (number -1). A transfer of the kind moved is in gas if it came from outside, in collected
-- (negative) if it left, and in no total if it went between two addresses of the service.
CREATE TRIGGER summand_is_in_its_sum BEFORE INSERT ON summand
BEGIN
  INSERT INTO total (cuy, kind, number, changed_at, part_0, part_1, part_2, part_3, part_4, part_5, part_6)
    SELECT NEW.cuy, kind, NEW.number, coalesce((SELECT advanced_at FROM scan), 0),
      sign * CAST(substr(digits, 1, 18) AS INTEGER), sign * CAST(substr(digits, 19, 12) AS INTEGER),
      sign * CAST(substr(digits, 31, 12) AS INTEGER), sign * CAST(substr(digits, 43, 12) AS INTEGER),
      sign * CAST(substr(digits, 55, 12) AS INTEGER), sign * CAST(substr(digits, 67, 12) AS INTEGER),
      sign * CAST(substr(digits, 79, 12) AS INTEGER)
    FROM (
      SELECT iif(NEW.kind <> 'moved', NEW.kind, iif(goes_out, 'collected', 'gas')) AS kind,
        NEW.number * iif((NEW.units GLOB '-*') <> (NEW.kind = 'moved' AND goes_out), -1, 1) AS sign,
        substr(hex(zeroblob(45)) || ltrim(NEW.units, '-'), -90) AS digits
      FROM (SELECT EXISTS (SELECT 1 FROM stored_address WHERE address = NEW.from_address) AS goes_out,
        EXISTS (SELECT 1 FROM stored_address WHERE address = NEW.to_address) AS comes_in)
      WHERE NEW.kind <> 'moved' OR goes_out <> comes_in
    ) WHERE true
    ON CONFLICT (cuy, kind) DO UPDATE SET number = number + excluded.number,
      changed_at = iif(excluded.number > 0, excluded.changed_at, changed_at),
      part_0 = part_0 + excluded.part_0, part_1 = part_1 + excluded.part_1, part_2 = part_2 + excluded.part_2,
      part_3 = part_3 + excluded.part_3, part_4 = part_4 + excluded.part_4, part_5 = part_5 + excluded.part_5,
      part_6 = part_6 + excluded.part_6;
  SELECT RAISE(IGNORE);
END;
--> statement-breakpoint
CREATE TRIGGER holding_ends_without_a_reading BEFORE DELETE ON stored_holding
BEGIN
  SELECT RAISE(ABORT, 'holding: it ends without a reading')
    WHERE OLD.balance IS NOT NULL OR OLD.differing <> 0 OR OLD.accepted <> '0';
END;
--> statement-breakpoint
CREATE TRIGGER day_is_never_deleted BEFORE DELETE ON day
BEGIN
  SELECT RAISE(ABORT, 'day: rows are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER compared_only_grows BEFORE UPDATE ON compared
BEGIN
  SELECT RAISE(ABORT, 'compared: it only grows')
    WHERE NEW.cuy IS NOT OLD.cuy OR NEW.last_id < OLD.last_id OR (NEW.first_id > OLD.first_id AND OLD.first_id > 0);
END;
--> statement-breakpoint
CREATE TRIGGER total_is_never_deleted BEFORE DELETE ON total
BEGIN
  SELECT RAISE(ABORT, 'total: rows are never deleted');
END;
--> statement-breakpoint

-- stored_setting and its neighbours: stored data keeps its meaning ----------------------------------------------------

CREATE TRIGGER stored_setting_is_new BEFORE INSERT ON stored_setting
BEGIN
  SELECT RAISE(ABORT, 'stored_setting: already stored') WHERE EXISTS (SELECT 1 FROM stored_setting WHERE name = NEW.name);
END;
--> statement-breakpoint
CREATE TRIGGER stored_setting_keeps_its_meaning BEFORE UPDATE ON stored_setting
BEGIN
  SELECT RAISE(ABORT, 'stored_setting: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER stored_setting_is_never_deleted BEFORE DELETE ON stored_setting
BEGIN
  SELECT RAISE(ABORT, 'stored_setting: rows are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER stored_currency_is_new BEFORE INSERT ON stored_currency
BEGIN
  SELECT RAISE(ABORT, 'stored_currency: already stored') WHERE EXISTS (SELECT 1 FROM stored_currency WHERE cuy = NEW.cuy);
END;
--> statement-breakpoint
-- An operator can correct the decimals of a token while no deposit of it is credited and no payout of it is open.
CREATE TRIGGER stored_currency_keeps_its_meaning BEFORE UPDATE ON stored_currency
BEGIN
  SELECT RAISE(ABORT, 'stored_currency: only the decimals of a token are ever changed')
    WHERE OLD.contract IS NULL OR (NEW.cuy, NEW.contract, NEW.scale) IS NOT (OLD.cuy, OLD.contract, OLD.scale);
  SELECT RAISE(ABORT, 'stored_currency: deposits of the currency are credited')
    WHERE EXISTS (SELECT 1 FROM day WHERE cuy = OLD.cuy AND type = 1);
  -- An open payout has its amount in chain units, by the decimals before the correction.
  SELECT RAISE(ABORT, 'stored_currency: payouts of the currency are open')
    WHERE EXISTS (SELECT 1 FROM payout_sum WHERE cuy = OLD.cuy AND count > 0);
END;
--> statement-breakpoint
CREATE TRIGGER stored_currency_is_never_deleted BEFORE DELETE ON stored_currency
BEGIN
  SELECT RAISE(ABORT, 'stored_currency: rows are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER agreed_decimals_are_new BEFORE INSERT ON agreed_decimals
BEGIN
  SELECT RAISE(ABORT, 'agreed_decimals: already stored')
    WHERE EXISTS (SELECT 1 FROM agreed_decimals WHERE contract = NEW.contract);
END;
--> statement-breakpoint
CREATE TRIGGER agreed_decimals_are_never_changed BEFORE UPDATE ON agreed_decimals
BEGIN
  SELECT RAISE(ABORT, 'agreed_decimals: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER agreed_decimals_are_never_deleted BEFORE DELETE ON agreed_decimals
BEGIN
  SELECT RAISE(ABORT, 'agreed_decimals: rows are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER kept_address_is_new BEFORE INSERT ON kept_address
BEGIN
  SELECT RAISE(ABORT, 'kept_address: already stored')
    WHERE EXISTS (SELECT 1 FROM kept_address WHERE kind = NEW.kind AND address = NEW.address);
END;
--> statement-breakpoint
CREATE TRIGGER kept_address_is_never_changed BEFORE UPDATE ON kept_address
BEGIN
  SELECT RAISE(ABORT, 'kept_address: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER kept_address_is_never_deleted BEFORE DELETE ON kept_address
BEGIN
  SELECT RAISE(ABORT, 'kept_address: rows are never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER user_range_has_its_users AFTER INSERT ON user_range
BEGIN
  SELECT RAISE(ABORT, 'user_range: the database has other users')
    WHERE EXISTS (SELECT 1 FROM user_range CROSS JOIN stored_address ON uid < first OR (uid > last AND uid < 9007199254740991))
      OR EXISTS (SELECT 1 FROM user_range CROSS JOIN wallet ON uid < first OR (uid > last AND uid < 9007199254740991));
END;
--> statement-breakpoint
CREATE TRIGGER user_range_keeps_its_users AFTER UPDATE ON user_range
BEGIN
  SELECT RAISE(ABORT, 'user_range: the database has other users')
    WHERE EXISTS (SELECT 1 FROM user_range CROSS JOIN stored_address ON uid < first OR (uid > last AND uid < 9007199254740991))
      OR EXISTS (SELECT 1 FROM user_range CROSS JOIN wallet ON uid < first OR (uid > last AND uid < 9007199254740991));
END;
--> statement-breakpoint
CREATE TRIGGER user_range_is_never_deleted BEFORE DELETE ON user_range
BEGIN
  SELECT RAISE(ABORT, 'user_range: the row is never deleted');
END;
--> statement-breakpoint

-- scan: the position only moves forward -------------------------------------------------------------------------------

CREATE TRIGGER scan_has_one_row BEFORE INSERT ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: already started') WHERE EXISTS (SELECT 1 FROM scan);
END;
--> statement-breakpoint
CREATE TRIGGER scan_never_goes_back BEFORE UPDATE ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: corrected_by must be the newest correction')
    WHERE NEW.corrected_by IS NOT OLD.corrected_by AND NOT EXISTS (
      SELECT 1 FROM correction WHERE id = NEW.corrected_by AND id > OLD.corrected_by
        AND NEW.finalized = finalized AND NEW.height = min(OLD.height, finalized)
        AND NEW.hash IS iif(OLD.height <= finalized, OLD.hash, NULL));
  SELECT RAISE(ABORT, 'scan: height must not decrease')
    WHERE NEW.corrected_by IS OLD.corrected_by AND NEW.height < OLD.height;
  SELECT RAISE(ABORT, 'scan: the hash of a stored block must not change')
    WHERE NEW.corrected_by IS OLD.corrected_by
      AND NEW.height = OLD.height AND OLD.hash IS NOT NULL AND NEW.hash IS NOT OLD.hash;
  SELECT RAISE(ABORT, 'scan: finalized must not decrease')
    WHERE NEW.corrected_by IS OLD.corrected_by AND NEW.finalized < OLD.finalized;
END;
--> statement-breakpoint
CREATE TRIGGER scan_marks_what_is_credited BEFORE UPDATE OF finalized ON scan
  WHEN NEW.finalized / 1000 > OLD.finalized / 1000
BEGIN
  -- A mark must be above all existing ones: after a correction there are entries of higher blocks already, so a lower mark would be wrong.
  INSERT INTO credit_mark (height, entry_id)
    SELECT OLD.finalized, coalesce((SELECT max(id) FROM stored_flow), 0)
    WHERE OLD.finalized > coalesce((SELECT max(height) FROM credit_mark), -1);
END;
--> statement-breakpoint
CREATE TRIGGER scan_is_never_deleted BEFORE DELETE ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: the row is never deleted');
END;
--> statement-breakpoint

-- credit_mark: which entries there were at a height -------------------------------------------------------------------

CREATE TRIGGER credit_mark_is_true BEFORE INSERT ON credit_mark
BEGIN
  SELECT RAISE(ABORT, 'credit_mark: heights must increase') WHERE NEW.height <= (SELECT max(height) FROM credit_mark);
  SELECT RAISE(ABORT, 'credit_mark: it must be of the finalized height') WHERE NEW.height IS NOT (SELECT finalized FROM scan);
  SELECT RAISE(ABORT, 'credit_mark: entry_id must be that of the newest entry')
    WHERE NEW.entry_id <> coalesce((SELECT max(id) FROM stored_flow), 0);
END;
--> statement-breakpoint
CREATE TRIGGER credit_mark_is_never_changed BEFORE UPDATE ON credit_mark
BEGIN
  SELECT RAISE(ABORT, 'credit_mark: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER credit_mark_is_never_deleted BEFORE DELETE ON credit_mark
BEGIN
  SELECT RAISE(ABORT, 'credit_mark: rows are never deleted');
END;
--> statement-breakpoint

-- rescan: blocks that are read again ----------------------------------------------------------------------------------

-- The transactions for which blocks must be read before their payout can have another one, or its money can go back: those that can be mined, and the expired
-- ones of payouts that are not over, because a correction can take back the blocks that have shown them as expired.
CREATE VIEW awaited_transaction AS
SELECT one.reference, one.past_height, one.ended FROM payout INDEXED BY payout_state CROSS JOIN payout_transaction AS one INDEXED BY payout_transaction_payout
  ON one.payout_id = payout.id AND (one.ended IS NULL OR one.ended = 'expired')
WHERE payout.state IN ('approved', 'signed', 'stuck');
--> statement-breakpoint
-- Those that may be in a block which is not read yet: one that can be mined, or an expired one if a correction has taken back what has shown it. A request of
-- an operator does not count for what has ended, because its blocks were read before.
CREATE VIEW unread_transaction AS
SELECT one.payout_id, one.ended FROM payout_transaction AS one
WHERE (one.ended IS NULL OR one.ended = 'expired') AND (one.past_height IS NULL OR EXISTS (SELECT 1 FROM rescan INDEXED BY rescan_open
  WHERE finished_at IS NULL AND next_height <= one.past_height AND to_height > one.reference AND (one.ended IS NULL OR kind <> 'request')));
--> statement-breakpoint
CREATE TRIGGER rescan_is_new BEFORE INSERT ON rescan
BEGIN
  SELECT RAISE(ABORT, 'rescan: already exists') WHERE EXISTS (SELECT 1 FROM rescan WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'rescan: must start at its first block')
    WHERE NEW.next_height <> NEW.from_height OR NEW.finished_at IS NOT NULL OR NEW.closed IS NOT NULL;
  SELECT RAISE(ABORT, 'rescan: blocks above the position are not read yet')
    WHERE NEW.to_height > coalesce((SELECT height FROM scan), -1);
END;
--> statement-breakpoint
-- An operator's request compares credits with the chain, too: an alarm names those that the blocks do not contain, or contain otherwise. TRX that a contract
-- sent is left out, because no block shows it. A part of a request that was tried already is not the beginning of one.
CREATE TRIGGER rescan_seeks_credits AFTER INSERT ON rescan WHEN NEW.kind = 'request' AND NEW.tried_at IS NULL
BEGIN
  UPDATE stored_transfer SET sought = 1 WHERE height BETWEEN NEW.from_height AND NEW.to_height AND state = 'credited' AND position >= 0 AND id IN (
    SELECT transfer_id FROM stored_flow WHERE transfer_id IS NOT NULL AND id > coalesce(
      (SELECT entry_id FROM credit_mark WHERE height < NEW.from_height
        AND height <= coalesce((SELECT min(finalized) FROM correction), NEW.from_height) ORDER BY height DESC LIMIT 1), 0));
END;
--> statement-breakpoint
CREATE TRIGGER rescan_goes_forward AFTER UPDATE ON rescan
BEGIN
  SELECT RAISE(ABORT, 'rescan: only its progress changes')
    WHERE NEW.id IS NOT OLD.id OR NEW.kind IS NOT OLD.kind OR NEW.from_height IS NOT OLD.from_height
      OR NEW.reason IS NOT OLD.reason OR NEW.created_at IS NOT OLD.created_at;
  -- Only a gap grows: by the blocks right above it that cannot be read either. Any row may shrink: blocks that are read separately get a row of their own.
  SELECT RAISE(ABORT, 'rescan: it must not grow')
    WHERE NEW.to_height > OLD.to_height AND (OLD.kind <> 'gap' OR NEW.to_height > (SELECT height FROM scan));
  SELECT RAISE(ABORT, 'rescan: next_height must not decrease') WHERE NEW.next_height < OLD.next_height;
  SELECT RAISE(ABORT, 'rescan: a finished one must not change') WHERE OLD.finished_at IS NOT NULL;
  -- Drops transfers that are still seen in blocks that are in no open gap any more: these blocks were read and do not contain them.
  UPDATE stored_transfer SET state = 'dropped', version = version + 1, changed_at = coalesce(NEW.finished_at, NEW.tried_at, (SELECT advanced_at FROM scan))
    WHERE state = 'seen' AND height BETWEEN OLD.next_height AND OLD.to_height AND height <= (SELECT height FROM scan)
      AND NOT EXISTS (SELECT 1 FROM rescan INDEXED BY rescan_open WHERE kind = 'gap' AND finished_at IS NULL
        AND to_height >= stored_transfer.height AND next_height <= stored_transfer.height);
  -- If an operator closes a row unread, but the transaction of a payout may be in its blocks, these become a row of the kind payout and are still read for it.
  INSERT INTO rescan (kind, from_height, to_height, next_height, why, created_at, next_try, tried_at, attempts)
    SELECT 'payout', low, OLD.to_height, low, OLD.why, NEW.finished_at, OLD.next_try, OLD.tried_at, OLD.attempts FROM (
      SELECT max(OLD.next_height, min(reference) + 1) AS low FROM awaited_transaction
        WHERE NEW.closed IS NOT NULL AND reference < OLD.to_height AND coalesce(past_height, OLD.to_height) >= OLD.next_height
          AND (ended IS NULL OR OLD.kind <> 'request'))
    WHERE low IS NOT NULL AND OLD.next_height <= (SELECT height FROM scan);
  SELECT RAISE(ABORT, 'rescan: a payout needs these blocks')
    WHERE NEW.closed IS NOT NULL AND OLD.next_height <= (SELECT height FROM scan) AND EXISTS (
      SELECT 1 FROM awaited_transaction
        WHERE reference < OLD.to_height AND coalesce(past_height, OLD.to_height) >= OLD.next_height
          AND (ended IS NULL OR OLD.kind <> 'request'))
      AND NOT EXISTS (SELECT 1 FROM rescan INDEXED BY rescan_open
        WHERE finished_at IS NULL AND kind = 'payout' AND to_height >= OLD.to_height);
END;
--> statement-breakpoint
CREATE TRIGGER rescan_is_never_deleted BEFORE DELETE ON rescan
BEGIN
  SELECT RAISE(ABORT, 'rescan: rows are never deleted');
END;
--> statement-breakpoint

-- correction: an operator lowers a wrong finalized height -------------------------------------------------------------

CREATE TRIGGER correction_is_new BEFORE INSERT ON correction
BEGIN
  SELECT RAISE(ABORT, 'correction: ids must increase') WHERE NEW.id BETWEEN 0 AND (SELECT max(id) FROM correction);
  SELECT RAISE(ABORT, 'correction: finalized must be below the stored one')
    WHERE NEW.finalized >= coalesce((SELECT finalized FROM scan), -1);
END;
--> statement-breakpoint
-- Applies a correction: everything above the corrected height is decided again, except credits, which stay in the ledger.
CREATE TRIGGER correction_lowers_the_scan AFTER INSERT ON correction
BEGIN
  INSERT INTO credit_mark (height, entry_id)
    SELECT finalized, coalesce((SELECT max(id) FROM stored_flow), 0) FROM scan
    WHERE finalized > coalesce((SELECT max(height) FROM credit_mark), -1);
  UPDATE scan SET corrected_by = NEW.id, finalized = NEW.finalized, finalized_time = 0, finalized_hash = NULL, finalized_at = NEW.created_at,
    height = min(height, NEW.finalized), hash = iif(height <= NEW.finalized, hash, NULL);
  UPDATE stored_address SET issued_height = NEW.finalized WHERE issued_height > NEW.finalized;
  -- Here and at the deletion below, the list of states is only the condition of the index transfer_decided.
  UPDATE stored_transfer SET state = 'seen', reason = NULL, version = version + 1, changed_at = NEW.created_at
    WHERE height > NEW.finalized AND state IN ('held', 'refused', 'moved') AND state <> 'moved';
  -- Credited transfers above the corrected height are sought: an alarm names those that the chain does not contain any more. Only marks up to the lowest
  -- correction say where their entries begin: after it, older entries may be of transfers that were found again in higher blocks.
  UPDATE stored_transfer SET sought = 1 WHERE height > NEW.finalized AND state = 'credited' AND id IN (
    SELECT transfer_id FROM stored_flow WHERE transfer_id IS NOT NULL AND id > coalesce(
      (SELECT entry_id FROM credit_mark WHERE height <= (SELECT min(finalized) FROM correction) ORDER BY height DESC LIMIT 1), 0));
  -- The scan reads all blocks above the corrected height again, so open rescans end there.
  UPDATE rescan SET to_height = NEW.finalized
    WHERE finished_at IS NULL AND next_height <= NEW.finalized AND to_height > NEW.finalized;
  UPDATE rescan SET finished_at = NEW.created_at, closed = 'a correction has its blocks read anew'
    WHERE finished_at IS NULL AND next_height > NEW.finalized;
  DELETE FROM stored_transfer WHERE height > NEW.finalized AND state IN ('held', 'refused', 'moved') AND state = 'moved';
  DELETE FROM sent WHERE height > NEW.finalized;
  DELETE FROM issuer_act WHERE height > NEW.finalized;
  UPDATE stored_holding SET changed_height = min(changed_height, NEW.finalized),
      balance = NULL, read_from = NULL, read_to = NULL, due_at = min(due_at, NEW.created_at + 60000)
    WHERE changed_height > NEW.finalized OR read_to > NEW.finalized;
  UPDATE payout_transaction SET past_height = NULL, version = version + 1 WHERE ended IS NULL AND past_height > NEW.finalized;
  UPDATE payout_transaction SET height = NULL, version = version + 1 WHERE ended = 'unknown' AND height > NEW.finalized;
  -- A transaction that ended in a block above the corrected height is open again, unless its payout has another transaction by now or was cancelled. Blocks
  -- up to that height were read for it, but for gaps that were closed (below).
  UPDATE payout_transaction SET ended = NULL, height = NULL, succeeded = NULL, moved = NULL, next_send = 0, version = version + 1,
      result = NULL, burnt = NULL, energy = NULL,
      past_height = iif(past_height > NEW.finalized, NULL, past_height), changed_at = NEW.created_at
    WHERE ended IN ('paid', 'failed', 'other', 'expired') AND coalesce(height, past_height) > NEW.finalized
      AND EXISTS (SELECT 1 FROM payout WHERE payout.id = payout_id AND payout.txid = payout_transaction.txid
        AND payout.state IN ('paid', 'stuck', 'approved'));
  -- What has another one by now may be in any of the blocks that are read again. Until these are read, up to one past its expiration, nothing is known of it.
  UPDATE payout_transaction SET ended = 'expired', height = NULL, succeeded = NULL, moved = NULL, version = version + 1,
      result = NULL, burnt = NULL, energy = NULL,
      past_height = iif(past_height > NEW.finalized, NULL, past_height), changed_at = NEW.created_at
    WHERE ended IN ('failed', 'other', 'expired') AND coalesce(height, past_height) > NEW.finalized
      AND EXISTS (SELECT 1 FROM payout WHERE payout.id = payout_id AND payout.txid <> payout_transaction.txid AND payout.state <> 'cancelled');
  UPDATE payout SET state = 'signed', height = NULL, reason = NULL, moved = NULL, received = NULL, changed_at = NEW.created_at,
      attempts = attempts - (state <> 'paid'), version = version + 1
    WHERE state IN ('paid', 'stuck', 'approved') AND txid IN (
      SELECT txid FROM payout_transaction INDEXED BY payout_transaction_open WHERE ended IS NULL);
  -- Blocks may have been closed unread while the transaction had ended. What is open again may be in them, so they are read for it now.
  INSERT INTO rescan (kind, from_height, to_height, next_height, created_at, next_try)
    SELECT 'payout', low, high, low, NEW.created_at, NEW.created_at FROM (
      SELECT (SELECT min(reference) + 1 FROM awaited_transaction WHERE past_height IS NULL) AS low, height AS high FROM scan)
    WHERE low <= high AND EXISTS (
      SELECT 1 FROM rescan WHERE closed IS NOT NULL AND to_height >= low AND from_height <= high);
  SELECT RAISE(ABORT, 'correction: it was not applied')
    WHERE NOT EXISTS (SELECT 1 FROM scan WHERE corrected_by = NEW.id AND finalized = NEW.finalized)
      OR EXISTS (SELECT 1 FROM stored_transfer WHERE height > NEW.finalized AND state IN ('held', 'refused', 'moved'));
END;
--> statement-breakpoint
CREATE TRIGGER correction_is_never_changed BEFORE UPDATE ON correction
BEGIN
  SELECT RAISE(ABORT, 'correction: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER correction_is_never_deleted BEFORE DELETE ON correction
BEGIN
  SELECT RAISE(ABORT, 'correction: rows are never deleted');
END;
--> statement-breakpoint

-- payout: money is taken first and paid or returned once --------------------------------------------------------------

-- The acts of issuers that no later act has undone. Of acts that replace each other (frozen and released of one address, paused and unpaused, each fee) the
-- newest counts, in whatever order blocks were read.
CREATE VIEW standing_act AS
SELECT * FROM (
  SELECT *, row_number() OVER (
    PARTITION BY cuy, iif(kind IN ('frozen', 'released'), address, iif(kind IN ('paused', 'unpaused'), 'pause', kind))
    ORDER BY height DESC, place DESC, position DESC) AS newness
  FROM issuer_act WHERE kind <> 'destroyed')
WHERE newness = 1 AND kind IN ('frozen', 'paused', 'fee-set', 'deprecated');
--> statement-breakpoint
-- Which steps of payouts and deposits each fact stops. The view known_fact lacks what only the configuration shows (retired, from-operator), and
-- address-replaced, frozen at the configured address and decimals, which are known to their triggers alone.
CREATE VIEW stopped_step AS
SELECT column1 AS fact, step.value AS step FROM (VALUES
  -- generated from mayGoOn
  ('forked', '["ask", "rule", "cancel", "offer", "take", "recover", "send", "credit", "decide", "find"]'),
  ('address-replaced', '["offer", "take"]'),
  ('unknown-transaction', '["cancel", "offer"]'),
  ('restored', '["rule", "cancel", "offer", "take", "send"]'),
  ('from-operator', '["credit", "decide", "refuse"]'),
  ('retired', '["credit"]'),
  ('decimals-differ', '["ask", "rule", "cancel", "offer", "take", "send", "credit"]'),
  ('decimals-unknown', '["ask", "rule", "cancel", "offer", "take", "send", "credit"]'),
  ('frozen', '["rule", "cancel", "offer", "take", "send"]'),
  ('paused', '["rule", "cancel", "offer", "take", "send"]'),
  ('fee-unconfirmed', '["rule", "cancel", "offer", "take", "send"]'),
  ('deprecated', '["rule", "offer", "take", "send"]')
  -- end of mayGoOn
) CROSS JOIN json_each(column2) AS step;
--> statement-breakpoint
-- The facts that hold now, as far as stored rows show them: of one currency or of all (cuy NULL), at one payout address or at all (address NULL).
CREATE VIEW known_fact AS
SELECT 'forked' AS fact, NULL AS cuy, NULL AS address FROM scan WHERE halted IS NOT NULL
UNION ALL SELECT 'restored', NULL, NULL FROM scan WHERE restored_at IS NOT NULL
UNION ALL SELECT 'unknown-transaction', NULL, NULL WHERE EXISTS (
  SELECT 1 FROM payout_transaction INDEXED BY payout_transaction_unresolved WHERE ended IN ('unknown', 'late') AND excused IS NULL)
UNION ALL SELECT iif(kind = 'fee-set', 'fee-unconfirmed', kind), cuy, iif(kind = 'frozen', address, NULL) FROM standing_act
  WHERE kind <> 'fee-set' OR (confirmed_at IS NULL AND (basis_points <> '0' OR raw <> '0'));
--> statement-breakpoint
-- The steps that are stopped now.
CREATE VIEW stop AS SELECT step, fact, cuy, address FROM known_fact JOIN stopped_step USING (fact);
--> statement-breakpoint
-- The tokens whose configured decimals are those on which nodes have agreed.
CREATE VIEW agreed_token AS SELECT cuy, contract FROM stored_currency JOIN agreed_decimals USING (contract, decimals);
--> statement-breakpoint
CREATE TRIGGER payout_is_new BEFORE INSERT ON payout
BEGIN
  SELECT RAISE(ABORT, 'payout: already asked for')
    WHERE EXISTS (SELECT 1 FROM payout WHERE uid = NEW.uid AND cuy = NEW.cuy AND osn = NEW.osn)
      OR NEW.id BETWEEN 0 AND (SELECT max(id) FROM payout);
  SELECT RAISE(ABORT, 'payout: it begins as waiting, or as approved by its limits')
    WHERE NOT (NEW.state = 'waiting' OR (NEW.state = 'approved' AND NEW.approved_by IS '' AND NEW.approved_at IS NEW.created_at))
      OR NEW.counted <> (NEW.state = 'approved') OR NEW.version <> 1
      OR NEW.changed_at <> NEW.created_at OR NEW.attempts <> 0 OR NEW.attempts_max <> 3
      OR NEW.txid IS NOT NULL OR NEW.height IS NOT NULL;
  SELECT RAISE(ABORT, 'payout: an entry has its key')
    WHERE EXISTS (SELECT 1 FROM wallet JOIN stored_flow AS flow ON flow.wallet_id = wallet.id
      WHERE wallet.uid = NEW.uid AND wallet.cuy = NEW.cuy AND flow.osn = NEW.osn
        AND (flow.type IN (2, 5) OR (flow.type = 4 AND NEW.fee > 0)))
      OR (NEW.fee > 0 AND EXISTS (SELECT 1 FROM payment_order WHERE uid = NEW.uid AND reference = NEW.osn AND cuy = NEW.cuy AND take = 1));
  SELECT RAISE(ABORT, 'payout: its money would stay here')
    WHERE EXISTS (SELECT 1 FROM stored_address WHERE address = unhex(NEW.to_address));
  SELECT RAISE(ABORT, 'payout: it may not be asked for now')
    WHERE EXISTS (SELECT 1 FROM stop WHERE step = 'ask' AND address IS NULL AND (cuy IS NULL OR cuy = NEW.cuy));
  SELECT RAISE(ABORT, 'payout: the decimals of its token are not agreed on')
    WHERE NEW.contract <> '' AND NOT EXISTS (SELECT 1 FROM agreed_token WHERE cuy = NEW.cuy AND contract = NEW.contract);
  SELECT RAISE(ABORT, 'payout: its money may not leave now')
    WHERE NEW.state = 'approved' AND EXISTS (
      SELECT 1 FROM stop WHERE step = 'rule' AND address IS NULL AND (cuy IS NULL OR cuy = NEW.cuy));
  -- The limits count the last 24 hours: whole hours by their sums in payout_hour, the part of the oldest hour by its approved payouts.
  SELECT RAISE(ABORT, 'payout: it is not within its limits')
    WHERE NEW.state = 'approved' AND NOT coalesce(NEW.amount BETWEEN NEW.limit_least AND NEW.limit_each AND (
      SELECT total(amount) + NEW.amount <= NEW.limit_day AND total(count) + 1 <= NEW.limit_count FROM (
        SELECT amount, count FROM payout_hour
          WHERE cuy = NEW.cuy AND uid = 0 AND hour > (NEW.created_at - 86400000) / 3600000
        UNION ALL SELECT amount, 1 FROM payout INDEXED BY payout_day
          WHERE cuy = NEW.cuy AND counted = 1 AND approved_at > NEW.created_at - 86400000
            AND approved_at < ((NEW.created_at - 86400000) / 3600000 + 1) * 3600000))
      AND (NEW.limit_user IS NULL OR (
        SELECT total(amount) + NEW.amount <= NEW.limit_user FROM (
          SELECT amount FROM payout_hour
            WHERE cuy = NEW.cuy AND uid = NEW.uid AND hour > (NEW.created_at - 86400000) / 3600000
          UNION ALL SELECT amount FROM payout INDEXED BY payout_user_day
            WHERE uid = NEW.uid AND cuy = NEW.cuy AND counted = 1 AND approved_at > NEW.created_at - 86400000
              AND approved_at < ((NEW.created_at - 86400000) / 3600000 + 1) * 3600000))), 0);
END;
--> statement-breakpoint
CREATE TRIGGER payout_takes_its_money AFTER INSERT ON payout
BEGIN
  INSERT INTO posting (entries, posted_by, created_at)
    SELECT '[' || json_object('uid', NEW.uid, 'cuy', NEW.cuy, 'type', 2, 'osn', NEW.osn, 'amount', -NEW.amount, 'mark', NEW.mark) ||
        iif(NEW.fee > 0, ',' || json_object('uid', NEW.uid, 'cuy', NEW.cuy, 'type', 4, 'osn', NEW.osn, 'amount', -NEW.fee, 'mark', NEW.mark), '') || ']',
      NEW.posted_by, NEW.created_at;
  SELECT RAISE(ABORT, 'payout: its money was not taken')
    WHERE 1 + (NEW.fee > 0) <> (
      SELECT count(*) FROM wallet JOIN stored_flow AS flow ON flow.wallet_id = wallet.id
        WHERE wallet.uid = NEW.uid AND wallet.cuy = NEW.cuy AND flow.osn = NEW.osn AND flow.posted_by = NEW.posted_by
          AND ((flow.type = 2 AND flow.amount = -NEW.amount) OR (flow.type = 4 AND flow.amount = -NEW.fee)));
  INSERT INTO payout_effect (payout_id, state_before, counted_before) VALUES (NEW.id, NULL, 0);
END;
--> statement-breakpoint
CREATE TRIGGER payout_takes_its_steps BEFORE UPDATE ON payout
BEGIN
  SELECT RAISE(ABORT, 'payout: what was asked for must not change')
    WHERE (NEW.id, NEW.uid, NEW.cuy, NEW.osn, NEW.amount, NEW.fee, NEW.to_address, NEW.contract, NEW.raw, NEW.mark, NEW.proof,
        NEW.posted_by, NEW.limit_each, NEW.limit_least, NEW.limit_day, NEW.limit_count, NEW.limit_user, NEW.created_at)
      IS NOT (OLD.id, OLD.uid, OLD.cuy, OLD.osn, OLD.amount, OLD.fee, OLD.to_address, OLD.contract, OLD.raw, OLD.mark, OLD.proof,
        OLD.posted_by, OLD.limit_each, OLD.limit_least, OLD.limit_day, OLD.limit_count, OLD.limit_user, OLD.created_at);
  SELECT RAISE(ABORT, 'payout: another version was decided about') WHERE NEW.version IS NOT OLD.version + 1;
  SELECT RAISE(ABORT, 'payout: no such step')
    WHERE (
      -- generated from payoutSteps
      (OLD.state IS 'waiting' AND NEW.state IN ('approved', 'cancelled'))
      OR (OLD.state IS 'approved' AND NEW.state IN ('signed', 'cancelled'))
      OR (OLD.state IS 'signed' AND NEW.state IN ('paid', 'approved', 'stuck'))
      OR (OLD.state IS 'stuck' AND NEW.state IN ('approved', 'cancelled', 'signed'))
      OR (OLD.state IS 'paid' AND NEW.state IS 'signed')
      -- end of payoutSteps
      -- The transaction of a cancelled payout has succeeded after all: the payout counts towards the limits of its day again.
      OR (OLD.state = 'cancelled' AND NEW.state = 'cancelled' AND NEW.counted > OLD.counted)
    ) IS NOT TRUE;
  SELECT RAISE(ABORT, 'payout: its money may not be given back now')
    WHERE NEW.state = 'cancelled' AND OLD.state <> 'cancelled' AND (
      EXISTS (SELECT 1 FROM stop WHERE step = 'cancel' AND address IS NULL AND (cuy IS NULL OR cuy = NEW.cuy))
      OR (NEW.contract <> '' AND NOT EXISTS (SELECT 1 FROM agreed_token WHERE cuy = NEW.cuy AND contract = NEW.contract))
      OR EXISTS (SELECT 1 FROM unread_transaction WHERE payout_id = NEW.id));
  SELECT RAISE(ABORT, 'payout: only a person''s approval changes who approved it')
    WHERE (NEW.approved_by IS NOT OLD.approved_by
        AND NOT (NEW.state = 'approved' AND OLD.state IN ('waiting', 'stuck') AND NEW.approved_by <> ''))
      OR (OLD.approved_at IS NOT NULL AND NEW.approved_at IS NOT OLD.approved_at)
      OR (NEW.state = 'approved' AND OLD.state IN ('waiting', 'stuck') AND NEW.approved_by IS '')
      OR NEW.counted < (NEW.approved_at IS NOT NULL AND NEW.state <> 'cancelled')
      OR (NEW.counted = 0 AND EXISTS (SELECT 1 FROM payout_transaction WHERE payout_id = NEW.id AND moved <> '[]'
        AND NEW.approved_at IS NOT NULL));
  SELECT RAISE(ABORT, 'payout: its transaction says otherwise')
    WHERE (NEW.state = 'signed' AND NOT EXISTS (
        SELECT 1 FROM payout_transaction WHERE txid = NEW.txid AND payout_id = NEW.id AND ended IS NULL))
      OR (NEW.txid IS NOT OLD.txid AND NOT (OLD.state = 'approved' AND NEW.state = 'signed'))
      OR (OLD.state = 'signed' AND NOT EXISTS (
        SELECT 1 FROM payout_transaction WHERE txid = OLD.txid AND payout_id = OLD.id
          AND ended = iif(NEW.state = 'stuck', NEW.reason, iif(NEW.state = 'paid', 'paid', 'expired'))));
  SELECT RAISE(ABORT, 'payout: its attempts are counted otherwise')
    WHERE NEW.attempts <> OLD.attempts + (OLD.state = 'signed' AND NEW.state <> 'paid')
        - (NEW.state = 'signed' AND NEW.txid IS OLD.txid AND OLD.state <> 'paid')
      OR NEW.attempts_max <> iif(OLD.state = 'stuck' AND NEW.state = 'approved', OLD.attempts + 3, OLD.attempts_max)
      OR (OLD.state = 'signed' AND NEW.state = 'approved' AND NEW.attempts >= NEW.attempts_max)
      OR (OLD.state = 'signed' AND NEW.reason IS 'expired' AND NEW.attempts < NEW.attempts_max);
END;
--> statement-breakpoint
CREATE TRIGGER payout_step_has_its_effects AFTER UPDATE ON payout
BEGIN
  -- The refund is posted by a backend: by the one that has cancelled the payout or, if a person has, by the one that asked for it.
  INSERT INTO posting (entries, posted_by, created_at)
    SELECT '[' || json_object('uid', NEW.uid, 'cuy', NEW.cuy, 'type', 5, 'osn', NEW.osn, 'amount', NEW.amount + NEW.fee, 'mark', NEW.mark) || ']',
      iif(NEW.cancelled_by GLOB '*@*', NEW.posted_by, NEW.cancelled_by), NEW.changed_at
    WHERE NEW.state = 'cancelled' AND OLD.state <> 'cancelled';
  SELECT RAISE(ABORT, 'payout: its money is not back')
    WHERE NEW.state = 'cancelled' AND NOT EXISTS (
      SELECT 1 FROM wallet JOIN stored_flow AS flow ON flow.wallet_id = wallet.id AND flow.osn = NEW.osn AND flow.type = 5
        WHERE wallet.uid = NEW.uid AND wallet.cuy = NEW.cuy AND flow.amount = NEW.amount + NEW.fee);
  INSERT INTO payout_effect (payout_id, state_before, counted_before) VALUES (NEW.id, OLD.state, OLD.counted);
END;
--> statement-breakpoint
-- What a step of a payout changes elsewhere: the sums, and the event. The inserted row itself is never stored.
CREATE TRIGGER payout_effect_of_a_step BEFORE INSERT ON payout_effect
BEGIN
  INSERT INTO payout_sum (state, cuy, count, amount)
    SELECT NEW.state_before, cuy, -1, -amount FROM payout
      WHERE id = NEW.payout_id AND NEW.state_before IN ('waiting', 'approved', 'signed', 'stuck')
    UNION ALL SELECT state, cuy, 1, amount FROM payout WHERE id = NEW.payout_id AND state IN ('waiting', 'approved', 'signed', 'stuck')
    ON CONFLICT (state, cuy) DO UPDATE SET count = count + excluded.count, amount = amount + excluded.amount;
  INSERT INTO payout_hour (cuy, uid, hour, amount, count)
    SELECT cuy, owner.value, approved_at / 3600000, amount * (counted - NEW.counted_before), counted - NEW.counted_before
    FROM payout CROSS JOIN json_each(json_array(0, uid)) AS owner
    WHERE payout.id = NEW.payout_id AND counted <> NEW.counted_before AND (approved_at / 3600000 >= changed_at / 3600000 - 48 OR EXISTS (
      SELECT 1 FROM payout_hour AS kept WHERE kept.cuy = payout.cuy AND kept.uid = owner.value AND kept.hour = approved_at / 3600000))
    ON CONFLICT (cuy, uid, hour) DO UPDATE SET amount = amount + excluded.amount, count = count + excluded.count;
  -- No limit counts an hour of the day before yesterday. What counts again removes such hours of its user and of all.
  DELETE FROM payout_hour
    WHERE cuy = (SELECT cuy FROM payout WHERE id = NEW.payout_id) AND uid IN (0, (SELECT uid FROM payout WHERE id = NEW.payout_id))
      AND hour < (SELECT changed_at / 3600000 - 48 FROM payout WHERE id = NEW.payout_id AND counted > NEW.counted_before);
  -- A step of a transaction makes one event, even if the step is repeated after a correction: reported has the newest step with an event.
  INSERT INTO stored_event (id, type, uid, created_at, about)
    SELECT (SELECT id FROM last_event) + 1, 'payout.' || state, uid, changed_at, json_object('id', id, 'uid', uid, 'cuy', cuy, 'amount', amount, 'fee', fee,
      'to_address', to_address, 'osn', osn, 'mark', mark, 'state', state, 'created_at', created_at, 'posted_by', posted_by,
      'approved_by', approved_by, 'txid', txid, 'expires_at', expires_at, 'height', height, 'attempts', attempts,
      'reason', reason, 'moved', moved, 'received', received, 'why', why, 'failure', json((SELECT json_object('result', result)
        FROM payout_transaction WHERE payout_transaction.txid = payout.txid AND payout.reason = 'failed')))
    FROM payout WHERE id = NEW.payout_id AND state IS NOT NEW.state_before
      AND NOT EXISTS (SELECT 1 FROM payout_transaction WHERE payout_transaction.txid = payout.txid AND (
        (state = 'signed' AND reported IS NOT NULL) OR (NEW.state_before IS 'signed' AND reported IS ended)));
  SELECT RAISE(ABORT, 'payout: its event was not stored')
    FROM payout WHERE id = NEW.payout_id AND state IS NOT NEW.state_before
      AND NOT EXISTS (SELECT 1 FROM stored_event WHERE stored_event.id = (SELECT id FROM last_event) AND about ->> 'id' = NEW.payout_id
        AND stored_event.type = 'payout.' || state)
      AND NOT EXISTS (SELECT 1 FROM payout_transaction WHERE payout_transaction.txid = payout.txid AND (
        (state = 'signed' AND reported IS NOT NULL) OR (NEW.state_before IS 'signed' AND reported IS ended)));
  UPDATE payout_transaction SET reported = coalesce(ended, reported, 'signed')
    WHERE txid = (SELECT txid FROM payout WHERE id = NEW.payout_id AND (state = 'signed' OR NEW.state_before IS 'signed'));
  SELECT RAISE(IGNORE);
END;
--> statement-breakpoint
CREATE TRIGGER payout_is_never_deleted BEFORE DELETE ON payout
BEGIN
  SELECT RAISE(ABORT, 'payout: rows are never deleted');
END;
--> statement-breakpoint

-- payout_transaction: of a payout at most one transaction can be mined ------------------------------------------------

CREATE TRIGGER payout_transaction_is_new BEFORE INSERT ON payout_transaction
BEGIN
  SELECT RAISE(ABORT, 'payout_transaction: already stored')
    WHERE EXISTS (SELECT 1 FROM payout_transaction WHERE txid = NEW.txid)
      OR NEW.id BETWEEN 0 AND (SELECT max(id) FROM payout_transaction);
  SELECT RAISE(ABORT, 'payout_transaction: it begins open, or unknown')
    WHERE (NEW.ended IS NOT NULL AND (NEW.ended <> 'unknown' OR NEW.height IS NULL)) OR NEW.past_height IS NOT NULL
      OR NEW.reported IS NOT NULL OR NEW.excused IS NOT NULL OR NEW.seen_height IS NOT NULL OR NEW.sends <> 0
      OR NEW.held_back <> 0 OR NEW.version <> 1;
  SELECT RAISE(ABORT, 'payout_transaction: its block is not final') WHERE NEW.height > coalesce((SELECT finalized FROM scan), -1);
  SELECT RAISE(ABORT, 'payout_transaction: its payout is not to be signed')
    WHERE NEW.payout_id IS NOT NULL AND (NOT EXISTS (SELECT 1 FROM payout WHERE id = NEW.payout_id AND state = 'approved')
      OR EXISTS (SELECT 1 FROM payout_transaction
        WHERE payout_id = NEW.payout_id AND (ended IS NULL OR (ended = 'late' AND excused IS NULL))));
  -- Another payout address is looked for below and above this one, because the index payout_transaction_payer finds no `<>`.
  SELECT RAISE(ABORT, 'payout_transaction: its money may not leave now')
    WHERE EXISTS (SELECT 1 FROM payout JOIN stop ON payout.id = NEW.payout_id AND step = 'take'
        WHERE (stop.cuy IS NULL OR stop.cuy = payout.cuy) AND (stop.address IS NULL OR stop.address = NEW.address))
      OR EXISTS (SELECT 1 FROM payout WHERE id = NEW.payout_id AND contract <> '' AND NOT EXISTS (
        SELECT 1 FROM agreed_token WHERE agreed_token.cuy = payout.cuy AND agreed_token.contract = payout.contract))
      OR EXISTS (SELECT 1 FROM payout JOIN stored_address ON stored_address.address = unhex(payout.to_address) WHERE payout.id = NEW.payout_id)
      OR (NEW.payout_id IS NOT NULL AND (EXISTS (SELECT 1 FROM stored_address WHERE address = unhex(NEW.address))
        OR EXISTS (SELECT 1 FROM payout_transaction INDEXED BY payout_transaction_payer WHERE ended IS NULL AND address < NEW.address)
        OR EXISTS (SELECT 1 FROM payout_transaction INDEXED BY payout_transaction_payer WHERE ended IS NULL AND address > NEW.address)));
  SELECT RAISE(ABORT, 'payout_transaction: its reference block is not final')
    WHERE NEW.reference > coalesce((SELECT finalized FROM scan), -1);
  -- The transaction may be in blocks above its reference block that were read before its bytes were stored. So an open rescan must cover them.
  SELECT RAISE(ABORT, 'payout_transaction: blocks are not read again')
    WHERE EXISTS (SELECT 1 FROM scan WHERE NEW.reference < height AND NOT EXISTS (SELECT 1 FROM rescan INDEXED BY rescan_open
      WHERE finished_at IS NULL AND next_height <= NEW.reference + 1 AND to_height >= scan.height));
END;
--> statement-breakpoint
-- It fires for every column but those for people (burnt, energy), those about broadcasts (seen_height, next_send, sends, answers) and reported.
CREATE TRIGGER payout_transaction_takes_its_steps BEFORE UPDATE OF id, version, txid, address, payout_id, bytes, reference, expires_at,
    changed_at, past_height, height, succeeded, result, moved, ended, excused ON payout_transaction
BEGIN
  SELECT RAISE(ABORT, 'payout_transaction: another version was decided about') WHERE NEW.version IS NOT OLD.version + 1;
  SELECT RAISE(ABORT, 'payout_transaction: its bytes must not change')
    WHERE (NEW.id, NEW.txid, NEW.address) IS NOT (OLD.id, OLD.txid, OLD.address)
      OR ((NEW.payout_id, NEW.bytes, NEW.reference, NEW.expires_at) IS NOT (OLD.payout_id, OLD.bytes, OLD.reference, OLD.expires_at)
        AND NOT (OLD.ended IS 'unknown' AND NEW.ended IS NULL));
  SELECT RAISE(ABORT, 'payout_transaction: no such step')
    WHERE NEW.ended IS NOT OLD.ended AND (
      -- generated from transactionSteps
      (OLD.ended IS NULL AND NEW.ended IN ('paid', 'failed', 'other', 'expired'))
      OR (OLD.ended IS 'unknown' AND NEW.ended IS NULL)
      OR (OLD.ended IS 'paid' AND NEW.ended IS NULL)
      OR (OLD.ended IS 'failed' AND (NEW.ended IS NULL OR NEW.ended IN ('expired', 'late')))
      OR (OLD.ended IS 'other' AND (NEW.ended IS NULL OR NEW.ended IN ('expired', 'late')))
      OR (OLD.ended IS 'expired' AND (NEW.ended IS NULL OR NEW.ended IS 'late'))
      -- end of transactionSteps
    ) IS NOT TRUE;
  SELECT RAISE(ABORT, 'payout_transaction: what was found must not change')
    WHERE (NEW.height, NEW.succeeded, NEW.result, NEW.moved) IS NOT (OLD.height, OLD.succeeded, OLD.result, OLD.moved)
      AND NEW.ended IS OLD.ended AND OLD.ended IS NOT 'unknown'
      -- The receipt of one that was found late may be read later than its block.
      AND NOT (OLD.ended IS 'late' AND OLD.moved = '[]' AND NEW.moved <> '[]' AND NEW.succeeded IS OLD.succeeded);
  SELECT RAISE(ABORT, 'payout_transaction: its block is not read')
    -- A correction leaves both with what ended above the corrected height: with one that is late, or whose payout is cancelled.
    WHERE ((NEW.height, NEW.ended) IS NOT (OLD.height, OLD.ended) AND NEW.height > coalesce((SELECT height FROM scan), -1))
      OR (NEW.past_height IS NOT OLD.past_height AND NEW.past_height > coalesce((SELECT height FROM scan), -1));
  SELECT RAISE(ABORT, 'payout_transaction: the scan is halted')
    WHERE OLD.ended IS NULL AND NEW.ended IS NOT NULL AND EXISTS (SELECT 1 FROM scan WHERE halted IS NOT NULL);
  SELECT RAISE(ABORT, 'payout_transaction: it has ended otherwise')
    WHERE OLD.ended IS NULL AND NEW.ended IN ('paid', 'failed', 'other') AND NEW.ended IS NOT (
      SELECT iif(NOT NEW.succeeded, 'failed', iif(EXISTS (SELECT 1 FROM json_each(NEW.moved) AS part
          WHERE part.value ->> 'contract' = contract AND part.value ->> 'to' = to_address AND part.value ->> 'raw' = raw)
        -- A token with a fee pays in two parts: one to the payee, and the fee. If an operator has confirmed a fee, that is fine: the service has checked the
        -- sum.
        OR (NEW.ended = 'paid' AND json_array_length(NEW.moved) = 2 AND EXISTS (SELECT 1 FROM json_each(NEW.moved) AS part
            WHERE part.value ->> 'contract' = contract AND part.value ->> 'to' = to_address)
          AND EXISTS (SELECT 1 FROM issuer_act
            WHERE kind = 'fee-set' AND confirmed_at IS NOT NULL AND issuer_act.cuy = payout.cuy)), 'paid', 'other'))
      FROM payout WHERE id = NEW.payout_id);
  SELECT RAISE(ABORT, 'payout_transaction: it can still be in a block')
    WHERE NEW.ended = 'expired' AND OLD.ended IS NULL
      AND (NEW.past_height IS NULL OR EXISTS (SELECT 1 FROM unread_transaction WHERE payout_id = NEW.payout_id));
  SELECT RAISE(ABORT, 'payout_transaction: only a correction takes back what was read')
    WHERE (OLD.past_height IS NOT NULL AND NEW.past_height IS NOT OLD.past_height
        AND (NEW.past_height IS NOT NULL OR OLD.past_height <= (SELECT finalized FROM scan)))
      OR (OLD.height <= (SELECT finalized FROM scan)
        AND ((OLD.ended = 'paid' AND NEW.ended IS NULL) OR (OLD.ended IN ('failed', 'other') AND NEW.ended = 'expired')));
  SELECT RAISE(ABORT, 'payout_transaction: its payout is not to be signed')
    WHERE OLD.ended IS NOT NULL AND NEW.ended IS NULL AND (
      EXISTS (SELECT 1 FROM payout_transaction WHERE payout_id = NEW.payout_id AND ended IS NULL)
      OR (OLD.ended = 'unknown' AND EXISTS (
        SELECT 1 FROM payout_transaction WHERE payout_id = NEW.payout_id AND ended = 'late' AND excused IS NULL))
      OR NOT EXISTS (SELECT 1 FROM payout WHERE id = NEW.payout_id AND iif(OLD.ended = 'unknown',
        state = 'approved', state IN ('approved', 'stuck', 'paid') AND txid = NEW.txid)));
  SELECT RAISE(ABORT, 'payout_transaction: its bytes may not be taken now')
    FROM payout WHERE id = NEW.payout_id AND OLD.ended = 'unknown' AND NEW.ended IS NULL AND (EXISTS (
        SELECT 1 FROM stop WHERE step = iif(OLD.height IS NULL, 'take', 'recover') AND (stop.cuy IS NULL OR stop.cuy = payout.cuy)
          AND (stop.address IS NULL OR stop.address = NEW.address))
      -- A correction has taken its block back: its bytes are taken as those of a new transaction are (payout_transaction_is_new).
      OR (OLD.height IS NULL AND ((contract <> '' AND NOT EXISTS (
          SELECT 1 FROM agreed_token WHERE agreed_token.cuy = payout.cuy AND agreed_token.contract = payout.contract))
        OR EXISTS (SELECT 1 FROM stored_address WHERE address IN (unhex(NEW.address), unhex(payout.to_address)))
        OR EXISTS (SELECT 1 FROM payout_transaction INDEXED BY payout_transaction_payer WHERE ended IS NULL AND address < NEW.address)
        OR EXISTS (SELECT 1 FROM payout_transaction INDEXED BY payout_transaction_payer WHERE ended IS NULL AND address > NEW.address))));
  SELECT RAISE(ABORT, 'payout_transaction: blocks are not read again')
    WHERE OLD.ended = 'unknown' AND NEW.ended IS NULL AND OLD.height IS NULL AND EXISTS (
      SELECT 1 FROM scan WHERE NEW.reference < height AND NOT EXISTS (SELECT 1 FROM rescan INDEXED BY rescan_open
        WHERE finished_at IS NULL AND next_height <= NEW.reference + 1 AND to_height >= scan.height));
  SELECT RAISE(ABORT, 'payout_transaction: its block is not read again')
    WHERE OLD.ended = 'unknown' AND NEW.ended IS NULL AND OLD.height IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM rescan INDEXED BY rescan_open
        WHERE finished_at IS NULL AND next_height <= OLD.height AND to_height >= OLD.height);
  SELECT RAISE(ABORT, 'payout_transaction: its reference block is not final')
    WHERE OLD.reference IS NULL AND NEW.reference > coalesce((SELECT finalized FROM scan), -1);
END;
--> statement-breakpoint
-- A transaction without a payout is also stored by what it took, until it gets one.
CREATE TRIGGER payout_transaction_is_unnamed AFTER INSERT ON payout_transaction WHEN NEW.payout_id IS NULL
BEGIN
  INSERT INTO unnamed_outflow (contract, to_address, raw, transaction_id)
    SELECT DISTINCT value ->> 'contract', value ->> 'to', value ->> 'raw', NEW.id FROM json_each(NEW.moved);
END;
--> statement-breakpoint
CREATE TRIGGER payout_transaction_is_named AFTER UPDATE OF payout_id, moved ON payout_transaction
  WHEN OLD.payout_id IS NULL AND (NEW.payout_id, NEW.moved) IS NOT (OLD.payout_id, OLD.moved)
BEGIN
  DELETE FROM unnamed_outflow WHERE (contract, to_address, raw, transaction_id) IN (
    SELECT value ->> 'contract', value ->> 'to', value ->> 'raw', OLD.id FROM json_each(OLD.moved));
  INSERT INTO unnamed_outflow (contract, to_address, raw, transaction_id)
    SELECT DISTINCT value ->> 'contract', value ->> 'to', value ->> 'raw', NEW.id FROM json_each(NEW.moved) WHERE NEW.payout_id IS NULL;
END;
--> statement-breakpoint
-- A transaction that has succeeded although its payout had gone on. What it has moved counts towards the limits, also of a payout that is cancelled.
-- What was handed in for the payout before is never sent again, also once an operator has excused it: whatever the clocks say, it is in this order.
CREATE TRIGGER payout_transaction_is_late AFTER UPDATE OF ended, moved ON payout_transaction WHEN NEW.ended = 'late'
BEGIN
  UPDATE payout SET counted = 1, version = version + 1
    WHERE id = NEW.payout_id AND state = 'cancelled' AND counted = 0 AND approved_at IS NOT NULL AND NEW.moved <> '[]';
  UPDATE payout_transaction SET held_back = 1
    WHERE (OLD.ended IS NOT 'late' OR NEW.moved IS NOT OLD.moved) AND payout_id = NEW.payout_id AND id <> NEW.id AND held_back = 0;
END;
--> statement-breakpoint
CREATE TRIGGER payout_transaction_is_held_back BEFORE UPDATE OF held_back ON payout_transaction
BEGIN
  SELECT RAISE(ABORT, 'payout_transaction: only a late one holds others back, and for good')
    WHERE NEW.held_back <> 1 OR NOT EXISTS (
      SELECT 1 FROM payout_transaction WHERE payout_id = NEW.payout_id AND id <> NEW.id AND ended = 'late');
END;
--> statement-breakpoint
CREATE TRIGGER payout_transaction_is_sent BEFORE UPDATE OF sends ON payout_transaction WHEN NEW.sends > OLD.sends
BEGIN
  SELECT RAISE(ABORT, 'payout_transaction: it may not be sent now') WHERE NEW.held_back = 1;
  SELECT RAISE(ABORT, 'payout_transaction: it may not be sent now')
    FROM payout WHERE id = NEW.payout_id AND (
      EXISTS (SELECT 1 FROM stop WHERE step = 'send' AND (stop.cuy IS NULL OR stop.cuy = payout.cuy)
        AND (stop.address IS NULL OR stop.address = NEW.address))
      OR (contract <> '' AND NOT EXISTS (
        SELECT 1 FROM agreed_token WHERE agreed_token.cuy = payout.cuy AND agreed_token.contract = payout.contract)));
END;
--> statement-breakpoint
CREATE TRIGGER payout_transaction_is_never_deleted BEFORE DELETE ON payout_transaction
BEGIN
  SELECT RAISE(ABORT, 'payout_transaction: rows are never deleted');
END;
--> statement-breakpoint

-- payment_order: each deposit to its address counts once, and nothing else ---------------------------------------------

-- The order of a transfer, to be found by the transfer and its recipient. The order may be cancelled: then it counts nothing.
CREATE VIEW ordered_transfer AS
SELECT address, transfer_id, order_id FROM stored_address
  CROSS JOIN payment_order ON address_id = stored_address.id
  CROSS JOIN order_deposit ON order_id = payment_order.id
WHERE for_orders = 1;
--> statement-breakpoint
-- What is credited for an order in blocks that were made up to `until`. Compare order_id with a value of NEW alone: SQLite sums all orders otherwise.
CREATE VIEW order_in_time AS
SELECT order_id, sum(stored_transfer.amount) AS units FROM payment_order
  CROSS JOIN order_deposit ON order_id = payment_order.id AND made_at <= until
  CROSS JOIN stored_transfer ON stored_transfer.id = transfer_id AND stored_transfer.state = 'credited'
GROUP BY order_id;
--> statement-breakpoint
CREATE TRIGGER order_is_new BEFORE INSERT ON payment_order
BEGIN
  SELECT RAISE(ABORT, 'order: already asked for')
    WHERE EXISTS (SELECT 1 FROM payment_order WHERE uid = NEW.uid AND reference = NEW.reference)
      OR NEW.id BETWEEN 0 AND (SELECT max(id) FROM payment_order);
  SELECT RAISE(ABORT, 'order: it begins as open')
    WHERE NEW.state <> 'open' OR NEW.until > NEW.created_at + 2592000000 OR NEW.held_until <> NEW.until + 86400000
      OR NOT EXISTS (SELECT 1 FROM scan)
      -- An order that is older than the newest final block was made before a restore, and is put back from the archive.
      OR NEW.after_height < (SELECT finalized FROM scan WHERE NEW.created_at >= finalized_time);
  SELECT RAISE(ABORT, 'order: its address is not for orders of its user')
    WHERE NOT EXISTS (SELECT 1 FROM stored_address WHERE id = NEW.address_id AND uid = NEW.uid AND for_orders = 1);
  -- The newest order of an address holds it the longest.
  SELECT RAISE(ABORT, 'order: its address is held')
    WHERE NEW.created_at < (SELECT held_until FROM payment_order WHERE address_id = NEW.address_id ORDER BY id DESC LIMIT 1);
  SELECT RAISE(ABORT, 'order: its user has too many')
    WHERE 1000 <= (SELECT count(*) FROM stored_address AS own INDEXED BY address_order
      WHERE uid = NEW.uid AND for_orders = 1 AND NEW.created_at < (
        SELECT held_until FROM payment_order WHERE address_id = own.id ORDER BY payment_order.id DESC LIMIT 1));
  SELECT RAISE(ABORT, 'order: an entry has its key')
    WHERE NEW.take = 1 AND (EXISTS (SELECT 1 FROM wallet JOIN stored_flow AS flow ON flow.wallet_id = wallet.id
        WHERE wallet.uid = NEW.uid AND wallet.cuy = NEW.cuy AND flow.osn = NEW.reference AND flow.type = 4)
      OR EXISTS (SELECT 1 FROM payout WHERE uid = NEW.uid AND cuy = NEW.cuy AND osn = NEW.reference AND fee > 0));
END;
--> statement-breakpoint
-- The row of a sum says that stored data depends on a currency, also while nothing was paid in it. Orders have no index by currency.
CREATE TRIGGER order_uses_its_currency AFTER INSERT ON payment_order
BEGIN
  INSERT INTO total (cuy, kind, number, changed_at)
    SELECT NEW.cuy, 'credited', 0, NEW.created_at WHERE NOT EXISTS (SELECT 1 FROM total WHERE cuy = NEW.cuy);
END;
--> statement-breakpoint
CREATE TRIGGER order_takes_its_steps BEFORE UPDATE ON payment_order
BEGIN
  SELECT RAISE(ABORT, 'order: what was asked for must not change')
    WHERE (NEW.id, NEW.uid, NEW.cuy, NEW.reference, NEW.amount, NEW.at_least, NEW.address_id, NEW.after_height, NEW.until, NEW.take,
        NEW.return_to, NEW.mark, NEW.posted_by, NEW.created_at)
      IS NOT (OLD.id, OLD.uid, OLD.cuy, OLD.reference, OLD.amount, OLD.at_least, OLD.address_id, OLD.after_height, OLD.until, OLD.take,
        OLD.return_to, OLD.mark, OLD.posted_by, OLD.created_at);
  SELECT RAISE(ABORT, 'order: no such step')
    WHERE (
      -- generated from orderSteps
      (OLD.state IS 'open' AND NEW.state IN ('partly', 'paid') AND NEW.newest_entry > OLD.newest_entry)
      OR (OLD.state IS 'open' AND NEW.state IS 'expired' AND NEW.newest_entry = OLD.newest_entry)
      OR (OLD.state IS 'open' AND NEW.state IS 'cancelled' AND OLD.credited = 0)
      OR (OLD.state IS 'partly' AND NEW.state IN ('partly', 'paid') AND NEW.newest_entry > OLD.newest_entry)
      OR (OLD.state IS 'partly' AND NEW.state IS 'expired' AND NEW.newest_entry = OLD.newest_entry)
      OR (OLD.state IS 'expired' AND NEW.state IN ('expired', 'paid') AND NEW.newest_entry > OLD.newest_entry)
      OR (OLD.state IS 'expired' AND NEW.state IS 'cancelled' AND OLD.credited = 0)
      OR (OLD.state IS 'paid' AND NEW.state IS 'paid' AND NEW.newest_entry > OLD.newest_entry)
      -- end of orderSteps
    ) IS NOT TRUE;
  SELECT RAISE(ABORT, 'order: only the newest entry changes what is credited')
    WHERE (NEW.credited, NEW.newest_entry) IS NOT (OLD.credited, OLD.newest_entry) AND NOT EXISTS (
      SELECT 1 FROM stored_flow JOIN wallet ON wallet.id = wallet_id
        WHERE stored_flow.id = NEW.newest_entry AND stored_flow.id = (SELECT id FROM last_event) AND stored_flow.id > OLD.newest_entry
          AND type = 1 AND mark = CAST(NEW.id AS TEXT) AND uid = NEW.uid AND cuy = NEW.cuy
          AND NEW.credited = min(OLD.credited + stored_flow.amount, 9007199254740991));
  SELECT RAISE(ABORT, 'order: it ends once')
    WHERE (NEW.late, NEW.taken, NEW.ended_at, NEW.cancelled_by, NEW.why) IS NOT (OLD.late, OLD.taken, OLD.ended_at, OLD.cancelled_by, OLD.why)
        AND NEW.state = OLD.state
      OR (NEW.state = 'expired' AND NEW.ended_at < NEW.until)
      OR NEW.held_until IS NOT iif(OLD.ended_at IS NULL AND NEW.state IN ('paid', 'cancelled'),
        min(OLD.held_until, NEW.ended_at + 86400000), OLD.held_until);
  SELECT RAISE(ABORT, 'order: it was paid otherwise')
    WHERE NEW.state = 'paid' AND OLD.state <> 'paid' AND (
      NEW.late IS NOT (coalesce((SELECT units FROM order_in_time WHERE order_id = NEW.id), 0) < NEW.at_least)
      OR NEW.taken IS NOT (NEW.take = 1 AND EXISTS (
        SELECT 1 FROM wallet WHERE uid = NEW.uid AND cuy = NEW.cuy AND balance >= min(NEW.credited, NEW.amount))));
END;
--> statement-breakpoint
CREATE TRIGGER order_step_has_its_effects AFTER UPDATE ON payment_order
BEGIN
  INSERT INTO posting (entries, posted_by, created_at)
    SELECT '[' || json_object('uid', NEW.uid, 'cuy', NEW.cuy, 'type', 4, 'osn', NEW.reference, 'amount', -min(NEW.credited, NEW.amount),
      'mark', NEW.mark) || ']', NEW.posted_by, NEW.ended_at
    WHERE NEW.taken > OLD.taken;
  SELECT RAISE(ABORT, 'order: its money was not taken')
    WHERE NEW.taken > OLD.taken AND NOT EXISTS (
      SELECT 1 FROM wallet JOIN stored_flow AS flow ON flow.wallet_id = wallet.id AND flow.osn = NEW.reference AND flow.type = 4
        WHERE wallet.uid = NEW.uid AND wallet.cuy = NEW.cuy AND flow.amount = -min(NEW.credited, NEW.amount) AND flow.posted_by = NEW.posted_by);
  -- A deposit that counts makes an event as long as it leaves the order short; surplus makes none.
  INSERT INTO stored_event (id, type, uid, created_at, about)
    SELECT (SELECT id FROM last_event) + 1, 'order.' || iif(NEW.newest_entry > OLD.newest_entry AND NEW.state <> 'paid', 'partly', NEW.state), NEW.uid,
      iif(NEW.state <> OLD.state AND NEW.ended_at IS NOT NULL, NEW.ended_at, (SELECT created_at FROM stored_flow WHERE id = NEW.newest_entry)),
      -- Of the newest 50 alone: an order with 20,000 deposits would make each further credit read them all.
      json_array(NEW.id, NEW.state, NEW.credited, json((SELECT json_group_array(raw) FROM (
          SELECT transfer_id FROM order_deposit WHERE order_id = NEW.id ORDER BY transfer_id DESC LIMIT 50) AS newest
        CROSS JOIN stored_transfer ON stored_transfer.id = newest.transfer_id AND stored_transfer.state IN ('seen', 'held'))))
    WHERE NEW.state <> OLD.state OR (NEW.newest_entry > OLD.newest_entry AND NEW.state <> 'paid');
  SELECT RAISE(ABORT, 'order: its event was not stored')
    WHERE (NEW.state <> OLD.state OR (NEW.newest_entry > OLD.newest_entry AND NEW.state <> 'paid')) AND NOT EXISTS (
      SELECT 1 FROM stored_event WHERE id = (SELECT id FROM last_event) AND about ->> 0 = NEW.id AND type GLOB 'order.*');
END;
--> statement-breakpoint
CREATE TRIGGER order_is_never_deleted BEFORE DELETE ON payment_order
BEGIN
  SELECT RAISE(ABORT, 'order: rows are never deleted');
END;
--> statement-breakpoint

-- order_deposit: a transfer belongs to at most one order, and for good once it is credited ------------------------------

-- The row of a new transfer is stored before the transfer itself, which gets the next id.
CREATE TRIGGER order_deposit_is_of_one_order BEFORE INSERT ON order_deposit
BEGIN
  SELECT RAISE(ABORT, 'order_deposit: its block was not made while the order held its address')
    WHERE NOT EXISTS (SELECT 1 FROM payment_order WHERE id = NEW.order_id AND created_at < NEW.made_at AND NEW.made_at < held_until);
  SELECT RAISE(ABORT, 'order_deposit: another order has it')
    WHERE EXISTS (SELECT 1 FROM payment_order AS own CROSS JOIN payment_order AS other ON other.address_id = own.address_id
      CROSS JOIN order_deposit ON order_deposit.order_id = other.id AND transfer_id = NEW.transfer_id
      WHERE own.id = NEW.order_id AND other.id <> own.id);
  SELECT RAISE(ABORT, 'order_deposit: it is not a transfer that may count')
    WHERE NEW.transfer_id <= (SELECT max(id) FROM stored_transfer) AND NOT EXISTS (
      SELECT 1 FROM stored_transfer WHERE id = NEW.transfer_id AND state <> 'credited');
END;
--> statement-breakpoint
CREATE TRIGGER order_deposit_is_in_another_block BEFORE UPDATE ON order_deposit
BEGIN
  SELECT RAISE(ABORT, 'order_deposit: only its block changes, until it is credited')
    WHERE (NEW.order_id, NEW.transfer_id) IS NOT (OLD.order_id, OLD.transfer_id)
      OR EXISTS (SELECT 1 FROM stored_transfer WHERE id = OLD.transfer_id AND state = 'credited')
      OR NOT EXISTS (SELECT 1 FROM payment_order WHERE id = NEW.order_id AND created_at < NEW.made_at AND NEW.made_at < held_until);
END;
--> statement-breakpoint
CREATE TRIGGER order_deposit_is_kept_once_credited BEFORE DELETE ON order_deposit
BEGIN
  SELECT RAISE(ABORT, 'order_deposit: it is credited')
    WHERE EXISTS (SELECT 1 FROM stored_transfer WHERE id = OLD.transfer_id AND state = 'credited');
END;
--> statement-breakpoint

-- event: an event reports a stored fact, and ids only grow ------------------------------------------------------------

CREATE VIEW event AS
SELECT id, type, uid, created_at, NULL AS entry_id, nullif(lower(hex(txid)), '') AS txid, position, cuy, raw, nullif(lower(hex(address)), '') AS address, seconds, reason,
  about
FROM stored_event WHERE id > coalesce((SELECT last_id FROM removed_event), 0)
UNION ALL
SELECT stored_flow.id, iif(type = 1, 'deposit.credited', 'entry.posted'), uid, created_at, stored_flow.id, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL
FROM stored_flow JOIN wallet ON wallet.id = wallet_id WHERE stored_flow.id > coalesce((SELECT last_id FROM removed_event), 0);
--> statement-breakpoint
CREATE TRIGGER event_reports_a_fact BEFORE INSERT ON stored_event
BEGIN
  SELECT RAISE(ABORT, 'event: ids must increase') WHERE NEW.id <= (SELECT id FROM last_event);
  SELECT RAISE(ABORT, 'event: it must report a transfer')
    WHERE NEW.txid IS NOT NULL AND NEW.type NOT GLOB 'address.*' AND NOT EXISTS (
      SELECT 1 FROM stored_transfer WHERE txid = NEW.txid AND position = NEW.position AND (
        (uid = NEW.uid AND 'deposit.' || state = NEW.type AND reason IS NEW.reason)
        OR (uid IS NOT NEW.uid AND NEW.type = 'deposit.dropped')));
  SELECT RAISE(ABORT, 'event: it must report a payout')
    WHERE NEW.type GLOB 'payout.*' AND NOT EXISTS (
      SELECT 1 FROM payout WHERE id = NEW.about ->> 'id' AND uid = NEW.uid AND 'payout.' || state = NEW.type);
  SELECT RAISE(ABORT, 'event: it must report an order')
    WHERE NEW.type GLOB 'order.*' AND NOT EXISTS (
      SELECT 1 FROM payment_order WHERE id = NEW.about ->> 0 AND uid = NEW.uid AND state = NEW.about ->> 1 AND credited = NEW.about ->> 2
        AND NEW.type = iif(state = 'partly' OR (state = 'expired' AND NEW.type = 'order.partly' AND credited > 0), 'order.partly', 'order.' || state));
  SELECT RAISE(ABORT, 'event: it must report a deposit of the order')
    WHERE NEW.type = 'deposit.seen' AND NEW.about IS NOT NULL AND NEW.about IS NOT (SELECT json_array(order_id) FROM ordered_transfer WHERE address = NEW.address AND transfer_id = (
      SELECT id FROM stored_transfer WHERE txid = NEW.txid AND position = NEW.position));
  SELECT RAISE(ABORT, 'event: it must report what an issuer did')
    WHERE NEW.type GLOB 'address.*' AND NOT EXISTS (
      SELECT 1 FROM issuer_act JOIN stored_address ON stored_address.address = unhex(issuer_act.address)
        WHERE txid = lower(hex(NEW.txid)) AND position = NEW.position AND 'address.' || kind = NEW.type
          AND (cuy, raw, stored_address.address, uid) IS (NEW.cuy, NEW.raw, NEW.address, NEW.uid));
END;
--> statement-breakpoint
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON stored_event
BEGIN
  SELECT RAISE(ABORT, 'event: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER event_is_deleted_from_the_oldest BEFORE DELETE ON stored_event
BEGIN
  SELECT RAISE(ABORT, 'event: only the oldest is deleted') WHERE EXISTS (SELECT 1 FROM stored_event WHERE id < OLD.id);
  -- Without the newest row, the next event would get its id again.
  SELECT RAISE(ABORT, 'event: the newest is not deleted') WHERE OLD.id = (SELECT id FROM last_event);
END;
--> statement-breakpoint
CREATE TRIGGER removed_event_begins BEFORE INSERT ON removed_event
BEGIN
  SELECT RAISE(ABORT, 'removed_event: it only grows') WHERE NEW.last_id < (SELECT last_id FROM removed_event);
  SELECT RAISE(ABORT, 'removed_event: it is above the newest event') WHERE NEW.last_id > (SELECT id FROM last_event);
  SELECT RAISE(ABORT, 'removed_event: it is not in the archive yet') WHERE NEW.last_id > (SELECT event FROM archive);
END;
--> statement-breakpoint
CREATE TRIGGER removed_event_goes_forward BEFORE UPDATE ON removed_event
BEGIN
  SELECT RAISE(ABORT, 'removed_event: it only grows') WHERE NEW.last_id < OLD.last_id;
  SELECT RAISE(ABORT, 'removed_event: it is above the newest event') WHERE NEW.last_id > (SELECT id FROM last_event);
  SELECT RAISE(ABORT, 'removed_event: it is not in the archive yet') WHERE NEW.last_id > (SELECT event FROM archive);
END;
--> statement-breakpoint
CREATE TRIGGER removed_event_is_never_deleted BEFORE DELETE ON removed_event
BEGIN
  SELECT RAISE(ABORT, 'removed_event: the row is never deleted');
END;
--> statement-breakpoint

-- webhook: an endpoint gets every event once it has begun -------------------------------------------------------------

CREATE TRIGGER webhook_begins_with_the_next_event BEFORE INSERT ON webhook
BEGIN
  SELECT RAISE(ABORT, 'webhook: already exists') WHERE EXISTS (SELECT 1 FROM webhook WHERE endpoint = NEW.endpoint);
  SELECT RAISE(ABORT, 'webhook: must begin with the next event')
    WHERE NEW.position <> (SELECT id FROM last_event);
END;
--> statement-breakpoint
CREATE TRIGGER webhook_skips_no_event BEFORE UPDATE ON webhook
BEGIN
  SELECT RAISE(ABORT, 'webhook: endpoint must not change') WHERE NEW.endpoint IS NOT OLD.endpoint;
  SELECT RAISE(ABORT, 'webhook: position is above the newest event')
    WHERE NEW.position > OLD.position AND NEW.position > (SELECT id FROM last_event);
END;
--> statement-breakpoint

-- archive: it is continued, and never goes back --------------------------------------------------------------------------

CREATE TRIGGER archive_has_one_row BEFORE INSERT ON archive
BEGIN
  SELECT RAISE(ABORT, 'archive: already begun') WHERE EXISTS (SELECT 1 FROM archive);
  SELECT RAISE(ABORT, 'archive: it is above the newest event') WHERE NEW.event > (SELECT id FROM last_event) OR NEW.begun > (SELECT id FROM last_event);
END;
--> statement-breakpoint
CREATE TRIGGER archive_goes_forward BEFORE UPDATE ON archive
BEGIN
  SELECT RAISE(ABORT, 'archive: it never goes back')
    WHERE NEW.id IS NOT OLD.id OR NEW.begun IS NOT OLD.begun OR NEW.lines < OLD.lines OR NEW.epoch < OLD.epoch OR NEW.event < OLD.event
      OR NEW.change < OLD.change OR (OLD.copy IS NULL AND NEW.copy IS NOT NULL);
  SELECT RAISE(ABORT, 'archive: it is above the newest event') WHERE NEW.event > (SELECT id FROM last_event);
END;
--> statement-breakpoint
-- Without the row there is no archive, and nothing is noted for one.
CREATE TRIGGER archive_ends AFTER DELETE ON archive
BEGIN
  DELETE FROM archive_change;
END;
--> statement-breakpoint
CREATE TRIGGER archive_change_is_new BEFORE INSERT ON archive_change
BEGIN
  SELECT RAISE(ABORT, 'archive_change: there is no archive') WHERE NOT EXISTS (SELECT 1 FROM archive);
  SELECT RAISE(ABORT, 'archive_change: ids must increase') WHERE NEW.id BETWEEN 0 AND (SELECT max(id) FROM archive_change);
END;
--> statement-breakpoint
CREATE TRIGGER archive_change_is_never_changed BEFORE UPDATE ON archive_change
BEGIN
  SELECT RAISE(ABORT, 'archive_change: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER archive_change_is_in_the_archive BEFORE DELETE ON archive_change
BEGIN
  SELECT RAISE(ABORT, 'archive_change: it is not in the archive yet') WHERE OLD.id > (SELECT change FROM archive);
END;
--> statement-breakpoint
-- What makes neither an entry nor an event, or changes after it, is noted. Each trigger inserts nothing where there is no archive.
CREATE TRIGGER address_is_new_to_the_archive AFTER INSERT ON stored_address
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'address', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER correction_is_new_to_the_archive AFTER INSERT ON correction
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'correction', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER order_is_new_to_the_archive AFTER INSERT ON payment_order
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'order', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER payout_is_new_to_the_archive AFTER INSERT ON payout
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'payout', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER payout_changes_in_the_archive AFTER UPDATE ON payout
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'payout', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER payout_transaction_is_new_to_the_archive AFTER INSERT ON payout_transaction
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'transaction', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER payout_transaction_changes_in_the_archive AFTER UPDATE OF version, reported, held_back ON payout_transaction
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'transaction', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER decision_is_new_to_the_archive AFTER INSERT ON decision
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'decision', json_array(NEW.txid, NEW.position, NEW.decision) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER issuer_act_is_new_to_the_archive AFTER INSERT ON issuer_act
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'act', json_array(NEW.txid, NEW.position) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER issuer_act_changes_in_the_archive AFTER UPDATE ON issuer_act
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'act', json_array(NEW.txid, NEW.position) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER sent_is_new_to_the_archive AFTER INSERT ON sent
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'sent', json_array(NEW.txid, NEW.address) FROM archive;
END;
--> statement-breakpoint
CREATE TRIGGER transfer_that_moved_is_new_to_the_archive AFTER INSERT ON stored_transfer WHEN NEW.state = 'moved'
BEGIN
  INSERT INTO archive_change (after_event, kind, key) SELECT (SELECT id FROM last_event), 'transfer', json_array(NEW.id) FROM archive;
END;
--> statement-breakpoint

-- newest_migration: how far the migrations are applied -----------------------------------------------------------------

-- The last statement of each migration replaces this view by one with its own number. So a migration that was applied in part does not count.
CREATE VIEW newest_migration AS SELECT 1 AS number;
