-- Payment links, and payments from a connected wallet.

CREATE TABLE payment_links (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    slug TEXT NOT NULL,
    amount_type TEXT NOT NULL CHECK (amount_type IN ('fixed', 'payer_chosen')),
    currency TEXT NOT NULL,
    amount TEXT,
    min_amount TEXT,
    max_amount TEXT,
    description TEXT,
    assets TEXT,
    quantity_limit INTEGER,
    -- Units paid for, and units held by invoices that may still be paid. An update that adds to either is
    -- guarded by the limit in its own WHERE.
    quantity_used INTEGER NOT NULL DEFAULT 0 CHECK (quantity_used >= 0),
    quantity_reserved INTEGER NOT NULL DEFAULT 0 CHECK (quantity_reserved >= 0),
    expires_at INTEGER,
    metadata TEXT NOT NULL,
    active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);
CREATE UNIQUE INDEX payment_links_slug ON payment_links (slug);

-- Unpaid invoices open across all links of the account.
ALTER TABLE merchants ADD COLUMN open_link_invoices INTEGER NOT NULL DEFAULT 0;

-- What became of the link's unit this invoice holds: 'reserved', 'used' or 'released'.
ALTER TABLE invoices ADD COLUMN link_unit TEXT;

-- What a payer's wallet was told to send, to the merchant's own destination.
CREATE TABLE wallet_bindings (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    invoice TEXT NOT NULL,
    asset TEXT NOT NULL,
    network TEXT NOT NULL,
    sender TEXT NOT NULL,
    destination TEXT NOT NULL,
    units TEXT NOT NULL,
    -- The part of the units that only tells this payment from others of the same amount.
    suffix TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    open INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (account, mode, invoice, asset, sender),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
-- Whoever's invoices they are: one wallet never owes the same destination the same amount twice.
CREATE UNIQUE INDEX wallet_bindings_exact ON wallet_bindings (destination, sender, asset, units) WHERE open = 1;
CREATE INDEX wallet_bindings_search ON wallet_bindings (destination, sender, asset);

ALTER TABLE payments ADD COLUMN suffix TEXT NOT NULL DEFAULT '0';
