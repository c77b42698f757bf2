/*
 * tool_catalog: a body's skills as functions for a language model, with names
 * that every provider accepts, schemas that compile, and arguments that satisfy
 * them; and a cache of catalogs.
 *
 * Pure.  A catalog is reference-counted; its strings live as long as the arena
 * it was read into.  One thread.
 */
#ifndef LLM_ORCHESTRATOR_TOOL_CATALOG_H
#define LLM_ORCHESTRATOR_TOOL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* Names of the built-in tools. */
#define TOOL_NAME_RECALL "recall_memory"
#define TOOL_NAME_FORGET "forget_memory"
#define TOOL_NAME_MORE   "more_tools"
/* Longest name that providers accept. */
#define TOOL_NAME_MAX 64
/* Longest timeout that a skill may declare, in seconds. */
#define TOOL_TIMEOUT_MAX 120

struct tool_cache;
struct tool_catalog;
struct turn_provided;
struct wire_schema;
struct wire_tool_definition;

enum tool_kind {
	TOOL_SKILL,
	TOOL_RECALL,   /* built in: searches memories */
	TOOL_FORGET,   /* built in: forgets one */
	TOOL_PROVIDED, /* of a provider: provided is set */
	TOOL_MORE      /* built in: searches these */
};

struct tool {
	struct str skill; /* the body's name of it */
	struct str name;  /* the model's name of it: [A-Za-z0-9_-]{1,64} */
	struct str label; /* name shown to people */
	struct str description;
	struct str schema;   /* JSON; always of an object */
	struct str shown;    /* the same as models take it: tool_schema.h */
	int64_t timeout_s;   /* for its result; 0: the default */
	bool safety;         /* exempt from the gate */
	bool needs_approval; /* not without the user's approval */
	enum tool_kind kind;
	const struct turn_provided *provided; /* or NULL */
	struct wire_schema *compiled;         /* private; NULL: not yet */
	bool loose; /* its schema is invalid: any object is accepted */
};

/*
 * tool_catalog_new(skills, a, out):
 * Decode a body's skills (JSON array; absent: none).  The built-in tools are
 * found by name, but are not among tool_catalog_at().  Of two skills with one
 * name the first counts.  A skill with an invalid schema takes any object.  The
 * extensions "x-timeout-seconds" (1 to TOOL_TIMEOUT_MAX), "x-safety" and
 * "x-clamp" of a schema are honoured and not shown; values out of range are
 * ignored.  RC_INVALID if skills is not a list of skills, RC_TOOBIG if a is
 * full.
 */
enum rc tool_catalog_new(
    struct str skills, struct arena *a, struct tool_catalog **out) RC_CHECK;

/*
 * tool_catalog_ref(t):         Take a reference; returns t.
 * tool_catalog_free(t):        Drop one; the last one frees.  NULL is allowed.
 * tool_catalog_own_texts(t, a): t owns the arena of its strings from now on.
 */
struct tool_catalog *tool_catalog_ref(struct tool_catalog *t);
void tool_catalog_free(struct tool_catalog *t);
void tool_catalog_own_texts(struct tool_catalog *t, struct arena *a);

/* tool_catalog_n(t), tool_catalog_at(t, i): The body's skills, in order. */
size_t tool_catalog_n(const struct tool_catalog *t);
struct tool *tool_catalog_at(struct tool_catalog *t, size_t i);

/* tool_catalog_recall(t), _forget(t), _more(t): The built-in tools. */
struct tool *tool_catalog_recall(struct tool_catalog *t);
struct tool *tool_catalog_forget(struct tool_catalog *t);
struct tool *tool_catalog_more(struct tool_catalog *t);

/*
 * tool_catalog_by_skill(t, skill): The tool of a skill, or NULL.
 * tool_catalog_by_name(t, name):   The tool of the model's name, or NULL.
 */
struct tool *tool_catalog_by_skill(struct tool_catalog *t, struct str skill);
struct tool *tool_catalog_by_name(struct tool_catalog *t, struct str name);

/*
 * tool_from_definition(d, a, out):
 * A provider's tool, with strings of a; out->provided is the caller's.  What
 * needs no approval and only reads is exempt from the gate.  RC_TOOBIG if a is
 * full.
 * tool_release(tool): Free what tool_prepare() has made.
 */
enum rc tool_from_definition(const struct wire_tool_definition *d,
    struct arena *a, struct tool *out) RC_CHECK;
void tool_release(struct tool *tool);

/*
 * tool_legal_name(name, a):
 * name, or a substitute where only [A-Za-z0-9_-]{1,64} is allowed.  Absent if a
 * is full.
 */
struct str tool_legal_name(struct str name, struct arena *a);

/*
 * tool_prepare(tool):
 * Compile the schema; if that fails, replace it by that of any object.
 */
void tool_prepare(struct tool *tool);

/*
 * tool_arguments(tool, json, a, out, err):
 * The arguments to send: as given, or coerced to the schema's types.
 * RC_INVALID if that does not help or json is no object; err then has a text
 * for the model.  RC_TOOBIG beyond a limit.
 */
enum rc tool_arguments(struct tool *tool, struct str json, struct arena *a,
    struct str *out, struct wire_err *err) RC_CHECK;

/*
 * tool_member_label(tool, member, a):
 * The name shown to people for an argument: from the schema's title or
 * description, a table of common names, else member itself.
 */
struct str tool_member_label(
    const struct tool *tool, struct str member, struct arena *a);

/* ---- cache ---- */

/*
 * tool_cache_new(max_bytes, set):
 * A cache of about max_bytes that evicts the least recently used catalog, never
 * the newest; set may be NULL.
 */
struct tool_cache *tool_cache_new(size_t max_bytes, struct metric_set *set);

/* tool_cache_free(c): Referenced catalogs live on.  NULL is allowed. */
void tool_cache_free(struct tool_cache *c);

/*
 * tool_cache_get(c, skills, out):
 * The catalog of a body's skills, as tool_catalog_new() reads them; a reference
 * for the caller, which owns its strings.
 */
enum rc tool_cache_get(struct tool_cache *c, struct str skills,
    struct tool_catalog **out) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_TOOL_CATALOG_H */
