package mcptools

import "strings"

// The input schemas: an object at the root, every member described, nothing that
// clients are known to mangle (anyOf, oneOf, allOf or if at the root). They tell
// clients what to send; what is accepted is decided by the strict readers.

const appendSchema = `{
  "type": "object",
  "properties": {
    "type": {"type": "string", "minLength": 1, "maxLength": 128, "description": "What kind of record it is, such as finding; memory.* and thread.* are reserved."},
    "payload": ` + anyPayload + `,
    "idempotency_key": {"type": "string", "minLength": 1, "maxLength": 256, "description": "A key of your own: the same request under the same key is recorded once."}
  },
  "required": ["type", "payload"],
  "additionalProperties": false
}`

const anyPayload = `{"description": "Any JSON value, nested at most 29 deep. It is public; no secrets."}`

// appendSchema shows clients the schema of the payloads, if there is one that is
// not too large for a list of tools.
func (s *Server) appendSchema() string {
	if s.options.Schema == nil {
		return appendSchema
	}
	text := string(s.options.Schema.JSON())
	if len(text) > maxShownSchema {
		return appendSchema
	}
	return strings.Replace(appendSchema, anyPayload, text, 1)
}

const getSchema = `{
  "type": "object",
  "properties": {
    "id": {"type": "string", "description": "The record's id, ldg- and a UUID. Give either id or sha."},
    "sha": {"type": "string", "description": "The record's digest, sha256: and 64 hexadecimal digits. Give either id or sha."}
  },
  "additionalProperties": false
}`

const querySchema = `{
  "type": "object",
  "properties": {
    "type": {"type": "string", "description": "Only records of this type."},
    "where": {"type": "object", "maxProperties": 8, "description": "Conditions that must all hold: a path such as payload.detail.score, and one operator of eq, in, exists, prefix, gt, gte, lt, lte with its operand, such as {\"payload.actor\": {\"eq\": \"reviewer\"}}.",
      "additionalProperties": {"type": "object", "minProperties": 1, "maxProperties": 1}},
    "limit": {"type": "integer", "minimum": 1, "maximum": 500, "description": "Rows of the page; 100 when it is missing."},
    "after": {"type": "string", "description": "The nextCursor of the page before."}
  },
  "additionalProperties": false
}`

const statusSchema = `{"type": "object", "properties": {}, "additionalProperties": false}`
