// Package schema publishes the schema: the CUE that people write against and
// the JSON Schema generated from it, embedded from this one place.
package schema

import "embed"

// FS holds every CUE file of the package larva.dev/schema.
//
//go:embed *.cue
var FS embed.FS

// JSON holds json/NAME.json, one JSON Schema for each name of Entries;
// json/constraints.json, the table that spec.Check interprets; and the files
// of OperationFile.
//
//go:embed json/*.json json/operations/*.json
var JSON embed.FS
