-- What a leader has to look for when it begins: transfers that too few endpoints have told of so far.
-- step: concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS transfers_waiting ON transfers (network) WHERE simulated = 0 AND gone = 0 AND height IS NULL;
