-- Every filter of every list has an index that ends in the order of the list.
CREATE INDEX payments_by_tx ON payments (tx_hash, account, mode, id);
CREATE INDEX payments_by_status ON payments (status, account, mode, id);
CREATE INDEX payments_by_asset ON payments (asset, account, mode, id);
CREATE INDEX deliveries_by_status ON deliveries (status, account, mode, id);
CREATE INDEX deliveries_by_type ON deliveries (event_type, account, mode, id);
DROP INDEX deliveries_by_event;
CREATE INDEX deliveries_by_event ON deliveries (event, account, mode, id);
CREATE INDEX payment_links_by_active ON payment_links (active, account, mode, id);
