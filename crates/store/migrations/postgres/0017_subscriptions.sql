-- Subscriptions, the attempts to charge their periods, and the prepaid credit that pays for them first.

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
    next_period BIGINT NOT NULL,
    -- The attempt that is open or was just closed; none while nothing is being charged.
    charge BIGINT,
    charge_invoice TEXT COLLATE "C",
    -- How many attempts there have been in all.
    charges BIGINT NOT NULL CHECK (charges >= 0),
    attempt BIGINT NOT NULL CHECK (attempt >= 0),
    grace_end BIGINT,
    charge_closed BIGINT NOT NULL CHECK (charge_closed IN (0, 1)),
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
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'closed', 'paid')),
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

-- Prepaid credit that an attempt set aside: of which payment, and how much. What is not returned counts as used of it.
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
    created_at BIGINT NOT NULL,
    returned_at BIGINT,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode, payment) REFERENCES payments (account, mode, id),
    FOREIGN KEY (account, mode, subscription, charge) REFERENCES subscription_charges (account, mode, subscription, number)
);
CREATE INDEX credit_entries_by_charge ON credit_entries (subscription, charge, account, mode);
CREATE INDEX credit_entries_by_payment ON credit_entries (payment, account, mode);

-- How much of a payment's prepaid credit was set aside or used: a fact about it, from which its position follows.
ALTER TABLE payments ADD COLUMN credit_used TEXT COLLATE "C" NOT NULL DEFAULT '0';
-- What is left to pay of the price after prepaid credit, rounded up; none where all of it is.
ALTER TABLE invoices ADD COLUMN due_minor BIGINT CHECK (due_minor > 0);
-- The top-ups of a customer.
CREATE INDEX invoices_top_ups ON invoices (customer, account, mode, id) WHERE customer IS NOT NULL AND subscription IS NULL;

-- The kinds of mails are the program's to know: there will be more of them.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
