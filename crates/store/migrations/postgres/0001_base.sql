-- Till's schema. The SQLite file of the same name has the same tables, columns and indexes.
--
-- Columns are text, whole numbers and bytes only, so that one row type reads them on both engines.
-- Text sorts by its bytes (COLLATE "C") like in SQLite, whatever the locale of the database:
--   instants        milliseconds since the Unix epoch, named `…_at` (business time of the account unless said otherwise)
--   token amounts   whole base units in decimal text, named `units`
--   yes or no       1 or 0
--   JSON            text whose forms are in crates/store/src/stored
-- Rows of a merchant begin with `account` and `mode`; so does every query for them. Facts about chains have no account.
--
-- An index begins with the column that tells rows apart and ends in the order of the list that it serves. An index that
-- begins like the primary key looks just as good to a planner without statistics, and reads every row of the account.
--
--   installation, accounts · addresses · payment links · invoices, payments · reviews, screening · refunds · audit log
--   customers, subscriptions · journal, signed books · events, webhooks, mail · timers, idempotency keys · chains

CREATE FUNCTION is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

-- Installation --------------------------------------------------------------------------------------------------------

-- What all servers on this database share, in one row.
CREATE TABLE installation (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    -- Updated now and then, to prove that the database accepts writes.
    pulse_at BIGINT NOT NULL,
    -- As much as a request writes, for the same proof; compressed it would be nothing.
    filler BYTEA,
    -- The name of the key that encrypts here: every server must have it.
    key_name TEXT COLLATE "C",
    -- The host of the dashboard that the passkeys here belong to.
    passkey_host TEXT COLLATE "C",
    -- When a copy of the database was last made, as far as Till was told.
    backed_up_at BIGINT
);
ALTER TABLE installation ALTER COLUMN filler SET STORAGE EXTERNAL;
INSERT INTO installation (id, pulse_at) VALUES (1, 0);

-- Accounts ------------------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    disabled_at BIGINT,
    -- Why the operator disabled it.
    disabled_reason TEXT COLLATE "C",
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
    -- What payers' pages show: where to ask for help, where to go back to, and the colour.
    support_url TEXT COLLATE "C",
    return_url TEXT COLLATE "C",
    accent TEXT COLLATE "C",
    destinations TEXT COLLATE "C" NOT NULL,
    -- How far this account's test clock is ahead of real time; never shrinks.
    clock_offset_ms BIGINT NOT NULL DEFAULT 0 CHECK (clock_offset_ms >= 0),
    -- Where the test clock is being moved to, while it is on its way.
    clock_goal BIGINT,
    -- Unpaid invoices that are open across all payment links.
    open_link_invoices BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account, mode)
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
    name TEXT COLLATE "C",
    -- The member who made it; none for one from the command line, which may do everything.
    created_by TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    -- Right to a minute.
    last_used_at BIGINT,
    rolled_at BIGINT,
    exposed_at BIGINT
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_account ON api_keys (account, mode);

CREATE TABLE webhook_secrets (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    serial BIGINT NOT NULL,
    -- Encrypted.
    secret BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    -- Signs until then (real time); the current one has none.
    expires_at BIGINT,
    PRIMARY KEY (account, mode, serial),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);

-- Every destination that was ever registered, so that nobody else's wallet is taken for a payer's.
CREATE TABLE destinations (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    family TEXT COLLATE "C" NOT NULL,
    destination TEXT COLLATE "C" NOT NULL,
    -- What the addresses of a Bitcoin account key depend on, however the key was written. It belongs to one account and mode.
    account_key TEXT COLLATE "C",
    PRIMARY KEY (account, mode, family, destination)
);
CREATE UNIQUE INDEX destinations_account_key ON destinations (account_key) WHERE account_key IS NOT NULL;
CREATE INDEX destinations_search ON destinations (destination);

-- Addresses -----------------------------------------------------------------------------------------------------------

-- Deposit addresses are numbered per account, mode and chain family.
CREATE TABLE address_pools (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    family TEXT COLLATE "C" NOT NULL,
    next_number BIGINT NOT NULL,
    -- The highest number anything was ever paid to; -1 before that. Wallets look only so far beyond it.
    last_paid_number BIGINT NOT NULL,
    PRIMARY KEY (account, mode, family)
);

-- Which invoice has which address, past and present. A lease that is not freed holds its address alone.
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
    freed BIGINT NOT NULL DEFAULT 0,
    -- 1 for a payer's pick instead of the merchant's own doing: such leases may use only part of a wallet's gap.
    picked BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX leases_exclusive ON leases (account, mode, family, number) WHERE freed = 0;
CREATE INDEX leases_by_address ON leases (address, leased_at);
CREATE INDEX leases_cooled ON leases (account, mode, family, free_at) WHERE freed = 0 AND free_at IS NOT NULL;
-- By age, to delete those past their retention.
CREATE INDEX leases_freed ON leases (free_at) WHERE freed = 1;

-- Payment links -------------------------------------------------------------------------------------------------------

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
    -- Where the payer goes afterwards; {invoice} stands for the id.
    return_url TEXT COLLATE "C",
    metadata TEXT COLLATE "C" NOT NULL,
    active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);
CREATE UNIQUE INDEX payment_links_slug ON payment_links (slug);
CREATE INDEX payment_links_by_active ON payment_links (active, account, mode, id);

-- Invoices ------------------------------------------------------------------------------------------------------------

