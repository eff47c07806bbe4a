-- Mails to payers: a receipt per address that was left for an invoice, and a notice per refund.

CREATE TABLE notices (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    mode TEXT COLLATE "C" NOT NULL,
    invoice TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('receipt', 'refund')),
    -- Encrypted; the tag tells whether two addresses of one invoice are the same.
    email BYTEA NOT NULL,
    email_tag BYTEA NOT NULL,
    locale TEXT COLLATE "C" NOT NULL,
    -- The checkout session that left the address.
    session BYTEA NOT NULL,
    -- 1 for the receipt of the address that holds now; those it replaced stay, to be counted.
    is_current BIGINT NOT NULL CHECK (is_current IN (0, 1)),
    -- What a refund's notice tells.
    detail TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('scheduled', 'sent')),
    created_at BIGINT NOT NULL,
    sent_at BIGINT,
    -- When a worker must look at it; none before there is anything to tell. A claim pushes it into the future.
    due_at BIGINT,
    fence BIGINT NOT NULL DEFAULT 0,
    attempts BIGINT NOT NULL DEFAULT 0,
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
CREATE INDEX notices_by_invoice ON notices (account, mode, invoice, id);
CREATE UNIQUE INDEX notices_one_receipt ON notices (account, mode, invoice) WHERE kind = 'receipt' AND is_current = 1;
CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;
