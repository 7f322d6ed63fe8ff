package client

import (
	"encoding/json"
	"maps"
	"slices"
)

// Schema returns the JSON schema (draft 7) of the files that [Load] reads, for
// editors and checks. A file names it in its first line:
//
//	# yaml-language-server: $schema=ontime.schema.json
func Schema() []byte {
	schema := objectSchema(configMembers())
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "ontime configuration"
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(err) // it is made of strings, numbers and maps
	}
	return append(text, '\n')
}

func objectSchema[T any](members []member[T]) map[string]any {
	schema := map[string]any{"type": "object", "additionalProperties": false}
	properties := make(map[string]any, len(members))
	var required []string
	for _, m := range members {
		one := maps.Clone(m.schema)
		one["description"] = m.doc
		properties[m.name] = one
		if m.required {
			required = append(required, m.name)
		}
	}
	schema["properties"] = properties
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func textSchema() map[string]any { return map[string]any{"type": "string", "minLength": 1} }

func durationSchema() map[string]any {
	return anyOf(map[string]any{"type": "string", "pattern": durationPattern}, map[string]any{"const": 0}, variableSchema())
}

// variableSchema is a text with a reference to the environment.
func variableSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": variablePattern}
}

func anyOf(schemas ...map[string]any) map[string]any { return map[string]any{"anyOf": schemas} }

// oneOf lists the values that a text may have.
func oneOf[T any](m member[T], values []string) member[T] {
	m.schema = anyOf(map[string]any{"enum": values}, variableSchema())
	return m
}

func presetNames() []string { return slices.Sorted(maps.Keys(providers)) }