CREATE TABLE invoices (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    -- Computed from the facts: these columns and the invoice's payments.
    status TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
    currency TEXT COLLATE "C" NOT NULL,
    -- What is left to pay of the price after prepaid credit, rounded up; none where all of it is.
    due_minor BIGINT CHECK (due_minor > 0),
    description TEXT COLLATE "C",
    customer_ref TEXT COLLATE "C",
    return_url TEXT COLLATE "C",
    metadata TEXT COLLATE "C" NOT NULL,
    -- In which assets it can be paid: amount and address of each.
    options TEXT COLLATE "C" NOT NULL,
    tolerance_bps BIGINT NOT NULL,
    payment_link TEXT COLLATE "C",
    -- What became of the link's unit that this invoice holds: 'reserved', 'used' or 'released'.
    link_unit TEXT COLLATE "C",
    customer TEXT COLLATE "C",
    subscription TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    select_by BIGINT,
    -- Until when it takes the rest of what was paid in part; what arrives later is the payer's again. Without it, for good.
    takes_until BIGINT,
    -- Until when it takes the rest in an asset whose price moves; none where none is offered.
    volatile_until BIGINT,
    paid_at BIGINT,
    closed_at BIGINT,
    cancelled_at BIGINT,
    -- What the payments come to, worked out when they last changed.
    summary TEXT COLLATE "C",
    -- Events on the live stream so far; the next one's number is one more.
    stream_seq BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX invoices_by_status ON invoices (status, account, mode, id);
CREATE INDEX invoices_by_customer_ref ON invoices (customer_ref, account, mode, id) WHERE customer_ref IS NOT NULL;
-- A customer's top-ups: invoices that charge no subscription.
CREATE INDEX invoices_top_ups ON invoices (customer, account, mode, id) WHERE customer IS NOT NULL AND subscription IS NULL;
-- Invoices that wait past their time. Behind the status, which every row here has: without statistics SQLite takes
-- an index that answers "equal" before one that answers "before", and would read all invoices that wait.
CREATE INDEX invoices_waiting ON invoices (status, expires_at) WHERE status = 'awaiting_payment';

-- Which client's invoices hold units of a payment link, so that one client cannot hold them all. A client is a keyed tag
-- of its address.
CREATE TABLE link_openings (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    link TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    -- 1 once its payer has picked a network: it keeps its place then.
    picked BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account, mode, link, client, invoice),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
CREATE INDEX link_openings_by_invoice ON link_openings (invoice, account, mode);

-- What a payer's wallet was told to send, to the merchant's own destination.
CREATE TABLE wallet_bindings (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    network TEXT COLLATE "C" NOT NULL,
    sender TEXT COLLATE "C" NOT NULL,
    -- An invoice that is reopened tells its wallets again what to send: another turn, beside the one before.
    turn BIGINT NOT NULL DEFAULT 0,
    destination TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL,
    -- The part of the units that only tells this payment from others of the same amount.
    suffix TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    open BIGINT NOT NULL DEFAULT 1,
    -- When the amount became free for another.
    closed_at BIGINT,
    -- When the wallet was told something else for the same invoice.
    replaced_at BIGINT,
    PRIMARY KEY (account, mode, invoice, asset, sender, turn),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id),
    CHECK ((open = 1) = (closed_at IS NULL))
);
-- Across all accounts: one wallet never owes the same destination the same amount twice.
CREATE UNIQUE INDEX wallet_bindings_exact ON wallet_bindings (destination, sender, asset, units) WHERE open = 1;
CREATE INDEX wallet_bindings_search ON wallet_bindings (destination, sender, asset);

-- Payments ------------------------------------------------------------------------------------------------------------

