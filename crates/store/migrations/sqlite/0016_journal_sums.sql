-- Sums of the journal by day, so that balances need not add up history. Whoever posts adds a row; a worker folds the
-- rows of one day, asset and pair of groups into one.
CREATE TABLE journal_sums (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    -- Days since 1970 by the time of the entries.
    day INTEGER NOT NULL,
    asset TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    -- The entry that it began with; empty for what was folded.
    entry TEXT NOT NULL,
    amount TEXT NOT NULL CHECK (amount <> '' AND amount <> '0' AND amount NOT LIKE '-%'),
    PRIMARY KEY (account, mode, day, asset, debit, credit, entry)
);
CREATE INDEX journal_sums_unfolded ON journal_sums (account, mode, day) WHERE entry <> '';
INSERT INTO journal_sums (account, mode, day, asset, debit, credit, entry, amount)
SELECT account, mode, created_at / 86400000, asset, debit, credit, entry || '/' || line, amount FROM journal;

-- Held by whoever folds.
CREATE TABLE journal_folding (id INTEGER PRIMARY KEY);
INSERT INTO journal_folding (id) VALUES (1);
