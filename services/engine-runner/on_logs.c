/*
 * What is on this runner's disk: output of engines, and files of workspaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "handlers.h"
#include "procsup/spool_format.h"
#include "state/run.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "workspace.h"

#define RANGE_MAX (512L * 1024)
#define FILE_MAX  (16L * 1024 * 1024)
#define ITEMS_MAX 2000
#define ARENA_MAX (8UL * 1024 * 1024)
#define REPLY_MAX (1024UL * 1024)
/* Requests at a time. */
#define CALLS_MAX 32

/* A request, in its fiber. */
struct logs_call {
	struct runner *runner;
	struct bus_msg *msg;
	struct arena *arena;
	/* Fills the reply; RC_OK, or *why. */
	enum rc (*fn)(struct logs_call *c, struct buf *reply);
	const char *why, *code;
	/* Read on a thread. */
	int fd;
	char path[WORKSPACE_PATH_MAX + 64];
	const char *below; /* in the folder path; NULL: path is the file */
	int64_t from, to, size;
	struct str base64;
	struct buf text;
	int error;
};

/* ---- replies ---- */

static void
logs_reject(struct logs_call *c, enum rc rc)
{
	struct buf out = BUF_INIT(8192);
	struct trace trace;
	struct wire_error rep;

	if (!bus_msg_trace(c->msg, &trace))
		trace_new(&trace);
	rep = (struct wire_error){ .error = str_of(c->why),
		.code = str_of(c->code != NULL ? c->code : rc_name(rc)),
		.trace_id = str_of(trace.trace_id) };
	if (wire_encode(&wire_error_desc, &rep, &out, NULL) != RC_OK)
		buf_puts(&out, "{}");
	rc = bus_reply_error(c->msg, rc, buf_str(&out));
	if (rc != RC_OK)
		log_debug("run.reply_lost", LOG_RC(rc));
	buf_free(&out);
}

static void
logs_main(void *arg)
{
	struct logs_call *c = arg;
	struct buf reply = BUF_INIT(REPLY_MAX);
	struct runner *r = c->runner;
	enum rc rc = c->fn(c, &reply);

	if (rc != RC_OK) {
		logs_reject(c, rc);
	} else {
		rc = bus_reply(c->msg, buf_str(&reply));
		if (rc != RC_OK)
			log_debug("run.reply_lost", LOG_RC(rc));
	}
	buf_free(&reply);
	buf_free(&c->text);
	arena_free(c->arena);
	free(c);
	r->log_calls--;
	svc_release(r->svc);
}

static void
logs_begin(struct runner *r, struct bus_msg *m,
    enum rc (*fn)(struct logs_call *c, struct buf *reply))
{
	struct logs_call *c = mem_zalloc(sizeof(*c));

	*c = (struct logs_call){ .runner = r,
		.msg = m,
		.arena = arena_new(ARENA_MAX),
		.fn = fn,
		.why = "internal error",
		.fd = -1,
		.text = BUF_INIT(SPOOL_TEXT_MAX) };
	if (r->log_calls == CALLS_MAX || r->stopping) {
		c->why = "too many requests at a time: try again";
		logs_reject(c, RC_RETRY);
		arena_free(c->arena);
		free(c);
		return;
	}
	r->log_calls++;
	svc_hold(r->svc);
	fiber_start(logs_main, c);
}

static enum rc
logs_fail(struct logs_call *c, enum rc rc, const char *code, const char *why)
{
	c->code = code;
	c->why = why;
	return rc;
}

static enum rc
logs_missing(struct logs_call *c)
{
	return logs_fail(
	    c, RC_NOENT, "output_gone", "it is not on the runner's disk");
}

static enum rc
logs_encode(struct logs_call *c, const struct wire_desc *desc, const void *msg,
    struct buf *reply)
{
	struct wire_err err;
	enum rc rc = wire_encode(desc, msg, reply, &err);

	if (rc == RC_OK)
		return rc;
	log_error("run.reply", LOG_S("path", err.path), LOG_S("why", err.why));
	return logs_fail(c, RC_BUG, NULL, "internal error");
}

static enum rc
logs_decode(struct logs_call *c, const struct wire_desc *desc, void *msg)
{
	struct wire_err err;
	char text[WIRE_ERR_TEXT_MAX];
	enum rc rc =
	    wire_decode(desc, bus_msg_data(c->msg), c->arena, msg, &err);

	if (rc == RC_OK)
		return rc;
	wire_err_text(&err, text, sizeof(text));
	return logs_fail(c, rc, NULL, arena_str(c->arena, str_of(text)).p);
}

