-- What registers on the chain (an issuer's blacklist, the sanctions oracle) said of a transfer's sender when it was seen.
-- step: brief
ALTER TABLE transfers ADD COLUMN IF NOT EXISTS registers TEXT COLLATE "C";
-- step: brief
ALTER TABLE payments ADD COLUMN IF NOT EXISTS registers TEXT COLLATE "C";
