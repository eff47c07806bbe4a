-- Lists that addresses are held against: which edition of each holds, and its addresses. A new edition is written
-- beside the old one and takes its place at once.
CREATE TABLE screening_lists (
    name TEXT COLLATE "C" PRIMARY KEY,
    -- Of where it is read from and how, so that a list from elsewhere is never taken for this one.
    digest BYTEA NOT NULL,
    edition TEXT COLLATE "C",
    version TEXT COLLATE "C",
    addresses BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    fetched_at BIGINT,
    tried_at BIGINT,
    error TEXT COLLATE "C",
    -- Until when somebody is reading it; whoever dies lets it run out.
    busy_until BIGINT NOT NULL
);
CREATE TABLE screening_addresses (
    edition TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
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
    at BIGINT NOT NULL
);
INSERT INTO screenings (account, mode, subject, network, address, result, lists, at)
SELECT account, mode, subject, network, address, result,
    '{"lists":[{"list":"' || list || '","version":' || CASE WHEN version IS NULL THEN 'null' ELSE '"' || version || '"' END
    || ',"result":"' || result || '","checked_at":' || at || '}]}', at
FROM screenings_by_list;
DROP TABLE screenings_by_list;
CREATE INDEX screenings_by_subject ON screenings (subject, account, mode, at);
CREATE TRIGGER screenings_no_update BEFORE UPDATE OR DELETE ON screenings
FOR EACH ROW EXECUTE FUNCTION is_append_only();
