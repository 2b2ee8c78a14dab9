SELECT sha FROM path
WHERE type = ?1 AND key >= ?2 AND key < ?3
LIMIT ?4
