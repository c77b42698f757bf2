/*
 * "<service> dead".  One request to the stream at a time: a command that is
 * killed has done exactly what it printed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "svc/svc.h"
#include "wire/subjects.h"
#include "wire/wire.h"
#include "work/dead_letter.h"
#include "work/work.h"

enum dead_exit {
	DEAD_DONE = 0,
	DEAD_FAILED = 1, /* something was not done */
	DEAD_USAGE = 64,
	DEAD_NO_NATS = 69
};

enum dead_verb { DEAD_LIST, DEAD_SHOW, DEAD_REPLAY, DEAD_DROP };

struct dead_opts {
	enum dead_verb verb;
	bool json, raw; /* output format: JSON, or the bytes only */
	bool all;       /* all that exist now, oldest first; else seqs */
	int64_t *seqs;
	size_t nseqs;
};

#define CONNECT_MS 5000
#define REPLY_MS   5000
#define INBOX      256
#define TEXT_MAX   (16 * 1024 * 1024)

struct dead_session {
	const char *service;
	const char *const *kinds; /* of the service, then NULL */
	const struct dead_opts *opts;
	size_t next; /* index in opts->seqs */
	struct loop *loop;
	struct bus *bus;
	struct loop_timer timer; /* until connected */
	bool started, over;
	int64_t at, last;  /* next and last of all */
	int64_t seq;       /* being processed */
	int64_t stored_as; /* sequence number of the replayed job */
	size_t done;
	enum dead_exit code;
};

static void dead_next(struct dead_session *d);

/* ---- reporting ---- */

/* Report the result for the current one. */
static void
dead_report(struct dead_session *d, const char *what)
{
	char line[512];

	d->done++;
	snprintf(line, sizeof(line), "%lld: %s\n", (long long)d->seq, what);
	svc_out(str_of(line));
}

/* The current one failed; continue with the others. */
static void
dead_fail(struct dead_session *d, const char *why)
{
	d->code = DEAD_FAILED;
	fprintf(stderr, "%lld: %s\n", (long long)d->seq, why);
}

static void
dead_end(struct dead_session *d)
{
	d->over = true;
	loop_stop(d->loop);
}

static void
dead_give_up(struct dead_session *d, enum dead_exit code, const char *why)
{
	if (d->over)
		return;
	fprintf(stderr, "%s dead: %s\n", d->service, why);
	d->code = code;
	dead_end(d);
}

/* The stream is unusable. */
static void
dead_stop(struct dead_session *d, enum rc rc)
{
	switch (rc) {
	case RC_INVALID:
		dead_give_up(d, DEAD_FAILED,
		    "this NATS has no stream " DEAD_LETTER_STREAM
		    ", which the service creates when it starts; check "
		    "NATS_URL");
		break;
	case RC_DENIED:
		dead_give_up(d, DEAD_NO_NATS,
		    "this NATS has no JetStream (nats-server -js)");
		break;
	case RC_DOWN:
		dead_give_up(d, DEAD_NO_NATS,
		    "lost the connection to NATS; repeat the command later");
		break;
	case RC_TIMEOUT:
		dead_give_up(d, DEAD_NO_NATS, "NATS does not reply in time");
		break;
	default:
		dead_give_up(d, DEAD_FAILED,
		    "NATS rejected the request; see the log line above");
	}
}

static struct bus_stream_query
dead_query(struct dead_session *d, bus_stream_query_fn fn)
{
	return (struct bus_stream_query){ .stream = DEAD_LETTER_STREAM,
		.deadline = { clock_wall().ms + REPLY_MS },
		.fn = fn,
		.arg = d };
}

/* ---- replaying and dropping ---- */

