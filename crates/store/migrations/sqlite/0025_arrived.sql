-- A token may bring less than its log says: how much arrived, where that is less, and the payment that a person must look at.
ALTER TABLE transfers ADD COLUMN arrived TEXT;
ALTER TABLE payments ADD COLUMN short INTEGER NOT NULL DEFAULT 0;
