/*
 * tool_digest: what identifies a tool's definition and a call of it, as hex
 * SHA-256.  Whoever offers tools and whoever calls them compute the same.
 *
 * Pure; any thread.
 */
#ifndef TOOL_TOOL_DIGEST_H
#define TOOL_TOOL_DIGEST_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* 64 hexadecimal digits and a NUL. */
#define TOOL_DIGEST_MAX 65

/*
 * tool_digest(parts, n, dst):
 * Of all parts, each followed by a NUL, so that no two lists of parts without a
 * NUL have the same bytes.
 */
void tool_digest(const struct str *parts, size_t n, char dst[TOOL_DIGEST_MAX]);

/*
 * tool_canonical_put(json, out):
 * Append json compact, with the keys of every object in byte order.  RC_INVALID
 * if it is no JSON, RC_TOOBIG over the limits of a message or of out.
 */
enum rc tool_canonical_put(struct str json, struct buf *out) RC_CHECK;

/* What a tool's provider shows of it. */
struct tool_definition {
	struct str name; /* its own, not the model-facing one */
	struct str description;
	struct str schema; /* JSON */
};

/*
 * tool_definition_digest(d, dst):
 * The pin of a definition; the order of the schema's keys does not matter.
 * RC_INVALID or RC_TOOBIG as tool_canonical_put(), of the schema.
 */
enum rc tool_definition_digest(
    const struct tool_definition *d, char dst[TOOL_DIGEST_MAX]) RC_CHECK;

/* A call that waits for an approval. */
struct tool_sealed_call {
	struct str provider, server, tool;
	struct str definition; /* tool_definition_digest() */
	struct str arguments;  /* JSON */
};

/*
 * tool_seal(c, dst): What was approved; RC_INVALID or RC_TOOBIG as
 * tool_canonical_put(), of the arguments.
 */
enum rc tool_seal(
    const struct tool_sealed_call *c, char dst[TOOL_DIGEST_MAX]) RC_CHECK;

#endif /* !TOOL_TOOL_DIGEST_H */
