-- Mails to payers: a receipt per address that was left for an invoice, and a notice per refund.

CREATE TABLE notices (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    invoice TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('receipt', 'refund')),
    -- Encrypted; the tag tells whether two addresses of one invoice are the same.
    email BLOB NOT NULL,
    email_tag BLOB NOT NULL,
    locale TEXT NOT NULL,
    -- The checkout session that left the address.
    session BLOB NOT NULL,
    -- 1 for the receipt of the address that holds now; those it replaced stay, to be counted.
    is_current INTEGER NOT NULL CHECK (is_current IN (0, 1)),
    -- What a refund's notice tells.
    detail TEXT,
    status TEXT NOT NULL CHECK (status IN ('scheduled', 'sent')),
    created_at INTEGER NOT NULL,
    sent_at INTEGER,
    -- When a worker must look at it; none before there is anything to tell. A claim pushes it into the future.
    due_at INTEGER,
    fence INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
CREATE INDEX notices_by_invoice ON notices (account, mode, invoice, id);
CREATE UNIQUE INDEX notices_one_receipt ON notices (account, mode, invoice) WHERE kind = 'receipt' AND is_current = 1;
CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;
