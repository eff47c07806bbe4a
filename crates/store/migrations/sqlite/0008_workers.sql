-- A timer that fails is put back alone: how often it failed, and when (in real time) it is tried again.
ALTER TABLE timers ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE timers ADD COLUMN retry_at INTEGER;
-- By kind: those that only a newer server knows are never in the way of the others.
DROP INDEX timers_due;
CREATE INDEX timers_due ON timers (kind, due_at) WHERE retry_at IS NULL;
CREATE INDEX timers_put_back ON timers (retry_at) WHERE retry_at IS NOT NULL;

-- For the look at invoices that wait past their time, besides the timers.
CREATE INDEX invoices_waiting ON invoices (expires_at) WHERE status = 'awaiting_payment';

-- Where a test clock is being moved to, in business time, while it is on its way.
ALTER TABLE merchants ADD COLUMN clock_goal INTEGER;

-- Numbered as they are written. Whoever tells something of a subject holds it, so that the numbers of one
-- subject rise in the order in which things happened, whichever server wrote them.
CREATE TABLE deliveries_new (
    seq INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    event TEXT NOT NULL,
    event_type TEXT NOT NULL,
    subject TEXT,
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
    UNIQUE (account, mode, id)
);
INSERT INTO deliveries_new (account, mode, id, event, event_type, subject, url, status, attempt, status_code,
    latency_ms, error, response_body, created_at, attempted_at, next_attempt_at, due_at, fence)
SELECT account, mode, id, event, event_type, subject, url, status, attempt, status_code,
    latency_ms, error, response_body, created_at, attempted_at, next_attempt_at, due_at, fence
FROM deliveries ORDER BY rowid;
DROP TABLE deliveries;
ALTER TABLE deliveries_new RENAME TO deliveries;
CREATE INDEX deliveries_due ON deliveries (account, mode, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_by_event ON deliveries (event);
CREATE INDEX deliveries_by_subject ON deliveries (subject, account, mode, id);
