-- Run again in another block, a transaction may pay somebody else at the same place: another payment, beside the one that is
-- gone. At most one of them is there.
CREATE UNIQUE INDEX payments_receipt ON payments (network, tx_hash, place, recipient);
CREATE UNIQUE INDEX payments_standing ON payments (network, tx_hash, place) WHERE gone_at IS NULL;
DROP INDEX payments_identity;
