-- A report reads payments and the journal of one invoice after the other, not those of each.
-- step: concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_in_order ON payments (account, mode, invoice);
-- step: concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS journal_in_order ON journal (account, mode, invoice);
