/*
 * memory_tool: the built-in tools recall_memory and forget_memory.
 */
#include "bus/bus.h"
#include "context.h"
#include "core/log.h"
#include "core/metric.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "reply/reply_compose.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define QUERY_MAX  ((size_t)2048)
#define OUTPUT_MAX ((size_t)32 * 1024)
/* Of each forgotten text. */
#define TEXT_MAX  ((size_t)1024)
#define TOP_K     5
#define TOP_K_MAX 10

/* The result of a call; without a reply memory-worker counts as not ready. */
static void
memory_tool_feed(struct turn_run *r, const struct turn_event *e, enum rc rc)
{
	if (rc != RC_OK)
		r->o->memory_ready_until = (struct mono){ 0 };
	turn_feed(r, e);
}

/* ---- recall_memory ---- */

static struct str
recall_output(const struct wire_memory_recall_reply *rep, struct arena *a)
{
	struct buf b = BUF_INIT(OUTPUT_MAX);
	struct wire_out o = { .b = &b };

	wire_out_object(&o);
	wire_out_key(&o, STR("memories"));
	wire_out_array(&o);
	for (size_t i = 0; i < rep->n_items; i++) {
		/* The best come first. */
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
recall_on_reply(struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = call,
		.outcome = TURN_ERROR,
		.why = STR("the search failed") };

	if (rc == RC_OK)
		e.output = recall_output(msg, r->a);
	if (e.output.p != NULL) {
		e.outcome = TURN_OK;
		e.why = (struct str){ 0 };
	}
	memory_tool_feed(r, &e, rc);
}

/* Without a query of the model, search for the user's text. */
static void
recall_read_args(
    struct turn_run *r, struct str args, struct wire_memory_recall_request *m)
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
	m->query = reply_clean(
	    query.n > 0 ? query : r->facts.user_text, QUERY_MAX, r->a);
	m->top_k = TOP_K;
	if (k >= 1)
		m->top_k = k > TOP_K_MAX ? TOP_K_MAX : (int64_t)k;
}

enum rc
memory_tool_recall(struct turn_run *r, const struct turn_action *a)
{
	struct wire_memory_recall_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id };

	recall_read_args(r, r->turn.calls[a->call].args, &m);
	metric_add(r->o->metrics.recalls, 1);
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = WIRE_SUBJECT_MEMORY_RECALL,
		.request = &wire_memory_recall_request_desc,
		.msg = &m,
		.reply = &wire_memory_recall_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_MEMORY_RECALL,
		.call = a->call,
		.fn = recall_on_reply });
	return RC_OK;
}

static enum rc
memory_tool_send_status(struct turn_run *r, const struct wire_status *m)
{
	struct bus_meta meta = { .trace = &r->trace };
	char subject[PEER_SUBJECT_MAX];
	struct buf *b = &r->o->out;

	enum rc rc = peer_subject(subject, WIRE_SUBJECT_FMT_BODY_STATUS,
	    r->facts.broker, turn_chat(r)->terminal_id);
	buf_reset(b);
	if (rc == RC_OK)
		rc = wire_encode(&wire_status_desc, m, b, NULL);
	if (rc == RC_OK)
		rc = bus_publish(r->o->bus, subject, buf_str(b), &meta);
	return rc;
}

enum rc
memory_tool_report(struct turn_run *r, const struct turn_action *a)
{
	char now[WALL_FORMAT_MAX];
	struct wire_status m = { .session_id = turn_chat(r)->session_id,
		.ts = turn_now(now) };

	switch (a->kind) {
	case TURN_DO_REPORT_SEARCHING:
		m.status = WIRE_STATUS_STATUS_MEM0_SEARCHING;
		m.message = STR("正在回顾历史记忆，请稍候。");
		break;
	case TURN_DO_REPORT_FOUND:
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
	enum rc rc = memory_tool_send_status(r, &m);
	if (rc != RC_OK)
		log_warn("turn.status_lost", LOG_RC(rc));
	return RC_OK;
}

/* ---- forget_memory ---- */

/* Empty: the model gave none. */
static struct str
forget_query(struct turn_run *r, size_t call)
{
	struct str query = { 0 };
	struct wire_tree *v;

	if (wire_tree_parse(r->turn.calls[call].args, &v) != RC_OK)
		return query;
	query = str_trim(wire_tree_text(wire_tree_get(v, STR("query"))));
	query = reply_clean(query, QUERY_MAX, r->a);
	wire_tree_free(v);
	return query;
}

static struct str
forget_output(struct str query, const struct wire_memory_forget_reply *rep,
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
forget_take_reply(struct turn_run *r,
    const struct wire_memory_forget_reply *rep, struct turn_event *e)
{
	struct str query = forget_query(r, e->call);

	/* It is not known what was forgotten: not confirmed. */
	if (rep->forgotten > 0 && rep->n_texts == 0)
		return;
	e->output = forget_output(query, rep, r->a);
	if (e->output.p == NULL)
		return;
	e->why = (struct str){ 0 };
	e->outcome = rep->forgotten > 0 ? TURN_OK : TURN_NO_MATCH;
}

/* Unless there was no responder, it may have been done. */
static void
forget_on_reply(struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = call,
		.outcome = TURN_NOT_CONFIRMED };

	if (rc == RC_OK) {
		forget_take_reply(r, msg, &e);
	} else if (rc == RC_NOENT) {
		e.outcome = TURN_ERROR;
		e.why = STR("the memory cannot be reached; nothing was "
			    "forgotten");
	}
	memory_tool_feed(r, &e, rc);
}

enum rc
memory_tool_forget(struct turn_run *r, const struct turn_action *a)
{
	struct wire_memory_forget_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id,
		.query = forget_query(r, a->call),
		.session_id = turn_chat(r)->session_id,
		.terminal_id = turn_chat(r)->terminal_id };
	struct turn_event no_query = { .kind = TURN_CALL_RESULT,
		.call = a->call,
		.outcome = TURN_INVALID,
		.why = STR("/query: is missing; say in words what to forget") };

	/* A request with fewer of these would forget more. */
	if (m.query.n == 0 || m.soul_id.n == 0 || m.user_id.n == 0) {
		turn_feed(r, &no_query);
		return RC_OK;
	}
	metric_add(r->o->metrics.forgets, 1);
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = WIRE_SUBJECT_MEMORY_FORGET,
		.request = &wire_memory_forget_request_desc,
		.msg = &m,
		.reply = &wire_memory_forget_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_MEMORY_FORGET,
		.call = a->call,
		.fn = forget_on_reply });
	return RC_OK;
}