-- A transfer that belongs to an invoice.
CREATE TABLE payments (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    attributed_by TEXT COLLATE "C" NOT NULL,
    -- Computed from the facts below, like the invoice's.
    status TEXT COLLATE "C" NOT NULL,

    -- The transfer: what was sent, and where the chain has it.
    network TEXT COLLATE "C" NOT NULL,
    tx_hash TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL,
    -- The part of the units that only tells this payment from others of the same amount.
    suffix TEXT COLLATE "C" NOT NULL DEFAULT '0',
    -- A list: a transaction may spend what many had.
    senders TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    simulated BIGINT NOT NULL,
    block_number BIGINT,
    block_hash TEXT COLLATE "C",
    block_time BIGINT,
    first_seen_at BIGINT NOT NULL,
    -- 1 if the account's test clock was moved when the payment was first seen: a block's time, which is real, says nothing then.
    by_sight BIGINT NOT NULL DEFAULT 0,
    -- When it left the chain; none while it is there.
    gone_at BIGINT,

    -- How certain it is (pending, included, safe, final), what it was when first seen, and what it is credited at.
    level TEXT COLLATE "C" NOT NULL,
    first_level TEXT COLLATE "C" NOT NULL,
    credit_at TEXT COLLATE "C" NOT NULL,

    -- What screening or a person decided, what on-chain registers said of the senders, and whether less arrived than the
    -- transfer's log says, which a person must look at.
    verdict TEXT COLLATE "C",
    registers TEXT COLLATE "C",
    short BIGINT NOT NULL DEFAULT 0,
    -- Its block was final and was replaced, and no operator has looked yet.
    disputed BIGINT NOT NULL DEFAULT 0,

    credited_at BIGINT,
    -- Numbers the credited payments of the invoice, so that a later one pushes none out of what it settled.
    credit_turn BIGINT,
    -- How much refunds promised of it and sent, and how much of that no longer counts towards the price.
    refunds_due TEXT COLLATE "C" NOT NULL DEFAULT '0',
    refunds_sent TEXT COLLATE "C" NOT NULL DEFAULT '0',
    withdrawn TEXT COLLATE "C" NOT NULL DEFAULT '0',
    withdrawn_sent TEXT COLLATE "C" NOT NULL DEFAULT '0',
    -- How much of its prepaid credit was set aside or used.
    credit_used TEXT COLLATE "C" NOT NULL DEFAULT '0',

    -- Where its units stand in the journal, and how many entries brought them there.
    position TEXT COLLATE "C" NOT NULL,
    entries BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
-- One transfer, one payment. After a reorganisation a transaction may pay somebody else at the same place: that is another
-- payment, beside those that are gone. At most one of them is there.
CREATE UNIQUE INDEX payments_standing ON payments (network, tx_hash, place) WHERE gone_at IS NULL;
CREATE INDEX payments_by_place ON payments (network, tx_hash, place);
CREATE INDEX payments_by_invoice ON payments (invoice, account, mode, id);
CREATE INDEX payments_by_tx ON payments (tx_hash, account, mode, id);
CREATE INDEX payments_by_status ON payments (status, account, mode, id);
CREATE INDEX payments_by_asset ON payments (asset, account, mode, id);
-- For reports, which read the payments of one invoice after the other.
CREATE INDEX payments_in_order ON payments (account, mode, invoice);

-- Reviews and screening -----------------------------------------------------------------------------------------------

-- Who decided a review, why, and about which payments. Written with the decision, and never changed.
CREATE TABLE review_decisions (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    -- The invoice that was under review.
    subject TEXT COLLATE "C" NOT NULL,
    decision TEXT COLLATE "C" NOT NULL CHECK (decision IN ('accept', 'reject')),
    reason TEXT COLLATE "C" NOT NULL,
    via TEXT COLLATE "C" NOT NULL CHECK (via IN ('api', 'dashboard')),
    -- `api_key:…`, `user:…` or `cli`.
    decided_by TEXT COLLATE "C" NOT NULL,
    decided_at BIGINT NOT NULL,
    -- The ids of the payments it was about.
    payments TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX review_decisions_by_subject ON review_decisions (subject, account, mode, id);

-- One row for each screening, with what every list said. Only grows.
CREATE TABLE screenings (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    network TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    result TEXT COLLATE "C" NOT NULL CHECK (result IN ('clear', 'match', 'unavailable')),
    lists TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX screenings_by_subject ON screenings (subject, account, mode, at);
CREATE TRIGGER screenings_no_update BEFORE UPDATE OR DELETE ON screenings
FOR EACH ROW EXECUTE FUNCTION is_append_only();
CREATE TRIGGER screenings_no_truncate BEFORE TRUNCATE ON screenings
FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

-- The operator's lists of addresses. A new edition is written beside the old one and takes its place at once.
CREATE TABLE screening_lists (
    name TEXT COLLATE "C" PRIMARY KEY,
    -- Of where it is read from and how, so that a list from elsewhere is never taken for this one.
    digest BYTEA NOT NULL,
    -- The edition that holds.
    edition TEXT COLLATE "C",
    version TEXT COLLATE "C",
    addresses BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    fetched_at BIGINT,
    tried_at BIGINT,
    error TEXT COLLATE "C",
    -- Until when a server is reading it; a server that dies lets it run out.
    busy_until BIGINT NOT NULL
);
CREATE TABLE screening_addresses (
    edition TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (edition, address)
);

-- Refunds -------------------------------------------------------------------------------------------------------------

CREATE TABLE refunds (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL CHECK (units <> '' AND units <> '0' AND units NOT LIKE '-%'),
    reason TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('unclaimed', 'ready_to_send', 'in_review', 'sent', 'cancelled')),
    -- Why somebody has to look at it, while it is in review.
    review_reason TEXT COLLATE "C" CHECK (review_reason IN
        ('sanctions', 'blacklist', 'screening_unavailable', 'payment_reversed', 'price_uncovered', 'finality_violation')),
    -- Which payments it comes from, and how much of each.
    sources TEXT COLLATE "C" NOT NULL,
    -- What it took out of what counts towards the price, by payment; given back when it is cancelled or its link expires.
    withdrawn TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    -- The invoice's last payment when that was taken out of what was beyond the price.
    excess_until TEXT COLLATE "C",
    -- 1 where the price was paid beside it when it was made.
    was_covered BIGINT NOT NULL,
    -- The payer's token: its hash, to find the refund by, and itself, encrypted.
    token_hash BYTEA NOT NULL,
    token_sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    claimed_at BIGINT,
    -- When it was ready to be sent for the first time.
    ready_at BIGINT,
    sent_at BIGINT,
    cancelled_at BIGINT,
    -- When its link expired unclaimed; it counts no more.
    lapsed_at BIGINT,
    payout_network TEXT COLLATE "C",
    payout_address TEXT COLLATE "C",
    screening TEXT COLLATE "C",
    tx_hash TEXT COLLATE "C",
    -- Why it was in review when the merchant recorded that it had been paid out before.
    sent_despite TEXT COLLATE "C",
    -- The chain showed that the transaction paid something else, or had none of it for days.
    paid_otherwise BIGINT NOT NULL DEFAULT 0,
    -- How many rows of refund_steps it has.
    steps BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id),
    CHECK ((status = 'in_review') = (review_reason IS NOT NULL)),
    -- Only what was claimed can be sent, and only with its transaction.
    CHECK (status <> 'sent' OR (tx_hash IS NOT NULL AND sent_at IS NOT NULL AND payout_address IS NOT NULL))
);
CREATE UNIQUE INDEX refunds_by_token ON refunds (token_hash);
CREATE INDEX refunds_by_invoice ON refunds (invoice, account, mode, id);
CREATE INDEX refunds_by_status ON refunds (status, account, mode, id);
-- One transaction sends one refund.
CREATE UNIQUE INDEX refunds_sent_once ON refunds (account, mode, payout_network, tx_hash) WHERE tx_hash IS NOT NULL;

-- The history of every refund. Only grows.
CREATE TABLE refund_steps (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    refund TEXT COLLATE "C" NOT NULL,
    step BIGINT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    -- Who made it take this step: `api_key:…`, `user:…`, `payer`, `cli` or `system`.
    actor TEXT COLLATE "C" NOT NULL,
    payout_network TEXT COLLATE "C",
    payout_address TEXT COLLATE "C",
    tx_hash TEXT COLLATE "C",
    PRIMARY KEY (account, mode, refund, step)
);
CREATE TRIGGER refund_steps_no_update BEFORE UPDATE OR DELETE ON refund_steps
FOR EACH ROW EXECUTE FUNCTION is_append_only();
CREATE TRIGGER refund_steps_no_truncate BEFORE TRUNCATE ON refund_steps
FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

-- Payouts that were recorded as sent and whose blocks are not final yet: when the chain is asked about them next.
CREATE TABLE payout_looks (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    refund TEXT COLLATE "C" NOT NULL,
    recorded_at BIGINT NOT NULL,
    -- Since when every answer has shown it.
    shown_at BIGINT,
    look_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, refund),
    FOREIGN KEY (account, mode, refund) REFERENCES refunds (account, mode, id)
);
CREATE INDEX payout_looks_due ON payout_looks (look_at);

