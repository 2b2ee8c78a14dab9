CREATE INDEX by_sha ON path (type, sha, key)
