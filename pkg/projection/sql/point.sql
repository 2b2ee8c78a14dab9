SELECT sha FROM path
WHERE type = ?1 AND key = ?2 AND sha > ?3
ORDER BY sha LIMIT ?4