-- Audit log -----------------------------------------------------------------------------------------------------------

-- Who changed what, written in the transaction of the change. Only grows.
CREATE TABLE audit_events (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- Whose log it is in; none for what is a user's own.
    account TEXT COLLATE "C",
    mode TEXT COLLATE "C",
    -- Whose own it is: signing in, passkeys, codes.
    user_id TEXT COLLATE "C",
    -- Real time, on test clocks too.
    created_at BIGINT NOT NULL,
    -- `api_key:…`, `user:…`, `payer`, `cli` or `system`.
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    -- The id of what was changed; of settings and secrets the account's.
    target TEXT COLLATE "C" NOT NULL,
    -- Where it came from: a client's address, its browser, the session, the request.
    ip TEXT COLLATE "C",
    user_agent TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    request_id TEXT COLLATE "C",
    -- A JSON object without any secret, token or whole key.
    details TEXT COLLATE "C" NOT NULL
);
CREATE INDEX audit_events_account ON audit_events (account, id);
CREATE INDEX audit_events_user ON audit_events (user_id, id) WHERE account IS NULL;
CREATE TRIGGER audit_events_no_update BEFORE UPDATE OR DELETE ON audit_events
FOR EACH ROW EXECUTE FUNCTION is_append_only();
CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events
FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

-- The dashboard -------------------------------------------------------------------------------------------------------

-- People who sign in. An address is encrypted; its tag, of the address in lower case, finds it.
CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    email BYTEA NOT NULL,
    email_tag BYTEA NOT NULL,
    -- 1 once a mailed link was used.
    email_verified BIGINT NOT NULL CHECK (email_verified IN (0, 1)),
    -- 1 once the command line vouched for whoever has the address.
    shell_verified BIGINT NOT NULL CHECK (shell_verified IN (0, 1)),
    name TEXT COLLATE "C",
    locale TEXT COLLATE "C",
    is_operator BIGINT NOT NULL CHECK (is_operator IN (0, 1)),
    -- Encrypted; set once authenticator codes are switched on.
    totp_seed BYTEA,
    -- Encrypted; set up and not yet confirmed, until then.
    totp_offer BYTEA,
    totp_offer_until BIGINT,
    -- The last step of which a code was taken: none is taken twice.
    totp_step BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (email_tag);

-- Who belongs to which organisation, which is an account.
CREATE TABLE members (
    account TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role TEXT COLLATE "C" NOT NULL,
    joined_at BIGINT NOT NULL,
    last_active_at BIGINT,
    PRIMARY KEY (account, user_id)
);
CREATE INDEX members_user ON members (user_id);

-- Only the hash of a session's token is here; a new token ends the one before.
CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    token_hash BYTEA NOT NULL,
    -- What every POST repeats, encrypted. It stays when the token changes.
    csrf BYTEA NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('active', 'second_factor_pending')),
    method TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    -- At the latest.
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    ip TEXT COLLATE "C",
    user_agent TEXT COLLATE "C"
);
CREATE UNIQUE INDEX sessions_token ON sessions (token_hash);
CREATE INDEX sessions_user ON sessions (user_id) WHERE ended_at IS NULL;

-- Links to sign in or up with; only the hash of the token is here.
CREATE TABLE sign_in_links (
    token_hash BYTEA PRIMARY KEY,
    -- `sign_in`, `sign_up`, or `cli` for one that was made at the command line.
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('sign_in', 'sign_up', 'cli')),
    -- Whose it is; none for the sign-up of an address that nobody has.
    user_id TEXT COLLATE "C" REFERENCES users (id),
    -- Encrypted, for a sign-up; its tag ends older links.
    email BYTEA,
    email_tag BYTEA NOT NULL,
    -- The hash of the cookie of the browser that asked; none where any browser will do.
    browser_hash BYTEA,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- When it was used, or replaced by a newer one.
    ended_at BIGINT
);
CREATE INDEX sign_in_links_email ON sign_in_links (email_tag) WHERE ended_at IS NULL;
CREATE INDEX sign_in_links_expired ON sign_in_links (expires_at);

CREATE TABLE invites (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    token_hash BYTEA NOT NULL,
    -- Encrypted.
    email BYTEA NOT NULL,
    email_tag BYTEA NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    -- 1 where accepting it makes an operator.
    makes_operator BIGINT NOT NULL CHECK (makes_operator IN (0, 1)),
    -- 1 where its link went out by mail alone; 1 where the command line showed it. Else who invited was shown it.
    is_mailed BIGINT NOT NULL CHECK (is_mailed IN (0, 1)),
    is_from_shell BIGINT NOT NULL CHECK (is_from_shell IN (0, 1)),
    -- None for one from the command line.
    invited_by TEXT COLLATE "C" REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT,
    -- Withdrawn, replaced by a newer one, or its inviter lost the right to give the role.
    withdrawn_at BIGINT
);
CREATE UNIQUE INDEX invites_token ON invites (token_hash);
CREATE INDEX invites_account ON invites (account, id);

