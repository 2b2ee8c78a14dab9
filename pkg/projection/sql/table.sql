CREATE TABLE path (
  type INTEGER NOT NULL,
  key  BLOB NOT NULL,
  sha  BLOB NOT NULL CHECK (length(sha) = 32),
  PRIMARY KEY (type, key, sha)
) STRICT, WITHOUT ROWID