static void
dead_on_deleted(void *arg, enum rc rc, const struct bus_stream_result *a)
{
	struct dead_session *d = arg;
	char text[160];

	(void)a;
	if (d->opts->verb == DEAD_DROP && rc == RC_OK) {
		dead_report(d, "dropped");
	} else if (d->opts->verb == DEAD_DROP && rc == RC_NOENT) {
		dead_fail(d, "no such dead letter");
	} else if (d->opts->verb == DEAD_DROP) {
		dead_stop(d, rc);
		return;
	} else {
		snprintf(text, sizeof(text), "replayed as " WORK_STREAM " %lld",
		    (long long)d->stored_as);
		dead_report(d, text);
		/* Another operator may have deleted it. */
		if (rc != RC_OK && rc != RC_NOENT) {
			dead_fail(d,
			    "but its dead letter was not deleted; replaying it "
			    "again is safe");
			dead_stop(d, rc);
			return;
		}
	}
	dead_next(d);
}

static void
dead_delete(struct dead_session *d)
{
	struct bus_stream_query q = dead_query(d, dead_on_deleted);
	enum rc rc = bus_stream_msg_delete(d->bus, &q, d->seq);

	if (rc != RC_OK)
		dead_on_deleted(d, rc, NULL);
}

static void
dead_on_published(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct dead_session *d = arg;

	if (rc == RC_OK) {
		d->stored_as = stored->seq;
		dead_delete(d);
	} else if (rc == RC_DOWN || rc == RC_TIMEOUT) {
		dead_fail(d,
		    "it may have been replayed; its dead letter is still "
		    "there, and replaying it again is safe");
		dead_stop(d, rc);
	} else {
		dead_fail(d,
		    rc == RC_NOENT
			? "not replayed: no stream accepts jobs of its kind "
			  "now; the service creates it when it starts, and "
			  "a cluster of NATS elects its leader in seconds"
			: "not replayed: NATS rejected it");
		dead_next(d);
	}
}

static void
dead_replay(struct dead_session *d, const struct dead_letter *l)
{
	char kind[WORK_KIND_MAX + 1], subject[128], id[96], seq[32];
	char item[DEAD_LETTER_ID_MAX + 1];
	const struct bus_header headers[] = { { DEAD_LETTER_REPLAYED, seq },
		{ DEAD_LETTER_ID, item } };
	struct trace trace;
	struct bus_meta meta = { .deadline = { clock_wall().ms + REPLY_MS },
		.msg_id = id,
		.headers = headers,
		.nheaders = l->item_id.n > 0 ? 2 : 1 };
	enum rc rc;

	str_copy(l->item_id, item, sizeof(item));
	str_copy(l->kind, kind, sizeof(kind));
	snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_JOB, kind);
	snprintf(seq, sizeof(seq), "%lld", (long long)l->seq);
	/* Not the job's own id, which the stream may still remember; the same
	 * for a replay after a failed deletion. */
	snprintf(id, sizeof(id), DEAD_LETTER_STREAM ".%s.%lld", seq,
	    (long long)l->at.ms);
	if (trace_parse(bus_stream_msg_header(l->m, "traceparent"), &trace) ==
	    RC_OK)
		meta.trace = &trace;
	rc = bus_stream_publish(d->bus, subject, l->m->data, &meta,
	    (struct bus_pub_ack_handler){ dead_on_published, d });
	if (rc != RC_OK)
		dead_on_published(d, rc, NULL);
}

/* ---- reading ---- */

/* Print l; false if stdout is closed. */
static bool
dead_print(const struct dead_session *d, const struct dead_letter *l)
{
	struct buf out = BUF_INIT(TEXT_MAX);
	enum rc rc;

	if (d->opts->raw)
		buf_put_str(&out, l->m->data);
	else if (d->opts->json)
		dead_letter_write_json(l, &out);
	else if (d->opts->verb == DEAD_SHOW)
		dead_letter_write_full(l, &out);
	else
		dead_letter_write_line(l, &out);
	rc = svc_out(buf_str(&out));
	buf_free(&out);
	return rc == RC_OK;
}

/* Whether it is the service's; others share the stream. */
static bool
dead_is_own(const struct dead_session *d, const struct dead_letter *l)
{
	size_t i;

	for (i = 0; d->kinds[i] != NULL; i++)
		if (str_eq(l->kind, str_of(d->kinds[i])))
			return true;
	return false;
}

