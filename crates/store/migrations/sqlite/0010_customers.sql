-- Customers, and the plans they can subscribe to.

CREATE TABLE customers (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT,
    -- Encrypted.
    email BLOB,
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);

CREATE TABLE plans (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'archived')),
    name TEXT NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    interval_unit TEXT NOT NULL CHECK (interval_unit IN ('day', 'week', 'month', 'year')),
    interval_count INTEGER NOT NULL CHECK (interval_count > 0),
    trial_days INTEGER NOT NULL CHECK (trial_days >= 0),
    grace_days INTEGER NOT NULL CHECK (grace_days >= 0),
    max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
    assets TEXT,
    billing_timezone TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account, mode, id),
    FOREIGN KEY (account, mode) REFERENCES merchants (account, mode)
);