CREATE TABLE passkeys (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    credential_id BYTEA NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    -- The public key and the counter, as JSON.
    credential TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    backed_up BIGINT NOT NULL CHECK (backed_up IN (0, 1))
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id);

-- What a passkey was asked, to be answered once.
CREATE TABLE ceremonies (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('sign_in', 'second_factor', 'register')),
    session_id TEXT COLLATE "C",
    user_id TEXT COLLATE "C",
    -- The challenge and what the answer is held against, as JSON.
    state TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX ceremonies_expired ON ceremonies (expires_at);

-- A passkey's yes to one request: its path and the hash of its body, by one session.
CREATE TABLE confirmations (
    id TEXT COLLATE "C" PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    -- Empty where no organisation or mode is involved.
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    body_hash BYTEA NOT NULL,
    -- What the thing was that the passkey was asked about, where it may change before the request; else empty.
    about TEXT COLLATE "C" NOT NULL,
    -- As in `ceremonies`.
    state TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    -- Until it is answered, and then until it is used.
    expires_at BIGINT NOT NULL,
    answered_at BIGINT,
    confirmed_at BIGINT,
    -- The passkey that said yes; what it said counts only while the user has it.
    passkey TEXT COLLATE "C",
    used_at BIGINT
);
CREATE INDEX confirmations_expired ON confirmations (expires_at);

-- Failed and repeated attempts, counted over a sliding time.
CREATE TABLE attempts (
    -- What is counted, and the hash of by whom.
    subject BYTEA NOT NULL,
    at BIGINT NOT NULL,
    id TEXT COLLATE "C" PRIMARY KEY
);
CREATE INDEX attempts_subject ON attempts (subject, at);
CREATE INDEX attempts_at ON attempts (at);

-- A row to lock while attempts of its subject are counted and added, so that two at once do not pass the limit together.
CREATE TABLE attempt_subjects (
    subject BYTEA PRIMARY KEY,
    locked_at BIGINT NOT NULL
);
CREATE INDEX attempt_subjects_locked ON attempt_subjects (locked_at);

-- One per organisation, from the start.
CREATE TABLE applications (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('draft', 'pending', 'approved', 'rejected')),
    business_name TEXT COLLATE "C",
    website TEXT COLLATE "C",
    country TEXT COLLATE "C",
    -- Encrypted.
    contact_email BYTEA,
    business_description TEXT COLLATE "C",
    expected_monthly_volume TEXT COLLATE "C",
    submitted_at BIGINT,
    decided_at BIGINT,
    -- Who decided: an operator's user id, or `cli`.
    decided_by TEXT COLLATE "C",
    reason TEXT COLLATE "C"
);
CREATE UNIQUE INDEX applications_account ON applications (account);
CREATE INDEX applications_status ON applications (status, id);

-- Changes of destinations, webhook URLs and secrets, which may wait before they take effect.
CREATE TABLE changes (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('destination', 'webhook_url', 'webhook_secret')),
    -- Empty but for destinations.
    family TEXT COLLATE "C" NOT NULL,
    from_value TEXT COLLATE "C",
    to_value TEXT COLLATE "C",
    -- Encrypted; the new webhook secret until it takes effect.
    secret BYTEA,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'effective', 'cancelled')),
    -- A user's id, or `cli`.
    requested_by TEXT COLLATE "C" NOT NULL,
    -- Real time in live mode, business time in test mode.
    requested_at BIGINT NOT NULL,
    effective_at BIGINT NOT NULL,
    -- None where it ended because whoever asked for it lost the right to, or the organisation was disabled.
    cancelled_by TEXT COLLATE "C",
    cancelled_at BIGINT,
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);
CREATE UNIQUE INDEX changes_pending ON changes (account, mode, kind, family) WHERE status = 'pending';
CREATE INDEX changes_due ON changes (mode, effective_at) WHERE status = 'pending';
CREATE INDEX changes_account ON changes (account, mode, id);

-- Deposits that are nobody's payment and that a member has dismissed. Their ids are worked out from their transfers.
CREATE TABLE deposit_dismissals (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    note TEXT COLLATE "C" NOT NULL,
    dismissed_by TEXT COLLATE "C" NOT NULL,
    dismissed_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);

-- What members and operators are told, on their page and by mail.
CREATE TABLE member_notices (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    -- None for what is the user's own, and for operators.
    account TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    read_at BIGINT,
    -- `sent`, `queued`, `failed` or `off`.
    mail TEXT COLLATE "C" NOT NULL CHECK (mail IN ('sent', 'queued', 'failed', 'off')),
    -- When mail is tried next; a worker's claim moves it on.
    due_at BIGINT,
    fence BIGINT NOT NULL,
    attempts BIGINT NOT NULL
);
CREATE INDEX member_notices_user ON member_notices (user_id, id);
CREATE INDEX member_notices_due ON member_notices (due_at) WHERE due_at IS NOT NULL;

-- Links that are waiting to be mailed: the whole link, encrypted, until it was sent or has expired.
CREATE TABLE link_mails (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    locale TEXT COLLATE "C",
    -- Address and link, encrypted together.
    content BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    attempts BIGINT NOT NULL
);
CREATE INDEX link_mails_due ON link_mails (due_at);

-- Customers and subscriptions -----------------------------------------------------------------------------------------

CREATE TABLE customers (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    -- Encrypted.
    email BYTEA,
    metadata TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    -- How often payments of the customer had left the chain or come back when all credit was last shared out.
    moves_shared BIGINT NOT NULL DEFAULT 0,
    -- The same of the sharing that is under way; none when it has come to its end.
    moves_pending BIGINT,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);

