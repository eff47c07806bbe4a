-- When a payment left the chain is a fact: what arrived while it was there goes on counting. Of those that went
-- before this was kept only that they are gone is known: they keep nothing open.
ALTER TABLE payments ADD COLUMN gone_at INTEGER;
UPDATE payments SET gone_at = first_seen_at WHERE reversed <> 0;
ALTER TABLE payments DROP COLUMN reversed;

-- The order in which an invoice's payments were credited, so that a later one pushes none out of what it settled.
-- Those credited before this was kept come first, as they arrived.
ALTER TABLE payments ADD COLUMN credit_turn INTEGER;
UPDATE payments SET credit_turn = 0 WHERE status = 'credited';

-- Rejecting a review was kept with the invoice alone; now each payment knows what was decided about it.
UPDATE payments SET verdict = 'rejected' WHERE status = 'refundable' AND verdict LIKE 'held:%';
