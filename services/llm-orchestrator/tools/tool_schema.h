/*
 * tool_schema: the JSON Schema of a tool's arguments as the APIs of language
 * models take it.
 *
 * They reject references and keywords that they do not know, each other ones.
 * Arguments are checked against the whole schema, so that what is not shown
 * costs the model a correction, and nothing else.
 *
 * Pure.
 */
#ifndef LLM_ORCHESTRATOR_TOOL_SCHEMA_H
#define LLM_ORCHESTRATOR_TOOL_SCHEMA_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

/* The schema of any object. */
#define TOOL_SCHEMA_ANY "{\"type\":\"object\",\"properties\":{}}"
/* Levels of schemas within a schema that is shown. */
#define TOOL_SCHEMA_DEPTH_MAX 16
/* Largest schema that is shown of a provider's tool, in bytes. */
#define TOOL_SCHEMA_SHOWN_MAX ((size_t)8 * 1024)

/*
 * tool_schema_shown(schema, max, a, out):
 * A schema with "type": "object" for a model, from a: common keywords only,
 * local references and allOf replaced by what they stand for, {} for a schema
 * within itself and for levels over TOOL_SCHEMA_DEPTH_MAX; with fewer levels,
 * down to TOOL_SCHEMA_ANY, if it would take more than max bytes.
 * TOOL_SCHEMA_ANY, too, if schema is no JSON object.  RC_TOOBIG if a is full.
 */
enum rc tool_schema_shown(
    struct str schema, size_t max, struct arena *a, struct str *out) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_TOOL_SCHEMA_H */
