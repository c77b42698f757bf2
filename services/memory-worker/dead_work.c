/*
 * One question to the stream after the other, each asked when the one before is
 * answered: a command that is killed has done what it said and nothing else.
 */
#include "dead_work.h"

#include <stdio.h>
#include <string.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "grave.h"
#include "letter.h"
#include "svc/svc.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define CONNECT_MS 5000
#define ANSWER_MS  5000
#define INBOX      256
#define KIND_MAX   64
#define TEXT_MAX   (16 * 1024 * 1024)

struct dead {
	const struct dead_ask *ask;
	size_t next; /* of the ask's seqs */
	struct loop *loop;
	struct bus *bus;
	struct loop_timer timer; /* until connected */
	bool begun, over;
	int64_t at, last;  /* of the walk */
	int64_t seq;       /* in hand */
	int64_t stored_as; /* where it went */
	size_t done;
	enum dead_exit code;
};

static void step(struct dead *d);

/* ---- telling ---------------------------------------------------------------
 */

/* Say what became of the one in hand. */
static void
tell(struct dead *d, const char *what)
{
	char line[512];

	d->done++;
	snprintf(line, sizeof(line), "%lld: %s\n", (long long)d->seq, what);
	svc_out(str_of(line));
}

/* The one in hand could not be done; the others may. */
static void
fail(struct dead *d, const char *why)
{
	d->code = DEAD_FAILED;
	fprintf(stderr, "%lld: %s\n", (long long)d->seq, why);
}

static void
end(struct dead *d)
{
	d->over = true;
	loop_stop(d->loop);
}

static void
give_up(struct dead *d, enum dead_exit code, const char *why)
{
	if (d->over)
		return;
	fprintf(stderr, "memory-worker dead: %s\n", why);
	d->code = code;
	end(d);
}

/* The stream did not answer as it should; there is no going on. */
static void
stop_at(struct dead *d, enum rc rc)
{
	switch (rc) {
	case RC_INVALID:
		give_up(d, DEAD_FAILED,
		    "nothing was ever put aside: this NATS has no stream " DEAD
		    ", which memory-worker makes when it starts; is NATS_URL "
		    "right?");
		break;
	case RC_DENIED:
		give_up(d, DEAD_NO_NATS,
		    "this NATS has no JetStream (nats-server -js)");
		break;
	case RC_DOWN:
		give_up(d, DEAD_NO_NATS,
		    "NATS has gone; start again when it is back");
		break;
	case RC_TIMEOUT:
		give_up(d, DEAD_NO_NATS, "NATS does not answer in time");
		break;
	default:
		give_up(d, DEAD_FAILED,
		    "NATS refuses; the log line above says why");
	}
}

static struct bus_stream_query
question(struct dead *d, bus_stream_query_fn fn)
{
	return (struct bus_stream_query){ .stream = DEAD,
		.deadline = { clock_wall().ms + ANSWER_MS },
		.fn = fn,
		.arg = d };
}

/* ---- replaying and dropping ------------------------------------------------
 */

static void
on_deleted(void *arg, enum rc rc, const struct bus_stream_result *a)
{
	struct dead *d = arg;
	char text[160];

	(void)a;
	if (d->ask->verb == DEAD_DROP && rc == RC_OK) {
		tell(d, "dropped");
	} else if (d->ask->verb == DEAD_DROP && rc == RC_NOENT) {
		fail(d, "is not put aside");
	} else if (d->ask->verb == DEAD_DROP) {
		stop_at(d, rc);
		return;
	} else {
		snprintf(text, sizeof(text), "replayed as " JOBS " %lld",
		    (long long)d->stored_as);
		tell(d, text);
		/* Somebody else may have deleted it. */
		if (rc != RC_OK && rc != RC_NOENT) {
			fail(d,
			    "but it is still put aside; to replay it once more "
			    "does no harm");
			stop_at(d, rc);
			return;
		}
	}
	step(d);
}

static void
take_away(struct dead *d)
{
	struct bus_stream_query q = question(d, on_deleted);
	enum rc rc = bus_stream_msg_delete(d->bus, &q, d->seq);

	if (rc != RC_OK)
		on_deleted(d, rc, NULL);
}

static void
on_stored(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct dead *d = arg;

	if (rc == RC_OK) {
		d->stored_as = stored->seq;
		take_away(d);
	} else if (rc == RC_DOWN || rc == RC_TIMEOUT) {
		fail(d,
		    "whether it was replayed is not known; it is still put "
		    "aside, and to replay it once more does no harm");
		stop_at(d, rc);
	} else {
		fail(d,
		    rc == RC_NOENT
			? "is not replayed: no stream takes jobs of its kind; "
			  "memory-worker makes it when it starts"
			: "is not replayed: NATS does not take it");
		step(d);
	}
}

