/*
 * attempt: an attempt's spool as events of RASP/1.0, and how the attempt ended.
 *
 * Events are a pure function of the spool: the same bytes, however they are
 * divided among calls, give the same events.  Not thread-safe; memory is
 * bounded by the longest line and message that are read, 8 MiB each.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "engine.h"
#include "events/rasp.h"
#include "procsup/spool_format.h"

struct attempt;

struct attempt_opts {
	const struct engine *engine;
	const struct spool_meta *meta; /* lives until attempt_free() */
	/* Called for each event, in order; *e lives until it returns. */
	void (*event)(void *arg, const struct rasp_event *e);
	void *arg;
};

/*
 * attempt_new(o), attempt_free(a): Without events; freed with attempt_free(),
 * of which NULL is allowed.
 */
struct attempt *attempt_new(const struct attempt_opts *o);
void attempt_free(struct attempt *a);

/*
 * attempt_begin(a): The events that precede the engine's output: the reply that
 * it was started with, and that it runs.
 */
void attempt_begin(struct attempt *a);

/*
 * attempt_note(a, code, message): A warning about how the bytes that follow
 * were chosen; the texts are constants.
 */
void attempt_note(struct attempt *a, const char *code, const char *message);

/*
 * attempt_bytes(a, stream, bytes, ns):
 * The next bytes of a stream, all of one record of the journal or a part of
 * them, and its time.
 * attempt_record_end(a): The record's bytes are complete.
 */
void attempt_bytes(
    struct attempt *a, enum spool_stream stream, struct str bytes, int64_t ns);
void attempt_record_end(struct attempt *a);

/*
 * attempt_exit(a, x, files):
 * The engine has ended; files is the spool's file of that name, or absent.  The
 * last events, exactly one of which ends the attempt.
 */
void attempt_exit(
    struct attempt *a, const struct spool_exit *x, struct str files);

/* An end that is no engine's: RUN_LOST, WORKSPACE_GONE, REPLY_TIMEOUT. */
struct attempt_abort {
	const char *code;
	const char *message;
	bool retryable;
	/* The user has not replied to this in time; absent: no such matter. */
	struct str timeout_id;
};

/*
 * attempt_abort(a, why, ns): End a run at whose end no engine runs, instead of
 * all of the above.  code CANCELED: run.canceled.
 */
void attempt_abort(
    struct attempt *a, const struct attempt_abort *why, int64_t ns);

enum attempt_end {
	ATTEMPT_RUNNING,
	ATTEMPT_COMPLETED,
	ATTEMPT_WAITING, /* for the user's reply */
	ATTEMPT_FAILED,
	ATTEMPT_CANCELED
};

/* What is known of an attempt so far; texts live until attempt_free(). */
struct attempt_result {
	enum attempt_end end;
	struct str handle;       /* of the engine's session; absent: none */
	int64_t end_signal_ns;   /* when the engine gave it; 0: not yet */
	int64_t rasp_seq;        /* of the last event */
	int64_t unparsed_lines;  /* lines of stdout that are no rows */
	const char *reason;      /* ATTEMPT_COMPLETED */
	struct fcmp_error error; /* ATTEMPT_FAILED, _CANCELED */
	const struct fcmp_question *question; /* ATTEMPT_WAITING */
	struct rasp_usage usage;
};

/* attempt_result(a): Valid until attempt_free(); it changes with a. */
const struct attempt_result *attempt_result(const struct attempt *a);

#endif /* !ATTEMPT_H */
