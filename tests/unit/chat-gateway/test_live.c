/*
 * Readers of live events, with a log and connections of the test: what joins
 * while a batch is read is decided by its order, which a server does not let a
 * test choose.
 */
#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "core/loop.h"
#include "core/mem.h"
#include "live/event_log.h"
#include "live/live.h"
#include "svc/svc.h"
#include "testkit/testkit.h"

#define IDLE   "{\"type\":\"session_idle\"}"
#define READER ((struct event_filter){ .types = UINT64_MAX })

/* A connection: what it was sent, "event:id …". */
struct svc_call {
	char sent[256];
};

static struct loop *loop;
static struct live *live;
static struct svc_call behind, joined;
static int64_t first, newest; /* of the stream */
static int64_t joins_at;      /* where a reader joins during the next read */
static int reads, reads_max;

/* ---- the log ---- */

enum rc
event_log_read(struct event_log *l, int64_t after, struct event_batch *b)
{
	(void)l;
	arena_reset(b->a);
	b->n = 0;
	b->newest = newest;
	b->after = after > newest ? newest
	    : after + 1 < first   ? first - 1
				  : after;
	b->expired = b->after != after;
	b->cursor = newest;
	for (int64_t i = b->after + 1; i <= newest; i++) {
		ck_assert_int_eq(
		    event_view_read(STR(IDLE), b->a, &b->e[b->n]), RC_OK);
		b->e[b->n++].seq = i;
	}
	if (joins_at > 0) {
		newest = joins_at;
		live_start(live, &joined, &READER, joins_at);
		joins_at = 0;
	}
	if (++reads == reads_max)
		loop_stop(loop);
	return RC_OK;
}

enum rc
event_log_owner(struct event_log *l, const struct event_view *e,
    struct arena *a, struct event_owner *out)
{
	(void)l;
	(void)e;
	(void)a;
	*out = (struct event_owner){ .since = { 0 } };
	return RC_OK;
}

/* ---- the connections ---- */

enum rc
svc_sse_send(
    struct svc_call *c, const char *event, const char *id, struct str data)
{
	size_t n = strlen(c->sent);

	(void)data;
	(void)snprintf(c->sent + n, sizeof(c->sent) - n, "%s%s:%s",
	    n > 0 ? " " : "", event, id);
	return RC_OK;
}

enum rc
svc_sse_start(struct svc_call *c)
{
	(void)c;
	return RC_OK;
}

enum rc
svc_call_on_abort(struct svc_call *c, void (*fn)(void *arg), void *arg)
{
	(void)c;
	(void)fn;
	(void)arg;
	return RC_OK;
}

void
svc_stream_end(struct svc_call *c, enum rc rc)
{
	(void)c;
	(void)rc;
}

void
svc_fail(struct svc_call *c, enum rc rc, const char *message)
{
	(void)c;
	ck_abort_msg("%s: %s", rc_name(rc), message);
}

/* ---- the service ---- */

struct loop *
svc_loop(struct svc *s)
{
	(void)s;
	return loop;
}

struct metric_set *
svc_metrics(struct svc *s)
{
	(void)s;
	return NULL;
}

void
svc_hold(struct svc *s)
{
	(void)s;
}

void
svc_release(struct svc *s)
{
	(void)s;
}

static bool
has_room(struct svc_call *c)
{
	(void)c;
	return true;
}

static void
run_reads(int n)
{
	reads = 0;
	reads_max = n;
	loop_run(loop);
}

static void
begin(void)
{
	loop = loop_new(8);
	live = live_new(NULL, NULL, has_room);
	behind = joined = (struct svc_call){ .sent = "" };
}

static void
finish(void)
{
	live_drain(live);
	live_free(live);
	loop_free(loop);
}

/* The stream has grown meanwhile: nothing of the newcomer's is gone. */
TEST(a_reader_that_joins_while_a_batch_is_read_has_missed_nothing)
{
	begin();
	first = 7;
	newest = 9;
	joins_at = 11;
	live_start(live, &behind, &READER, 2);
	run_reads(2);
	ck_assert_str_eq(behind.sent,
	    "notice:6 session_idle:7 session_idle:8 session_idle:9 "
	    "session_idle:10 session_idle:11");
	ck_assert_str_eq(joined.sent, "");
	newest = 12;
	run_reads(1);
	ck_assert_str_eq(joined.sent, "session_idle:12");
	finish();
}

/* But for what was gone before, as the next batch finds. */
TEST(a_reader_that_joins_with_a_gap_has_its_notice_from_the_next_batch)
{
	begin();
	first = 7;
	newest = 9;
	live_start(live, &behind, &READER, 2);
	run_reads(1);
	live_start(live, &joined, &READER, 3);
	run_reads(1);
	ck_assert_str_eq(joined.sent,
	    "notice:6 session_idle:7 session_idle:8 session_idle:9");
	finish();
}