CREATE TABLE plans (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'archived')),
    name TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
    currency TEXT COLLATE "C" NOT NULL,
    interval_unit TEXT COLLATE "C" NOT NULL CHECK (interval_unit IN ('day', 'week', 'month', 'year')),
    interval_count BIGINT NOT NULL CHECK (interval_count > 0),
    trial_days BIGINT NOT NULL CHECK (trial_days >= 0),
    grace_days BIGINT NOT NULL CHECK (grace_days >= 0),
    max_attempts BIGINT NOT NULL CHECK (max_attempts > 0),
    assets TEXT COLLATE "C",
    billing_timezone TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);

CREATE TABLE subscriptions (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    customer TEXT COLLATE "C" NOT NULL,
    plan TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'past_due', 'incomplete', 'paused', 'cancelled')),
    metadata TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    trial_end BIGINT,
    -- Where the period numbered anchor_period begins; all others are counted from there.
    anchor BIGINT NOT NULL,
    anchor_period BIGINT NOT NULL,
    current_period_start BIGINT NOT NULL,
    current_period_end BIGINT NOT NULL,
    paid_until BIGINT,
    -- Where the last period ends that is paid or free; one before it may be owed.
    served_until BIGINT,
    next_period BIGINT NOT NULL,
    -- The first period that was never paid.
    -- One period more may be paid while a pause lasts: it has its place in time when that ends.
    reached BIGINT NOT NULL CHECK (reached >= next_period OR (paused_at IS NOT NULL AND reached = next_period - 1)),
    -- The attempt that is open or was just closed; none while nothing is being charged.
    charge BIGINT,
    charge_invoice TEXT COLLATE "C",
    -- How many attempts there have been in all.
    charges BIGINT NOT NULL CHECK (charges >= 0),
    attempt BIGINT NOT NULL CHECK (attempt >= 0),
    grace_end BIGINT,
    charge_closed BIGINT NOT NULL CHECK (charge_closed IN (0, 1)),
    -- Until when the next attempt waits where the merchant cancelled one.
    retry_at BIGINT,
    latest_invoice TEXT COLLATE "C",
    next_invoice_at BIGINT,
    past_due_since BIGINT,
    paused_at BIGINT,
    cancelled_at BIGINT,
    cancellation_reason TEXT COLLATE "C" CHECK (cancellation_reason IN ('requested', 'unpaid')),
    cancel_at_period_end BIGINT NOT NULL CHECK (cancel_at_period_end IN (0, 1)),
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, customer) REFERENCES customers (account, mode, id),
    FOREIGN KEY (account, mode, plan) REFERENCES plans (account, mode, id)
);
CREATE INDEX subscriptions_by_customer ON subscriptions (customer, account, mode, id);
CREATE INDEX subscriptions_by_status ON subscriptions (status, account, mode, id);

-- One row for each attempt to charge a period.
CREATE TABLE subscription_charges (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    subscription TEXT COLLATE "C" NOT NULL,
    -- Numbers the attempts of their subscription.
    number BIGINT NOT NULL,
    -- None where prepaid credit paid for all of it.
    invoice TEXT COLLATE "C",
    period BIGINT NOT NULL,
    attempt BIGINT NOT NULL CHECK (attempt > 0),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'closed', 'withdrawn', 'paused', 'forgiven', 'spare', 'paid')),
    -- It has paid for its period once, whatever became of that.
    was_paid BIGINT NOT NULL CHECK (was_paid IN (0, 1)),
    period_start BIGINT NOT NULL,
    period_end BIGINT NOT NULL,
    grace_end BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, subscription, number),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id),
    FOREIGN KEY (account, mode, subscription) REFERENCES subscriptions (account, mode, id)
);
-- Whatever races: one attempt at a time, and a period is paid for once.
CREATE UNIQUE INDEX subscription_charges_one_open ON subscription_charges (account, mode, subscription) WHERE state = 'open';
CREATE UNIQUE INDEX subscription_charges_one_paid ON subscription_charges (account, mode, subscription, period) WHERE state = 'paid';
CREATE UNIQUE INDEX subscription_charges_by_invoice ON subscription_charges (invoice, account, mode) WHERE invoice IS NOT NULL;
CREATE INDEX subscription_charges_by_period ON subscription_charges (account, mode, subscription, period, number);

-- Prepaid credit that an attempt set aside: of which payment, and how much. What is not returned counts as used.
CREATE TABLE credit_entries (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    payment TEXT COLLATE "C" NOT NULL,
    -- The top-up that the payment is of.
    top_up TEXT COLLATE "C" NOT NULL,
    subscription TEXT COLLATE "C" NOT NULL,
    charge BIGINT NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL CHECK (units <> '' AND units <> '0' AND units NOT LIKE '-%'),
    -- Its attempt was made with it; what it is given in place of that later is not.
    is_first BIGINT NOT NULL CHECK (is_first IN (0, 1)),
    created_at BIGINT NOT NULL,
    returned_at BIGINT,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, payment) REFERENCES payments (account, mode, id),
    FOREIGN KEY (account, mode, subscription, charge) REFERENCES subscription_charges (account, mode, subscription, number)
);
CREATE INDEX credit_entries_by_charge ON credit_entries (subscription, charge, account, mode, id);

-- Journal -------------------------------------------------------------------------------------------------------------

