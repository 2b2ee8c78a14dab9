// Package schema judges payloads of records by a schema that a workflow's author
// wrote: a small part of JSON Schema, the one that the ledger's reference runtime
// reads. Judging is pure. Whoever takes payloads, the server and the persistence job,
// judges them by the same schema, so that what one takes the other does not refuse.
//
// # Schemas
//
// A schema is one JSON object of at most 64 KiB, read strictly: no name twice, no
// invalid UTF-8. It and every schema in it have only these members:
//
//	type                  a type or a list of types: object, array, string, number,
//	                      integer, boolean, null
//	enum                  a list of strings, numbers, booleans and nulls, at least one
//	required              a list of names
//	properties            an object of schemas
//	additionalProperties  false
//	items                 a schema
//	oneOf, anyOf          a list of schemas, at least one; then there is no other member
//
// Anything else does not compile, so that no rule is believed to hold that does
// not: no minimum, pattern or format, no description or $schema, no true. Schemas
// nest at most 32 deep, and there are at most 4,096 of them.
//
// # Judging
//
// A value satisfies a schema when it satisfies all its members: it has one of the
// types, where an integer is a number without a fraction, 1e+21 too; it equals one
// of enum; where it is an object, it has the required members of its own, each of
// those in properties satisfies its schema, and there are no others if
// additionalProperties is false; where it is an array, each element satisfies
// items. It satisfies oneOf when it satisfies exactly one schema of the list, and
// anyOf when it satisfies at least one. An empty schema takes everything.
//
// A departure from the reference runtime: there, names that every JavaScript
// object inherits, such as toString and constructor, count as declared and as
// present. Here only the schema's own names are declared, and only a value's own
// members are there.
package schema
