-- What of a payment's refunds counts towards the price no more, and which refund took it: given back when it is
-- cancelled or its link expires.
ALTER TABLE payments ADD COLUMN withdrawn TEXT NOT NULL DEFAULT '0';
ALTER TABLE refunds ADD COLUMN withdrawn TEXT NOT NULL DEFAULT '[]';

-- What is paid in part keeps its address and its link's unit for a day: what is so already gets its timer.
INSERT INTO timers (account, mode, kind, subject, due_at)
SELECT account, mode, 'expire_invoice', id, expires_at + 86400000 FROM invoices
WHERE status = 'partially_paid' AND closed_at IS NULL
ON CONFLICT (account, mode, kind, subject) DO NOTHING;
