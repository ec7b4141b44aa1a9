CREATE TABLE `stored_address` (
	`id` integer PRIMARY KEY NOT NULL,
	`uid` integer NOT NULL,
	`address` blob NOT NULL,
	`issued_height` integer NOT NULL,
	`created_at` integer NOT NULL,
	`unpaid` text,
	`for_orders` integer DEFAULT false NOT NULL,
	CONSTRAINT "address_id" CHECK(id BETWEEN 1 AND 2147483648),
	CONSTRAINT "address_uid" CHECK(uid BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "address_address" CHECK(length(address) = 20),
	CONSTRAINT "address_issued_height" CHECK(issued_height BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "address_unpaid" CHECK(unpaid IS NULL OR (json_type(unpaid) = 'array' AND json_array_length(unpaid) > 0 AND for_orders = 0)),
	CONSTRAINT "address_for_orders" CHECK(for_orders IN (0, 1))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `address_address` ON `stored_address` (`address`);--> statement-breakpoint
CREATE INDEX `address_uid` ON `stored_address` (`uid`) WHERE for_orders = 0;--> statement-breakpoint
CREATE INDEX `address_order` ON `stored_address` (`uid`) WHERE for_orders = 1;--> statement-breakpoint
CREATE TABLE `agreed_decimals` (
	`contract` text PRIMARY KEY NOT NULL,
	`decimals` integer NOT NULL,
	`stored_at` integer NOT NULL,
	CONSTRAINT "agreed_decimals_contract" CHECK(length(contract) = 40 AND contract NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "agreed_decimals_decimals" CHECK(decimals BETWEEN 0 AND 255)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `archive` (
	`id` integer PRIMARY KEY NOT NULL,
	`epoch` integer NOT NULL,
	`lines` integer NOT NULL,
	`hash` text NOT NULL,
	`tree` text NOT NULL,
	`event` integer NOT NULL,
	`change` integer NOT NULL,
	`copy` text,
	`begun` integer NOT NULL,
	`common` integer,
	`configuration` text,
	`checkpoint` text,
	`verifier` text,
	`written_at` integer NOT NULL,
	CONSTRAINT "archive_id" CHECK(id = 1),
	CONSTRAINT "archive_epoch" CHECK(epoch BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "archive_lines" CHECK(lines BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "archive_event" CHECK(event BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "archive_change" CHECK(change BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "archive_begun" CHECK(begun BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "archive_written_at" CHECK(written_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "archive_hash" CHECK(length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "archive_tree" CHECK(json_type(tree) = 'array'),
	CONSTRAINT "archive_copy" CHECK(copy IS NULL OR json_type(copy) = 'array'),
	CONSTRAINT "archive_common" CHECK(common IS NULL OR (common BETWEEN -1 AND lines - 1)),
	CONSTRAINT "archive_configuration" CHECK(configuration IS NULL OR (length(configuration) = 64 AND configuration NOT GLOB '*[^0-9a-f]*')),
	CONSTRAINT "archive_verifier" CHECK((verifier IS NULL) = (checkpoint IS NULL))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `archive_change` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`after_event` integer NOT NULL,
	`kind` text NOT NULL,
	`key` text NOT NULL,
	CONSTRAINT "archive_change_id" CHECK(id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "archive_change_after_event" CHECK(after_event BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "archive_change_kind" CHECK(kind IN ('correction','address','order','transfer','payout','transaction','decision','act','sent','removed')),
	CONSTRAINT "archive_change_key" CHECK(json_type(key) = 'array')
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `credit` (
	`uid` integer NOT NULL,
	`cuy` integer NOT NULL,
	`transfer_id` integer NOT NULL,
	`amount` integer NOT NULL,
	`created_at` integer NOT NULL,
	`order_id` integer
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `decision` (
	`txid` text NOT NULL,
	`position` integer NOT NULL,
	`decision` text NOT NULL,
	`why` text NOT NULL,
	`decided_by` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`txid`, `position`, `decision`),
	CONSTRAINT "decision_decision" CHECK(decision IN ('credit','refuse')),
	CONSTRAINT "decision_why" CHECK(length(why) BETWEEN 1 AND 200),
	CONSTRAINT "decision_decided_by" CHECK((length(decided_by) BETWEEN 1 AND 64 AND decided_by NOT GLOB '*[^A-Za-z0-9._-]*') OR (length(decided_by) <= 254 AND decided_by = lower(decided_by) AND decided_by GLOB '?*@?*' AND decided_by NOT GLOB '*@*@*' AND decided_by NOT GLOB '*[^!-~]*'))
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `stored_flow` (
	`id` integer PRIMARY KEY NOT NULL,
	`wallet_id` integer NOT NULL,
	`type` integer NOT NULL,
	`osn` text,
	`transfer_id` integer,
	`amount` integer NOT NULL,
	`balance` integer NOT NULL,
	`mark` text NOT NULL,
	`created_at` integer NOT NULL,
	`posted_by` text NOT NULL,
	`number` integer NOT NULL,
	`type_number` integer NOT NULL,
	CONSTRAINT "flow_id" CHECK(id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "flow_type" CHECK((type IN (1, 5) AND amount > 0) OR (type IN (2, 4) AND amount < 0) OR (type IN (3, 9) AND amount <> 0)),
	CONSTRAINT "flow_osn" CHECK((osn IS NULL) = (type = 1) AND (osn IS NULL OR (length(osn) BETWEEN 1 AND 200 AND osn NOT GLOB '*[^ -~]*'))),
	CONSTRAINT "flow_transfer_id" CHECK((transfer_id IS NOT NULL) = (type = 1)),
	CONSTRAINT "flow_mark" CHECK(type <> 1 OR mark NOT GLOB '*[^0-9]*'),
	CONSTRAINT "flow_posted_by" CHECK((posted_by = '') = (type = 1) AND length(posted_by) <= 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'),
	CONSTRAINT "flow_amount" CHECK(amount BETWEEN -9007199254740991 AND 9007199254740991),
	CONSTRAINT "flow_balance" CHECK(balance BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "flow_created_at" CHECK(created_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "flow_number" CHECK(number BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "flow_type_number" CHECK(type_number BETWEEN 1 AND 9007199254740991)
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `flow_key` ON `stored_flow` (`osn`,`wallet_id`,`type`) WHERE osn IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `flow_deposit` ON `stored_flow` (`wallet_id`,`transfer_id`) WHERE transfer_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `flow_wallet` ON `stored_flow` (`wallet_id`);--> statement-breakpoint
CREATE INDEX `flow_type` ON `stored_flow` (`wallet_id`,`type`);--> statement-breakpoint
CREATE TABLE `kept_address` (
	`kind` text NOT NULL,
	`address` text NOT NULL,
	`height` integer,
	`stored_at` integer NOT NULL,
	PRIMARY KEY(`kind`, `address`),
	CONSTRAINT "kept_address_kind" CHECK(kind IN ('operator','payer','other-payer','cell')),
	CONSTRAINT "kept_address_address" CHECK(length(address) = 40 AND address NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "kept_address_height" CHECK((kind IN ('cell', 'other-payer')) = (height IS NULL) AND (height IS NULL OR (height BETWEEN 0 AND 9007199254740991)))
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `credit_mark` (
	`height` integer PRIMARY KEY NOT NULL,
	`entry_id` integer NOT NULL,
	CONSTRAINT "credit_mark_height" CHECK(height BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "credit_mark_entry_id" CHECK(entry_id BETWEEN 0 AND 9007199254740991)
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `posting` (
	`entries` text NOT NULL,
	`posted_by` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `sent` (
	`txid` text NOT NULL,
	`address` text NOT NULL,
	`height` integer NOT NULL,
	`cuy` integer NOT NULL,
	PRIMARY KEY(`txid`, `address`),
	CONSTRAINT "sent_txid" CHECK(length(txid) = 64 AND txid NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "sent_address" CHECK(length(address) = 40 AND address NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "sent_height" CHECK(height BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "sent_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE INDEX `sent_height` ON `sent` (`height`);--> statement-breakpoint
CREATE TABLE `stored_currency` (
	`cuy` integer PRIMARY KEY NOT NULL,
	`contract` text,
	`decimals` integer NOT NULL,
	`scale` integer NOT NULL,
	`stored_at` integer NOT NULL,
	CONSTRAINT "currency_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "currency_contract" CHECK(contract IS NULL OR (length(contract) = 40 AND contract NOT GLOB '*[^0-9a-f]*')),
	CONSTRAINT "currency_decimals" CHECK(decimals BETWEEN 0 AND 255),
	CONSTRAINT "currency_scale" CHECK(scale BETWEEN 0 AND decimals)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `stored_setting` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`stored_at` integer NOT NULL,
	CONSTRAINT "setting_name" CHECK(length(name) BETWEEN 1 AND 100),
	CONSTRAINT "setting_value" CHECK(length(value) BETWEEN 1 AND 200)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `stored_transfer` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`txid` blob NOT NULL,
	`position` integer NOT NULL,
	`osn` text GENERATED ALWAYS AS (lower(hex(txid)) || iif(native, iif(position < 0, ':i' || (-1 - position), ''), ':' || position)) VIRTUAL NOT NULL,
	`height` integer NOT NULL,
	`cuy` integer NOT NULL,
	`uid` integer,
	`from_address` blob NOT NULL,
	`to_address` blob NOT NULL,
	`raw` text NOT NULL,
	`native` integer NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`amount` integer NOT NULL,
	`review` text,
	`sought` integer DEFAULT false NOT NULL,
	`seconds` integer,
	`seen_by` integer,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	CONSTRAINT "transfer_txid" CHECK(length(txid) = 32),
	CONSTRAINT "transfer_from_address" CHECK(length(from_address) = 20),
	CONSTRAINT "transfer_to_address" CHECK(length(to_address) = 20),
	CONSTRAINT "transfer_height" CHECK(height BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "transfer_created_at" CHECK(created_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "transfer_changed_at" CHECK(changed_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "transfer_position" CHECK(position BETWEEN -9007199254740991 AND 9007199254740991),
	CONSTRAINT "transfer_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "transfer_uid" CHECK((uid IS NULL) = (state = 'moved') AND (uid IS NULL OR (uid BETWEEN 1 AND 9007199254740991))),
	CONSTRAINT "transfer_raw" CHECK(raw GLOB '[1-9]*' AND raw NOT GLOB '*[^0-9]*' AND length(raw) <= 78),
	CONSTRAINT "transfer_native" CHECK((native = 0 AND position >= 0) OR (native = 1 AND position <= 0)),
	CONSTRAINT "transfer_state" CHECK(state IN ('seen','dropped','held','refused','credited','moved')),
	CONSTRAINT "transfer_reason" CHECK(iif(state = 'held', reason IS NOT NULL AND reason IN ('decimals-unknown','decimals-differ','retired','too-large','wallet-full','review'), iif(state = 'refused', reason IS NOT NULL AND reason IN ('below-minimum','dust','review'), reason IS NULL))),
	CONSTRAINT "transfer_amount" CHECK(amount BETWEEN 0 AND 9007199254740991 AND (amount > 0) = (state = 'credited')),
	CONSTRAINT "transfer_review" CHECK(iif(review IS NULL, reason IS NOT 'review', review IN ('open','credit','refuse') AND (state IN ('seen', 'dropped', 'moved')
  OR (review = 'open' AND state = 'held' AND reason = 'review') OR (review = 'refuse' AND state = 'refused' AND reason = 'review')
  OR (review = 'credit' AND reason IS NOT 'review')))),
	CONSTRAINT "transfer_sought" CHECK(sought = 0 OR (sought = 1 AND state = 'credited')),
	CONSTRAINT "transfer_seconds" CHECK(seconds IS NULL OR (seconds BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "transfer_seen_by" CHECK(seen_by IS NULL OR (seen_by BETWEEN 1 AND 9007199254740991))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `transfer_key` ON `stored_transfer` (`txid`,`position`);--> statement-breakpoint
CREATE INDEX `transfer_to` ON `stored_transfer` (`to_address`) WHERE uid IS NOT NULL;--> statement-breakpoint
CREATE INDEX `transfer_uid_state` ON `stored_transfer` (`uid`,`state`,`cuy`) WHERE state IN ('seen', 'dropped', 'held', 'refused');--> statement-breakpoint
CREATE INDEX `transfer_credited` ON `stored_transfer` (`cuy`) WHERE state = 'credited';--> statement-breakpoint
CREATE INDEX `transfer_uncredited` ON `stored_transfer` (`cuy`,`state`) WHERE state IN ('seen', 'dropped', 'held', 'refused');--> statement-breakpoint
CREATE INDEX `transfer_seen` ON `stored_transfer` (`height`) WHERE state = 'seen';--> statement-breakpoint
CREATE INDEX `transfer_decided` ON `stored_transfer` (`height`) WHERE state IN ('held', 'refused', 'moved');--> statement-breakpoint
CREATE INDEX `transfer_held` ON `stored_transfer` (`reason`,`cuy`,`id`) WHERE state = 'held';--> statement-breakpoint
CREATE INDEX `transfer_held_from` ON `stored_transfer` (`from_address`) WHERE state = 'held';--> statement-breakpoint
CREATE INDEX `transfer_sought` ON `stored_transfer` (`height`) WHERE sought = 1;--> statement-breakpoint
CREATE INDEX `transfer_dropped` ON `stored_transfer` (`changed_at`) WHERE state = 'dropped' AND review IS NULL;--> statement-breakpoint
CREATE TABLE `user_range` (
	`id` integer PRIMARY KEY NOT NULL,
	`first` integer NOT NULL,
	`last` integer NOT NULL,
	`stored_at` integer NOT NULL,
	CONSTRAINT "user_range_id" CHECK(id = 1),
	CONSTRAINT "user_range_first" CHECK(first BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "user_range_last" CHECK(last BETWEEN first AND 9007199254740991)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `wallet` (
	`id` integer PRIMARY KEY NOT NULL,
	`uid` integer NOT NULL,
	`cuy` integer NOT NULL,
	`balance` integer DEFAULT 0 NOT NULL,
	`entry_count` integer DEFAULT 0 NOT NULL,
	`newest_entry` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "wallet_id" CHECK(id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "wallet_uid" CHECK(uid BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "wallet_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "wallet_balance" CHECK(balance BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "wallet_entry_count" CHECK(entry_count BETWEEN 0 AND 9007199254740991)
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `wallet_owner` ON `wallet` (`uid`,`cuy`);--> statement-breakpoint
CREATE TABLE `alarm` (
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`raised_at` integer,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`kind`, `subject`),
	CONSTRAINT "alarm_kind" CHECK(kind GLOB '[a-z]*' AND kind NOT GLOB '*[^a-z-]*' AND length(kind) <= 100),
	CONSTRAINT "alarm_subject" CHECK(json_valid(subject) AND subject GLOB '{*}' AND length(subject) <= 200),
	CONSTRAINT "alarm_raised_at" CHECK(raised_at IS NULL OR (raised_at BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "alarm_seen_at" CHECK(seen_at BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `compared` (
	`cuy` integer PRIMARY KEY NOT NULL,
	`first_id` integer NOT NULL,
	`last_id` integer NOT NULL,
	CONSTRAINT "compared_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "compared_first_id" CHECK(first_id BETWEEN 0 AND last_id),
	CONSTRAINT "compared_last_id" CHECK(last_id BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `correction` (
	`id` integer PRIMARY KEY NOT NULL,
	`finalized` integer NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "correction_finalized" CHECK(finalized BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "correction_reason" CHECK(length(reason) BETWEEN 1 AND 500)
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `day` (
	`cuy` integer NOT NULL,
	`type` integer NOT NULL,
	`day` integer NOT NULL,
	`entries` integer NOT NULL,
	`high` integer NOT NULL,
	`low` integer NOT NULL,
	PRIMARY KEY(`cuy`, `type`, `day`)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `stored_event` (
	`id` integer PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`uid` integer NOT NULL,
	`created_at` integer NOT NULL,
	`txid` blob,
	`position` integer,
	`cuy` integer,
	`raw` text,
	`address` blob,
	`seconds` integer,
	`reason` text,
	`about` text,
	CONSTRAINT "event_id" CHECK(id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "event_uid" CHECK(uid BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "event_type" CHECK(type IN ('deposit.seen','deposit.dropped','deposit.held','deposit.refused','payout.waiting','payout.approved','payout.signed','payout.paid','payout.stuck','payout.cancelled','order.partly','order.paid','order.expired','order.cancelled','address.frozen','address.released','address.destroyed')),
	CONSTRAINT "event_created_at" CHECK(created_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "event_txid" CHECK((txid IS NOT NULL) = (NOT type GLOB 'payout.*' AND NOT type GLOB 'order.*') AND (txid IS NULL OR (length(txid) = 32))),
	CONSTRAINT "event_position" CHECK((position IS NOT NULL) = (NOT type GLOB 'payout.*' AND NOT type GLOB 'order.*') AND (position IS NULL OR (position BETWEEN -9007199254740991 AND 9007199254740991))),
	CONSTRAINT "event_cuy" CHECK((cuy IS NOT NULL) = (type IN ('deposit.seen', 'deposit.held', 'deposit.refused') OR type GLOB 'address.*') AND (cuy IS NULL OR (cuy BETWEEN 1 AND 9007199254740991))),
	CONSTRAINT "event_raw" CHECK((raw IS NOT NULL) = (type IN ('deposit.seen', 'deposit.held', 'deposit.refused') OR type = 'address.destroyed') AND (raw IS NULL OR (iif(type = 'address.destroyed', raw = '0' OR (raw GLOB '[1-9]*' AND raw NOT GLOB '*[^0-9]*' AND length(raw) <= 78), raw GLOB '[1-9]*' AND raw NOT GLOB '*[^0-9]*' AND length(raw) <= 78)))),
	CONSTRAINT "event_address" CHECK((address IS NOT NULL) = (type IN ('deposit.seen', 'deposit.held', 'deposit.refused') OR type GLOB 'address.*') AND (address IS NULL OR (length(address) = 20))),
	CONSTRAINT "event_seconds" CHECK((seconds IS NOT NULL) = (type = 'deposit.seen') AND (seconds IS NULL OR (seconds BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "event_reason" CHECK(iif(type = 'deposit.held', reason IS NOT NULL AND reason IN ('decimals-unknown','decimals-differ','retired','too-large','wallet-full','review'), iif(type = 'deposit.refused', reason IS NOT NULL AND reason IN ('below-minimum','dust','review'), reason IS NULL))),
	CONSTRAINT "event_about" CHECK((about IS NULL OR json_valid(about))
        AND iif(type GLOB 'payout.*' OR type GLOB 'order.*', about IS NOT NULL, about IS NULL OR type = 'deposit.seen'))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `event_reason` ON `stored_event` (`txid`,`position`,`type`,`reason`,`uid`) WHERE reason IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `event_act` ON `stored_event` (`txid`,`position`,`type`) WHERE type GLOB 'address.*';--> statement-breakpoint
CREATE TABLE `stored_holding` (
	`cuy` integer NOT NULL,
	`address_id` integer NOT NULL,
	`part_0` integer DEFAULT 0 NOT NULL,
	`part_1` integer DEFAULT 0 NOT NULL,
	`part_2` integer DEFAULT 0 NOT NULL,
	`part_3` integer DEFAULT 0 NOT NULL,
	`part_4` integer DEFAULT 0 NOT NULL,
	`part_5` integer DEFAULT 0 NOT NULL,
	`part_6` integer DEFAULT 0 NOT NULL,
	`sent` integer DEFAULT 0 NOT NULL,
	`changed_height` integer DEFAULT 0 NOT NULL,
	`balance` text,
	`read_from` integer,
	`read_to` integer,
	`accepted` text DEFAULT '0' NOT NULL,
	`accepted_sent` integer DEFAULT 0 NOT NULL,
	`read_sent` integer DEFAULT 0 NOT NULL,
	`differing` integer DEFAULT 0 NOT NULL,
	`difference` text DEFAULT '0' NOT NULL,
	`due_at` integer NOT NULL,
	PRIMARY KEY(`cuy`, `address_id`),
	CONSTRAINT "holding_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "holding_address_id" CHECK(address_id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "holding_sent" CHECK(sent BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "holding_changed_height" CHECK(changed_height BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "holding_accepted_sent" CHECK(accepted_sent BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "holding_read_sent" CHECK(read_sent BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "holding_differing" CHECK(differing BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "holding_due_at" CHECK(due_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "holding_balance" CHECK(balance IS NULL OR (balance = '0' OR (balance GLOB '[1-9]*' AND balance NOT GLOB '*[^0-9]*' AND length(balance) <= 78))),
	CONSTRAINT "holding_read_from" CHECK((read_from IS NULL) = (balance IS NULL) AND (read_from IS NULL OR read_from >= 0)),
	CONSTRAINT "holding_read_to" CHECK((read_to IS NULL) = (balance IS NULL) AND (read_to IS NULL OR read_to >= read_from)),
	CONSTRAINT "holding_accepted" CHECK(accepted = '0' OR (ltrim(accepted, '-') GLOB '[1-9]*' AND ltrim(accepted, '-') NOT GLOB '*[^0-9]*' AND accepted NOT GLOB '?*-*' AND length(accepted) <= 90)),
	CONSTRAINT "holding_difference" CHECK((difference = '0') = (differing = 0) AND (difference = '0' OR (ltrim(difference, '-') GLOB '[1-9]*' AND ltrim(difference, '-') NOT GLOB '*[^0-9]*' AND difference NOT GLOB '?*-*' AND length(difference) <= 90)))
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE INDEX `holding_due` ON `stored_holding` (`cuy`,`due_at`);--> statement-breakpoint
CREATE TABLE `movement` (
	`cuy` integer NOT NULL,
	`address` blob NOT NULL,
	`sign` integer NOT NULL,
	`raw` text NOT NULL,
	`height` integer NOT NULL,
	`moved_at` integer NOT NULL
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `removed_event` (
	`id` integer PRIMARY KEY NOT NULL,
	`last_id` integer NOT NULL,
	CONSTRAINT "removed_event_id" CHECK(id = 1),
	CONSTRAINT "removed_event_last_id" CHECK(last_id BETWEEN 1 AND 9007199254740991)
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `rescan` (
	`id` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`from_height` integer NOT NULL,
	`to_height` integer NOT NULL,
	`next_height` integer NOT NULL,
	`reason` text,
	`why` text,
	`created_at` integer NOT NULL,
	`next_try` integer NOT NULL,
	`tried_at` integer,
	`attempts` integer DEFAULT 0 NOT NULL,
	`receipts` integer DEFAULT 0 NOT NULL,
	`unread` text,
	`finished_at` integer,
	`closed` text,
	CONSTRAINT "rescan_kind" CHECK(kind IN ('gap','request','payout')),
	CONSTRAINT "rescan_from_height" CHECK(from_height BETWEEN 0 AND to_height),
	CONSTRAINT "rescan_to_height" CHECK(to_height <= 9007199254740991),
	CONSTRAINT "rescan_next_height" CHECK(next_height BETWEEN from_height AND to_height + 1),
	CONSTRAINT "rescan_reason" CHECK((reason IS NOT NULL) = (kind = 'request') AND (reason IS NULL OR (length(reason) BETWEEN 1 AND 500))),
	CONSTRAINT "rescan_why" CHECK(why IS NULL OR (length(why) BETWEEN 1 AND 500)),
	CONSTRAINT "rescan_attempts" CHECK(attempts BETWEEN 0 AND 9007199254740991 AND (attempts = 0 OR (why IS NOT NULL AND tried_at IS NOT NULL))),
	CONSTRAINT "rescan_receipts" CHECK(receipts BETWEEN 0 AND 9007199254740991 AND (receipts = 0 OR to_height <= next_height)),
	CONSTRAINT "rescan_unread" CHECK(unread IS NULL OR (json_valid(unread) AND to_height <= next_height)),
	CONSTRAINT "rescan_closed" CHECK(closed IS NULL OR (length(closed) BETWEEN 1 AND 500)),
	CONSTRAINT "rescan_finished_at" CHECK((finished_at IS NOT NULL) = (next_height = to_height + 1 OR closed IS NOT NULL))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE INDEX `rescan_open` ON `rescan` (`to_height`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `rescan_due` ON `rescan` (`next_try`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `rescan_unread` ON `rescan` (`next_height`) WHERE finished_at IS NULL AND kind <> 'request';--> statement-breakpoint
CREATE TABLE `scan` (
	`id` integer PRIMARY KEY NOT NULL,
	`height` integer,
	`hash` text,
	`finalized` integer NOT NULL,
	`finalized_time` integer NOT NULL,
	`finalized_hash` text,
	`finalized_at` integer NOT NULL,
	`advanced_at` integer NOT NULL,
	`caught_up_at` integer NOT NULL,
	`tried_at` integer NOT NULL,
	`answering_since` integer,
	`problem` text,
	`halted` text,
	`corrected_by` integer DEFAULT 0 NOT NULL,
	`nodes` text DEFAULT '' NOT NULL,
	`restored_at` integer,
	CONSTRAINT "scan_id" CHECK(id = 1),
	CONSTRAINT "scan_superseded" CHECK(height IS NOT NULL),
	CONSTRAINT "scan_height" CHECK(height BETWEEN -1 AND finalized),
	CONSTRAINT "scan_finalized" CHECK(finalized <= 9007199254740991),
	CONSTRAINT "scan_hash" CHECK(hash IS NULL OR (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*')),
	CONSTRAINT "scan_finalized_hash" CHECK(finalized_hash IS NULL OR (length(finalized_hash) = 64 AND finalized_hash NOT GLOB '*[^0-9a-f]*'))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `size` (
	`day` integer PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL,
	CONSTRAINT "size_day" CHECK(day BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "size_bytes" CHECK(bytes BETWEEN 0 AND 9007199254740991)
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `summand` (
	`cuy` integer NOT NULL,
	`kind` text NOT NULL,
	`number` integer NOT NULL,
	`units` text NOT NULL,
	`from_address` blob,
	`to_address` blob
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `token` (
	`contract` text PRIMARY KEY NOT NULL,
	`found` integer,
	`tries` integer NOT NULL,
	`next_try` integer NOT NULL,
	CONSTRAINT "token_contract" CHECK(length(contract) = 40 AND contract NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "token_found" CHECK(found IS NULL OR (found BETWEEN 0 AND 255)),
	CONSTRAINT "token_tries" CHECK(tries BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "token_next_try" CHECK(next_try BETWEEN 0 AND 9007199254740991)
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `total` (
	`cuy` integer NOT NULL,
	`kind` text NOT NULL,
	`number` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`part_0` integer DEFAULT 0 NOT NULL,
	`part_1` integer DEFAULT 0 NOT NULL,
	`part_2` integer DEFAULT 0 NOT NULL,
	`part_3` integer DEFAULT 0 NOT NULL,
	`part_4` integer DEFAULT 0 NOT NULL,
	`part_5` integer DEFAULT 0 NOT NULL,
	`part_6` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`cuy`, `kind`),
	CONSTRAINT "total_kind" CHECK(kind IN ('credited','held','refused','gas','collected','fees','read','difference'))
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `webhook` (
	`endpoint` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`position` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`failing_since` integer,
	`next_try` integer NOT NULL,
	`set_aside` integer,
	`last_failure` text,
	`seen_at` integer NOT NULL,
	`begins_at` integer DEFAULT 0 NOT NULL,
	`sealed` integer DEFAULT 0 NOT NULL,
	`seal_attempts` integer DEFAULT 0 NOT NULL,
	`seal_failing_since` integer,
	`seal_next_try` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "webhook_endpoint" CHECK(length(endpoint) = 64 AND endpoint NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "webhook_number" CHECK(number BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "webhook_position" CHECK(position BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_attempts" CHECK(attempts BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_next_try" CHECK(next_try BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_seen_at" CHECK(seen_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_begins_at" CHECK(begins_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_sealed" CHECK(sealed BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_seal_attempts" CHECK(seal_attempts BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_seal_next_try" CHECK(seal_next_try BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "webhook_failing_since" CHECK((failing_since IS NOT NULL) = (attempts > 0)),
	CONSTRAINT "webhook_seal_failing_since" CHECK((seal_failing_since IS NOT NULL) = (seal_attempts > 0)),
	CONSTRAINT "webhook_last_failure" CHECK(last_failure IS NULL OR (length(last_failure) BETWEEN 1 AND 100))
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE INDEX `webhook_number` ON `webhook` (`number`);--> statement-breakpoint
CREATE TABLE `payout_effect` (
	`payout_id` integer NOT NULL,
	`state_before` text,
	`counted_before` integer NOT NULL
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE TABLE `payout_holding` (
	`contract` text PRIMARY KEY NOT NULL,
	`address` text NOT NULL,
	`balance` text NOT NULL,
	`energy` integer,
	`read_at` integer NOT NULL,
	CONSTRAINT "payout_holding_contract" CHECK(contract = '' OR (length(contract) = 40 AND contract NOT GLOB '*[^0-9a-f]*')),
	CONSTRAINT "payout_holding_address" CHECK(length(address) = 40 AND address NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "payout_holding_balance" CHECK(balance = '0' OR (balance GLOB '[1-9]*' AND balance NOT GLOB '*[^0-9]*' AND length(balance) <= 78)),
	CONSTRAINT "payout_holding_energy" CHECK(energy IS NULL OR (contract = '' AND energy BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_holding_read_at" CHECK(read_at BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `payout_hour` (
	`cuy` integer NOT NULL,
	`uid` integer NOT NULL,
	`hour` integer NOT NULL,
	`amount` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`cuy`, `uid`, `hour`),
	CONSTRAINT "payout_hour_uid" CHECK(uid BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_hour_hour" CHECK(hour BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `payout_sum` (
	`state` text NOT NULL,
	`cuy` integer NOT NULL,
	`count` integer NOT NULL,
	`amount` integer NOT NULL,
	PRIMARY KEY(`state`, `cuy`),
	CONSTRAINT "payout_sum_state" CHECK(state IN ('waiting','approved','signed','stuck'))
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `payout_transaction` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`txid` text NOT NULL,
	`address` text NOT NULL,
	`payout_id` integer,
	`bytes` text,
	`reference` integer,
	`expires_at` integer,
	`changed_at` integer NOT NULL,
	`past_height` integer,
	`height` integer,
	`succeeded` integer,
	`moved` text,
	`ended` text,
	`result` text,
	`burnt` integer,
	`energy` integer,
	`reported` text,
	`excused` text,
	`held_back` integer DEFAULT false NOT NULL,
	`seen_height` integer,
	`next_send` integer NOT NULL,
	`sends` integer DEFAULT 0 NOT NULL,
	`sent_at` integer,
	`answers` text,
	CONSTRAINT "payout_transaction_id" CHECK(id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payout_transaction_txid" CHECK(length(txid) = 64 AND txid NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "payout_transaction_address" CHECK(length(address) = 40 AND address NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "payout_transaction_payout_id" CHECK((payout_id IS NULL) = (ended IS 'unknown') AND (payout_id IS NULL OR (payout_id BETWEEN 1 AND 9007199254740991))),
	CONSTRAINT "payout_transaction_bytes" CHECK((bytes IS NULL) = (payout_id IS NULL) AND (bytes IS NULL OR
        (length(bytes) BETWEEN 2 AND 2000 AND bytes NOT GLOB '*[^0-9a-f]*'))),
	CONSTRAINT "payout_transaction_reference" CHECK((reference IS NULL) = (payout_id IS NULL) AND (reference IS NULL OR (reference BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "payout_transaction_expires_at" CHECK((expires_at IS NULL) = (payout_id IS NULL) AND (expires_at IS NULL OR (expires_at BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "payout_transaction_past_height" CHECK(past_height IS NULL OR (past_height > reference AND past_height BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_transaction_height" CHECK(height IS NULL OR (height BETWEEN 0 AND 9007199254740991) AND (height IS NULL OR ended IS NOT NULL) AND (height IS NULL OR ended <> 'expired')),
	CONSTRAINT "payout_transaction_succeeded" CHECK((succeeded IS NULL) = (moved IS NULL) AND (succeeded IS NULL OR succeeded IN (0, 1))),
	CONSTRAINT "payout_transaction_moved" CHECK(moved IS NULL OR json_valid(moved)),
	CONSTRAINT "payout_transaction_ended" CHECK((ended IS NULL OR ended IN ('paid','failed','other','expired','unknown','late')) AND (succeeded IS NOT NULL) = (ended IS NOT NULL AND ended <> 'expired')
        AND (height IS NOT NULL OR ended IS NULL OR ended IN ('expired', 'unknown'))),
	CONSTRAINT "payout_transaction_result" CHECK(result IS NULL OR (succeeded IS 0 AND length(result) BETWEEN 1 AND 40 AND result NOT GLOB '*[^A-Z_]*')),
	CONSTRAINT "payout_transaction_burnt" CHECK((burnt IS NULL) = (energy IS NULL) AND (burnt IS NULL OR succeeded IS 0) AND (burnt IS NULL OR (burnt BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "payout_transaction_energy" CHECK(energy IS NULL OR (energy BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_transaction_reported" CHECK(reported IS NULL OR (reported IN ('signed','paid','failed','other','expired','unknown','late'))),
	CONSTRAINT "payout_transaction_excused" CHECK(excused IS NULL OR (ended IS NOT NULL AND ended IN ('unknown', 'late') AND length(excused) BETWEEN 1 AND 500)),
	CONSTRAINT "payout_transaction_held_back" CHECK(held_back IN (0, 1)),
	CONSTRAINT "payout_transaction_seen_height" CHECK(seen_height IS NULL OR (seen_height BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_transaction_changed_at" CHECK(changed_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_transaction_next_send" CHECK(next_send BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_transaction_sends" CHECK(sends BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_transaction_sent_at" CHECK(sent_at IS NULL OR (sent_at BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_transaction_answers" CHECK(answers IS NULL OR (json_valid(answers) AND length(answers) <= 4000))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `payout_transaction_txid` ON `payout_transaction` (`txid`);--> statement-breakpoint
CREATE INDEX `payout_transaction_payout` ON `payout_transaction` (`payout_id`);--> statement-breakpoint
CREATE INDEX `payout_transaction_open` ON `payout_transaction` (`next_send`) WHERE ended IS NULL;--> statement-breakpoint
CREATE INDEX `payout_transaction_payer` ON `payout_transaction` (`address`) WHERE ended IS NULL OR (ended = 'expired' AND past_height IS NULL);--> statement-breakpoint
CREATE INDEX `payout_transaction_unresolved` ON `payout_transaction` (`changed_at`) WHERE ended IN ('unknown', 'late') AND excused IS NULL;--> statement-breakpoint
CREATE TABLE `payout` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`uid` integer NOT NULL,
	`cuy` integer NOT NULL,
	`osn` text NOT NULL,
	`amount` integer NOT NULL,
	`fee` integer NOT NULL,
	`to_address` text NOT NULL,
	`contract` text NOT NULL,
	`raw` text NOT NULL,
	`mark` text NOT NULL,
	`proof` text,
	`posted_by` text NOT NULL,
	`limit_each` integer,
	`limit_least` integer,
	`limit_day` integer,
	`limit_count` integer,
	`limit_user` integer,
	`created_at` integer NOT NULL,
	`state` text DEFAULT 'waiting' NOT NULL,
	`changed_at` integer NOT NULL,
	`approved_by` text,
	`approved_at` integer,
	`counted` integer DEFAULT false NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`attempts_max` integer NOT NULL,
	`txid` text,
	`expires_at` integer,
	`height` integer,
	`reason` text,
	`moved` text,
	`received` text,
	`cancelled_by` text,
	`why` text,
	CONSTRAINT "payout_id" CHECK(id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payout_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payout_uid" CHECK(uid BETWEEN 1 AND 9007199254740990),
	CONSTRAINT "payout_osn" CHECK(length(osn) BETWEEN 1 AND 200 AND osn NOT GLOB '*[^ -~]*'),
	CONSTRAINT "payout_amount" CHECK(amount BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payout_fee" CHECK(fee BETWEEN 0 AND 9007199254740991 AND amount + fee <= 9007199254740991),
	CONSTRAINT "payout_to_address" CHECK(length(to_address) = 40 AND to_address NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "payout_contract" CHECK(contract = '' OR (length(contract) = 40 AND contract NOT GLOB '*[^0-9a-f]*')),
	CONSTRAINT "payout_raw" CHECK(raw GLOB '[1-9]*' AND raw NOT GLOB '*[^0-9]*' AND length(raw) <= 78),
	CONSTRAINT "payout_mark" CHECK(length(mark) BETWEEN 0 AND 200),
	CONSTRAINT "payout_proof" CHECK(proof IS NULL OR (length(proof) BETWEEN 1 AND 2000)),
	CONSTRAINT "payout_posted_by" CHECK(length(posted_by) BETWEEN 1 AND 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'),
	CONSTRAINT "payout_limit_each" CHECK(limit_each IS NULL OR (limit_each BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_limit_user" CHECK(limit_user IS NULL OR (limit_user BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_limit_least" CHECK((limit_least IS NULL) = (limit_each IS NULL) AND (limit_least IS NULL OR (limit_least BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "payout_limit_day" CHECK((limit_day IS NULL) = (limit_each IS NULL) AND (limit_day IS NULL OR (limit_day BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "payout_limit_count" CHECK((limit_count IS NULL) = (limit_each IS NULL) AND (limit_count IS NULL OR (limit_count BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "payout_created_at" CHECK(created_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_changed_at" CHECK(changed_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_attempts" CHECK(attempts BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_attempts_max" CHECK(attempts_max BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payout_counted" CHECK(counted = 0 OR (counted = 1 AND approved_at IS NOT NULL)),
	CONSTRAINT "payout_received" CHECK(received IS NULL OR (state = 'paid' AND (received GLOB '[1-9]*' AND received NOT GLOB '*[^0-9]*' AND length(received) <= 78))),
	CONSTRAINT "payout_state" CHECK(state IN ('waiting','approved','signed','paid','stuck','cancelled')),
	CONSTRAINT "payout_approved_by" CHECK((approved_by IS NULL) = (approved_at IS NULL) AND (approved_by IS NULL OR lower(approved_by) <> lower(posted_by))
        AND (approved_by IS NULL OR approved_by = '' OR ((length(approved_by) BETWEEN 1 AND 64 AND approved_by NOT GLOB '*[^A-Za-z0-9._-]*') OR (length(approved_by) <= 254 AND approved_by = lower(approved_by) AND approved_by GLOB '?*@?*' AND approved_by NOT GLOB '*@*@*' AND approved_by NOT GLOB '*[^!-~]*')))
        AND (approved_by IS NOT NULL OR state IN ('waiting','cancelled')) AND (approved_by IS NULL OR state <> 'waiting')),
	CONSTRAINT "payout_approved_at" CHECK(approved_at IS NULL OR (approved_at BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "payout_txid" CHECK((txid IS NULL OR (length(txid) = 64 AND txid NOT GLOB '*[^0-9a-f]*')) AND (txid IS NOT NULL OR NOT state IN ('signed','paid','stuck'))),
	CONSTRAINT "payout_expires_at" CHECK((expires_at IS NULL) = (txid IS NULL)),
	CONSTRAINT "payout_height" CHECK(height IS NULL OR (height BETWEEN 0 AND 9007199254740991) AND (height IS NOT NULL OR state <> 'paid')),
	CONSTRAINT "payout_reason" CHECK((reason IS NOT NULL) = (state = 'stuck') AND (reason IS NULL OR (reason IN ('failed','other','expired')))),
	CONSTRAINT "payout_moved" CHECK((moved IS NOT NULL) = (reason IS 'other') AND (moved IS NULL OR json_valid(moved))),
	CONSTRAINT "payout_why" CHECK((why IS NOT NULL) = (state = 'cancelled') AND (why IS NULL OR (length(why) BETWEEN 1 AND 200))),
	CONSTRAINT "payout_cancelled_by" CHECK((cancelled_by IS NULL) = (why IS NULL) AND (cancelled_by IS NULL OR ((length(cancelled_by) BETWEEN 1 AND 64 AND cancelled_by NOT GLOB '*[^A-Za-z0-9._-]*') OR (length(cancelled_by) <= 254 AND cancelled_by = lower(cancelled_by) AND cancelled_by GLOB '?*@?*' AND cancelled_by NOT GLOB '*@*@*' AND cancelled_by NOT GLOB '*[^!-~]*'))))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `payout_key` ON `payout` (`uid`,`cuy`,`osn`);--> statement-breakpoint
CREATE INDEX `payout_uid_state` ON `payout` (`uid`,`state`,`cuy`);--> statement-breakpoint
CREATE INDEX `payout_osn` ON `payout` (`osn`,`state`,`cuy`);--> statement-breakpoint
CREATE INDEX `payout_to` ON `payout` (`to_address`,`state`,`cuy`);--> statement-breakpoint
CREATE INDEX `payout_uid_to` ON `payout` (`uid`,`to_address`,`state`,`cuy`);--> statement-breakpoint
CREATE INDEX `payout_state` ON `payout` (`state`,`cuy`);--> statement-breakpoint
CREATE INDEX `payout_age` ON `payout` (`state`,`cuy`,`changed_at`) WHERE state IN ('waiting','approved','signed','stuck');--> statement-breakpoint
CREATE INDEX `payout_day` ON `payout` (`cuy`,`approved_at`) WHERE counted = 1;--> statement-breakpoint
CREATE INDEX `payout_user_day` ON `payout` (`uid`,`cuy`,`approved_at`) WHERE counted = 1;--> statement-breakpoint
CREATE TABLE `unnamed_outflow` (
	`contract` text NOT NULL,
	`to_address` text NOT NULL,
	`raw` text NOT NULL,
	`transaction_id` integer NOT NULL,
	PRIMARY KEY(`contract`, `to_address`, `raw`, `transaction_id`)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `order_deposit` (
	`order_id` integer NOT NULL,
	`transfer_id` integer NOT NULL,
	`made_at` integer NOT NULL,
	PRIMARY KEY(`order_id`, `transfer_id`),
	CONSTRAINT "order_deposit_order_id" CHECK(order_id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "order_deposit_transfer_id" CHECK(transfer_id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "order_deposit_made_at" CHECK(made_at BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE TABLE `payment_order` (
	`id` integer PRIMARY KEY NOT NULL,
	`uid` integer NOT NULL,
	`cuy` integer NOT NULL,
	`reference` text NOT NULL,
	`amount` integer NOT NULL,
	`at_least` integer NOT NULL,
	`address_id` integer NOT NULL,
	`after_height` integer NOT NULL,
	`until` integer NOT NULL,
	`take` integer NOT NULL,
	`return_to` text,
	`mark` text NOT NULL,
	`posted_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`state` text DEFAULT 'open' NOT NULL,
	`credited` integer DEFAULT 0 NOT NULL,
	`newest_entry` integer DEFAULT 0 NOT NULL,
	`held_until` integer NOT NULL,
	`late` integer DEFAULT false NOT NULL,
	`taken` integer DEFAULT false NOT NULL,
	`ended_at` integer,
	`cancelled_by` text,
	`why` text,
	CONSTRAINT "payment_order_id" CHECK(id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payment_order_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payment_order_address_id" CHECK(address_id BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payment_order_uid" CHECK(uid BETWEEN 1 AND 9007199254740990),
	CONSTRAINT "payment_order_reference" CHECK(length(reference) BETWEEN 1 AND 200 AND reference NOT GLOB '*[^ -~]*'),
	CONSTRAINT "payment_order_amount" CHECK(amount BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "payment_order_at_least" CHECK(at_least BETWEEN 1 AND amount),
	CONSTRAINT "payment_order_after_height" CHECK(after_height BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payment_order_created_at" CHECK(created_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payment_order_credited" CHECK(credited BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payment_order_newest_entry" CHECK(newest_entry BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payment_order_held_until" CHECK(held_until BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "payment_order_until" CHECK(until BETWEEN 0 AND 9007199254740991 AND until > created_at),
	CONSTRAINT "payment_order_take" CHECK(take IN (0, 1)),
	CONSTRAINT "payment_order_return_to" CHECK(return_to IS NULL OR (length(return_to) BETWEEN 1 AND 500)),
	CONSTRAINT "payment_order_mark" CHECK(length(mark) BETWEEN 0 AND 200),
	CONSTRAINT "payment_order_posted_by" CHECK(length(posted_by) BETWEEN 1 AND 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'),
	CONSTRAINT "payment_order_state" CHECK(state IN ('open','partly','paid','expired','cancelled') AND (state = 'paid') = (credited >= at_least)
        AND (state <> 'partly' OR credited > 0) AND (state NOT IN ('open', 'cancelled') OR credited = 0)
        AND (credited > 0) = (newest_entry > 0)),
	CONSTRAINT "payment_order_late" CHECK(late = 0 OR (late = 1 AND state = 'paid')),
	CONSTRAINT "payment_order_taken" CHECK(taken = 0 OR (taken = 1 AND take = 1 AND state = 'paid')),
	CONSTRAINT "payment_order_ended_at" CHECK((ended_at IS NULL) = (state IN ('open','partly')) AND (ended_at IS NULL OR (ended_at BETWEEN 0 AND 9007199254740991))),
	CONSTRAINT "payment_order_cancelled_by" CHECK((cancelled_by IS NOT NULL) = (state = 'cancelled') AND (cancelled_by IS NULL OR
        (length(cancelled_by) BETWEEN 1 AND 64 AND cancelled_by NOT GLOB '*[^A-Za-z0-9._-]*'))),
	CONSTRAINT "payment_order_why" CHECK(why IS NULL OR (state = 'cancelled' AND length(why) BETWEEN 1 AND 200))
) STRICT; -- added by hand, because drizzle-kit cannot write STRICT
--> statement-breakpoint
CREATE UNIQUE INDEX `order_key` ON `payment_order` (`reference`,`uid`);--> statement-breakpoint
CREATE INDEX `order_address` ON `payment_order` (`address_id`);--> statement-breakpoint
CREATE INDEX `order_due` ON `payment_order` (`until`) WHERE state IN ('open','partly');--> statement-breakpoint
CREATE INDEX `order_state` ON `payment_order` (`state`) WHERE state IN ('partly','expired','cancelled');--> statement-breakpoint
CREATE INDEX `order_uid_state` ON `payment_order` (`uid`,`state`) WHERE state IN ('partly','expired','cancelled');--> statement-breakpoint
CREATE TABLE `issuer_act` (
	`txid` text NOT NULL,
	`position` integer NOT NULL,
	`height` integer NOT NULL,
	`place` integer NOT NULL,
	`cuy` integer NOT NULL,
	`kind` text NOT NULL,
	`address` text,
	`raw` text,
	`basis_points` text,
	`confirmed_at` integer,
	`confirmation` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`txid`, `position`),
	CONSTRAINT "issuer_act_txid" CHECK(length(txid) = 64 AND txid NOT GLOB '*[^0-9a-f]*'),
	CONSTRAINT "issuer_act_position" CHECK(position BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "issuer_act_height" CHECK(height BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "issuer_act_place" CHECK(place BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "issuer_act_created_at" CHECK(created_at BETWEEN 0 AND 9007199254740991),
	CONSTRAINT "issuer_act_cuy" CHECK(cuy BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "issuer_act_kind" CHECK(kind IN ('frozen','released','destroyed','paused','unpaused','fee-set','deprecated')),
	CONSTRAINT "issuer_act_address" CHECK((address IS NOT NULL) = (kind IN ('frozen','released','destroyed','deprecated')) AND (address IS NULL OR (length(address) = 40 AND address NOT GLOB '*[^0-9a-f]*'))),
	CONSTRAINT "issuer_act_raw" CHECK((raw IS NOT NULL) = (kind IN ('destroyed','fee-set')) AND (raw IS NULL OR (raw = '0' OR (raw GLOB '[1-9]*' AND raw NOT GLOB '*[^0-9]*' AND length(raw) <= 78)))),
	CONSTRAINT "issuer_act_basis_points" CHECK((basis_points IS NOT NULL) = (kind IN ('fee-set')) AND (basis_points IS NULL OR (basis_points = '0' OR (basis_points GLOB '[1-9]*' AND basis_points NOT GLOB '*[^0-9]*' AND length(basis_points) <= 78)))),
	CONSTRAINT "issuer_act_confirmed_at" CHECK(confirmed_at IS NULL OR (kind = 'fee-set' AND confirmed_at BETWEEN 0 AND 9007199254740991)),
	CONSTRAINT "issuer_act_confirmation" CHECK((confirmation IS NULL) = (confirmed_at IS NULL) AND (confirmation IS NULL OR (length(confirmation) BETWEEN 1 AND 500)))
) STRICT, WITHOUT ROWID; -- added by hand, because drizzle-kit cannot write STRICT and WITHOUT ROWID
--> statement-breakpoint
CREATE INDEX `issuer_act_height` ON `issuer_act` (`height`);--> statement-breakpoint
CREATE INDEX `issuer_act_address` ON `issuer_act` (`address`) WHERE kind IN ('frozen', 'released');