-- Each row moves an amount from one account group to another: it cannot fail to sum to zero. Only grows.
CREATE TABLE journal (
    entry TEXT COLLATE "C" NOT NULL,
    line BIGINT NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C",
    -- What was moved, commonly a payment: an id whose prefix says what it is.
    subject TEXT COLLATE "C" NOT NULL,
    -- Numbers the entries of their subject: the same step cannot be posted twice.
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
CREATE UNIQUE INDEX journal_once ON journal (subject, step, line);
CREATE INDEX journal_by_account ON journal (account, mode, created_at);
-- For reports, which read the journal of one invoice after the other.
CREATE INDEX journal_in_order ON journal (account, mode, invoice);
CREATE FUNCTION journal_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only';
END $$;
CREATE TRIGGER journal_no_update BEFORE UPDATE OR DELETE ON journal
FOR EACH ROW EXECUTE FUNCTION journal_is_append_only();
CREATE TRIGGER journal_no_truncate BEFORE TRUNCATE ON journal
FOR EACH STATEMENT EXECUTE FUNCTION journal_is_append_only();

-- Sums of the journal by day, so that balances need not add up history. Whoever posts adds a row; a worker folds the
-- rows of one day, asset and pair of groups into one.
CREATE TABLE journal_sums (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    -- Days since 1970 by the time of the entries.
    day BIGINT NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    debit TEXT COLLATE "C" NOT NULL,
    credit TEXT COLLATE "C" NOT NULL,
    -- The entry that it began with; empty for what was folded.
    entry TEXT COLLATE "C" NOT NULL,
    amount TEXT COLLATE "C" NOT NULL CHECK (amount <> '' AND amount <> '0' AND amount NOT LIKE '-%'),
    PRIMARY KEY (account, mode, day, asset, debit, credit, entry)
);
CREATE INDEX journal_sums_unfolded ON journal_sums (account, mode, day) WHERE entry <> '';

-- One row, locked by the worker that folds.
CREATE TABLE journal_folding (id BIGINT PRIMARY KEY);
INSERT INTO journal_folding (id) VALUES (1);

-- Signed books --------------------------------------------------------------------------------------------------------

-- Keys that sign digests. The newest signs; the public halves of all stay.
CREATE TABLE ledger_keys (
    -- The beginning of the public key's hash.
    id TEXT COLLATE "C" PRIMARY KEY,
    -- In hexadecimal digits.
    public_key TEXT COLLATE "C" NOT NULL,
    -- The seed, encrypted; empty once no key file opens it any more.
    secret BYTEA NOT NULL,
    -- Real time.
    created_at BIGINT NOT NULL
);

-- A hash of some entries and of the digest before, signed: commonly the entries of one day. Only grows.
CREATE TABLE ledger_digests (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    -- Days since 1970.
    day BIGINT NOT NULL,
    entries BIGINT NOT NULL,
    first_entry TEXT COLLATE "C" NOT NULL,
    last_entry TEXT COLLATE "C" NOT NULL,
    root TEXT COLLATE "C" NOT NULL,
    previous TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    -- Real time.
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, id)
);
CREATE UNIQUE INDEX ledger_digests_by_day ON ledger_digests (account, mode, day);
CREATE TRIGGER ledger_digests_no_update BEFORE UPDATE OR DELETE ON ledger_digests
FOR EACH ROW EXECUTE FUNCTION is_append_only();

-- Entries that no digest has yet. Whoever posts adds a row; whoever makes a digest takes it away.
CREATE TABLE undigested_entries (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    -- Days since 1970 by the time of the entry.
    day BIGINT NOT NULL,
    entry TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account, mode, day, entry)
);
CREATE INDEX undigested_entries_by_day ON undigested_entries (day, account, mode);

-- Entries that came when their day had a digest: the next one has them. Only grows.
CREATE TABLE late_entries (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    entry TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account, mode, entry)
);
CREATE INDEX late_entries_by_digest ON late_entries (digest, entry);
CREATE TRIGGER late_entries_no_update BEFORE UPDATE OR DELETE ON late_entries
FOR EACH ROW EXECUTE FUNCTION is_append_only();

-- The digest that is being made, one for each account and mode; locked by whoever goes on with it.
CREATE TABLE digest_drafts (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    -- None while none is being made.
    digest TEXT COLLATE "C",
    day BIGINT,
    -- Whether it has all its entries.
    closed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account, mode)
);

-- Events, webhooks, mail ----------------------------------------------------------------------------------------------

CREATE TABLE events (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    -- What it is about: an id whose prefix says what it is.
    subject TEXT COLLATE "C",
    -- Its number on the subject's live stream, if it is told there.
    stream_seq BIGINT,
    created_at BIGINT NOT NULL,
    -- The webhook's body. An attempt leaves out the addresses in it that are not the invoice's any more.
    body TEXT COLLATE "C" NOT NULL,
    -- The payments as the payer saw them at that moment, for the live stream.
    payments TEXT COLLATE "C"
);
CREATE UNIQUE INDEX events_stream ON events (subject, stream_seq) WHERE stream_seq IS NOT NULL;
-- The log of an account, newest first: what it is filtered by is in the index, so that no row is read to be left out.
CREATE INDEX events_listed ON events (account, mode, id, type, created_at);

-- One row per attempt to deliver an event. No foreign key to events, which are never deleted: looking each of them up
-- again and locking it would cost more than writing the attempt.
CREATE TABLE deliveries (
    -- Numbers deliveries as they are written. Whoever announces something about a subject holds its row, so that
    -- the numbers of one subject rise in the order in which things happened, whichever server wrote them.
    seq BIGINT GENERATED BY DEFAULT AS IDENTITY,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    event TEXT COLLATE "C" NOT NULL,
    event_type TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C",
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
    -- Rises with every claim: a result that comes with an older one is not written.
    fence BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account, mode, id)
);
-- In the order in which deliveries are claimed, so that the first few are found without sorting all that are due.
CREATE INDEX deliveries_due ON deliveries (account, mode, due_at, seq) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_by_event ON deliveries (event, account, mode, id);
CREATE INDEX deliveries_by_subject ON deliveries (subject, account, mode, id);
CREATE INDEX deliveries_by_status ON deliveries (status, account, mode, id);
CREATE INDEX deliveries_by_type ON deliveries (event_type, account, mode, id);

