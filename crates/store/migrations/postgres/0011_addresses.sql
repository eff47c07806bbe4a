-- Every destination that was ever registered, so that nobody else's wallet is taken for one. `account_key` is what
-- the addresses of a Bitcoin account key depend on, however the key was written: it belongs to one account and mode.
CREATE TABLE destinations (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    family TEXT COLLATE "C" NOT NULL,
    destination TEXT COLLATE "C" NOT NULL,
    account_key TEXT COLLATE "C",
    PRIMARY KEY (account, mode, family, destination)
);
CREATE UNIQUE INDEX destinations_account_key ON destinations (account_key) WHERE account_key IS NOT NULL;
CREATE INDEX destinations_search ON destinations (destination);
INSERT INTO destinations (account, mode, family, destination)
    SELECT m.account, m.mode, d.key, d.value FROM merchants m, json_each_text(m.destinations::json) d;

-- An invoice that is reopened tells its wallets again what to send: a turn of its own, beside the one before.
ALTER TABLE wallet_bindings ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
ALTER TABLE wallet_bindings DROP CONSTRAINT wallet_bindings_pkey;
ALTER TABLE wallet_bindings ADD PRIMARY KEY (account, mode, invoice, asset, sender, turn);
-- When the amount became free for another.
ALTER TABLE wallet_bindings ADD COLUMN closed_at BIGINT;
UPDATE wallet_bindings b SET closed_at = COALESCE((SELECT i.closed_at FROM invoices i WHERE i.account = b.account
    AND i.mode = b.mode AND i.id = b.invoice), b.expires_at) WHERE open = 0;
ALTER TABLE wallet_bindings ADD CHECK ((open = 1) = (closed_at IS NULL));

-- A payer's pick, not the merchant's own doing: such leases may use only part of a wallet's gap.
ALTER TABLE leases ADD COLUMN picked BIGINT NOT NULL DEFAULT 0;

-- The account's test clock was moved when the payment was first seen: a block's time, which is real, places it nowhere.
ALTER TABLE payments ADD COLUMN by_sight BIGINT NOT NULL DEFAULT 0;

-- From which block on a frozen network was replaced.
ALTER TABLE networks ADD COLUMN frozen_from BIGINT;
