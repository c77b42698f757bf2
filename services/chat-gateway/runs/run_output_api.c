/*
 * What a run has written and changed: on the disk of its runner, which is asked
 * for it.
 */
#include <stdio.h>

#include "core/arena.h"
#include "core/id.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "runs/run_call.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define NO_RESPONSE "the run's runner does not answer: see that it runs"
#define BYTES_MAX   9007199254740991
#define PATH_CHARS  1024

/* The run's runner in a subject.  False: it has none, c has been ended. */
static bool
run_output_runner(
    struct svc_call *c, const struct run_record *rec, char token[ID_TOKEN_MAX])
{
	if (rec->runner.n > 0 && id_token(rec->runner, token) == RC_OK)
		return true;
	svc_fail_as(c,
	    &(struct svc_error){ 410, "output_gone", "the run has no runner" });
	return false;
}

/* subject is in the memory of c. */
static void
run_output_send(struct gateway *g, struct svc_call *c,
    struct service_call_peer *peer, struct str subject, const void *msg)
{
	struct service_call_peer *stored =
	    arena_alloc(svc_call_arena(c), sizeof(*stored));

	if (subject.p == NULL || stored == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*stored = *peer;
	stored->subject = subject.p;
	stored->missing = NO_RESPONSE;
	service_call_send(g, c, stored, msg, NULL);
}

/* A number of the query; absent: unchanged.  False: c has been ended. */
static bool
run_output_bytes(struct svc_call *c, const char *name, int64_t *out)
{
	struct str text = svc_call_query(c, name);

	if (text.p == NULL || str_to_i64(text, 0, BYTES_MAX, out) == RC_OK)
		return true;
	gateway_reject(c, RC_INVALID, "%s: must be a number of bytes", name);
	return false;
}

/* ---- output ---- */

static bool
run_logs_stream(struct svc_call *c, enum wire_run_log_request_stream *out)
{
	struct str name = svc_call_query(c, "stream");
	int i;

	for (i = WIRE_RUN_LOG_REQUEST_STREAM_STDOUT;
	     i <= WIRE_RUN_LOG_REQUEST_STREAM_STDERR; i++)
		if (str_eq(name, wire_run_log_request_stream_names[i])) {
			*out = (enum wire_run_log_request_stream)i;
			return true;
		}
	svc_fail(c, RC_INVALID, "stream: must be stdout or stderr");
	return false;
}

static bool
run_logs_attempt(
    struct svc_call *c, const struct run_record *rec, int64_t *attempt)
{
	struct str text = svc_call_query(c, "attempt");

	*attempt = rec->attempt;
	if (text.p != NULL &&
	    str_to_i64(text, 1, rec->attempt, attempt) != RC_OK) {
		svc_fail(
		    c, RC_INVALID, "attempt: must be the number of an attempt");
		return false;
	}
	if (rec->attempt > 0)
		return true;
	svc_fail_as(c,
	    &(struct svc_error){
		410, "output_gone", "no attempt of the run has begun" });
	return false;
}

static bool
run_logs_read_query(struct svc_call *c, const struct run_record *rec,
    struct wire_run_log_request *req)
{
	if (!run_logs_stream(c, &req->stream) ||
	    !run_logs_attempt(c, rec, &req->attempt) ||
	    !run_output_bytes(c, "from", &req->from))
		return false;
	req->has_to = svc_call_has_query(c, "to");
	if (!run_output_bytes(c, "to", &req->to))
		return false;
	if (!req->has_to || req->to >= req->from)
		return true;
	svc_fail(c, RC_INVALID,
	    "to: must be a number of bytes that is not below from");
	return false;
}

void
on_runs_logs(void *app, struct svc_call *c)
{
	struct service_call_peer peer = { .request = &wire_run_log_request_desc,
		.reply = &wire_run_log_range_desc,
		.timeout_ms = WIRE_DEADLINE_MS_RUN_LOGS };
	struct wire_run_log_request req = { 0 };
	char token[ID_TOKEN_MAX];
	struct run_record rec;

	if (!run_call_read(app, c, &rec) ||
	    !run_logs_read_query(c, &rec, &req) ||
	    !run_output_runner(c, &rec, token))
		return;
	req.run_id = rec.run_id;
	run_output_send(app, c, &peer,
	    arena_printf(svc_call_arena(c), WIRE_SUBJECT_FMT_RUN_LOGS, token),
	    &req);
}

/* ---- files ---- */

void
on_runs_files(void *app, struct svc_call *c)
{
	struct service_call_peer peer = { .request =
					      &wire_run_files_request_desc,
		.reply = &wire_run_files_desc,
		.timeout_ms = WIRE_DEADLINE_MS_RUN_FILES };
	struct wire_run_files_request req;
	char token[ID_TOKEN_MAX];
	struct run_record rec;

	if (!run_call_read(app, c, &rec) || !run_output_runner(c, &rec, token))
		return;
	req.run_id = rec.run_id;
	run_output_send(app, c, &peer,
	    arena_printf(svc_call_arena(c), WIRE_SUBJECT_FMT_RUN_FILES, token),
	    &req);
}

/* The runner checks it against its disk. */
static bool
run_file_path(struct svc_call *c, struct str *path)
{
	struct str rest, part;

	*path = svc_call_query(c, "path");
	rest = *path;
	if (rest.n > 0 && rest.n <= PATH_CHARS && rest.p[0] != '/') {
		do {
			part = str_split(&rest, '/');
			if (part.n == 0 || str_eq(part, STR(".")) ||
			    str_eq(part, STR("..")))
				break;
		} while (rest.p != NULL);
		if (rest.p == NULL && part.n > 0 && !str_eq(part, STR(".")) &&
		    !str_eq(part, STR("..")))
			return true;
	}
	svc_fail(c, RC_INVALID, "path: must be a file in the workspace");
	return false;
}

void
on_runs_file(void *app, struct svc_call *c)
{
	struct service_call_peer peer = { .request =
					      &wire_run_file_request_desc,
		.reply = &wire_run_file_range_desc,
		.timeout_ms = WIRE_DEADLINE_MS_RUN_FILE };
	struct wire_run_file_request req = { 0 };
	char token[ID_TOKEN_MAX];
	struct run_record rec;

	if (!run_call_read(app, c, &rec) || !run_file_path(c, &req.path) ||
	    !run_output_bytes(c, "from", &req.from) ||
	    !run_output_runner(c, &rec, token))
		return;
	req.run_id = rec.run_id;
	run_output_send(app, c, &peer,
	    arena_printf(svc_call_arena(c), WIRE_SUBJECT_FMT_RUN_FILE, token),
	    &req);
}