-- Mails to payers: a receipt per address that was left for an invoice, and a notice per refund.
CREATE TABLE notices (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    -- Encrypted; the tag tells whether two addresses of one invoice are the same.
    email BYTEA NOT NULL,
    email_tag BYTEA NOT NULL,
    locale TEXT COLLATE "C" NOT NULL,
    -- The checkout session that left the address.
    session BYTEA NOT NULL,
    -- 1 for the receipt of the address that holds now; those it replaced stay, to be counted.
    is_current BIGINT NOT NULL CHECK (is_current IN (0, 1)),
    -- What a refund's notice tells.
    detail TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('scheduled', 'sent')),
    created_at BIGINT NOT NULL,
    sent_at BIGINT,
    -- When a worker must look at it; none before there is anything to tell. A claim pushes it into the future.
    due_at BIGINT,
    fence BIGINT NOT NULL DEFAULT 0,
    attempts BIGINT NOT NULL DEFAULT 0,
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
CREATE INDEX notices_by_invoice ON notices (account, mode, invoice, id);
CREATE UNIQUE INDEX notices_one_receipt ON notices (account, mode, invoice) WHERE kind = 'receipt' AND is_current = 1;
CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;

-- Timers and idempotency keys -----------------------------------------------------------------------------------------

-- What falls due, in the account's business time.
CREATE TABLE timers (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    due_at BIGINT NOT NULL,
    -- A timer that fails is put back alone: how often it failed, and when (real time) it is tried again.
    attempts BIGINT NOT NULL DEFAULT 0,
    retry_at BIGINT,
    PRIMARY KEY (account, mode, kind, subject)
);
-- By kind: kinds that only a newer server knows are never in the way of the others.
CREATE INDEX timers_due ON timers (kind, due_at) WHERE retry_at IS NULL;
CREATE INDEX timers_of_account ON timers (account, mode, due_at);
CREATE INDEX timers_put_back ON timers (retry_at) WHERE retry_at IS NOT NULL;

-- A row exists only together with the effect it stands for.
CREATE TABLE idempotency_keys (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    -- The kind of credential that the key came with: a payer's keys and the merchant's do not meet.
    credential TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    -- Of the request, to refuse another one under the same key.
    fingerprint BYTEA NOT NULL,
    status BIGINT NOT NULL,
    response BYTEA NOT NULL,
    -- The event whose object is the answer, byte for byte; `response` is empty then.
    event TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account, mode, credential, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- Chains --------------------------------------------------------------------------------------------------------------

-- What chains say, apart from what it means for anybody.
CREATE TABLE networks (
    -- The CAIP-2 id.
    id TEXT COLLATE "C" PRIMARY KEY,
    -- Rises with every change of leader; whoever writes must have the current one.
    epoch BIGINT NOT NULL,
    -- The leader, and when it was last heard of.
    owner TEXT COLLATE "C",
    heard_at BIGINT,
    -- The last block that was read, and the last ones that are safe and final.
    cursor_height BIGINT,
    cursor_hash TEXT COLLATE "C",
    safe_height BIGINT,
    final_height BIGINT,
    -- Up to where blocks were read a second time, behind the last final block.
    checked_height BIGINT,
    -- A network whose final blocks were replaced credits nothing any more: since when, from which block on, and why.
    frozen_at BIGINT,
    frozen_from BIGINT,
    frozen_reason TEXT COLLATE "C"
);

-- The latest blocks of each network, to notice a reorganisation.
CREATE TABLE blocks (
    network TEXT COLLATE "C" NOT NULL REFERENCES networks (id),
    height BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    parent TEXT COLLATE "C" NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (network, height)
);

CREATE TABLE transfers (
    network TEXT COLLATE "C" NOT NULL,
    tx_hash TEXT COLLATE "C" NOT NULL,
    -- The place inside the transaction, never inside the block.
    place BIGINT NOT NULL,
    -- The asset's code; for an unknown token, its contract.
    asset TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL,
    -- A list: a transaction may spend what many had.
    senders TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    simulated BIGINT NOT NULL,
    -- In real time.
    first_seen_at BIGINT NOT NULL,
    -- The block that has it; none while it waits for one, or is gone.
    height BIGINT,
    block_hash TEXT COLLATE "C",
    block_time BIGINT,
    -- 1 once it is in no block and does not wait for one any more.
    gone BIGINT NOT NULL,
    -- The payment that it is, or why it is nobody's.
    payment TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    -- Whether enough endpoints said that all of it arrived; how much did, where that is less.
    whole BIGINT NOT NULL DEFAULT 0,
    arrived TEXT COLLATE "C",
    -- What on-chain registers (an issuer's blacklist, the sanctions oracle) said of the senders when it was seen.
    registers TEXT COLLATE "C",
    PRIMARY KEY (network, tx_hash, place)
);
-- What a tip passes when it moves.
CREATE INDEX transfers_by_height ON transfers (network, height) WHERE simulated = 0 AND height IS NOT NULL;
CREATE INDEX transfers_unattributed ON transfers (recipient) WHERE payment IS NULL;
-- Transfers that too few endpoints have confirmed so far: a leader begins with them.
CREATE INDEX transfers_waiting ON transfers (network) WHERE simulated = 0 AND gone = 0 AND height IS NULL;

-- Transfers whose intake failed, to be tried again.
CREATE TABLE quarantine (
    network TEXT COLLATE "C" NOT NULL,
    tx_hash TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    error TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    since BIGINT NOT NULL,
    retry_at BIGINT NOT NULL,
    PRIMARY KEY (network, tx_hash, place)
);
CREATE INDEX quarantine_due ON quarantine (retry_at);
