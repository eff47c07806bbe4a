-- A key belongs to the kind of credential it came with. What was written before keeps its meaning for the merchant.
ALTER TABLE idempotency_keys ADD COLUMN credential TEXT COLLATE "C" NOT NULL DEFAULT 'merchant';
ALTER TABLE idempotency_keys ALTER COLUMN credential DROP DEFAULT;
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey;
ALTER TABLE idempotency_keys ADD PRIMARY KEY (account, mode, credential, key);
