/*
 * attempt_internal: what the files of attempt.h share.  Private.
 */
#ifndef ATTEMPT_INTERNAL_H
#define ATTEMPT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "attempt.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "fcmp/done_marker.h"
#include "spool/lines.h"

#define ATTEMPT_MESSAGE_MAX  (8UL * 1024 * 1024)
#define ATTEMPT_EVIDENCE_MAX 16384
#define ATTEMPT_ARENA_MAX    (1024UL * 1024)
#define ATTEMPT_ID_MAX       48

/* Lines of a stream that were not read. */
struct attempt_block {
	bool used;
	uint64_t from, to;
	int64_t ns;
	int64_t lines, unparsed;
	struct buf text;
};

/* The message that is being received. */
struct attempt_message {
	bool open;
	struct done_marker *text;
	struct buf item; /* the engine's id of it */
	char id[ATTEMPT_ID_MAX];
	enum spool_stream stream;
	uint64_t from, to, delta_from;
	int64_t ns;
	double confidence;
	bool delta;      /* text came since the last delta */
	size_t released; /* bytes in deltas */
};

/* What the end is decided from. */
struct attempt_evidence {
	bool end_signal;
	struct fact end_at; /* where it was given */
	bool failed;
	struct fact failed_at;
	struct buf failure; /* what the engine says of it */
	int64_t status;
	bool marker;
	struct fact marker_at;
	struct buf prompt;               /* the beginning of the last message */
	struct buf payload;              /* the object that ends it */
	bool question_set, question_row; /* by the engine's own row */
	struct buf output[SPOOL_STREAMS_N]; /* the last lines not read */
};

struct attempt {
	struct attempt_opts o;
	struct attempt_result result;
	struct arena *arena;
	struct adapter_state *adapter;
	struct lines lines;
	struct attempt_block blocks[SPOOL_STREAMS_N];
	struct attempt_message message;
	int64_t messages;
	struct attempt_evidence seen;
	struct fcmp_question question;
	char question_id[ATTEMPT_ID_MAX];
	struct buf handle;
	struct buf scratch[2];
	uint64_t ends[SPOOL_STREAMS_N]; /* bytes so far */
	int64_t ns;                     /* of the last event */
	int64_t ts_ns;                  /* what ts is of */
	char ts[RASP_TS_MAX];           /* empty: none yet */
	int64_t retries;
	bool unsure; /* LOW_CONFIDENCE_PARSE was reported */
	/* Lines of which UNPARSED_OUTPUT has not been reported. */
	int64_t unreported;
	bool unparsed_reported;
	struct fact unreported_at;
};

/* attempt_emit(a, e): Complete *e and give it to the owner. */
void attempt_emit(struct attempt *a, struct rasp_event *e);

/* attempt_at(a, type, f): An event made from the bytes of *f. */
struct rasp_event attempt_at(
    const struct attempt *a, enum rasp_type type, const struct fact *f);

/* attempt_control(a, type): An event of the runner, at the end of all bytes. */
struct rasp_event attempt_control(const struct attempt *a, enum rasp_type type);

/* attempt_warn(a, f, code, message, count): parser.warning about bytes; f may
 * be NULL. */
void attempt_warn(struct attempt *a, const struct fact *f, const char *code,
    struct str message, int64_t count);

/* attempt_flush(a): Report what was collected: deltas, lines not read. */
void attempt_flush(struct attempt *a);

/* attempt_message_end(a): The open message, if any, is complete. */
void attempt_message_end(struct attempt *a);

/* attempt_on_fact(arg, f): A fact of the adapter; arg is the attempt. */
void attempt_on_fact(void *arg, const struct fact *f);

/* attempt_decide(a, x): The event that ends the attempt. */
void attempt_decide(struct attempt *a, const struct spool_exit *x);

#endif /* !ATTEMPT_INTERNAL_H */
