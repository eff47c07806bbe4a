-- A key belongs to the kind of credential it came with. What was written before keeps its meaning for the merchant.
CREATE TABLE idempotency_keys_new (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    credential TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status INTEGER NOT NULL,
    response BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    event TEXT,
    PRIMARY KEY (account, mode, credential, key)
);
INSERT INTO idempotency_keys_new (account, mode, credential, key, fingerprint, status, response, created_at, event)
    SELECT account, mode, 'merchant', key, fingerprint, status, response, created_at, event FROM idempotency_keys;
DROP TABLE idempotency_keys;
ALTER TABLE idempotency_keys_new RENAME TO idempotency_keys;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
