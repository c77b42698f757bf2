/*
 * tools: a body's skills as functions for a language model: names that every
 * provider takes, schemas that compile, arguments that satisfy them.
 *
 * Pure.  One owner; texts live as long as the arena the tools were read into.
 */
#ifndef LLM_ORCHESTRATOR_TOOLS_H
#define LLM_ORCHESTRATOR_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* The built-in ones. */
#define TOOLS_RECALL "recall_memory"
#define TOOLS_FORGET "forget_memory"
/* Longest name a provider takes. */
#define TOOLS_NAME_MAX 64
/* What a skill may say of its time, in seconds. */
#define TOOLS_TIMEOUT_MAX 120

struct tools;
struct wire_schema;

enum tool_kind {
	TOOL_SKILL,
	TOOL_RECALL, /* built in: searches memories */
	TOOL_FORGET  /* built in: forgets one */
};

struct tool {
	struct str skill; /* the body's name of it */
	struct str name;  /* what the model calls it: [A-Za-z0-9_-]{1,64} */
	struct str label; /* a word for people */
	struct str description;
	struct str schema; /* JSON; always of an object */
	struct str shown;  /* the same without what only we read */
	int64_t timeout_s; /* longest wait for its result; 0: as usual */
	bool safety;       /* the gate does not hold it back */
	enum tool_kind kind;
	struct wire_schema *compiled; /* private; NULL: not yet */
	bool loose; /* its own schema is none: any object will do */
};

/*
 * tools_new(skills, a, out):
 * Read a body's skills (JSON array; absent: none).  The built-in tools are
 * always found by name, and never among tools_at().  Of two skills with one
 * name the first counts.  A skill whose schema is none takes any object.  In a
 * schema "x-timeout-seconds" (1 to TOOLS_TIMEOUT_MAX) and "x-safety" are read,
 * and not shown; what is out of bounds does not count.  RC_INVALID if skills is
 * not a list of skills, RC_TOOBIG if a is too small.  Freed with tools_free().
 */
enum rc tools_new(
    struct str skills, struct arena *a, struct tools **out) RC_CHECK;

/*
 * tools_free(t): The last one who holds them frees them.  NULL is allowed.
 * tools_hold(t): One more holds them; t.
 * tools_take(t, a): The arena that their texts lie in is theirs now.
 */
void tools_free(struct tools *t);
struct tools *tools_hold(struct tools *t);
void tools_take(struct tools *t, struct arena *a);

/* tools_n(t), tools_at(t, i): The body's skills, in their order. */
size_t tools_n(const struct tools *t);
struct tool *tools_at(struct tools *t, size_t i);

/* tools_recall(t), tools_forget(t): The built-in tools. */
struct tool *tools_recall(struct tools *t);
struct tool *tools_forget(struct tools *t);

/*
 * tools_skill(t, skill): The tool of the body's skill of that name, or NULL.
 * tools_named(t, name):  What a model means by name, or NULL.
 */
struct tool *tools_skill(struct tools *t, struct str skill);
struct tool *tools_named(struct tools *t, struct str name);

/*
 * tools_legal(name, a):
 * name, or what stands for it where only [A-Za-z0-9_-]{1,64} is allowed.
 * Absent if a is full.
 */
struct str tools_legal(struct str name, struct arena *a);

/*
 * tools_prepare(tool):
 * Make sure that the tool's schema may be shown: one that does not compile is
 * replaced by that of any object.
 */
void tools_prepare(struct tool *tool);

/*
 * tools_arguments(tool, json, a, out, err):
 * The arguments as they may be sent: those given, or if they do not satisfy the
 * schema, those brought to its types.  RC_INVALID if that does not help, or
 * json is no object: err says what is wrong, in words for the model.
 * RC_TOOBIG over a ceiling.
 */
enum rc tools_arguments(struct tool *tool, struct str json, struct arena *a,
    struct str *out, struct wire_err *err) RC_CHECK;

/*
 * tools_member_label(tool, member, a):
 * A word for people for one of a skill's arguments: of its description in the
 * schema, of a table of usual names, else the name itself.
 */
struct str tools_member_label(
    const struct tool *tool, struct str member, struct arena *a);

#endif /* !LLM_ORCHESTRATOR_TOOLS_H */
