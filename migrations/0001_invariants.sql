-- By hand, all of it: what a wrong row meets. README.md beside this file says why each rule stands.
--
-- Three habits of SQLite shape these triggers:
--  * REPLACE deletes the row in its way without firing delete triggers, so BEFORE INSERT refuses every known key.
--  * The conflict clause of the outer statement (OR IGNORE, OR REPLACE) rules the statements inside its triggers too,
--    so nothing here relies on a constraint alone: each chain ends in a RAISE that looks at what really was stored.
--  * In BEFORE INSERT an id that was not given reads as -1, so ids are compared after the insert.

-- address ------------------------------------------------------------------------------------------------------------

CREATE TRIGGER address_is_new BEFORE INSERT ON address
BEGIN
  SELECT RAISE(ABORT, 'address: issued already')
    WHERE EXISTS (SELECT 1 FROM address WHERE hex = NEW.hex OR idx = NEW.idx OR id = NEW.id);
  SELECT RAISE(ABORT, 'address: indices grow by one')
    WHERE NEW.idx IS NOT (SELECT coalesce(max(idx), -1) + 1 FROM address);
END;
--> statement-breakpoint
CREATE TRIGGER address_is_never_changed BEFORE UPDATE ON address
BEGIN
  SELECT RAISE(ABORT, 'address: rows are never changed');
END;
--> statement-breakpoint
CREATE TRIGGER address_is_never_deleted BEFORE DELETE ON address
BEGIN
  SELECT RAISE(ABORT, 'address: rows are never deleted');
END;
--> statement-breakpoint

-- wallet -------------------------------------------------------------------------------------------------------------

CREATE TRIGGER wallet_is_born_empty BEFORE INSERT ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: exists already')
    WHERE EXISTS (SELECT 1 FROM wallet WHERE id = NEW.id OR (uid = NEW.uid AND cuy = NEW.cuy));
  SELECT RAISE(ABORT, 'wallet: starts at zero')
    WHERE NEW.balance <> 0 OR NEW.flow_count <> 0 OR NEW.newest <> 0;
END;
--> statement-breakpoint
CREATE TRIGGER wallet_follows_its_newest_flow BEFORE UPDATE ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: follows its newest entry only')
    WHERE NEW.id IS NOT OLD.id OR NEW.uid IS NOT OLD.uid OR NEW.cuy IS NOT OLD.cuy
      OR NEW.flow_count IS NOT OLD.flow_count + 1
      OR NEW.newest IS OLD.newest
      OR NEW.newest IS NOT (SELECT id FROM flow WHERE wallet = OLD.id ORDER BY id DESC LIMIT 1)
      OR NEW.balance IS NOT (SELECT balance FROM flow WHERE id = NEW.newest);
END;
--> statement-breakpoint
CREATE TRIGGER wallet_is_never_deleted BEFORE DELETE ON wallet
BEGIN
  SELECT RAISE(ABORT, 'wallet: rows are never deleted');
END;
--> statement-breakpoint

-- flow ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER flow_continues_its_wallet BEFORE INSERT ON flow
BEGIN
  SELECT RAISE(ABORT, 'flow: exists already')
    WHERE EXISTS (SELECT 1 FROM flow WHERE id = NEW.id)
       OR EXISTS (SELECT 1 FROM flow WHERE wallet = NEW.wallet AND osn = NEW.osn AND type = NEW.type);
  SELECT RAISE(ABORT, 'flow: its balance is the wallet''s plus its amount')
    WHERE NOT EXISTS (
      SELECT 1 FROM wallet
        WHERE id = NEW.wallet AND uid = NEW.uid AND cuy = NEW.cuy AND balance + NEW.amount = NEW.balance);
  SELECT RAISE(ABORT, 'flow: time does not run backwards')
    WHERE NEW.created_at < (SELECT created_at FROM flow ORDER BY id DESC LIMIT 1);
  SELECT RAISE(ABORT, 'flow: a recharge needs its credited deposit')
    WHERE NEW.type = 1 AND NOT EXISTS (
      SELECT 1 FROM deposit
        WHERE txid = substr(NEW.osn, 1, 64) AND NEW.osn = iif(native, txid, txid || ':' || position)
          AND outcome = 'credited' AND uid = NEW.uid AND cuy = NEW.cuy AND amount = NEW.amount);
