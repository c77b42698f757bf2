/*
 * snapshot_parse: validating a terminal's report of skills or intents.
 *
 * Compiling patterns and schemas may take hundreds of milliseconds, so this is
 * meant for a worker thread; a parser is used by one thread at a time.
 */
#ifndef TERMINAL_SNAPSHOT_PARSE_H
#define TERMINAL_SNAPSHOT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* Digests of valid snapshots that are remembered: not compiled again. */
#define SNAPSHOT_VALID_MAX 32768
/* Room for a digest, including the NUL. */
#define SNAPSHOT_DIGEST_MAX 65

struct snapshot_parser;

/*
 * snapshot_parser_new(skills_max), snapshot_parser_free(p):
 * skills_max: longest array of skills as compact JSON, in bytes.  NULL is
 * allowed.
 */
struct snapshot_parser *snapshot_parser_new(size_t skills_max);
void snapshot_parser_free(struct snapshot_parser *p);

/* A snapshot as it is stored; all texts live in the arena. */
struct snapshot {
	int64_t version;      /* 0: none given */
	struct str json;      /* the array as compact JSON */
	struct str hash;      /* digest of a catalog's json; else absent */
	struct str soul_hint; /* of skills; absent: none */
	struct str *names;    /* of the skills, or ids of the intents */
	size_t n_names;
	bool bare;            /* the report is the array alone */
	struct wire_err note; /* what is ignored in it; why is "" if nothing */
};

/*
 * snapshot_parse_skills(p, in, terminal, a, out, err),
 * snapshot_parse_catalog(p, in, terminal, a, out, err):
 * Decode and validate a report of terminal.  RC_INVALID or RC_TOOBIG if it is
 * rejected, and err says where and why.  Beyond what wire/device.h requires: a
 * catalog must not have an invalid pattern or a duplicate id, and an
 * input_schema of a skill must be a JSON Schema unless it is over
 * WIRE_SCHEMA_MAX, in which case it is not checked.  Patterns may take 150 ms
 * of processor time for each report, schemas 500 ms.
 */
enum rc snapshot_parse_skills(struct snapshot_parser *p, struct str in,
    struct str terminal, struct arena *a, struct snapshot *out,
    struct wire_err *err) RC_CHECK;
enum rc snapshot_parse_catalog(struct snapshot_parser *p, struct str in,
    struct str terminal, struct arena *a, struct snapshot *out,
    struct wire_err *err) RC_CHECK;

/* snapshot_digest(s, dst): SHA-256 of s in lower-case hexadecimal. */
void snapshot_digest(struct str s, char dst[SNAPSHOT_DIGEST_MAX]);

#endif /* !TERMINAL_SNAPSHOT_PARSE_H */
