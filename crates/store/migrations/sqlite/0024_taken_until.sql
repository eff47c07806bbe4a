-- Until when an invoice takes the rest of what was paid in part: what arrives later is the payer's again. Without it, for good.
ALTER TABLE invoices ADD COLUMN takes_until BIGINT;
-- A subscription's invoice is waited for as long as its plan allows attempts; those that wait already get a month.
UPDATE invoices SET takes_until = expires_at + 2592000000 WHERE subscription IS NOT NULL AND closed_at IS NULL;
UPDATE timers SET due_at = due_at + 2505600000 WHERE kind = 'expire_invoice' AND subject IN
    (SELECT id FROM invoices WHERE subscription IS NOT NULL AND closed_at IS NULL AND status = 'partially_paid');
-- The attempts at one period.
CREATE INDEX subscription_charges_by_period ON subscription_charges (account, mode, subscription, period);