END;
--> statement-breakpoint
CREATE TRIGGER flow_moves_its_wallet AFTER INSERT ON flow
BEGIN
  SELECT RAISE(ABORT, 'flow: ids grow')
    WHERE EXISTS (SELECT 1 FROM flow WHERE id > NEW.id);
  UPDATE wallet SET balance = NEW.balance, flow_count = flow_count + 1, newest = NEW.id WHERE id = NEW.wallet;
  SELECT RAISE(ABORT, 'flow: the wallet did not follow')
    WHERE NOT EXISTS (SELECT 1 FROM wallet WHERE id = NEW.wallet AND newest = NEW.id AND balance = NEW.balance);
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

-- deposit ------------------------------------------------------------------------------------------------------------

CREATE TRIGGER deposit_is_new BEFORE INSERT ON deposit
BEGIN
  SELECT RAISE(ABORT, 'deposit: this credit key is known')
    WHERE EXISTS (SELECT 1 FROM deposit WHERE txid = NEW.txid AND position = NEW.position);
  SELECT RAISE(ABORT, 'deposit: not to an address of this caller')
    WHERE NOT EXISTS (SELECT 1 FROM address WHERE hex = NEW.to_address AND uid = NEW.uid);
END;
--> statement-breakpoint
CREATE TRIGGER deposit_is_decided AFTER INSERT ON deposit
BEGIN
  DELETE FROM pending WHERE txid = NEW.txid AND position = NEW.position;
END;
--> statement-breakpoint
CREATE TRIGGER deposit_is_credited AFTER INSERT ON deposit WHEN NEW.outcome = 'credited'
BEGIN
  INSERT INTO wallet (uid, cuy, balance, flow_count, newest)
    SELECT NEW.uid, NEW.cuy, 0, 0, 0
    WHERE NOT EXISTS (SELECT 1 FROM wallet WHERE uid = NEW.uid AND cuy = NEW.cuy);
  INSERT INTO flow (wallet, uid, cuy, type, osn, amount, balance, mark, created_at)
    SELECT id, NEW.uid, NEW.cuy, 1, iif(NEW.native, NEW.txid, NEW.txid || ':' || NEW.position),
      NEW.amount, balance + NEW.amount, 'deposit',
      max(NEW.created_at, coalesce((SELECT created_at FROM flow ORDER BY id DESC LIMIT 1), 0))
    FROM wallet WHERE uid = NEW.uid AND cuy = NEW.cuy;
  SELECT RAISE(ABORT, 'deposit: it was not credited')
    WHERE NOT EXISTS (
      SELECT 1 FROM wallet JOIN flow ON flow.id = wallet.newest
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
  SELECT RAISE(ABORT, 'pending: decided already')
    WHERE EXISTS (SELECT 1 FROM deposit WHERE txid = NEW.txid AND position = NEW.position);
END;
--> statement-breakpoint

-- scan ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER scan_is_one_row BEFORE INSERT ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: started already') WHERE EXISTS (SELECT 1 FROM scan);
END;
--> statement-breakpoint
CREATE TRIGGER scan_never_goes_back BEFORE UPDATE ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: the position never goes back') WHERE NEW.height < OLD.height;
  SELECT RAISE(ABORT, 'scan: a block once stored keeps its hash')
    WHERE NEW.height = OLD.height AND OLD.hash IS NOT NULL AND NEW.hash IS NOT OLD.hash;
  SELECT RAISE(ABORT, 'scan: a stored block has a hash') WHERE NEW.height > OLD.height AND NEW.hash IS NULL;
  SELECT RAISE(ABORT, 'scan: the finalized height never goes back') WHERE NEW.finalized < OLD.finalized;
END;
--> statement-breakpoint
CREATE TRIGGER scan_is_never_deleted BEFORE DELETE ON scan
BEGIN
  SELECT RAISE(ABORT, 'scan: the row is never deleted');
END;
