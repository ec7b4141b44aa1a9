-- Written by hand: the triggers. README.md in this folder gives the reason for each rule.
--
-- Three properties of SQLite shape these triggers:
--  * REPLACE deletes the conflicting row without firing delete triggers, so BEFORE INSERT refuses every existing key.
--  * The conflict clause of the outer statement (OR IGNORE, OR REPLACE) also applies to the statements inside its
--    triggers, so no rule depends on a constraint alone: each chain ends in a RAISE that checks what was stored.
--  * In BEFORE INSERT an id that was not given reads as -1, so ids are compared after the insert.

-- address ------------------------------------------------------------------------------------------------------------

CREATE TRIGGER address_is_new BEFORE INSERT ON address
BEGIN
  SELECT RAISE(ABORT, 'address: already issued')
    WHERE EXISTS (SELECT 1 FROM address
      WHERE address = NEW.address OR derivation_index = NEW.derivation_index OR id = NEW.id);
  SELECT RAISE(ABORT, 'address: derivation_index must be the highest plus one')
    WHERE NEW.derivation_index <> (SELECT max(derivation_index) + 1 FROM address);
  SELECT RAISE(ABORT, 'address: issued_height must not be below the finalized height')
    WHERE NEW.issued_height < (SELECT finalized FROM scan);