static void
dead_found(struct dead_session *d, const struct bus_stream_msg *m)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct dead_letter l;

	d->seq = m->seq;
	d->at = m->seq + 1;
	dead_letter_read(m, a, &l);
	if (!dead_is_own(d, &l)) {
		if (!d->opts->all)
			dead_fail(d, "no such dead letter of this service");
		dead_next(d);
	} else if (d->opts->verb == DEAD_DROP) {
		dead_delete(d);
	} else if (d->opts->verb == DEAD_REPLAY) {
		dead_replay(d, &l);
	} else if (dead_print(d, &l)) {
		d->done++;
		dead_next(d);
	} else {
		dead_end(d);
	}
	arena_free(a);
}

static void
dead_on_found(void *arg, enum rc rc, const struct bus_stream_result *a)
{
	struct dead_session *d = arg;

	if (rc == RC_OK && d->opts->all && a->m.seq > d->last) {
		dead_end(d);
	} else if (rc == RC_OK) {
		dead_found(d, &a->m);
	} else if (rc == RC_NOENT && d->opts->all) {
		dead_end(d);
	} else if (rc == RC_NOENT) {
		dead_fail(d, "no such dead letter");
		dead_next(d);
	} else {
		dead_stop(d, rc);
	}
}

/* Process the next one, or end. */
static void
dead_next(struct dead_session *d)
{
	struct bus_stream_query q = dead_query(d, dead_on_found);
	enum rc rc = RC_OK;

	if (d->over)
		return;
	if (d->opts->all ? d->at > d->last : d->next == d->opts->nseqs) {
		dead_end(d);
		return;
	}
	if (d->opts->all) {
		rc = bus_stream_msg_next(d->bus, &q, d->at);
	} else {
		d->seq = d->opts->seqs[d->next++];
		rc = bus_stream_msg_get(d->bus, &q, d->seq);
	}
	if (rc != RC_OK)
		dead_stop(d, rc);
}

/* ---- starting ---- */

/* Later dead letters are excluded: a replayed job may become one again. */
static void
dead_on_info(void *arg, enum rc rc, const struct bus_stream_result *a)
{
	struct dead_session *d = arg;

	if (rc != RC_OK) {
		dead_stop(d, rc);
		return;
	}
	d->last = a->last_seq;
	d->at = 1;
	dead_next(d);
}

static void
dead_on_state(void *arg, bool up)
{
	struct dead_session *d = arg;
	struct bus_stream_query q = dead_query(d, dead_on_info);
	enum rc rc;

	if (!up) {
		dead_stop(d, RC_DOWN);
		return;
	}
	loop_timer_cancel(d->loop, &d->timer);
	if (d->started)
		return;
	d->started = true;
	rc = bus_stream_info(d->bus, &q);
	if (rc != RC_OK)
		dead_stop(d, rc);
}

static void
dead_on_timeout(void *arg)
{
	dead_give_up(
	    arg, DEAD_NO_NATS, "no NATS server in NATS_URL can be reached");
}

/*
 * Execute a command in a loop of its own.  Results go to stdout, failures to
 * stderr, each as it occurs; *done counts the successes.  Blocks until the end;
 * waits 5 s for a connection and 5 s for each reply.
 */
static enum dead_exit
dead_execute(
    const struct svc_run *r, const struct dead_opts *opts, size_t *done)
{
	struct dead_session d = {
		.service = r->service, .kinds = r->arg, .opts = opts
	};
	struct bus_opts o = *r->bus;

	*done = 0;
	d.loop = loop_new(INBOX);
	o.loop = d.loop;
	o.on_state = dead_on_state;
	o.arg = &d;
	if (bus_new(&o, &d.bus) != RC_OK) {
		fprintf(stderr,
		    "%s dead: NATS_URL must be a list of nats://host:port\n",
		    d.service);
		loop_free(d.loop);
		return DEAD_NO_NATS;
	}
	loop_timer_set(d.loop, &d.timer, mono_add_ms(clock_mono(), CONNECT_MS),
	    dead_on_timeout, &d);
	loop_run(d.loop);
	loop_timer_cancel(d.loop, &d.timer);
	d.over = true;
	bus_free(d.bus);
	loop_free(d.loop);
	*done = d.done;
	return d.code;
}