/* ---- bytes ---- */

/* At least one byte more than the caller has, if there is one. */
static void
logs_encode_range(struct logs_call *c, struct stat *st)
{
	unsigned char *bytes;
	char *out;
	ssize_t n;

	c->size = st->st_size;
	if (c->to < 0 || c->to > c->size)
		c->to = c->size;
	if (c->to < c->from)
		c->to = c->from;
	if (c->to - c->from > RANGE_MAX)
		c->to = c->from + RANGE_MAX;
	bytes = arena_bytes(c->arena, (size_t)(c->to - c->from) + 1);
	out = arena_bytes(c->arena, (size_t)(c->to - c->from) * 4 / 3 + 8);
	if (bytes == NULL || out == NULL) {
		c->error = ENOMEM;
		return;
	}
	n = pread(c->fd, bytes, (size_t)(c->to - c->from), c->from);
	if (n < 0)
		n = 0;
	c->to = c->from + n;
	c->base64 = (struct str){ out,
		(size_t)EVP_EncodeBlock((unsigned char *)out, bytes, (int)n) };
}

static void
logs_read(void *arg)
{
	struct logs_call *c = arg;
	struct stat st;

	c->fd = c->below != NULL
	    ? workspace_open(c->path, c->below)
	    : open(c->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (c->fd == -1) {
		c->error = errno;
		return;
	}
	if (fstat(c->fd, &st) != 0)
		c->error = errno;
	else
		logs_encode_range(c, &st);
	close(c->fd);
}

/* fn, on a thread for the disk. */
static enum rc
logs_work(struct logs_call *c, void (*fn)(void *arg))
{
	enum rc rc = runner_work(c->runner, fn, c);

	if (rc != RC_OK)
		return logs_fail(c, rc, NULL, "the runner is busy: try again");
	return RC_OK;
}

static enum rc
logs_output(struct logs_call *c, struct buf *reply)
{
	struct wire_run_log_request q;
	struct wire_run_log_range rep;
	struct workspace_paths p;
	enum rc rc = logs_decode(c, &wire_run_log_request_desc, &q);
	unsigned bucket;

	if (rc != RC_OK)
		return rc;
	if (run_id_bucket(q.run_id, &bucket) != RC_OK)
		return logs_missing(c);
	workspace_paths(
	    &p, c->runner->conf->runs_dir, q.run_id, q.run_id, q.attempt);
	(void)snprintf(c->path, sizeof(c->path), "%s/%s", p.spool,
	    q.stream == WIRE_RUN_LOG_REQUEST_STREAM_STDOUT ? SPOOL_STDOUT
							   : SPOOL_STDERR);
	c->from = q.from;
	c->to = q.has_to ? q.to : -1;
	rc = logs_work(c, logs_read);
	if (rc == RC_OK && c->error != 0)
		rc = logs_missing(c);
	if (rc != RC_OK)
		return rc;
	rep = (struct wire_run_log_range){ .run_id = q.run_id,
		.attempt = q.attempt,
		.stream = (enum wire_run_log_range_stream)q.stream,
		.from = c->from,
		.next = c->to,
		.size = c->size,
		.data = c->base64 };
	return logs_encode(c, &wire_run_log_range_desc, &rep, reply);
}

/* The record of a run of this runner; its files are those of its workspace. */
static enum rc
logs_record(struct logs_call *c, struct str run, struct run_record *rec)
{
	enum rc rc = run_read(c->runner->state, run, c->arena, rec);

	if (rc == RC_NOENT || rc == RC_INVALID)
		return logs_missing(c);
	if (rc != RC_OK)
		return logs_fail(
		    c, rc, NULL, "Redis is unavailable: try again later");
	return RC_OK;
}

static enum rc
logs_file(struct logs_call *c, struct buf *reply)
{
	struct wire_run_file_request q;
	struct wire_run_file_range rep;
	struct workspace_paths p;
	struct run_record rec;
	enum rc rc = logs_decode(c, &wire_run_file_request_desc, &q);

	if (rc == RC_OK)
		rc = logs_record(c, q.run_id, &rec);
	if (rc != RC_OK)
		return rc;
	workspace_paths(&p, c->runner->conf->runs_dir, rec.run_id,
	    rec.workspace, rec.attempt);
	if (!workspace_has(p.work))
		return logs_missing(c);
	(void)snprintf(c->path, sizeof(c->path), "%s", p.work);
	c->below = arena_str(c->arena, q.path).p;
	c->from = q.from;
	c->to = -1;
	rc = logs_work(c, logs_read);
	if (rc != RC_OK)
		return rc;
	if (c->error == EXDEV || c->error == ELOOP)
		return logs_fail(c, RC_INVALID, NULL,
		    "path: must be a file in the workspace");
	if (c->error != 0)
		return logs_fail(c, RC_NOENT, NULL, "there is no such file");
	if (c->size > FILE_MAX)
		return logs_fail(
		    c, RC_TOOBIG, NULL, "the file is larger than 16 MiB");
	rep = (struct wire_run_file_range){ .run_id = q.run_id,
		.path = q.path,
		.from = c->from,
		.next = c->to,
		.size = c->size,
		.data = c->base64 };
	return logs_encode(c, &wire_run_file_range_desc, &rep, reply);
}

/* ---- the list of files ---- */

static void
logs_read_files(void *arg)
{
	struct logs_call *c = arg;

	if (!workspace_has(c->path))
		c->error = ENOENT;
	else if (workspace_read(c->path, SPOOL_FILES, &c->text) != RC_OK)
		buf_reset(&c->text);
}

static void
logs_add_file(struct wire_run_files *rep, const struct spool_file *f)
{
	static const struct {
		struct str name;
		enum wire_run_files_items_change change;
	} changes[] = {
		{ STR_INIT("created"), WIRE_RUN_FILES_ITEMS_CHANGE_CREATED },
		{ STR_INIT("modified"), WIRE_RUN_FILES_ITEMS_CHANGE_MODIFIED },
		{ STR_INIT("deleted"), WIRE_RUN_FILES_ITEMS_CHANGE_DELETED },
	};
	struct wire_run_files_items *to = &rep->items[rep->n_items];
	size_t i;

	for (i = 0; i < NELEM(changes); i++) {
		if (!str_eq(changes[i].name, f->change))
			continue;
		*to = (struct wire_run_files_items){ .path = f->path,
			.bytes = f->bytes,
			.has_bytes = f->sha256.n > 0,
			.sha256 = f->sha256,
			.change = changes[i].change };
		rep->n_items++;
	}
}

static enum rc
logs_files(struct logs_call *c, struct buf *reply)
{
	struct wire_run_files rep;
	struct wire_run_files_request q;
	struct workspace_paths p;
	struct spool_file f;
	struct run_record rec;
	struct str text;
	enum rc rc = logs_decode(c, &wire_run_files_request_desc, &q);

	if (rc == RC_OK)
		rc = logs_record(c, q.run_id, &rec);
	if (rc != RC_OK)
		return rc;
	workspace_paths(&p, c->runner->conf->runs_dir, rec.run_id,
	    rec.workspace, rec.attempt > 0 ? rec.attempt : 1);
	(void)snprintf(c->path, sizeof(c->path), "%s", p.spool);
	rc = logs_work(c, logs_read_files);
	if (rc != RC_OK)
		return rc;
	if (c->error != 0)
		return logs_missing(c);
	rep = (struct wire_run_files){ .run_id = q.run_id };
	rep.items = arena_alloc(c->arena, ITEMS_MAX * sizeof(*rep.items));
	if (rep.items == NULL)
		return logs_fail(c, RC_TOOBIG, NULL, "too many files");
	text = buf_str(&c->text);
	while ((rc = spool_file_next(&text, c->arena, &f)) != RC_NOENT &&
	    rc != RC_TOOBIG) {
		if (rc == RC_OK && rep.n_items == ITEMS_MAX)
			break;
		if (rc == RC_OK)
			logs_add_file(&rep, &f);
	}
	rep.truncated = rc != RC_NOENT;
	return logs_encode(c, &wire_run_files_desc, &rep, reply);
}

/* ---- subscriptions ---- */

static void
logs_on_output(void *arg, struct bus_msg *m)
{
	logs_begin(arg, m, logs_output);
}

static void
logs_on_file(void *arg, struct bus_msg *m)
{
	logs_begin(arg, m, logs_file);
}

static void
logs_on_files(void *arg, struct bus_msg *m)
{
	logs_begin(arg, m, logs_files);
}

enum rc
logs_subscribe(struct runner *r)
{
	char subject[ID_TOKEN_MAX + 32];
	enum rc rc;

	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_RUN_LOGS, r->token);
	rc = bus_subscribe(r->bus, subject, NULL, logs_on_output, r, NULL);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_RUN_FILE, r->token);
	rc = bus_subscribe(r->bus, subject, NULL, logs_on_file, r, NULL);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_RUN_FILES, r->token);
	return bus_subscribe(r->bus, subject, NULL, logs_on_files, r, NULL);
}
