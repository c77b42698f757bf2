/*
 * The lists of all providers are requested at once; the turn goes on when the
 * last has replied, or its time is up.
 */
#include "tools/tool_providers.h"

#include "bus/bus.h"
#include "context.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "reply/reply_stream.h"
#include "tools/provider_table.h"
#include "tools/tool_list.h"
#include "tools/tool_set.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* Longest text that tools are ranked by, in code points. */
#define TEXT_CHARS_MAX 16384
/* Longest list of found tools in a result, in bytes. */
#define FOUND_MAX ((size_t)4096)

void
tool_providers_on_present(void *arg, struct bus_msg *m)
{
	static struct log_rate rate;
	struct orch *o = arg;
	struct wire_tool_present msg;
	struct wire_err err;
	int64_t missed;

	arena_reset(o->scratch);
	enum rc rc = wire_decode(
	    &wire_tool_present_desc, bus_msg_data(m), o->scratch, &msg, &err);
	if (rc == RC_OK)
		provider_table_announce(o->providers, &msg, clock_mono());
	else if (log_every(&rate, 10, &missed))
		log_warn("tools.present", LOG_S("path", err.path),
		    LOG_S("why", err.why), LOG_I("missed", missed));
	bus_msg_free(m);
}

bool
tool_providers_any(const struct turn_run *r)
{
	return r->req->owner_id.p == NULL &&
	    provider_table_any(r->o->providers, clock_mono());
}

static struct provider_user
providers_user(const struct turn_run *r, size_t provider)
{
	return (struct provider_user){ provider, r->req->user_id,
		r->facts.soul_id };
}

void
tool_providers_changed(const struct turn_run *r, struct str provider)
{
	const struct provider_table *t = r->o->providers;

	for (size_t i = 0; i < provider_table_n(t); i++) {
		struct provider_user k = providers_user(r, i);
		if (str_eq(provider_table_name(t, i), provider))
			provider_table_drop(r->o->providers, &k);
	}
}

void
tool_providers_release(struct turn_run *r)
{
	tool_set_clear(&r->tools);
}

/* ---- a request ---- */

/* At most max code points of s. */
static struct str
providers_text(struct str s)
{
	size_t pos = 0, n = 0;

	if (s.n == 0)
		return STR("");
	while (n < TEXT_CHARS_MAX && str_utf8_next(s, &pos) >= 0)
		n++;
	return (struct str){ s.p, pos };
}

static bool
providers_send(struct turn_run *r, size_t i, struct str text, peer_reply_fn fn)
{
	char subject[PEER_SUBJECT_MAX];
	struct wire_tool_list_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id,
		.session_id = turn_chat(r)->session_id,
		.terminal_id = turn_chat(r)->terminal_id,
		.text = providers_text(text),
		.max = TOOL_SET_MAX };

	if (peer_subject(subject, WIRE_SUBJECT_FMT_TOOL_LIST,
		provider_table_name(r->o->providers, i),
		(struct str){ 0 }) != RC_OK)
		return false;
	r->list_marks[i] = provider_table_mark(r->o->providers, i);
	r->lists_open++;
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = subject,
		.request = &wire_tool_list_request_desc,
		.msg = &m,
		.reply = &wire_tool_list_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_TOOL_LIST,
		.no_retry = true,
		.call = i,
		.fn = fn });
	return true;
}

/* The list of provider i, or NULL; the caller has a reference. */
static struct tool_list *
providers_take(struct turn_run *r, size_t i, enum rc rc, const void *msg)
{
	struct tool_list *l = NULL;

	if (rc == RC_OK)
		rc = tool_list_new(
		    msg, provider_table_name(r->o->providers, i), &l);
	if (rc == RC_OK)
		return l;
	if (!r->lists_missing)
		reply_stream_warn(
		    r, "TOOLS_UNKNOWN", "a provider did not list its tools");
	r->lists_missing = true;
	return NULL;
}

/* ---- at the start ---- */

