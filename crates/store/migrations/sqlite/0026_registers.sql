-- What registers on the chain (an issuer's blacklist, the sanctions oracle) said of a transfer's sender when it was seen.
ALTER TABLE transfers ADD COLUMN registers TEXT;
ALTER TABLE payments ADD COLUMN registers TEXT;
