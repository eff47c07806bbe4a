-- A placeholder until the schema arrives.
CREATE TABLE base_placeholder (id TEXT PRIMARY KEY);
