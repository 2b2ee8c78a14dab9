INSERT INTO path (type, key, sha) VALUES (?, ?, ?)
