SELECT sha FROM path INDEXED BY by_sha
WHERE type = ?1 AND key >= ?2 AND key < ?3 AND sha > ?4
ORDER BY sha LIMIT ?5