END;
--> statement-breakpoint
CREATE TRIGGER address_is_never_changed BEFORE UPDATE ON address
BEGIN
  SELECT RAISE(ABORT, 'address: rows are never changed')
    WHERE NEW.id IS NOT OLD.id OR NEW.derivation_index IS NOT OLD.derivation_index OR NEW.uid IS NOT OLD.uid
      OR NEW.address IS NOT OLD.address OR NEW.created_at IS NOT OLD.created_at
      -- A correction lowers what was taken from the wrong finalized height.
      OR NEW.issued_height > OLD.issued_height
      OR NEW.issued_height IS NOT (SELECT finalized FROM correction ORDER BY id DESC LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER address_is_never_deleted BEFORE DELETE ON address
BEGIN
  SELECT RAISE(ABORT, 'address: rows are never deleted');
END;
--> statement-breakpoint

-- wallet -------------------------------------------------------------------------------------------------------------

CREATE TRIGGER wallet_starts_empty BEFORE INSERT ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: already exists')
    WHERE EXISTS (SELECT 1 FROM wallet WHERE id = NEW.id OR (uid = NEW.uid AND cuy = NEW.cuy));
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
      OR NEW.newest_entry IS NOT (SELECT id FROM flow WHERE wallet_id = OLD.id ORDER BY id DESC LIMIT 1)
      OR NEW.balance IS NOT (SELECT balance FROM flow WHERE id = NEW.newest_entry);
END;
--> statement-breakpoint
CREATE TRIGGER wallet_is_never_deleted BEFORE DELETE ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: rows are never deleted');
END;
--> statement-breakpoint

-- flow ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER flow_fits_its_wallet BEFORE INSERT ON flow
BEGIN
  SELECT RAISE(ABORT, 'flow: already exists')
    WHERE EXISTS (SELECT 1 FROM flow WHERE id = NEW.id)
       OR EXISTS (SELECT 1 FROM flow WHERE wallet_id = NEW.wallet_id AND osn = NEW.osn AND type = NEW.type);
  SELECT RAISE(ABORT, 'flow: balance must be the wallet''s balance plus the amount')
    WHERE NOT EXISTS (
      SELECT 1 FROM wallet
        WHERE id = NEW.wallet_id AND uid = NEW.uid AND cuy = NEW.cuy AND balance + NEW.amount = NEW.balance);
  SELECT RAISE(ABORT, 'flow: created_at must not decrease')
    WHERE NEW.created_at < (SELECT created_at FROM flow ORDER BY id DESC LIMIT 1);
  SELECT RAISE(ABORT, 'flow: created_at must not be in the future')
    WHERE NEW.created_at > unixepoch('subsec') * 1000 + 60000;
  SELECT RAISE(ABORT, 'flow: a recharge requires its credited deposit')
    WHERE NEW.type = 1 AND NOT EXISTS (
      SELECT 1 FROM deposit
        WHERE txid = substr(NEW.osn, 1, 64) AND NEW.osn = iif(native, txid, txid || ':' || position)
          AND outcome = 'credited' AND uid = NEW.uid AND cuy = NEW.cuy AND amount = NEW.amount);
  SELECT RAISE(ABORT, 'flow: an entry other than a recharge requires its posting')
    WHERE NEW.type <> 1 AND NOT EXISTS (SELECT 1 FROM posting WHERE posted_by = NEW.posted_by);
END;
--> statement-breakpoint
CREATE TRIGGER flow_updates_its_wallet AFTER INSERT ON flow
BEGIN
  SELECT RAISE(ABORT, 'flow: ids must increase')
    WHERE EXISTS (SELECT 1 FROM flow WHERE id > NEW.id);
  UPDATE wallet SET balance = NEW.balance, entry_count = entry_count + 1, newest_entry = NEW.id
    WHERE id = NEW.wallet_id;
  SELECT RAISE(ABORT, 'flow: the wallet was not updated')
    WHERE NOT EXISTS (
      SELECT 1 FROM wallet WHERE id = NEW.wallet_id AND newest_entry = NEW.id AND balance = NEW.balance);
END;
--> statement-breakpoint
CREATE TRIGGER flow_is_never_changed BEFORE UPDATE ON flow
BEGIN
  SELECT RAISE(ABORT, 'flow: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER flow_is_never_deleted BEFORE DELETE ON flow
BEGIN
  SELECT RAISE(ABORT, 'flow: rows are never deleted');
END;
--> statement-breakpoint

-- posting ------------------------------------------------------------------------------------------------------------

-- Everything that entries require of each other: SQLite has no rule for a whole statement, and this row is one statement.
CREATE TRIGGER posting_creates_its_entries AFTER INSERT ON posting
BEGIN
  SELECT RAISE(ABORT, 'posting: type 1 is for deposits')
    WHERE EXISTS (SELECT 1 FROM json_each(NEW.entries) WHERE CAST(value ->> 'type' AS INTEGER) = 1);
  SELECT RAISE(ABORT, 'posting: transfers must share an osn')
    WHERE (SELECT count(DISTINCT value ->> 'osn') FROM json_each(NEW.entries) WHERE CAST(value ->> 'type' AS INTEGER) = 3) > 1;
  SELECT RAISE(ABORT, 'posting: transfers must sum to zero in each currency')
    WHERE EXISTS (
      SELECT 1 FROM json_each(NEW.entries) WHERE CAST(value ->> 'type' AS INTEGER) = 3
        GROUP BY CAST(value ->> 'cuy' AS INTEGER) HAVING sum(value ->> 'amount') <> 0);
  INSERT INTO wallet (uid, cuy, balance, entry_count, newest_entry)
    SELECT DISTINCT CAST(value ->> 'uid' AS INTEGER), CAST(value ->> 'cuy' AS INTEGER), 0, 0, 0 FROM json_each(NEW.entries)
    WHERE NOT EXISTS (SELECT 1 FROM wallet WHERE uid = value ->> 'uid' AND cuy = value ->> 'cuy');
  -- The SELECT is complete before the first row is inserted: so each balance includes the amounts before it in the list.
  INSERT INTO flow (wallet_id, uid, cuy, type, osn, amount, balance, mark, created_at, posted_by)
    SELECT wallet.id, uid, cuy, value ->> 'type', value ->> 'osn', value ->> 'amount',
      balance + sum(value ->> 'amount') OVER (PARTITION BY wallet.id ORDER BY key ROWS UNBOUNDED PRECEDING),
      value ->> 'mark', max(NEW.created_at, coalesce((SELECT created_at FROM flow ORDER BY id DESC LIMIT 1), 0)), NEW.posted_by
    FROM json_each(NEW.entries) CROSS JOIN wallet ON uid = value ->> 'uid' AND cuy = value ->> 'cuy'
    ORDER BY key;
  SELECT RAISE(ABORT, 'posting: an entry was not created')
    WHERE json_array_length(NEW.entries) <> (
      SELECT count(*) FROM json_each(NEW.entries)
        CROSS JOIN wallet ON wallet.uid = value ->> 'uid' AND wallet.cuy = value ->> 'cuy'
        CROSS JOIN flow ON wallet_id = wallet.id AND osn = value ->> 'osn' AND flow.type = value ->> 'type'
        WHERE amount = value ->> 'amount' AND mark = value ->> 'mark' AND posted_by = NEW.posted_by);
  DELETE FROM posting;
END;
--> statement-breakpoint

-- deposit ------------------------------------------------------------------------------------------------------------

CREATE TRIGGER deposit_is_new BEFORE INSERT ON deposit
BEGIN
  SELECT RAISE(ABORT, 'deposit: credit key already stored')
    WHERE EXISTS (SELECT 1 FROM deposit WHERE txid = NEW.txid AND position = NEW.position);
  SELECT RAISE(ABORT, 'deposit: the scan is halted') WHERE EXISTS (SELECT 1 FROM scan WHERE halted IS NOT NULL);
  SELECT RAISE(ABORT, 'deposit: to_address does not belong to this caller')
    WHERE NOT EXISTS (SELECT 1 FROM address WHERE address = NEW.to_address AND uid = NEW.uid);
  SELECT RAISE(ABORT, 'deposit: final before its address was issued')
    WHERE NEW.height <= (SELECT issued_height FROM address WHERE address = NEW.to_address);
END;
--> statement-breakpoint
CREATE TRIGGER deposit_removes_pending AFTER INSERT ON deposit
BEGIN
  DELETE FROM pending WHERE txid = NEW.txid AND position = NEW.position;
END;
--> statement-breakpoint
CREATE TRIGGER deposit_creates_its_entry AFTER INSERT ON deposit WHEN NEW.outcome = 'credited'
BEGIN
  INSERT INTO wallet (uid, cuy, balance, entry_count, newest_entry)
    SELECT NEW.uid, NEW.cuy, 0, 0, 0
    WHERE NOT EXISTS (SELECT 1 FROM wallet WHERE uid = NEW.uid AND cuy = NEW.cuy);
  INSERT INTO flow (wallet_id, uid, cuy, type, osn, amount, balance, mark, created_at, posted_by)
    SELECT id, NEW.uid, NEW.cuy, 1, iif(NEW.native, NEW.txid, NEW.txid || ':' || NEW.position),
      NEW.amount, balance + NEW.amount, 'deposit',
      max(NEW.created_at, coalesce((SELECT created_at FROM flow ORDER BY id DESC LIMIT 1), 0)), ''
    FROM wallet WHERE uid = NEW.uid AND cuy = NEW.cuy;
  SELECT RAISE(ABORT, 'deposit: its entry was not created')
    WHERE NOT EXISTS (
      SELECT 1 FROM wallet JOIN flow ON flow.id = wallet.newest_entry
        WHERE wallet.uid = NEW.uid AND wallet.cuy = NEW.cuy AND flow.type = 1 AND flow.amount = NEW.amount
          AND flow.osn = iif(NEW.native, NEW.txid, NEW.txid || ':' || NEW.position));
END;
--> statement-breakpoint
CREATE TRIGGER deposit_is_never_changed BEFORE UPDATE ON deposit
BEGIN
  SELECT RAISE(ABORT, 'deposit: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER deposit_is_never_deleted BEFORE DELETE ON deposit
BEGIN
  SELECT RAISE(ABORT, 'deposit: rows are never deleted');
END;
--> statement-breakpoint

-- pending ------------------------------------------------------------------------------------------------------------

CREATE TRIGGER pending_is_undecided BEFORE INSERT ON pending
BEGIN
  SELECT RAISE(ABORT, 'pending: already decided')
    WHERE EXISTS (SELECT 1 FROM deposit WHERE txid = NEW.txid AND position = NEW.position);
  SELECT RAISE(ABORT, 'pending: already found worthless')
    WHERE EXISTS (SELECT 1 FROM refusal WHERE txid = NEW.txid AND position = NEW.position);
  SELECT RAISE(ABORT, 'pending: final before its address was issued')
    WHERE NEW.height <= (SELECT issued_height FROM address WHERE address = NEW.to_address);
END;
--> statement-breakpoint

-- refusal ------------------------------------------------------------------------------------------------------------

CREATE TRIGGER refusal_is_new BEFORE INSERT ON refusal
BEGIN
  SELECT RAISE(ABORT, 'refusal: already stored')
    WHERE EXISTS (SELECT 1 FROM refusal WHERE txid = NEW.txid AND position = NEW.position);
  SELECT RAISE(ABORT, 'refusal: it is a deposit')
    WHERE EXISTS (SELECT 1 FROM deposit WHERE txid = NEW.txid AND position = NEW.position);
  SELECT RAISE(ABORT, 'refusal: to_address does not belong to this caller')
    WHERE NOT EXISTS (SELECT 1 FROM address WHERE address = NEW.to_address AND uid = NEW.uid);
END;
--> statement-breakpoint
CREATE TRIGGER refusal_removes_pending AFTER INSERT ON refusal
BEGIN
  DELETE FROM pending WHERE txid = NEW.txid AND position = NEW.position;
END;
--> statement-breakpoint
CREATE TRIGGER refusal_is_never_changed BEFORE UPDATE ON refusal
BEGIN
  SELECT RAISE(ABORT, 'refusal: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER refusal_is_deleted_to_be_read_again BEFORE DELETE ON refusal
BEGIN
  SELECT RAISE(ABORT, 'refusal: only a requested rescan of its block deletes it')
    WHERE NOT EXISTS (
      SELECT 1 FROM rescan WHERE kind = 'request' AND finished_at IS NULL
        AND OLD.height BETWEEN next_height AND to_height);
END;
--> statement-breakpoint

-- rescan -------------------------------------------------------------------------------------------------------------

CREATE TRIGGER rescan_is_new BEFORE INSERT ON rescan
BEGIN
  SELECT RAISE(ABORT, 'rescan: already exists') WHERE EXISTS (SELECT 1 FROM rescan WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'rescan: must start at its first block')
    WHERE NEW.next_height <> NEW.from_height OR NEW.finished_at IS NOT NULL;
  SELECT RAISE(ABORT, 'rescan: blocks above the position are not read yet')
    WHERE NEW.to_height > coalesce((SELECT height FROM scan), -1);
END;
--> statement-breakpoint
CREATE TRIGGER rescan_decides_refusals_again AFTER INSERT ON rescan WHEN NEW.kind = 'request'
BEGIN
  DELETE FROM refusal WHERE height BETWEEN NEW.from_height AND NEW.to_height;
END;
--> statement-breakpoint
CREATE TRIGGER rescan_goes_forward BEFORE UPDATE ON rescan
BEGIN
  SELECT RAISE(ABORT, 'rescan: only its progress changes')
    WHERE NEW.id IS NOT OLD.id OR NEW.kind IS NOT OLD.kind OR NEW.from_height IS NOT OLD.from_height
      OR NEW.to_height IS NOT OLD.to_height OR NEW.reason IS NOT OLD.reason OR NEW.created_at IS NOT OLD.created_at;
  SELECT RAISE(ABORT, 'rescan: next_height must not decrease') WHERE NEW.next_height < OLD.next_height;
  SELECT RAISE(ABORT, 'rescan: a finished one must not change') WHERE OLD.finished_at IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER rescan_is_never_deleted BEFORE DELETE ON rescan
BEGIN
  SELECT RAISE(ABORT, 'rescan: rows are never deleted');
END;
--> statement-breakpoint

-- correction ---------------------------------------------------------------------------------------------------------

CREATE TRIGGER correction_is_new BEFORE INSERT ON correction
BEGIN
  SELECT RAISE(ABORT, 'correction: already exists') WHERE EXISTS (SELECT 1 FROM correction WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'correction: finalized must be below the stored one')
    WHERE NEW.finalized >= coalesce((SELECT finalized FROM scan), -1);
END;
--> statement-breakpoint
-- The lease ends too: a scan that is under way must not store what it read above the corrected height.
CREATE TRIGGER correction_lowers_the_scan AFTER INSERT ON correction
BEGIN
  SELECT RAISE(ABORT, 'correction: ids must increase') WHERE EXISTS (SELECT 1 FROM correction WHERE id > NEW.id);
  UPDATE scan SET corrected_by = NEW.id, finalized = NEW.finalized, finalized_at = NEW.created_at,
    height = min(height, NEW.finalized), hash = iif(height <= NEW.finalized, hash, NULL), lease = '',
    lease_until = NEW.created_at;
  UPDATE address SET issued_height = NEW.finalized WHERE issued_height > NEW.finalized;
  SELECT RAISE(ABORT, 'correction: it was not applied')
    WHERE NOT EXISTS (SELECT 1 FROM scan WHERE corrected_by = NEW.id AND finalized = NEW.finalized);
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

-- scan ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER scan_has_one_row BEFORE INSERT ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: already started') WHERE EXISTS (SELECT 1 FROM scan);
END;
--> statement-breakpoint
CREATE TRIGGER scan_is_corrected_once BEFORE UPDATE ON scan WHEN NEW.corrected_by IS NOT OLD.corrected_by
BEGIN
  SELECT RAISE(ABORT, 'scan: corrected_by must be the newest correction')
    WHERE NOT EXISTS (
      SELECT 1 FROM correction WHERE id = NEW.corrected_by AND id > OLD.corrected_by
        AND NEW.finalized = finalized AND NEW.height = min(OLD.height, finalized)
        AND NEW.hash IS iif(OLD.height <= finalized, OLD.hash, NULL));
END;
--> statement-breakpoint
CREATE TRIGGER scan_never_goes_back BEFORE UPDATE ON scan WHEN NEW.corrected_by IS OLD.corrected_by
BEGIN
  SELECT RAISE(ABORT, 'scan: height must not decrease') WHERE NEW.height < OLD.height;
  SELECT RAISE(ABORT, 'scan: the hash of a stored block must not change')
    WHERE NEW.height = OLD.height AND OLD.hash IS NOT NULL AND NEW.hash IS NOT OLD.hash;
  SELECT RAISE(ABORT, 'scan: a stored block must have a hash') WHERE NEW.height > OLD.height AND NEW.hash IS NULL;
  SELECT RAISE(ABORT, 'scan: finalized must not decrease') WHERE NEW.finalized < OLD.finalized;
END;
--> statement-breakpoint
CREATE TRIGGER scan_is_never_deleted BEFORE DELETE ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: the row is never deleted');
END;
--> statement-breakpoint

-- reconciliation -----------------------------------------------------------------------------------------------------

CREATE TRIGGER reconciliation_is_new BEFORE INSERT ON reconciliation
BEGIN
  SELECT RAISE(ABORT, 'reconciliation: already exists') WHERE EXISTS (SELECT 1 FROM reconciliation WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'reconciliation: only one unfinished run per currency')
    WHERE EXISTS (SELECT 1 FROM reconciliation WHERE cuy = NEW.cuy AND finished_at IS NULL);
END;
--> statement-breakpoint
CREATE TRIGGER reconciliation_goes_forward BEFORE UPDATE ON reconciliation
BEGIN
  SELECT RAISE(ABORT, 'reconciliation: id, cuy, started_at and last_index must not change')
    WHERE NEW.id IS NOT OLD.id OR NEW.cuy IS NOT OLD.cuy OR NEW.started_at IS NOT OLD.started_at
      OR NEW.last_index IS NOT OLD.last_index;
  SELECT RAISE(ABORT, 'reconciliation: each address is counted once')
    WHERE NEW.cursor < OLD.cursor OR NEW.addresses - OLD.addresses <> NEW.cursor - OLD.cursor;
  SELECT RAISE(ABORT, 'reconciliation: the result of a finished run must not change')
    WHERE OLD.finished_at IS NOT NULL AND (NEW.finished_at IS NOT OLD.finished_at OR NEW.recorded IS NOT OLD.recorded
      OR NEW.on_chain IS NOT OLD.on_chain OR NEW.differing IS NOT OLD.differing);
END;
--> statement-breakpoint
CREATE TRIGGER reconciliation_is_never_deleted BEFORE DELETE ON reconciliation
BEGIN
  SELECT RAISE(ABORT, 'reconciliation: rows are never deleted');
END;
--> statement-breakpoint

-- moved_address ------------------------------------------------------------------------------------------------------

CREATE TRIGGER deposit_moves_its_address AFTER INSERT ON deposit
BEGIN
  UPDATE moved_address SET newest_height = max(newest_height, NEW.height), changes = changes + 1
    WHERE address = NEW.to_address AND cuy = NEW.cuy;
  INSERT INTO moved_address (address, cuy, oldest_height, newest_height, changes)
    SELECT NEW.to_address, NEW.cuy, NEW.height, NEW.height, 1
    WHERE NOT EXISTS (SELECT 1 FROM moved_address WHERE address = NEW.to_address AND cuy = NEW.cuy);
  SELECT RAISE(ABORT, 'deposit: its address was not marked as moved')
    WHERE NOT EXISTS (SELECT 1 FROM moved_address
      WHERE address = NEW.to_address AND cuy = NEW.cuy AND newest_height >= NEW.height);
END;
--> statement-breakpoint
CREATE TRIGGER movement_moves_its_address AFTER INSERT ON movement
  WHEN EXISTS (SELECT 1 FROM address WHERE address = NEW.address)
BEGIN
  UPDATE moved_address SET newest_height = max(newest_height, NEW.height), changes = changes + 1
    WHERE address = NEW.address AND cuy = NEW.cuy;
  INSERT INTO moved_address (address, cuy, oldest_height, newest_height, changes)
    SELECT NEW.address, NEW.cuy, NEW.height, NEW.height, 1
    WHERE NOT EXISTS (SELECT 1 FROM moved_address WHERE address = NEW.address AND cuy = NEW.cuy);
  SELECT RAISE(ABORT, 'movement: its address was not marked as moved')
    WHERE NOT EXISTS (SELECT 1 FROM moved_address
      WHERE address = NEW.address AND cuy = NEW.cuy AND newest_height >= NEW.height);
END;
--> statement-breakpoint

-- accepted_difference ------------------------------------------------------------------------------------------------

CREATE TRIGGER accepted_difference_starts_unreported BEFORE INSERT ON accepted_difference
BEGIN
  SELECT RAISE(ABORT, 'accepted_difference: a new row is unreported exactly where it has a confirmed difference')
    WHERE NEW.reported <> (NEW.confirmed = '0');
END;
--> statement-breakpoint
CREATE TRIGGER accepted_difference_reports_each_change BEFORE UPDATE ON accepted_difference
BEGIN
  SELECT RAISE(ABORT, 'accepted_difference: a changed difference is unreported')
    WHERE NEW.reported = 1 AND NEW.confirmed IS NOT OLD.confirmed;
  SELECT RAISE(ABORT, 'accepted_difference: outgoing_count must not decrease')
    WHERE NEW.outgoing_count < OLD.outgoing_count;
END;
--> statement-breakpoint
CREATE TRIGGER accepted_difference_is_never_deleted BEFORE DELETE ON accepted_difference
BEGIN
  SELECT RAISE(ABORT, 'accepted_difference: rows are never deleted');
END;
--> statement-breakpoint

-- stored_setting -----------------------------------------------------------------------------------------------------

CREATE TRIGGER stored_setting_is_new BEFORE INSERT ON stored_setting
BEGIN
  SELECT RAISE(ABORT, 'stored_setting: already stored') WHERE EXISTS (SELECT 1 FROM stored_setting WHERE name = NEW.name);
END;
--> statement-breakpoint
CREATE TRIGGER stored_setting_is_never_changed BEFORE UPDATE ON stored_setting
BEGIN
  SELECT RAISE(ABORT, 'stored_setting: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER stored_setting_is_never_deleted BEFORE DELETE ON stored_setting
BEGIN
  SELECT RAISE(ABORT, 'stored_setting: rows are never deleted');
END;
--> statement-breakpoint

-- event --------------------------------------------------------------------------------------------------------------

CREATE TRIGGER event_is_new BEFORE INSERT ON event
BEGIN
  SELECT RAISE(ABORT, 'event: already exists') WHERE EXISTS (SELECT 1 FROM event WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'event: it must report an entry')
    WHERE NEW.entry_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM flow WHERE id = NEW.entry_id AND uid = NEW.uid
        AND (type = 1) = (NEW.type = 'deposit.credited'));
END;
--> statement-breakpoint
CREATE TRIGGER event_is_the_newest AFTER INSERT ON event
BEGIN
  SELECT RAISE(ABORT, 'event: ids must increase') WHERE EXISTS (SELECT 1 FROM event WHERE id > NEW.id);
END;
--> statement-breakpoint
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
BEGIN
  SELECT RAISE(ABORT, 'event: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER event_is_deleted_once_delivered BEFORE DELETE ON event
BEGIN
  SELECT RAISE(ABORT, 'event: an endpoint has not received it') WHERE EXISTS (SELECT 1 FROM webhook WHERE position < OLD.id);
END;
--> statement-breakpoint
CREATE TRIGGER flow_has_its_event AFTER INSERT ON flow
BEGIN
  INSERT INTO event (type, uid, created_at, entry_id)
    VALUES (iif(NEW.type = 1, 'deposit.credited', 'entry.posted'), NEW.uid, NEW.created_at, NEW.id);
  SELECT RAISE(ABORT, 'event: the event of the entry was not stored')
    WHERE NOT EXISTS (SELECT 1 FROM event WHERE id = last_insert_rowid() AND entry_id = NEW.id);
END;
--> statement-breakpoint
CREATE TRIGGER deposit_has_its_event AFTER INSERT ON deposit WHEN NEW.outcome <> 'credited'
BEGIN
  INSERT INTO event (type, uid, created_at, txid, position, cuy, raw, address, reason)
    VALUES (iif(NEW.outcome = 'too-large', 'deposit.held', 'deposit.refused'), NEW.uid, NEW.created_at, NEW.txid,
      NEW.position, NEW.cuy, NEW.raw, NEW.to_address, NEW.outcome);
  SELECT RAISE(ABORT, 'event: the event of the deposit was not stored')
    WHERE NOT EXISTS (SELECT 1 FROM event WHERE id = last_insert_rowid() AND txid = NEW.txid AND position = NEW.position);
END;
--> statement-breakpoint
-- Once for each reason: a reason that comes back makes no further event.
CREATE TRIGGER pending_is_held_at_first AFTER INSERT ON pending WHEN NEW.reason <> 'queued'
BEGIN
  INSERT INTO event (type, uid, created_at, txid, position, cuy, raw, address, reason)
    SELECT 'deposit.held', NEW.uid, NEW.reason_at, NEW.txid, NEW.position, NEW.cuy, NEW.raw, NEW.to_address, NEW.reason
    WHERE NOT EXISTS (
      SELECT 1 FROM event WHERE txid = NEW.txid AND position = NEW.position AND type = 'deposit.held' AND reason = NEW.reason);
END;
--> statement-breakpoint
CREATE TRIGGER pending_is_held AFTER UPDATE OF reason ON pending WHEN NEW.reason <> 'queued'
BEGIN
  INSERT INTO event (type, uid, created_at, txid, position, cuy, raw, address, reason)
    SELECT 'deposit.held', NEW.uid, NEW.reason_at, NEW.txid, NEW.position, NEW.cuy, NEW.raw, NEW.to_address, NEW.reason
    WHERE NOT EXISTS (
      SELECT 1 FROM event WHERE txid = NEW.txid AND position = NEW.position AND type = 'deposit.held' AND reason = NEW.reason);
END;
--> statement-breakpoint
-- A requested rescan can find it worthless again, which makes no further event.
CREATE TRIGGER refusal_has_its_event AFTER INSERT ON refusal
BEGIN
  INSERT INTO event (type, uid, created_at, txid, position, cuy, raw, address, reason, contract_type)
    SELECT 'deposit.refused', NEW.uid, NEW.created_at, NEW.txid, NEW.position, NEW.cuy, NEW.raw, NEW.to_address, NEW.reason,
      NEW.contract_type
    WHERE NOT EXISTS (
      SELECT 1 FROM event WHERE txid = NEW.txid AND position = NEW.position AND type = 'deposit.refused' AND reason = NEW.reason);
END;
--> statement-breakpoint
CREATE TRIGGER sighting_has_its_event AFTER INSERT ON sighting
BEGIN
  INSERT INTO event (type, uid, created_at, txid, position, cuy, raw, address, decimals, seconds)
    VALUES ('deposit.seen', NEW.uid, NEW.seen_at, NEW.txid, NEW.position, NEW.cuy, NEW.raw, NEW.to_address, NEW.decimals,
      NEW.seconds);
END;
--> statement-breakpoint
-- A node can number the logs of a block in its own way, so the transaction is looked for, not the position.
CREATE TRIGGER sighting_is_dropped AFTER DELETE ON sighting WHEN EXISTS (SELECT 1 FROM scan WHERE height >= OLD.height)
BEGIN
  INSERT INTO event (type, uid, created_at, txid, position)
    SELECT 'deposit.dropped', OLD.uid, (SELECT advanced_at FROM scan), OLD.txid, OLD.position
    WHERE NOT EXISTS (SELECT 1 FROM deposit WHERE txid = OLD.txid)
      AND NOT EXISTS (SELECT 1 FROM pending WHERE txid = OLD.txid)
      AND NOT EXISTS (SELECT 1 FROM refusal WHERE txid = OLD.txid)
      -- A requested rescan deletes refusals: what was refused is in the chain.
      AND NOT EXISTS (SELECT 1 FROM event WHERE txid = OLD.txid AND type = 'deposit.refused' AND reason IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM movement WHERE address = OLD.to_address AND txid = OLD.txid);
END;
--> statement-breakpoint

-- webhook ------------------------------------------------------------------------------------------------------------

CREATE TRIGGER webhook_begins_with_the_next_event BEFORE INSERT ON webhook
BEGIN
  SELECT RAISE(ABORT, 'webhook: already exists') WHERE EXISTS (SELECT 1 FROM webhook WHERE endpoint = NEW.endpoint);
  SELECT RAISE(ABORT, 'webhook: must begin with the next event')
    WHERE NEW.position <> coalesce((SELECT max(id) FROM event), 0);
END;
--> statement-breakpoint
CREATE TRIGGER webhook_skips_no_event BEFORE UPDATE ON webhook
BEGIN
  SELECT RAISE(ABORT, 'webhook: endpoint must not change') WHERE NEW.endpoint IS NOT OLD.endpoint;
  SELECT RAISE(ABORT, 'webhook: position is above the newest event')
    WHERE NEW.position > OLD.position AND NEW.position > coalesce((SELECT max(id) FROM event), 0);
END;