static int
dead_usage_error(const struct svc_run *r, const char *why, const char *what)
{
	fprintf(stderr, "%s dead: %s%s; see %s dead --help\n", r->service, why,
	    what, r->service);
	return DEAD_USAGE;
}

/* Arguments after the verb; DEAD_DONE, or DEAD_USAGE after an error message. */
static int
dead_parse_args(struct dead_opts *d, const struct svc_run *r)
{
	int i;

	for (i = 2; i < r->argc; i++) {
		const char *s = r->argv[i];

		if (d->verb == DEAD_LIST && strcmp(s, "--json") == 0)
			d->json = true;
		else if (d->verb == DEAD_SHOW && strcmp(s, "--raw") == 0)
			d->raw = true;
		else if (d->verb == DEAD_REPLAY && strcmp(s, "--all") == 0)
			d->all = true;
		else if (d->verb == DEAD_LIST ||
		    str_to_i64(str_of(s), 1, INT64_MAX, &d->seqs[d->nseqs]) !=
			RC_OK)
			return dead_usage_error(r, "unknown argument: ", s);
		else
			d->nseqs++;
	}
	if (d->verb == DEAD_LIST)
		d->all = true;
	else if (d->all && d->nseqs > 0)
		return dead_usage_error(r, "give either --all or numbers", "");
	else if (!d->all && d->nseqs == 0)
		return dead_usage_error(
		    r, "give the numbers, as listed by \"list\"", "");
	else if (d->verb == DEAD_SHOW && d->nseqs > 1)
		return dead_usage_error(r, "show takes one number", "");
	return DEAD_DONE;
}

static void
dead_print_count(const struct dead_opts *d, enum dead_exit code, size_t done)
{
	char line[64];

	if (!d->all || d->json)
		return;
	if (done > 0 && d->verb == DEAD_LIST) {
		snprintf(line, sizeof(line), "%zu dead letter%s\n", done,
		    done == 1 ? "" : "s");
		svc_out(str_of(line));
	} else if (done == 0 && code == DEAD_DONE) {
		svc_out(STR("no dead letters\n"));
	}
}

int
work_dead_run(const struct svc_run *r)
{
	static const char *const verbs[] = { [DEAD_LIST] = "list",
		[DEAD_SHOW] = "show",
		[DEAD_REPLAY] = "replay",
		[DEAD_DROP] = "drop" };
	struct dead_opts d = { 0 };
	size_t v = 0, done;
	int code;

	while (r->argc > 1 && v < NELEM(verbs) &&
	    strcmp(r->argv[1], verbs[v]) != 0)
		v++;
	if (r->argc < 2 || v == NELEM(verbs))
		return dead_usage_error(
		    r, "expected list, show, replay or drop", "");
	d.verb = (enum dead_verb)v;
	d.seqs = mem_calloc((size_t)r->argc, sizeof(*d.seqs));
	code = dead_parse_args(&d, r);
	if (code == DEAD_DONE) {
		code = dead_execute(r, &d, &done);
		dead_print_count(&d, code, done);
	}
	free(d.seqs);
	return code;
}

const char work_dead_usage[] =
    "list [--json]\nshow SEQ [--raw]\nreplay SEQ... | --all\ndrop SEQ...";

const char work_dead_help[] =
    "  list    all, oldest first: number, time, job, user and soul, "
    "deliveries and\n"
    "          reason, start of the text; --json: one object a line, "
    "with the whole text\n"
    "  show    one with all its fields; --raw: its bytes only\n"
    "  replay  publish the job again, then delete its dead letter\n"
    "  drop    delete the dead letter\n"
    "\n"
    "Replaying a job twice has one effect, because the service knows the "
    "job's id.  A job\n"
    "that is malformed, or fails again, becomes a dead letter with a "
    "new number; --all\n"
    "means all that exist when the command starts.  Dead letters are "
    "stored 30 days.\n\n"
    "Only NATS_URL, NATS_USER and NATS_PASSWORD are needed, and the service "
    "need not\n"
    "run, except to process replayed jobs.\n\n"
    "Exit codes: 0 success, 1 something failed (see stderr), 64 bad "
    "arguments, 69 NATS\n"
    "unavailable, 78 bad configuration.\n";
