-- In the order in which they are claimed: the first few are found without sorting all that are due.
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (account, mode, due_at, seq) WHERE due_at IS NOT NULL;

-- Behind the status, which every invoice here has: as long as SQLite knows nothing of the table, it takes an index that
-- answers "equal" before one that answers "before", and read all invoices that wait.
DROP INDEX invoices_waiting;
CREATE INDEX invoices_waiting ON invoices (status, expires_at) WHERE status = 'awaiting_payment';
