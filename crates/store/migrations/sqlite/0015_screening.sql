-- Lists that addresses are held against: which edition of each holds, and its addresses. A new edition is written
-- beside the old one and takes its place at once.
CREATE TABLE screening_lists (
    name TEXT PRIMARY KEY,
    -- Of where it is read from and how, so that a list from elsewhere is never taken for this one.
    digest BLOB NOT NULL,
    edition TEXT,
    version TEXT,
    addresses INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    fetched_at INTEGER,
    tried_at INTEGER,
    error TEXT,
    -- Until when somebody is reading it; whoever dies lets it run out.
    busy_until INTEGER NOT NULL
);
CREATE TABLE screening_addresses (
    edition TEXT NOT NULL,
    address TEXT NOT NULL,
    PRIMARY KEY (edition, address)
);

-- One row for each screening, with what every list said.
ALTER TABLE screenings RENAME TO screenings_by_list;
CREATE TABLE screenings (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    subject TEXT NOT NULL,
    network TEXT NOT NULL,
    address TEXT NOT NULL,
    result TEXT NOT NULL CHECK (result IN ('clear', 'match', 'unavailable')),
    lists TEXT NOT NULL,
    at INTEGER NOT NULL
);
INSERT INTO screenings (account, mode, subject, network, address, result, lists, at)
SELECT account, mode, subject, network, address, result,
    '{"lists":[{"list":"' || list || '","version":' || CASE WHEN version IS NULL THEN 'null' ELSE '"' || version || '"' END
    || ',"result":"' || result || '","checked_at":' || at || '}]}', at
FROM screenings_by_list;
DROP TABLE screenings_by_list;
CREATE INDEX screenings_by_subject ON screenings (subject, account, mode, at);
CREATE TRIGGER screenings_no_update BEFORE UPDATE ON screenings
BEGIN SELECT RAISE(ABORT, 'screenings are append-only'); END;
CREATE TRIGGER screenings_no_delete BEFORE DELETE ON screenings
BEGIN SELECT RAISE(ABORT, 'screenings are append-only'); END;
