-- What chains say, apart from what it means for anybody: networks with their tips, the window of blocks, and transfers.

CREATE TABLE networks (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- Rises with every change of leader; whoever writes must have the current one.
    epoch BIGINT NOT NULL,
    owner TEXT COLLATE "C",
    heard_at BIGINT,
    cursor_height BIGINT,
    cursor_hash TEXT COLLATE "C",
    safe_height BIGINT,
    final_height BIGINT,
    frozen_at BIGINT,
    frozen_reason TEXT COLLATE "C"
);

CREATE TABLE blocks (
    network TEXT COLLATE "C" NOT NULL REFERENCES networks (id),
    height BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    parent TEXT COLLATE "C" NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (network, height)
);

CREATE TABLE transfers (
    network TEXT COLLATE "C" NOT NULL,
    tx_hash TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    units TEXT COLLATE "C" NOT NULL,
    sender TEXT COLLATE "C",
    recipient TEXT COLLATE "C" NOT NULL,
    simulated BIGINT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    height BIGINT,
    block_hash TEXT COLLATE "C",
    block_time BIGINT,
    gone BIGINT NOT NULL,
    payment TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    PRIMARY KEY (network, tx_hash, place)
);
-- What a tip passes when it moves.
CREATE INDEX transfers_by_height ON transfers (network, height) WHERE simulated = 0 AND height IS NOT NULL;
CREATE INDEX transfers_unattributed ON transfers (recipient) WHERE payment IS NULL;

-- What could not be taken in is put aside and tried again.
CREATE TABLE quarantine (
    network TEXT COLLATE "C" NOT NULL,
    tx_hash TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    error TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    since BIGINT NOT NULL,
    retry_at BIGINT NOT NULL,
    PRIMARY KEY (network, tx_hash, place)
);
CREATE INDEX quarantine_due ON quarantine (retry_at);
