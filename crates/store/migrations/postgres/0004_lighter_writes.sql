-- An attempt is always written by the unit of work that writes or has read its event, and events are never
-- deleted: looking each event up again for every attempt, and locking it, cost more than writing the attempt.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_event_fkey;

-- What tells rows apart comes first: an index that begins like the primary key looks just as good to a planner
-- that has no statistics yet, and reads every row of the account.
DROP INDEX invoices_by_status;
CREATE INDEX invoices_by_status ON invoices (status, account, mode, id);
DROP INDEX invoices_by_customer_ref;
CREATE INDEX invoices_by_customer_ref ON invoices (customer_ref, account, mode, id) WHERE customer_ref IS NOT NULL;
DROP INDEX payments_by_invoice;
CREATE INDEX payments_by_invoice ON payments (invoice, account, mode, id);
DROP INDEX deliveries_by_invoice;
CREATE INDEX deliveries_by_invoice ON deliveries (invoice, account, mode, id);

-- An answer that is an event's object, byte for byte, is kept there; `response` is empty then.
ALTER TABLE idempotency_keys ADD COLUMN event TEXT COLLATE "C";
