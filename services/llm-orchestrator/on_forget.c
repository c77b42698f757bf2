/*
 * From the model's arguments to what is gone, as its tool's output.
 */
#include "on_forget.h"

#include "ask.h"
#include "core/metric.h"
#include "orch.h"
#include "reply.h"
#include "run.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/tree.h"

/* A longer one is no description of one memory. */
#define QUERY_MAX ((size_t)2048)
/* Of each text that is gone. */
#define TEXT_MAX   ((size_t)1024)
#define OUTPUT_MAX ((size_t)32 * 1024)

/* What is to be forgotten; empty: the model did not say. */
static struct str
query_of(struct run *r, size_t deed)
{
	struct str query = { 0 };
	struct wire_tree *v;

	if (wire_tree_parse(r->turn.deeds[deed].args, &v) != RC_OK)
		return query;
	query = str_trim(wire_tree_text(wire_tree_get(v, STR("query"))));
	query = reply_clean(query, QUERY_MAX, r->a);
	wire_tree_free(v);
	return query;
}

static struct str
output(struct str query, const struct wire_memory_forget_reply *rep,
    struct arena *a)
{
	struct buf b = BUF_INIT(OUTPUT_MAX);
	struct wire_out o = { .b = &b };
	struct str s = { 0 };

	wire_out_object(&o);
	wire_out_key(&o, STR("query"));
	wire_out_str(&o, query);
	wire_out_key(&o, STR("forgotten"));
	wire_out_array(&o);
	for (size_t i = 0; i < rep->n_texts; i++)
		wire_out_str(&o, reply_clean(rep->texts[i], TEXT_MAX, a));
	wire_out_array_end(&o);
	wire_out_object_end(&o);
	if (buf_rc(&b) == RC_OK)
		s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
take(struct run *r, const struct wire_memory_forget_reply *rep,
    struct turn_event *e)
{
	struct str query = query_of(r, e->deed);

	/* Gone, but nobody can say what: that is not to be told as done. */
	if (rep->forgotten > 0 && rep->n_texts == 0)
		return;
	e->output = output(query, rep, r->a);
	if (e->output.p == NULL)
		return;
	e->why = (struct str){ 0 };
	e->outcome = rep->forgotten > 0 ? TURN_OK : TURN_NOTHING;
}

/* But for a request that nobody took, it may have been done. */
static void
forgotten(struct run *r, size_t deed, enum rc rc, const void *msg)
{
	struct turn_event e = {
		.kind = TURN_RESULT, .deed = deed, .outcome = TURN_NOT_CONFIRMED
	};

	if (rc == RC_OK) {
		take(r, msg, &e);
	} else if (rc == RC_NOENT) {
		e.outcome = TURN_ERROR;
		e.why = STR("the memory cannot be reached; nothing was "
			    "forgotten");
	}
	run_feed(r, &e);
}

enum rc
on_forget(struct run *r, const struct turn_action *a)
{
	struct wire_memory_forget_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id,
		.query = query_of(r, a->deed),
		.session_id = run_chat(r)->session_id,
		.terminal_id = run_chat(r)->terminal_id };
	struct turn_event missing = { .kind = TURN_RESULT,
		.deed = a->deed,
		.outcome = TURN_INVALID,
		.why = STR("/query: is missing; say in words what to forget") };

	/* Less of them would mean more that is forgotten. */
	if (m.query.n == 0 || m.soul_id.n == 0 || m.user_id.n == 0) {
		run_feed(r, &missing);
		return RC_OK;
	}
	metric_add(r->o->metrics.forgets, 1);
	ask_send(r,
	    &(struct ask_opts){ .subject = WIRE_SUBJECT_MEMORY_FORGET,
		.request = &wire_memory_forget_request_desc,
		.msg = &m,
		.reply = &wire_memory_forget_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_MEMORY_FORGET,
		.deed = a->deed,
		.fn = forgotten });
	return RC_OK;
}
