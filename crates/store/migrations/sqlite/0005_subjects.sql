-- Events, deliveries and the journal are about more than invoices and payments: each has a subject, an id whose
-- prefix says what it is. What was written before keeps its meaning.
ALTER TABLE events RENAME COLUMN invoice TO subject;
ALTER TABLE deliveries RENAME COLUMN invoice TO subject;
DROP INDEX deliveries_by_invoice;
CREATE INDEX deliveries_by_subject ON deliveries (subject, account, mode, id);

-- The kinds of entries are the program's to know: there will be more of them.
DROP TRIGGER journal_no_update;
DROP TRIGGER journal_no_delete;
CREATE TABLE journal_new (
    entry TEXT NOT NULL,
    line INTEGER NOT NULL,
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    kind TEXT NOT NULL,
    invoice TEXT,
    subject TEXT NOT NULL,
    -- Numbers the entries of their subject: the same step cannot be posted twice.
    step INTEGER NOT NULL,
    reverses TEXT,
    asset TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    amount TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (entry, line),
    CHECK (debit <> credit),
    CHECK (amount <> '' AND amount <> '0' AND amount NOT LIKE '-%')
);
INSERT INTO journal_new SELECT * FROM journal;
DROP TABLE journal;
ALTER TABLE journal_new RENAME TO journal;
CREATE UNIQUE INDEX journal_once ON journal (subject, step, line);
CREATE INDEX journal_by_account ON journal (account, mode, created_at);
CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
