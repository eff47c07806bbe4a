-- What refunds promised and sent of each payment: a fact about it, from which its position follows.
ALTER TABLE payments ADD COLUMN refunds_due TEXT NOT NULL DEFAULT '0';
ALTER TABLE payments ADD COLUMN refunds_sent TEXT NOT NULL DEFAULT '0';

CREATE TABLE refunds (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    invoice TEXT NOT NULL,
    asset TEXT NOT NULL,
    units TEXT NOT NULL CHECK (units <> '' AND units <> '0' AND units NOT LIKE '-%'),
    reason TEXT,
    status TEXT NOT NULL CHECK (status IN ('unclaimed', 'ready_to_send', 'in_review', 'sent', 'cancelled')),
    -- Which payments it comes from, and how much of each.
    sources TEXT NOT NULL,
    -- The payer's token: what it is found by, and itself, encrypted.
    token_hash BLOB NOT NULL,
    token_sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    claimed_at INTEGER,
    sent_at INTEGER,
    cancelled_at INTEGER,
    -- When its link expired unclaimed; it counts no more.
    lapsed_at INTEGER,
    payout_network TEXT,
    payout_address TEXT,
    screening TEXT,
    tx_hash TEXT,
    steps INTEGER NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id),
    -- Only what was claimed can be sent, and only with its transaction.
    CHECK (status <> 'sent' OR (tx_hash IS NOT NULL AND sent_at IS NOT NULL AND payout_address IS NOT NULL))
);
CREATE UNIQUE INDEX refunds_by_token ON refunds (token_hash);
CREATE INDEX refunds_by_invoice ON refunds (invoice, account, mode, id);
CREATE INDEX refunds_by_status ON refunds (status, account, mode, id);
-- One transaction sends one refund.
CREATE UNIQUE INDEX refunds_sent_once ON refunds (account, mode, payout_network, tx_hash) WHERE tx_hash IS NOT NULL;

-- Every step of every refund, and every screening: nothing changes them.
CREATE TABLE refund_steps (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    refund TEXT NOT NULL,
    step INTEGER NOT NULL,
    status TEXT NOT NULL,
    at INTEGER NOT NULL,
    payout_network TEXT,
    payout_address TEXT,
    tx_hash TEXT,
    PRIMARY KEY (account, mode, refund, step)
);
CREATE TABLE screenings (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    subject TEXT NOT NULL,
    network TEXT NOT NULL,
    address TEXT NOT NULL,
    list TEXT NOT NULL,
    version TEXT,
    result TEXT NOT NULL CHECK (result IN ('clear', 'match', 'unavailable')),
    at INTEGER NOT NULL
);
CREATE INDEX screenings_by_subject ON screenings (subject, account, mode, at);
CREATE TRIGGER refund_steps_no_update BEFORE UPDATE ON refund_steps
BEGIN SELECT RAISE(ABORT, 'a refund''s history is append-only'); END;
CREATE TRIGGER refund_steps_no_delete BEFORE DELETE ON refund_steps
BEGIN SELECT RAISE(ABORT, 'a refund''s history is append-only'); END;
CREATE TRIGGER screenings_no_update BEFORE UPDATE ON screenings
BEGIN SELECT RAISE(ABORT, 'screenings are append-only'); END;
CREATE TRIGGER screenings_no_delete BEFORE DELETE ON screenings
BEGIN SELECT RAISE(ABORT, 'screenings are append-only'); END;
