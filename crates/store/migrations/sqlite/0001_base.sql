-- Till's first schema. Text, whole numbers and bytes only, so that one row type reads it on both engines.
-- Instants are milliseconds since the Unix epoch; token amounts are base units in decimal text.

CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    disabled_at INTEGER,
    created_at INTEGER NOT NULL
);

-- One row per account and mode: what the merchant set, and where its money goes.
CREATE TABLE merchants (
    account TEXT NOT NULL REFERENCES accounts (id),
    mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    display_name TEXT,
    webhook_url TEXT,
    default_assets TEXT,
    underpay_tolerance_bps INTEGER NOT NULL DEFAULT 0 CHECK (underpay_tolerance_bps BETWEEN 0 AND 10000),
    manual_review_amount TEXT,
    destinations TEXT NOT NULL,
    -- How far this account's test clock is ahead of real time; never shrinks.
    clock_offset_ms INTEGER NOT NULL DEFAULT 0 CHECK (clock_offset_ms >= 0),
    PRIMARY KEY (account, mode)
);

CREATE TABLE webhook_secrets (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    serial INTEGER NOT NULL,
    secret BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- Signs until then (real time); the current one has none.
    expires_at INTEGER,
    PRIMARY KEY (account, mode, serial),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    mode TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
    hash BLOB NOT NULL,
    hint TEXT NOT NULL,
    -- Publishable keys only; of a secret key nothing but the hash is kept.
    public_key TEXT CHECK (public_key IS NULL OR kind = 'publishable'),
    -- 0 when the team member who made the key has lost the right to.
    creator_permitted INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    rolled_at INTEGER,
    exposed_at INTEGER
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_account ON api_keys (account, mode);

-- A row exists only together with the effect it stands for.
CREATE TABLE idempotency_keys (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status INTEGER NOT NULL,
    response BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account, mode, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE invoices (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    description TEXT,
    customer_ref TEXT,
    metadata TEXT NOT NULL,
    options TEXT NOT NULL,
    tolerance_bps INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    select_by INTEGER,
    paid_at INTEGER,
    closed_at INTEGER,
    cancelled_at INTEGER,
    payment_link TEXT,
    customer TEXT,
    subscription TEXT,
    -- What the payments come to, worked out when they last changed.
    summary TEXT,
    -- Events on the live stream so far; the next one's number is one more.
    stream_seq INTEGER NOT NULL,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX invoices_by_status ON invoices (account, mode, status, id);
CREATE INDEX invoices_by_customer_ref ON invoices (account, mode, customer_ref, id) WHERE customer_ref IS NOT NULL;

CREATE TABLE payments (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    invoice TEXT NOT NULL,
    status TEXT NOT NULL,
    level TEXT NOT NULL,
    first_level TEXT NOT NULL,
    credit_at TEXT NOT NULL,
    verdict TEXT,
    asset TEXT NOT NULL,
    network TEXT NOT NULL,
    units TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    place INTEGER NOT NULL,
    block_number INTEGER,
    block_hash TEXT,
    block_time INTEGER,
    sender TEXT,
    recipient TEXT NOT NULL,
    attributed_by TEXT NOT NULL,
    simulated INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL,
    credited_at INTEGER,
    reversed INTEGER NOT NULL,
    -- Where its units stand in the journal, and how many entries brought them there.
    position TEXT NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
-- One transfer, one payment: the block that includes it may change, its place in the transaction does not.
CREATE UNIQUE INDEX payments_identity ON payments (network, tx_hash, place);
CREATE INDEX payments_by_invoice ON payments (account, mode, invoice, id);

-- Leases of deposit addresses, past and present. A lease that is not freed holds its address alone.
CREATE TABLE leases (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    family TEXT NOT NULL,
    number INTEGER NOT NULL,
    address TEXT NOT NULL,
    invoice TEXT NOT NULL,
    leased_at INTEGER NOT NULL,
    -- When the address may be leased again; none while the invoice is open.
    free_at INTEGER,
    freed INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX leases_exclusive ON leases (account, mode, family, number) WHERE freed = 0;
CREATE INDEX leases_by_address ON leases (address, leased_at);
CREATE INDEX leases_cooled ON leases (account, mode, family, free_at) WHERE freed = 0 AND free_at IS NOT NULL;

CREATE TABLE address_pools (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    family TEXT NOT NULL,
    next_number INTEGER NOT NULL,
    -- The highest number anything was ever paid to; -1 before that. Wallets look only so far beyond it.
    last_paid_number INTEGER NOT NULL,
    PRIMARY KEY (account, mode, family)
);

CREATE TABLE events (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    type TEXT NOT NULL,
    invoice TEXT,
    stream_seq INTEGER,
    created_at INTEGER NOT NULL,
    -- The webhook's body, byte for byte as every attempt sends it.
    body TEXT NOT NULL,
    -- The payments as the payer saw them at that moment, for the live stream.
    payments TEXT
);
CREATE UNIQUE INDEX events_stream ON events (invoice, stream_seq) WHERE stream_seq IS NOT NULL;

-- One row per attempt.
CREATE TABLE deliveries (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    event TEXT NOT NULL REFERENCES events (id),
    event_type TEXT NOT NULL,
    invoice TEXT,
    url TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    attempt INTEGER NOT NULL,
    status_code INTEGER,
    latency_ms INTEGER,
    error TEXT,
    response_body TEXT,
    created_at INTEGER NOT NULL,
    attempted_at INTEGER,
    next_attempt_at INTEGER,
    -- When a worker must look at it again; a claim pushes it into the future, a result clears it.
    due_at INTEGER,
    fence INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX deliveries_due ON deliveries (account, mode, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_by_event ON deliveries (event);
CREATE INDEX deliveries_by_invoice ON deliveries (account, mode, invoice, id);

-- What falls due, in the account's business time.
CREATE TABLE timers (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (account, mode, kind, subject)
);
CREATE INDEX timers_due ON timers (due_at);
CREATE INDEX timers_of_account ON timers (account, mode, due_at);

-- Each row moves an amount from one account group to another: it cannot fail to sum to zero.
CREATE TABLE journal (
    entry TEXT NOT NULL,
    line INTEGER NOT NULL,
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('receipt', 'reclassification', 'reversal')),
    invoice TEXT,
    payment TEXT NOT NULL,
    -- The how-manieth entry of its payment: the same step cannot be posted twice.
    step INTEGER NOT NULL,
    reverses TEXT,
    asset TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    amount TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (entry, line),
    CHECK (debit <> credit),
    CHECK (amount <> '' AND amount <> '0' AND amount NOT LIKE '-%')
);
CREATE UNIQUE INDEX journal_once ON journal (payment, step, line);
CREATE INDEX journal_by_account ON journal (account, mode, created_at);

-- The journal only grows.
CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
