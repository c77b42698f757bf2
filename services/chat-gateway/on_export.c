/*
 * Profile, page, page, …, end.
 */
#include "on_export.h"

#include <stdlib.h>

#include "caller.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "gateway.h"
#include "memories.h"
#include "send.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define PAGE_ITEMS 1000
/* A page as lines. */
#define LINES_MAX (2 * (size_t)WIRE_MESSAGE_MAX)
/* What was asked is read into this. */
#define READ_MAX ((size_t)WIRE_ARENA_MAX)
/* httpd does not say when a client has taken what was sent. */
#define LOOK_MS 10
/* How it ended for the audit, if not well. */
#define CUT "cut short"

struct export
{
	struct gateway *g;
	struct svc_call *c;
	struct str user, soul; /* the call's */
	struct arena *a;       /* of the last answer */
	struct question q;
	struct loop_timer timer;
	struct buf lines; /* not sent yet */
	struct buf next;  /* the cursor */
	bool begun, degraded;
	int64_t n;
};

static void
export_free(struct export *x)
{
	question_cancel(&x->q);
	loop_timer_cancel(svc_loop(x->g->svc), &x->timer);
	arena_free(x->a);
	buf_free(&x->lines);
	buf_free(&x->next);
	free(x);
}

static enum rc
put_line(struct export *x, const struct wire_memory_export_line *line)
{
	struct wire_err err;
	enum rc rc;

	rc = wire_encode(&wire_memory_export_line_desc, line, &x->lines, &err);
	if (rc != RC_OK)
		log_error("gateway.export", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	buf_putc(&x->lines, '\n');
	return rc == RC_OK ? buf_rc(&x->lines) : rc;
}

static enum rc
send_lines(struct export *x)
{
	enum rc rc = RC_OK;

	if (!x->begun)
		rc = svc_lines(x->c);
	x->begun = true;
	if (rc == RC_OK)
		rc = svc_lines_put(x->c, buf_str(&x->lines));
	buf_reset(&x->lines);
	return rc;
}

/* What has left, whether it was all or not. */
static void
audit_left(struct export *x, const char *how)
{
	svc_audit_call(x->c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_MEMORIES_EXPORTED,
		.user_id = x->user,
		.soul_id = x->soul,
		.reason = str_of(how),
		.has_count = true,
		.count = x->n });
}

/* It is not whole, and the client is told as well as can be. */
static void
fail(struct export *x, struct memories_failure f)
{
	struct svc_call *c = x->c;
	const struct wire_memory_export_line line = {
		.has_error = true,
		.error = { .error = str_of(f.text),
		    .code = str_of(rc_name(f.rc)),
		    .memories = x->n,
		    .trace_id = str_of(svc_call_trace(c)->trace_id) },
	};

	if (!x->begun) {
		/* The text may be in what is freed. */
		svc_fail(c, f.rc, f.text);
		export_free(x);
		return;
	}
	buf_reset(&x->lines);
	if (put_line(x, &line) == RC_OK)
		(void)!send_lines(x);
	audit_left(x, CUT);
	export_free(x);
	svc_lines_cut(c, f.rc);
}

static void
fail_plain(struct export *x, enum rc rc, const char *text)
{
	fail(x, (struct memories_failure){ rc, text });
}

static void
on_gone(void *arg)
{
	struct export *x = arg;
	struct svc_call *c = x->c;
	bool begun = x->begun;

	if (begun)
		audit_left(x, CUT);
	export_free(x);
	if (begun)
		svc_lines_cut(c, RC_DOWN);
	else
		svc_fail(c, RC_DOWN, "the client has gone");
}

static void
ask(struct export *x, enum memories_ask what, question_fn fn, const void *msg)
{
	enum rc rc;

	memories_set(&x->q, what);
	x->q.fn = fn;
	rc = question_ask(&x->q, msg);
	if (rc == RC_DOWN)
		fail_plain(x, rc, "the message bus cannot be reached now");
	else if (rc != RC_OK)
		fail(x, memories_failure(&x->q, rc));
}