static void
replay(struct dead *d, const struct letter *l)
{
	char kind[KIND_MAX + 1], subject[128], id[96], seq[32];
	const struct bus_header header = { LETTER_REPLAYED, seq };
	struct trace trace;
	struct bus_meta meta = { .deadline = { clock_wall().ms + ANSWER_MS },
		.msg_id = id,
		.headers = &header,
		.nheaders = 1 };
	enum rc rc;

	if (l->kind.n == 0 || l->kind.n > KIND_MAX) {
		fail(d, "is not replayed: its subject names no kind of job");
		step(d);
		return;
	}
	str_copy(l->kind, kind, sizeof(kind));
	snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_JOB, kind);
	snprintf(seq, sizeof(seq), "%lld", (long long)l->seq);
	/* Not the job's own, of which the stream may know yet; and the same if
	 * this is done again because the deletion failed. */
	snprintf(id, sizeof(id), DEAD ".%s.%lld", seq, (long long)l->at.ms);
	if (trace_parse(bus_stream_msg_header(l->m, "traceparent"), &trace) ==
	    RC_OK)
		meta.trace = &trace;
	rc = bus_stream_publish(d->bus, subject, l->m->data, &meta,
	    (struct bus_pub_ack_handler){ on_stored, d });
	if (rc != RC_OK)
		on_stored(d, rc, NULL);
}

/* ---- reading ---------------------------------------------------------------
 */

/* Print l; false if nobody reads it. */
static bool
print(const struct dead *d, const struct letter *l)
{
	struct buf out = BUF_INIT(TEXT_MAX);
	enum rc rc;

	if (d->ask->raw)
		buf_put_str(&out, l->m->data);
	else if (d->ask->json)
		letter_json(l, &out);
	else if (d->ask->verb == DEAD_SHOW)
		letter_page(l, &out);
	else
		letter_line(l, &out);
	rc = svc_out(buf_str(&out));
	buf_free(&out);
	return rc == RC_OK;
}

static void
found(struct dead *d, const struct bus_stream_msg *m)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct letter l;

	d->seq = m->seq;
	d->at = m->seq + 1;
	letter_read(m, a, &l);
	if (d->ask->verb == DEAD_REPLAY) {
		replay(d, &l);
	} else if (print(d, &l)) {
		d->done++;
		step(d);
	} else {
		end(d);
	}
	arena_free(a);
}

static void
on_found(void *arg, enum rc rc, const struct bus_stream_result *a)
{
	struct dead *d = arg;

	if (rc == RC_OK && d->ask->walk && a->m.seq > d->last) {
		end(d);
	} else if (rc == RC_OK) {
		found(d, &a->m);
	} else if (rc == RC_NOENT && d->ask->walk) {
		end(d);
	} else if (rc == RC_NOENT) {
		fail(d, "is not put aside");
		step(d);
	} else {
		stop_at(d, rc);
	}
}

/* The next of them, or the end. */
static void
step(struct dead *d)
{
	struct bus_stream_query q = question(d, on_found);
	enum rc rc = RC_OK;

	if (d->over)
		return;
	if (d->ask->walk ? d->at > d->last : d->next == d->ask->nseqs) {
		end(d);
		return;
	}
	if (d->ask->walk) {
		rc = bus_stream_msg_next(d->bus, &q, d->at);
	} else {
		d->seq = d->ask->seqs[d->next++];
		if (d->ask->verb == DEAD_DROP)
			take_away(d);
		else
			rc = bus_stream_msg_get(d->bus, &q, d->seq);
	}
	if (rc != RC_OK)
		stop_at(d, rc);
}

/* ---- beginning -------------------------------------------------------------
 */

/* What comes while a walk goes on is not its: a job may be put aside again. */
static void
on_begin(void *arg, enum rc rc, const struct bus_stream_result *a)
{
	struct dead *d = arg;

	if (rc != RC_OK) {
		stop_at(d, rc);
		return;
	}
	d->last = a->last_seq;
	d->at = 1;
	step(d);
}

static void
on_state(void *arg, bool up)
{
	struct dead *d = arg;
	struct bus_stream_query q = question(d, on_begin);
	enum rc rc;

	if (!up) {
		stop_at(d, RC_DOWN);
		return;
	}
	loop_timer_cancel(d->loop, &d->timer);
	if (d->begun)
		return;
	d->begun = true;
	rc = bus_stream_info(d->bus, &q);
	if (rc != RC_OK)
		stop_at(d, rc);
}

static void
on_nobody(void *arg)
{
	give_up(arg, DEAD_NO_NATS,
	    "no NATS server can be reached; NATS_URL names them");
}

enum dead_exit
dead_work(const struct bus_opts *bus, const struct dead_ask *ask, size_t *done)
{
	struct dead d = { .ask = ask };
	struct bus_opts o = *bus;

	*done = 0;
	d.loop = loop_new(INBOX);
	o.loop = d.loop;
	o.on_state = on_state;
	o.arg = &d;
	if (bus_new(&o, &d.bus) != RC_OK) {
		fprintf(stderr,
		    "memory-worker dead: NATS_URL is no list of "
		    "nats://host:port\n");
		loop_free(d.loop);
		return DEAD_NO_NATS;
	}
	loop_timer_set(d.loop, &d.timer, mono_add_ms(clock_mono(), CONNECT_MS),
	    on_nobody, &d);
	loop_run(d.loop);
	loop_timer_cancel(d.loop, &d.timer);
	d.over = true;
	bus_free(d.bus);
	loop_free(d.loop);
	*done = d.done;
	return d.code;
}
