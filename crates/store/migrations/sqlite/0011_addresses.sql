-- Every destination that was ever registered, so that nobody else's wallet is taken for one. `account_key` is what
-- the addresses of a Bitcoin account key depend on, however the key was written: it belongs to one account and mode.
CREATE TABLE destinations (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    family TEXT NOT NULL,
    destination TEXT NOT NULL,
    account_key TEXT,
    PRIMARY KEY (account, mode, family, destination)
);
CREATE UNIQUE INDEX destinations_account_key ON destinations (account_key) WHERE account_key IS NOT NULL;
CREATE INDEX destinations_search ON destinations (destination);
INSERT INTO destinations (account, mode, family, destination)
    SELECT m.account, m.mode, d.key, d.value FROM merchants m, json_each(m.destinations) d;

-- An invoice that is reopened tells its wallets again what to send: a turn of its own, beside the one before.
CREATE TABLE wallet_bindings_new (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    invoice TEXT NOT NULL,
    asset TEXT NOT NULL,
    network TEXT NOT NULL,
    sender TEXT NOT NULL,
    turn INTEGER NOT NULL DEFAULT 0,
    destination TEXT NOT NULL,
    units TEXT NOT NULL,
    -- The part of the units that only tells this payment from others of the same amount.
    suffix TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    open INTEGER NOT NULL DEFAULT 1,
    -- When the amount became free for another.
    closed_at INTEGER,
    PRIMARY KEY (account, mode, invoice, asset, sender, turn),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id),
    CHECK ((open = 1) = (closed_at IS NULL))
);
INSERT INTO wallet_bindings_new
    (account, mode, invoice, asset, network, sender, destination, units, suffix, created_at, expires_at, open, closed_at)
    SELECT account, mode, invoice, asset, network, sender, destination, units, suffix, created_at, expires_at, open,
        CASE WHEN open = 1 THEN NULL ELSE COALESCE((SELECT i.closed_at FROM invoices i WHERE i.account = b.account
            AND i.mode = b.mode AND i.id = b.invoice), expires_at) END
    FROM wallet_bindings b;
DROP TABLE wallet_bindings;
ALTER TABLE wallet_bindings_new RENAME TO wallet_bindings;
-- Whoever's invoices they are: one wallet never owes the same destination the same amount twice.
CREATE UNIQUE INDEX wallet_bindings_exact ON wallet_bindings (destination, sender, asset, units) WHERE open = 1;
CREATE INDEX wallet_bindings_search ON wallet_bindings (destination, sender, asset);

-- A payer's pick, not the merchant's own doing: such leases may use only part of a wallet's gap.
ALTER TABLE leases ADD COLUMN picked INTEGER NOT NULL DEFAULT 0;

-- The account's test clock was moved when the payment was first seen: a block's time, which is real, places it nowhere.
ALTER TABLE payments ADD COLUMN by_sight INTEGER NOT NULL DEFAULT 0;

-- From which block on a frozen network was replaced.
ALTER TABLE networks ADD COLUMN frozen_from INTEGER;
