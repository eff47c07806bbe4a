-- Run again in another block, a transaction may pay somebody else at the same place: another payment, beside those that are
-- gone. At most one of them is there.
-- step: concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_by_place ON payments (network, tx_hash, place);
-- step: concurrently
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payments_standing ON payments (network, tx_hash, place) WHERE gone_at IS NULL;
-- step: brief
DROP INDEX IF EXISTS payments_identity;
