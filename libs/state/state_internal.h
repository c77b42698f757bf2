/*
 * state_internal: what the files of libs/state share: the client, replies,
 * calls of scripts, reading of records.
 */
#ifndef STATE_STATE_INTERNAL_H
#define STATE_STATE_INTERNAL_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "core/rate.h"
#include "core/url.h"
#include "state/keys.h"
#include "state/soul.h"
#include "state/state.h"
#include "state/turn.h"

/* An absent text, or no id. */
#define STR_NONE ((struct str){ NULL, 0 })

struct redisReplyObjectFunctions;

/* ---- client.c ---- */

#define STATE_ERROR_MAX 128

struct connection_opts {
	struct url url;
	int64_t db;
	char name[65];
	int deadline_ms;
};

/* A script that a client has run before. */
struct script_slot {
	const struct state_script *script;
	uint64_t loaded; /* number of the connection that has it */
	char sha[40];    /* as the server computed it */
};

struct connection;  /* an open connection to Redis */
struct connect_job; /* a job of the worker pool */

struct state {
	struct loop *loop;
	struct worker_pool *workers;
	struct connection_opts connection_opts;

	struct connection *connection; /* NULL: down */
	uint64_t number;               /* of the connection, from 1 */
	bool proven;                   /* it has answered a call */
	bool denied;                   /* the last attempt was */
	_Atomic bool up;
	struct loop_fd watch;
	struct connect_job *job;
	struct loop_timer reconnect;
	struct backoff backoff;
	struct log_rate log_failing;
	struct log_rate log_rejected;
	struct log_rate log_denied;
	struct log_rate log_script;

	struct script_slot scripts[STATE_SCRIPTS_MAX];
	size_t n_scripts;
	struct state_pipe *single; /* for state_cmd() and state_eval() */

	struct metric *m_up;
	struct metric *m_connects;
	struct metric *m_calls;
	struct metric *m_failures;
	struct metric *m_errors;
	struct metric *m_seconds;
};

/* ---- connection.c ---- */

/*
 * state_connection_start(o, s): Fill the connection's part of s, start
 * connecting. state_connection_stop(s):     Close; the result of a worker is
 * discarded.
 */
enum rc state_connection_start(
    const struct state_opts *o, struct state *s) RC_CHECK;
void state_connection_stop(struct state *s);

/* state_connection_check(s): RC_OK, or why no call may be sent. */
enum rc state_connection_check(struct state *s) RC_CHECK;

/* state_connection_break(s, why): Close the connection and reconnect. */
void state_connection_break(struct state *s, const char *why);

/* state_connection_proven(s): The connection has answered a call. */
void state_connection_proven(struct state *s);

/* Expected replies, in order. */
struct connection_replies {
	struct state_reply **reply; /* room for n; in memory of a */
	size_t n;
	size_t got;
	struct arena *a;
};

/*
 * state_connection_exchange(c, out, w, until, why):
 * Send out and wait for w->n replies; w->got is how many came, whatever the
 * result: RC_OK, RC_DOWN (nothing was sent), RC_TIMEOUT (something was), or
 * RC_TOOBIG (the replies exceed w->a).  After anything but RC_OK the connection
 * is unusable, and why is the error.
 */
enum rc state_connection_exchange(struct connection *c, struct str out,
    struct connection_replies *w, struct mono until,
    char why[STATE_ERROR_MAX]) RC_CHECK;

/*
 * resp_put(out, args, n): Append a command in Redis' protocol.
 * resp_put_count(out, n), resp_put_args(out, args, n): The same in parts: the
 * number of arguments, then some of them.
 */
void resp_put(struct buf *out, const struct str *args, size_t n);
void resp_put_count(struct buf *out, size_t n);
void resp_put_args(struct buf *out, const struct str *args, size_t n);

/* ---- pipeline.c ---- */

/*
 * state_pipe_run_single(p, out):
 * Run a pipeline of one command and hand its reply over to the caller, who
 * frees it; out may be NULL.  Returns the command's result.
 */
enum rc state_pipe_run_single(
    struct state_pipe *p, struct state_reply **out) RC_CHECK;

/* ---- reply.c ---- */

struct state_reply {
	enum state_kind kind;
	int64_t i;
	struct str s;
	struct state_reply *elem; /* an array's, n of them */
	size_t n;
	struct arena *owner; /* of a reply freed alone: its memory */
};

/* Where the parser puts replies; its private data. */
struct reply_sink {
	struct arena *a;
	bool over; /* a did not suffice */
};

/* reply_functions(f): The parser's callbacks. */
void reply_functions(struct redisReplyObjectFunctions *f);

/* reply_rc(r): What a reply means, as in state.h. */
enum rc reply_rc(const struct state_reply *r);

/* reply_error_is(r, code): Whether r is an error of that code (first word). */
bool reply_error_is(const struct state_reply *r, struct str code);

/*
 * reply_unusable(r):
 * Whether r is an error that a new connection may not have: the server became
 * a replica, loads its data, or wants a password again.
 */
