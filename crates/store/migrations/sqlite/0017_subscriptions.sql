-- Subscriptions, the attempts to charge their periods, and the prepaid credit that pays for them first.

CREATE TABLE subscriptions (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    customer TEXT NOT NULL,
    plan TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'past_due', 'incomplete', 'paused', 'cancelled')),
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    trial_end INTEGER,
    -- Where the period numbered anchor_period begins; all others are counted from there.
    anchor INTEGER NOT NULL,
    anchor_period INTEGER NOT NULL,
    current_period_start INTEGER NOT NULL,
    current_period_end INTEGER NOT NULL,
    paid_until INTEGER,
    next_period INTEGER NOT NULL,
    -- The attempt that is open or was just closed; none while nothing is being charged.
    charge INTEGER,
    charge_invoice TEXT,
    -- How many attempts there have been in all.
    charges INTEGER NOT NULL CHECK (charges >= 0),
    attempt INTEGER NOT NULL CHECK (attempt >= 0),
    grace_end INTEGER,
    charge_closed INTEGER NOT NULL CHECK (charge_closed IN (0, 1)),
    latest_invoice TEXT,
    next_invoice_at INTEGER,
    past_due_since INTEGER,
    paused_at INTEGER,
    cancelled_at INTEGER,
    cancellation_reason TEXT CHECK (cancellation_reason IN ('requested', 'unpaid')),
    cancel_at_period_end INTEGER NOT NULL CHECK (cancel_at_period_end IN (0, 1)),
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, customer) REFERENCES customers (account, mode, id),
    FOREIGN KEY (account, mode, plan) REFERENCES plans (account, mode, id)
);
CREATE INDEX subscriptions_by_customer ON subscriptions (customer, account, mode, id);
CREATE INDEX subscriptions_by_status ON subscriptions (status, account, mode, id);

CREATE TABLE subscription_charges (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    subscription TEXT NOT NULL,
    -- Numbers the attempts of their subscription.
    number INTEGER NOT NULL,
    -- None where prepaid credit paid for all of it.
    invoice TEXT,
    period INTEGER NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'paid')),
    period_start INTEGER NOT NULL,
    period_end INTEGER NOT NULL,
    grace_end INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account, mode, subscription, number),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id),
    FOREIGN KEY (account, mode, subscription) REFERENCES subscriptions (account, mode, id)
);
-- Whatever races: one attempt at a time, and a period is paid for once.
CREATE UNIQUE INDEX subscription_charges_one_open ON subscription_charges (account, mode, subscription) WHERE state = 'open';
CREATE UNIQUE INDEX subscription_charges_one_paid ON subscription_charges (account, mode, subscription, period) WHERE state = 'paid';
CREATE UNIQUE INDEX subscription_charges_by_invoice ON subscription_charges (invoice, account, mode) WHERE invoice IS NOT NULL;

-- Prepaid credit that an attempt set aside: of which payment, and how much. What is not returned counts as used of it.
CREATE TABLE credit_entries (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    payment TEXT NOT NULL,
    -- The top-up that the payment is of.
    top_up TEXT NOT NULL,
    subscription TEXT NOT NULL,
    charge INTEGER NOT NULL,
    asset TEXT NOT NULL,
    units TEXT NOT NULL CHECK (units <> '' AND units <> '0' AND units NOT LIKE '-%'),
    created_at INTEGER NOT NULL,
    returned_at INTEGER,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, payment) REFERENCES payments (account, mode, id),
    FOREIGN KEY (account, mode, subscription, charge) REFERENCES subscription_charges (account, mode, subscription, number)
);
CREATE INDEX credit_entries_by_charge ON credit_entries (subscription, charge, account, mode);
CREATE INDEX credit_entries_by_payment ON credit_entries (payment, account, mode);

-- How much of a payment's prepaid credit was set aside or used: a fact about it, from which its position follows.
ALTER TABLE payments ADD COLUMN credit_used TEXT NOT NULL DEFAULT '0';
-- What is left to pay of the price after prepaid credit, rounded up; none where all of it is.
ALTER TABLE invoices ADD COLUMN due_minor INTEGER CHECK (due_minor > 0);
-- The top-ups of a customer.
CREATE INDEX invoices_top_ups ON invoices (customer, account, mode, id) WHERE customer IS NOT NULL AND subscription IS NULL;

-- The kinds of mails are the program's to know: there will be more of them.
CREATE TABLE notices_new (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    invoice TEXT NOT NULL,
    kind TEXT NOT NULL,
    email BLOB NOT NULL,
    email_tag BLOB NOT NULL,
    locale TEXT NOT NULL,
    session BLOB NOT NULL,
    is_current INTEGER NOT NULL CHECK (is_current IN (0, 1)),
    detail TEXT,
    status TEXT NOT NULL CHECK (status IN ('scheduled', 'sent')),
    created_at INTEGER NOT NULL,
    sent_at INTEGER,
    due_at INTEGER,
    fence INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
INSERT INTO notices_new SELECT * FROM notices;
DROP TABLE notices;
ALTER TABLE notices_new RENAME TO notices;
CREATE INDEX notices_by_invoice ON notices (account, mode, invoice, id);
CREATE UNIQUE INDEX notices_one_receipt ON notices (account, mode, invoice) WHERE kind = 'receipt' AND is_current = 1;
CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;
