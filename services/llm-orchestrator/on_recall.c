/*
 * From the model's arguments to memories as its tool's output.
 */
#include "on_recall.h"

#include "ask.h"
#include "bus/bus.h"
#include "core/log.h"
#include "core/metric.h"
#include "orch.h"
#include "reply.h"
#include "run.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define QUERY_MAX  ((size_t)2048)
#define OUTPUT_MAX ((size_t)32 * 1024)
#define TOP_K      5
#define TOP_K_MAX  10

static struct str
memories(const struct wire_memory_recall_reply *rep, struct arena *a)
{
	struct buf b = BUF_INIT(OUTPUT_MAX);
	struct wire_out o = { .b = &b };

	wire_out_object(&o);
	wire_out_key(&o, STR("memories"));
	wire_out_array(&o);
	for (size_t i = 0; i < rep->n_items; i++) {
		/* The best come first; the rest is left out. */
		if (b.n + 6 * rep->items[i].text.n + 256 > OUTPUT_MAX)
			break;
		wire_out_object(&o);
		wire_out_key(&o, STR("text"));
		wire_out_str(&o, rep->items[i].text);
		if (rep->items[i].created_at.p != NULL) {
			wire_out_key(&o, STR("created_at"));
			wire_out_str(&o, rep->items[i].created_at);
		}
		wire_out_object_end(&o);
	}
	wire_out_array_end(&o);
	if (rep->degraded) {
		wire_out_key(&o, STR("incomplete"));
		wire_out_bool(&o, true);
	}
	wire_out_object_end(&o);
	struct str s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
recalled(struct run *r, size_t deed, enum rc rc, const void *msg)
{
	struct turn_event e = { .kind = TURN_RESULT,
		.deed = deed,
		.outcome = TURN_ERROR,
		.why = STR("the search failed") };

	if (rc == RC_OK)
		e.output = memories(msg, r->a);
	if (e.output.p != NULL) {
		e.outcome = TURN_OK;
		e.why = (struct str){ 0 };
	}
	run_feed(r, &e);
}

/* What to search for; without a query of the model's what the user said. */
static void
read_args(struct run *r, struct str args, struct wire_memory_recall_request *m)
{
	struct str query = { 0 };
	struct wire_tree *v;
	double k = 0;

	if (wire_tree_parse(args, &v) == RC_OK) {
		query = arena_str(r->a,
		    str_trim(wire_tree_text(wire_tree_get(v, STR("query")))));
		k = wire_tree_number(wire_tree_get(v, STR("top_k")));
		wire_tree_free(v);
	}
	m->query =
	    reply_clean(query.n > 0 ? query : r->facts.said, QUERY_MAX, r->a);
	m->top_k = TOP_K;
	if (k >= 1)
		m->top_k = k > TOP_K_MAX ? TOP_K_MAX : (int64_t)k;
}

enum rc
on_recall(struct run *r, const struct turn_action *a)
{
	struct wire_memory_recall_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id };

	read_args(r, r->turn.deeds[a->deed].args, &m);
	metric_add(r->o->metrics.recalls, 1);
	ask_send(r,
	    &(struct ask_opts){ .subject = WIRE_SUBJECT_MEMORY_RECALL,
		.request = &wire_memory_recall_request_desc,
		.msg = &m,
		.reply = &wire_memory_recall_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_MEMORY_RECALL,
		.deed = a->deed,
		.fn = recalled });
	return RC_OK;
}

static enum rc
send_status(struct run *r, const struct wire_status *m)
{
	struct bus_meta meta = { .trace = run_trace(r) };
	char subject[ASK_SUBJECT_MAX];
	struct buf *b = &r->o->out;

	enum rc rc = ask_subject(subject, WIRE_SUBJECT_FMT_BODY_STATUS,
	    r->facts.broker, run_chat(r)->terminal_id);
	buf_reset(b);
	if (rc == RC_OK)
		rc = wire_encode(&wire_status_desc, m, b, NULL);
	if (rc == RC_OK)
		rc = bus_publish(r->o->bus, subject, buf_str(b), &meta);
	return rc;
}

enum rc
on_status(struct run *r, const struct turn_action *a)
{
	char now[WALL_FORMAT_MAX];
	struct wire_status m = { .session_id = run_chat(r)->session_id,
		.ts = orch_now(now) };

	switch (a->kind) {
	case TURN_DO_SEARCHING:
		m.status = WIRE_STATUS_STATUS_MEM0_SEARCHING;
		m.message = STR("正在回顾历史记忆，请稍候。");
		break;
	case TURN_DO_SEARCHED:
		m.status = WIRE_STATUS_STATUS_MEM0_SEARCH_DONE;
		m.message = STR("回顾完成，正在思考。");
		break;
	default:
		m.status = WIRE_STATUS_STATUS_MEM0_SEARCH_FAILED;
		m.message = STR("没能查到历史记忆，继续思考。");
		break;
	}
	if (r->facts.broker.p == NULL)
		return RC_OK;
	enum rc rc = send_status(r, &m);
	if (rc != RC_OK)
		log_warn("turn.status_lost", LOG_RC(rc));
	return RC_OK;
}
