/*
 * intake: reading a snapshot of skills or intents that a body reported.
 *
 * It may take long (patterns are compiled), so it is made for a worker thread:
 * one struct intake is used by one thread at a time.
 */
#ifndef MQTT_BRIDGE_INTAKE_H
#define MQTT_BRIDGE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* Catalogs and skills that are remembered as good, by their digests. */
#define INTAKE_KNOWN_MAX 32768

struct intake;

/*
 * intake_new(skills_max):
 * It knows no catalog yet.  A list of skills of more bytes, as it is kept, is
 * refused.
 */
struct intake *intake_new(size_t skills_max);

/* intake_free(i): NULL is allowed. */
void intake_free(struct intake *i);

/* A snapshot as it is kept; all texts live in the arena. */
struct snapshot {
	int64_t version; /* 0: none given */
	struct str json; /* the array, compact: equal content, equal text */
	struct str hash; /* of a catalog: digest of json; else absent */
	struct str soul_hint; /* of skills; absent: none */
	struct str *names;    /* of the skills, or ids of the intents */
	size_t n_names;
	bool bare;            /* the report is the array alone */
	struct wire_err note; /* what does not count; why is "" if all does */
};

/*
 * intake_skills(i, in, terminal, a, out, err),
 * intake_catalog(i, in, terminal, a, out, err):
 * Read a report of terminal.  RC_INVALID or RC_TOOBIG if it does not count, and
 * err says where and why: besides what wire/device.h says, a catalog with a bad
 * pattern or with one id twice, and skills with an input_schema that is no JSON
 * Schema; one over WIRE_SCHEMA_MAX counts without being judged.
 */
enum rc intake_skills(struct intake *i, struct str in, struct str terminal,
    struct arena *a, struct snapshot *out, struct wire_err *err) RC_CHECK;
enum rc intake_catalog(struct intake *i, struct str in, struct str terminal,
    struct arena *a, struct snapshot *out, struct wire_err *err) RC_CHECK;

#endif /* !MQTT_BRIDGE_INTAKE_H */
