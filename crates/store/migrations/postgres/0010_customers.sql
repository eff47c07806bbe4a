-- Customers, and the plans they can subscribe to.

CREATE TABLE customers (
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    -- Encrypted.
    email BYTEA,
    metadata TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
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
