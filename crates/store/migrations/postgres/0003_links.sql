-- Payment links, and payments from a connected wallet.

CREATE TABLE payment_links (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    slug TEXT COLLATE "C" NOT NULL,
    amount_type TEXT COLLATE "C" NOT NULL CHECK (amount_type IN ('fixed', 'payer_chosen')),
    currency TEXT COLLATE "C" NOT NULL,
    amount TEXT COLLATE "C",
    min_amount TEXT COLLATE "C",
    max_amount TEXT COLLATE "C",
    description TEXT COLLATE "C",
    assets TEXT COLLATE "C",
    quantity_limit BIGINT,
    -- Units paid for, and units held by invoices that may still be paid. An update that adds to either is
    -- guarded by the limit in its own WHERE.
    quantity_used BIGINT NOT NULL DEFAULT 0 CHECK (quantity_used >= 0),
    quantity_reserved BIGINT NOT NULL DEFAULT 0 CHECK (quantity_reserved >= 0),
    expires_at BIGINT,
    metadata TEXT COLLATE "C" NOT NULL,
    active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);
CREATE UNIQUE INDEX payment_links_slug ON payment_links (slug);

-- Unpaid invoices open across all links of the account.
ALTER TABLE merchants ADD COLUMN open_link_invoices BIGINT NOT NULL DEFAULT 0;

-- What became of the link's unit this invoice holds: 'reserved', 'used' or 'released'.
ALTER TABLE invoices ADD COLUMN link_unit TEXT COLLATE "C";

-- What a payer's wallet was told to send, to the merchant's own destination.
CREATE TABLE wallet_bindings (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    network TEXT COLLATE "C" NOT NULL,
    sender TEXT COLLATE "C" NOT NULL,
    destination TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL,
    -- The part of the units that only tells this payment from others of the same amount.
    suffix TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    open BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (account, mode, invoice, asset, sender),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
-- Whoever's invoices they are: one wallet never owes the same destination the same amount twice.
CREATE UNIQUE INDEX wallet_bindings_exact ON wallet_bindings (destination, sender, asset, units) WHERE open = 1;
CREATE INDEX wallet_bindings_search ON wallet_bindings (destination, sender, asset);

ALTER TABLE payments ADD COLUMN suffix TEXT COLLATE "C" NOT NULL DEFAULT '0';
