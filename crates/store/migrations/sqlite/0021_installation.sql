-- What all servers on this database share, in one row.
CREATE TABLE installation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- Written now and then, to see that something can be.
    pulse_at INTEGER NOT NULL,
    -- The name of the key that encrypts here: every server must have it.
    key_name TEXT
);
INSERT INTO installation (id, pulse_at) VALUES (1, 0);