static void
providers_listed(struct turn_run *r)
{
	struct turn_event e = { .kind = TURN_TOOLS_REPLY,
		.known = tool_set_choose(&r->tools, r->facts.tools, STR("")) };

	turn_feed(r, &e);
}

static void
providers_on_list(struct turn_run *r, size_t i, enum rc rc, const void *msg)
{
	struct tool_list *l = providers_take(r, i, rc, msg);
	struct provider_user k = providers_user(r, i);

	if (l != NULL) {
		provider_table_put(
		    r->o->providers, &k, l, r->list_marks[i], clock_mono());
		tool_set_add(&r->tools, l, false);
		tool_list_free(l);
	}
	if (--r->lists_open == 0)
		providers_listed(r);
}

enum rc
tool_providers_list(struct turn_run *r, const struct turn_action *a)
{
	struct provider_table *t = r->o->providers;
	struct mono now = clock_mono();

	(void)a;
	/* A retry of the action begins anew. */
	tool_set_clear(&r->tools);
	for (size_t i = 0; i < provider_table_n(t); i++) {
		struct provider_user k = providers_user(r, i);
		struct tool_list *l;

		if (!provider_table_is_present(t, i, now))
			continue;
		l = provider_table_get(t, &k, now);
		if (l != NULL) {
			tool_set_add(&r->tools, l, false);
			tool_list_free(l);
		} else {
			(void)providers_send(
			    r, i, r->facts.user_text, providers_on_list);
		}
	}
	if (r->lists_open == 0)
		providers_listed(r);
	return RC_OK;
}

/* ---- more tools ---- */

/* The names of what was found and is shown now. */
static struct str
providers_found(struct turn_run *r)
{
	size_t n = r->tools.n_found - r->found_before;
	struct buf b = BUF_INIT(FOUND_MAX);

	tool_set_put_found(&r->tools, n, r->search_query, &b);
	struct str s = arena_str(r->a, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
providers_end_search(struct turn_run *r)
{
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = r->search_call,
		.outcome = TURN_OK };

	(void)tool_set_choose(&r->tools, r->facts.tools, r->search_query);
	if (r->tools.n_found > r->found_before) {
		e.output = providers_found(r);
	} else {
		e.outcome = TURN_ERROR;
		e.why = STR("the provider does not reply");
	}
	turn_feed(r, &e);
}

static void
providers_reject_search(struct turn_run *r)
{
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = r->search_call,
		.outcome = TURN_ERROR,
		.why = STR("there were too many searches in this turn") };

	turn_feed(r, &e);
}

static void
providers_on_found(struct turn_run *r, size_t i, enum rc rc, const void *msg)
{
	struct tool_list *l = providers_take(r, i, rc, msg);

	if (l != NULL) {
		tool_set_add(&r->tools, l, true);
		tool_list_free(l);
	}
	if (--r->lists_open == 0)
		providers_end_search(r);
}

static struct str
providers_query(struct turn_run *r, size_t call)
{
	struct wire_tree *v;
	struct str query = { 0 };

	if (wire_tree_parse(r->turn.calls[call].args, &v) != RC_OK)
		return query;
	query = arena_str(r->a, wire_tree_text(wire_tree_get(v, STR("query"))));
	wire_tree_free(v);
	return query;
}

enum rc
tool_providers_find(struct turn_run *r, const struct turn_action *a)
{
	struct provider_table *t = r->o->providers;
	struct mono now = clock_mono();

	r->search_call = a->call;
	r->search_query = providers_query(r, a->call);
	r->found_before = r->tools.n_found;
	r->lists_missing = false;
	if (!tool_set_has_room(&r->tools, provider_table_n(t))) {
		providers_reject_search(r);
		return RC_OK;
	}
	for (size_t i = 0; i < provider_table_n(t); i++) {
		if (provider_table_is_present(t, i, now))
			(void)providers_send(
			    r, i, r->search_query, providers_on_found);
	}
	if (r->lists_open == 0)
		providers_end_search(r);
	return RC_OK;
}
