-- Events, deliveries and the journal are about more than invoices and payments: each has a subject, an id whose
-- prefix says what it is. What was written before keeps its meaning.
ALTER TABLE events RENAME COLUMN invoice TO subject;
ALTER TABLE deliveries RENAME COLUMN invoice TO subject;
ALTER INDEX deliveries_by_invoice RENAME TO deliveries_by_subject;

-- The kinds of entries are the program's to know: there will be more of them.
ALTER TABLE journal DROP CONSTRAINT journal_kind_check;
ALTER TABLE journal RENAME COLUMN payment TO subject;
