-- Till's first schema. Text, whole numbers and bytes only, so that one row type reads it on both engines.
-- Instants are milliseconds since the Unix epoch; token amounts are base units in decimal text.

CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    disabled_at BIGINT,
    created_at BIGINT NOT NULL
);

-- One row per account and mode: what the merchant set, and where its money goes.
CREATE TABLE merchants (
    account TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    mode TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    display_name TEXT COLLATE "C",
    webhook_url TEXT COLLATE "C",
    default_assets TEXT COLLATE "C",
    underpay_tolerance_bps BIGINT NOT NULL DEFAULT 0 CHECK (underpay_tolerance_bps BETWEEN 0 AND 10000),
    manual_review_amount TEXT COLLATE "C",
    destinations TEXT COLLATE "C" NOT NULL,
    -- How far this account's test clock is ahead of real time; never shrinks.
    clock_offset_ms BIGINT NOT NULL DEFAULT 0 CHECK (clock_offset_ms >= 0),
    PRIMARY KEY (account, mode)
);

CREATE TABLE webhook_secrets (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    serial BIGINT NOT NULL,
    secret BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    -- Signs until then (real time); the current one has none.
    expires_at BIGINT,
    PRIMARY KEY (account, mode, serial),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);

CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    mode TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('secret', 'publishable')),
    hash BYTEA NOT NULL,
    hint TEXT COLLATE "C" NOT NULL,
    -- Publishable keys only; of a secret key nothing but the hash is kept.
    public_key TEXT COLLATE "C" CHECK (public_key IS NULL OR kind = 'publishable'),
    -- 0 when the team member who made the key has lost the right to.
    creator_permitted BIGINT NOT NULL DEFAULT 1,
    created_at BIGINT NOT NULL,
    rolled_at BIGINT,
    exposed_at BIGINT
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_account ON api_keys (account, mode);

-- A row exists only together with the effect it stands for.
CREATE TABLE idempotency_keys (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    status BIGINT NOT NULL,
    response BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE invoices (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
    currency TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    customer_ref TEXT COLLATE "C",
    metadata TEXT COLLATE "C" NOT NULL,
    options TEXT COLLATE "C" NOT NULL,
    tolerance_bps BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    select_by BIGINT,
    paid_at BIGINT,
    closed_at BIGINT,
    cancelled_at BIGINT,
    payment_link TEXT COLLATE "C",
    customer TEXT COLLATE "C",
    subscription TEXT COLLATE "C",
    -- What the payments come to, worked out when they last changed.
    summary TEXT COLLATE "C",
    -- Events on the live stream so far; the next one's number is one more.
    stream_seq BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX invoices_by_status ON invoices (account, mode, status, id);
CREATE INDEX invoices_by_customer_ref ON invoices (account, mode, customer_ref, id) WHERE customer_ref IS NOT NULL;

CREATE TABLE payments (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    level TEXT COLLATE "C" NOT NULL,
    first_level TEXT COLLATE "C" NOT NULL,
    credit_at TEXT COLLATE "C" NOT NULL,
    verdict TEXT COLLATE "C",
    asset TEXT COLLATE "C" NOT NULL,
    network TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL,
    tx_hash TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    block_number BIGINT,
    block_hash TEXT COLLATE "C",
    block_time BIGINT,
    sender TEXT COLLATE "C",
    recipient TEXT COLLATE "C" NOT NULL,
    attributed_by TEXT COLLATE "C" NOT NULL,
    simulated BIGINT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    credited_at BIGINT,
    reversed BIGINT NOT NULL,
    -- Where its units stand in the journal, and how many entries brought them there.
    position TEXT COLLATE "C" NOT NULL,
    entries BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
-- One transfer, one payment: the block that includes it may change, its place in the transaction does not.
CREATE UNIQUE INDEX payments_identity ON payments (network, tx_hash, place);
CREATE INDEX payments_by_invoice ON payments (account, mode, invoice, id);

-- Leases of deposit addresses, past and present. A lease that is not freed holds its address alone.
CREATE TABLE leases (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    family TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    leased_at BIGINT NOT NULL,
    -- When the address may be leased again; none while the invoice is open.
    free_at BIGINT,
    freed BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX leases_exclusive ON leases (account, mode, family, number) WHERE freed = 0;
CREATE INDEX leases_by_address ON leases (address, leased_at);
CREATE INDEX leases_cooled ON leases (account, mode, family, free_at) WHERE freed = 0 AND free_at IS NOT NULL;

CREATE TABLE address_pools (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    family TEXT COLLATE "C" NOT NULL,
    next_number BIGINT NOT NULL,
    -- The highest number anything was ever paid to; -1 before that. Wallets look only so far beyond it.
    last_paid_number BIGINT NOT NULL,
    PRIMARY KEY (account, mode, family)
);

CREATE TABLE events (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C",
    stream_seq BIGINT,
    created_at BIGINT NOT NULL,
    -- The webhook's body, byte for byte as every attempt sends it.
    body TEXT COLLATE "C" NOT NULL,
    -- The payments as the payer saw them at that moment, for the live stream.
    payments TEXT COLLATE "C"
);
CREATE UNIQUE INDEX events_stream ON events (invoice, stream_seq) WHERE stream_seq IS NOT NULL;

-- One row per attempt.
CREATE TABLE deliveries (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    event TEXT COLLATE "C" NOT NULL REFERENCES events (id),
    event_type TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C",
    url TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    attempt BIGINT NOT NULL,
    status_code BIGINT,
    latency_ms BIGINT,
    error TEXT COLLATE "C",
    response_body TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    attempted_at BIGINT,
    next_attempt_at BIGINT,
    -- When a worker must look at it again; a claim pushes it into the future, a result clears it.
    due_at BIGINT,
    fence BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX deliveries_due ON deliveries (account, mode, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_by_event ON deliveries (event);
CREATE INDEX deliveries_by_invoice ON deliveries (account, mode, invoice, id);

-- What falls due, in the account's business time.
CREATE TABLE timers (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, kind, subject)
);
CREATE INDEX timers_due ON timers (due_at);
CREATE INDEX timers_of_account ON timers (account, mode, due_at);

-- Each row moves an amount from one account group to another: it cannot fail to sum to zero.
CREATE TABLE journal (
    entry TEXT COLLATE "C" NOT NULL,
    line BIGINT NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('receipt', 'reclassification', 'reversal')),
    invoice TEXT COLLATE "C",
    payment TEXT COLLATE "C" NOT NULL,
    -- The how-manieth entry of its payment: the same step cannot be posted twice.
    step BIGINT NOT NULL,
    reverses TEXT COLLATE "C",
    asset TEXT COLLATE "C" NOT NULL,
    debit TEXT COLLATE "C" NOT NULL,
    credit TEXT COLLATE "C" NOT NULL,
    amount TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (entry, line),
    CHECK (debit <> credit),
    CHECK (amount <> '' AND amount <> '0' AND amount NOT LIKE '-%')
);
CREATE UNIQUE INDEX journal_once ON journal (payment, step, line);
CREATE INDEX journal_by_account ON journal (account, mode, created_at);

-- The journal only grows.
CREATE FUNCTION journal_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only';
END $$;
CREATE TRIGGER journal_no_update BEFORE UPDATE OR DELETE ON journal
FOR EACH ROW EXECUTE FUNCTION journal_is_append_only();