static void on_page(struct question *q, enum rc rc);

static void
ask_page(struct export *x)
{
	const struct wire_memory_list_request req = {
		.user_id = x->user,
		.soul_id = x->soul,
		.after =
		    x->next.n > 0 ? buf_str(&x->next) : (struct str){ NULL, 0 },
		.limit = PAGE_ITEMS,
	};

	arena_reset(x->a);
	ask(x, MEMORIES_LIST, on_page, &req);
}

static void
on_look(void *arg)
{
	struct export *x = arg;

	if (send_has_room(x->c))
		ask_page(x);
	else
		loop_timer_set(svc_loop(x->g->svc), &x->timer,
		    mono_add_ms(clock_mono(), LOOK_MS), on_look, x);
}

static void
end(struct export *x)
{
	struct svc_call *c = x->c;
	const struct wire_memory_export_line line = {
		.has_end = true,
		.end = { .memories = x->n, .degraded = x->degraded },
	};
	enum rc rc;

	rc = put_line(x, &line);
	if (rc == RC_OK)
		rc = send_lines(x);
	audit_left(x, rc == RC_OK ? "complete" : CUT);
	export_free(x);
	if (rc == RC_OK)
		svc_stream_end(c, rc);
	else
		svc_lines_cut(c, rc);
}

static void
on_page(struct question *q, enum rc rc)
{
	struct export *x = q->arg;
	const struct wire_memory_list_reply *page = q->reply;
	struct wire_memory_export_line line = { .has_memory = true };
	size_t i;

	if (rc != RC_OK) {
		fail(x, memories_failure(q, rc));
		return;
	}
	x->degraded |= page->degraded;
	for (i = 0; i < page->n_items && rc == RC_OK; i++) {
		line.memory = page->items[i];
		rc = put_line(x, &line);
	}
	if (rc != RC_OK) {
		fail_plain(x, RC_BUG, "a memory cannot be told");
		return;
	}
	x->n += (int64_t)page->n_items;
	buf_reset(&x->next);
	buf_put_str(&x->next, page->next);
	if (page->next.p == NULL)
		end(x);
	else if (send_lines(x) != RC_OK)
		on_gone(x);
	else
		on_look(x);
}

static void
on_profile(struct question *q, enum rc rc)
{
	struct export *x = q->arg;
	struct wire_memory_export_line line = { .has_profile = true };

	if (rc != RC_OK) {
		fail(x, memories_failure(q, rc));
		return;
	}
	line.profile = *(const struct wire_memory_profile_reply *)q->reply;
	if (put_line(x, &line) == RC_OK)
		ask_page(x);
	else
		fail_plain(x, RC_BUG, "the profile cannot be told");
}

static void
begin(struct gateway *g, struct svc_call *c, struct str user, struct str soul)
{
	const struct wire_memory_profile_request req = { .user_id = user };
	struct export *x = mem_zalloc(sizeof(*x));

	x->g = g;
	x->c = c;
	x->user = user;
	x->soul = soul;
	x->a = arena_new(READ_MAX);
	x->q = (struct question){
		.g = g, .trace = svc_call_trace(c), .a = x->a, .arg = x
	};
	buf_init(&x->lines, LINES_MAX);
	buf_init(&x->next, WIRE_MESSAGE_MAX);
	if (svc_call_on_gone(c, on_gone, x) != RC_OK)
		on_gone(x);
	else if (soul.p == NULL)
		ask(x, MEMORIES_PROFILE, on_profile, &req);
	else
		ask_page(x);
}

void
on_export(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct str soul = svc_call_query(c, "soul_id");
	struct str user;

	if (!caller_query_user(g, c, &user) ||
	    (soul.p != NULL && !gateway_id(c, soul, "soul_id")))
		return;
	if (gateway_stream_begin(g, c))
		begin(g, c, user, soul);
}
