/*
 * failure_class: what kind of failure an engine's words, status and exit code
 * are.  One table.  Pure.
 */
#ifndef FAILURE_CLASS_H
#define FAILURE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

/* Longest message of a failure, in bytes. */
#define FAILURE_MESSAGE_MAX 4096

/* What is known of a failure; absent and 0: nothing. */
struct failure_facts {
	struct str message; /* the engine's */
	struct str output;  /* the last lines that were not read */
	int64_t status;     /* of HTTP, or the engine's own code */
	int exit_code, signal;
	bool not_started; /* the command could not be executed */
	struct str engine;
	bool resumed; /* a session was to be resumed */
};

struct failure_class {
	const char *code;
	bool retryable; /* the same may succeed later, without a change */
};

/* failure_classify(f): Words count more than a status, that more than an exit.
 */
struct failure_class failure_classify(const struct failure_facts *f);

/*
 * failure_is_budget(f): Whether the model proxy has rejected a call of the
 * engine because the run has used up its tokens.
 */
bool failure_is_budget(const struct failure_facts *f);

/* failure_clean(text, out): Append text on one line, without secrets. */
void failure_clean(struct str text, struct buf *out);

/*
 * failure_message(f, out): Append what the engine or its provider says of the
 * failure, without secrets, on one line, at most FAILURE_MESSAGE_MAX bytes; if
 * it says nothing, how it ended.
 */
void failure_message(const struct failure_facts *f, struct buf *out);

#endif /* !FAILURE_CLASS_H */
