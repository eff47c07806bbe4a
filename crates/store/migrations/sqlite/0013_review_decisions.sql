-- Who decided a review, why, and about which payments. Written with the decision, and never changed.
CREATE TABLE review_decisions (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    id TEXT NOT NULL,
    -- The invoice that was under review.
    subject TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('accept', 'reject')),
    reason TEXT NOT NULL,
    via TEXT NOT NULL CHECK (via IN ('api', 'dashboard')),
    -- The key or the member who did.
    decided_by TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    -- The ids of the payments it was about.
    payments TEXT NOT NULL,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX review_decisions_by_subject ON review_decisions (subject, account, mode, id);
