-- In the order in which deliveries are claimed: the first few are found without sorting all that are due. Here the
-- index has it already, because `seq` is the row's own number, which every index ends with.

-- Behind the status, which every invoice here has: as long as SQLite knows nothing of the table, it takes an index that
-- answers "equal" before one that answers "before", and read all invoices that wait.
DROP INDEX invoices_waiting;
CREATE INDEX invoices_waiting ON invoices (status, expires_at) WHERE status = 'awaiting_payment';
