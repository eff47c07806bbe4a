-- A report reads payments and the journal of one invoice after the other, not those of each.
CREATE INDEX payments_in_order ON payments (account, mode, invoice);
CREATE INDEX journal_in_order ON journal (account, mode, invoice);
