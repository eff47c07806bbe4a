-- Run again in another block, a transaction may pay somebody else at the same place: another payment, beside those that are
-- gone. At most one of them is there.
CREATE INDEX payments_by_place ON payments (network, tx_hash, place);
CREATE UNIQUE INDEX payments_standing ON payments (network, tx_hash, place) WHERE gone_at IS NULL;
DROP INDEX payments_identity;
