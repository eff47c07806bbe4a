-- Run again in another block, a transaction may pay somebody else at the same place: another payment, beside the one that is
-- gone. At most one of them is there.
-- step: concurrently
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payments_receipt ON payments (network, tx_hash, place, recipient);
-- step: concurrently
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payments_standing ON payments (network, tx_hash, place) WHERE gone_at IS NULL;
-- step: brief
DROP INDEX IF EXISTS payments_identity;
