-- Up to where a network was read a second time, from another endpoint, behind the last final block.
ALTER TABLE networks ADD COLUMN checked_height BIGINT;