bool reply_unusable(const struct state_reply *r);

/* ---- record.c: calls of scripts ---- */

#define SCRIPT_KEYS_MAX 8
#define SCRIPT_ARGS_MAX 520
#define SCRIPT_NUMS_MAX 8
#define SCRIPT_IDS_MAX  6

/* A call of a script under construction; large, and not to be copied. */
struct script_call {
	const struct state_script *script;
	enum rc rc; /* the first error */
	size_t n_keys, n_args, n_nums, n_ids;
	struct str keys[SCRIPT_KEYS_MAX];
	struct str args[SCRIPT_ARGS_MAX];
	char key_text[SCRIPT_KEYS_MAX][STATE_KEY_MAX];
	char num_text[SCRIPT_NUMS_MAX][STATE_NUM_MAX];
	char id_text[SCRIPT_IDS_MAX][2 * ID_TOKEN_MAX + 1];
};

/* call_begin(c, script): A call without keys and arguments. */
void call_begin(struct script_call *c, const struct state_script *script);

/*
 * call_key(c, pattern, a, b):
 * The next of KEYS; a and b are the ids for its '%', as many as it has.
 */
void call_key(
    struct script_call *c, const char *pattern, struct str a, struct str b);

/*
 * The next of ARGV: text, which must live until the call was made, and must
 * not be over max bytes; a number; an id's token; two ids' tokens with a
 * separator between them.
 */
void call_text(struct script_call *c, struct str text, size_t max);
void call_num(struct script_call *c, int64_t v);
void call_token(struct script_call *c, struct str id);
void call_tokens(struct script_call *c, struct str a, char sep, struct str b);

/*
 * call_run(s, c, want, out):
 * Call the script and return the code that its reply begins with, or why there
 * is none.  RC_BUG if it does not begin with an enum rc, or begins with RC_OK
 * and has less than want elements.  out may be NULL; *out may be NULL unless
 * RC_OK, and the caller frees it.
 */
enum rc call_run(struct state *s, struct script_call *c, size_t want,
    struct state_reply **out) RC_CHECK;

/* call_queue(p, c): Queue the call; its keys and arguments are copied. */
enum rc call_queue(struct state_pipe *p, struct script_call *c) RC_CHECK;

/*
 * turn_call(c, script, p):
 * Begin a call of a script of lib_turn_queue: the keys of the slot's queue,
 * process, session, events and turn, and the entry as first argument.
 */
void turn_call(struct script_call *c, const struct state_script *script,
    const struct turn_slot *p);

/* call_status(r, want): What call_run() returns for the reply r. */
enum rc call_status(const struct state_reply *r, size_t want) RC_CHECK;

/* ---- record.c: reading records ---- */

/* Reads values out of a reply; rc is the first error. */
struct record_reader {
	struct arena *a; /* texts are copied into it */
	enum rc rc;
};

/* A text; absent of nil. */
struct str record_text(struct record_reader *rd, const struct state_reply *r);

/* A number, as an integer or as text; 0 of nil. */
int64_t record_num(struct record_reader *rd, const struct state_reply *r);

/* The id whose token is r; absent of nil. */
struct str record_id(struct record_reader *rd, const struct state_reply *r);

/* record_end(rd, key): Its rc; RC_INVALID is logged with the record's key. */
enum rc record_end(const struct record_reader *rd, struct str key) RC_CHECK;

/* record_log_invalid(key, why): Log what was found instead of a record. */
void record_log_invalid(struct str key, struct str why);

/* ---- session.c ---- */

/*
 * session_append_fenced(s, k, turn, new, first):
 * As session_append(); with a turn (may be NULL) RC_CONFLICT unless it is the
 * head of the session's queue.
 */
enum rc session_append_fenced(struct state *s, const struct session_key *k,
    const struct turn_slot *turn, struct session_new new,
    int64_t *first) RC_CHECK;

/* The argument of scripts for session.pending; absent: unchanged. */
#define SESSION_PENDING_ARG(s) ((s).p == NULL ? STR("-") : (s))

/* ---- soul_state.c ---- */

/* Format byte and version before the state's bytes. */
#define SOUL_BLOB_HEAD 9
#define SOUL_BLOB_MAX  (SOUL_BLOB_HEAD + SOUL_STATE_MAX)

/*
 * soul_blob(dst, version, bytes):
 * The string stored for a state (of at most SOUL_STATE_MAX bytes), in dst.  Its
 * first SOUL_BLOB_HEAD bytes differ for each version.
 */
struct str soul_blob(
    char dst[SOUL_BLOB_MAX], int64_t version, struct str bytes);

/*
 * soul_state_parse(r, st, a):
 * Version and bytes of such a string into *st, copied into a; version 0 if it
 * is none.  RC_TOOBIG if it does not fit.
 */
enum rc soul_state_parse(const struct state_reply *r, struct soul_state *st,
    struct arena *a) RC_CHECK;

#endif /* !STATE_STATE_INTERNAL_H */
