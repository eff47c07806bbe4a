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
    token_hash BYTEA NOT NULL,
    token_sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    claimed_at BIGINT,
    sent_at BIGINT,
    cancelled_at BIGINT,
    -- When its link expired unclaimed; it counts no more.
    lapsed_at BIGINT,
    payout_network TEXT,
    payout_address TEXT,
    screening TEXT,
    tx_hash TEXT,
    steps BIGINT NOT NULL,
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
    step BIGINT NOT NULL,
    status TEXT NOT NULL,
    at BIGINT NOT NULL,
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
    at BIGINT NOT NULL
);
CREATE INDEX screenings_by_subject ON screenings (subject, account, mode, at);
CREATE FUNCTION is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER refund_steps_no_update BEFORE UPDATE OR DELETE ON refund_steps
FOR EACH ROW EXECUTE FUNCTION is_append_only();
CREATE TRIGGER screenings_no_update BEFORE UPDATE OR DELETE ON screenings
FOR EACH ROW EXECUTE FUNCTION is_append_only();
