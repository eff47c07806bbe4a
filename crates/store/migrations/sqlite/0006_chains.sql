-- What chains say, apart from what it means for anybody: networks with their tips, the window of blocks, and transfers.

CREATE TABLE networks (
    id TEXT PRIMARY KEY,
    -- Rises with every change of leader; whoever writes must have the current one.
    epoch INTEGER NOT NULL,
    owner TEXT,
    heard_at INTEGER,
    cursor_height INTEGER,
    cursor_hash TEXT,
    safe_height INTEGER,
    final_height INTEGER,
    frozen_at INTEGER,
    frozen_reason TEXT
);

CREATE TABLE blocks (
    network TEXT NOT NULL REFERENCES networks (id),
    height INTEGER NOT NULL,
    hash TEXT NOT NULL,
    parent TEXT NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (network, height)
);

CREATE TABLE transfers (
    network TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    place INTEGER NOT NULL,
    asset TEXT NOT NULL,
    units TEXT NOT NULL,
    sender TEXT,
    recipient TEXT NOT NULL,
    simulated INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL,
    height INTEGER,
    block_hash TEXT,
    block_time INTEGER,
    gone INTEGER NOT NULL,
    payment TEXT,
    reason TEXT,
    PRIMARY KEY (network, tx_hash, place)
);
-- What a tip passes when it moves.
CREATE INDEX transfers_by_height ON transfers (network, height) WHERE simulated = 0 AND height IS NOT NULL;
CREATE INDEX transfers_unattributed ON transfers (recipient) WHERE payment IS NULL;

-- What could not be taken in is put aside and tried again.
CREATE TABLE quarantine (
    network TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    place INTEGER NOT NULL,
    error TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    since INTEGER NOT NULL,
    retry_at INTEGER NOT NULL,
    PRIMARY KEY (network, tx_hash, place)
);
CREATE INDEX quarantine_due ON quarantine (retry_at);
