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
    -- The key or the member who did.
    decided_by TEXT COLLATE "C" NOT NULL,
    decided_at BIGINT NOT NULL,
    -- The ids of the payments it was about.
    payments TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account, mode, id)
);
CREATE INDEX review_decisions_by_subject ON review_decisions (subject, account, mode, id);
