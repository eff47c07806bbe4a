-- In the order in which they are claimed: the first few are found without sorting all that are due.
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (account, mode, due_at, seq) WHERE due_at IS NOT NULL;
