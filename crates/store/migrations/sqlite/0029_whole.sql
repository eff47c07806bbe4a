-- That nothing of a transfer is missing, as enough endpoints said. `arrived` stays what it was for programs that read only that: how
-- much came, where that is less.
ALTER TABLE transfers ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
