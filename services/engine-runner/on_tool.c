/*
 * The tools run_task and answer_task: a soul gives engines tasks for its user,
 * by the way that owners have.
 *
 * A call is one for its idempotency key, so that it is executed once however
 * often, and at whichever runner, it arrives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "engine_set.h"
#include "handlers.h"
#include "run_request.h"
#include "runner_list.h"
#include "svc/svc.h"
#include "task_tool.h"
#include "tool/own_tool_grants.h"
#include "wire/subjects.h"
#include "wire/tree.h"

#define ARENA_MAX (2UL * 1024 * 1024)
#define TEXT_MAX  16384
/* Calls of which a cancel is understood, the newest. */
#define RECENT_MAX 64

/* A run that a call has started. */
struct tool_recent {
	char key[TASK_KEY_MAX];
	char run[RUN_ID_MAX];
	char user[ID_MAX + 1];
};

struct tool_provider {
	struct runner *runner;
	struct own_tools *tools;
	struct bus_sub *cancel;
	struct loop_timer present;
	struct tool_recent recent[RECENT_MAX];
	size_t n_recent; /* counted on */
};

/* ---- presence ---- */

/* Tenants of users are not known here: only engines that all may use. */
static bool
tool_has_engine(const struct runner *r)
{
	size_t i;

	for (i = 0; i < r->engines->n; i++)
		if (r->engines->list[i].works &&
		    r->engines->list[i].all_tenants)
			return true;
	return false;
}

static void
tool_announce(const struct tool_provider *p)
{
	const struct runner *r = p->runner;
	struct buf json = BUF_INIT(1024);
	char subject[128];
	enum rc rc;

	(void)snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_TOOL_PRESENT,
	    TASK_PROVIDER);
	rc = own_tools_put_present(p->tools, str_of(r->id), &json);
	if (rc == RC_OK)
		rc = bus_publish(r->bus, subject, buf_str(&json), NULL);
	if (rc != RC_OK)
		log_debug("tool.not_announced", LOG_RC(rc));
	buf_free(&json);
}

static void
tool_on_present(void *arg)
{
	struct tool_provider *p = arg;
	struct runner *r = p->runner;

	loop_timer_set(r->loop, &p->present,
	    mono_add_ms(clock_mono(), OWN_TOOLS_PRESENT_MS), tool_on_present,
	    p);
	if (!r->draining && tool_has_engine(r))
		tool_announce(p);
}

/* ---- replies ---- */

static void
tool_fail(struct svc_call *c, const char *code, struct str message)
{
	const struct wire_tool_call_reply rep =
	    own_tool_error(svc_call_request(c), code, message);

	svc_reply(c, &rep);
}

static void
tool_reply(struct svc_call *c, bool ok, struct str text)
{
	const struct wire_tool_call_reply rep =
	    own_tool_text(svc_call_request(c), ok, text);

	svc_reply(c, &rep);
}

static void
tool_reject(struct svc_call *c, const struct run_rejection *why)
{
	struct str text = str_of(why->error.text);

	if (why->may_be_done)
		tool_fail(c, "NOT_CONFIRMED", text);
	else if (why->rc == RC_INVALID || why->rc == RC_TOOBIG)
		tool_fail(c, "INVALID_ARGUMENTS", text);
	else if (why->rc == RC_DENIED)
		tool_fail(c, "FORBIDDEN", text);
	else if (why->error.status == 429)
		tool_fail(c, "BUSY", text);
	else if (why->rc == RC_NOENT || why->rc == RC_CONFLICT)
		tool_reply(c, false, text);
	else
		tool_fail(c, "SERVER_UNAVAILABLE", text);
}

/* ---- run_task ---- */

static void
tool_remember(
    struct tool_provider *p, const char *key, const struct run_record *rec)
{
	struct tool_recent *e = &p->recent[p->n_recent++ % RECENT_MAX];

	str_copy(str_of(key), e->key, sizeof(e->key));
	str_copy(rec->run_id, e->run, sizeof(e->run));
	str_copy(rec->user_id, e->user, sizeof(e->user));
}

/* The first engine that a runner which lives has for all; absent: none has. */
static struct str
tool_default_engine(const struct runner_list *l)
{
	size_t i, k;

	for (i = 0; i < l->n_status; i++)
		for (k = 0; k < l->status[i].n_engines; k++)
			if (!l->status[i].engines[k].has_tenants)
				return l->status[i].engines[k].engine;
	return (struct str){ NULL, 0 };
}

static enum rc
tool_fill_engine(struct runner *r, struct wire_run_start_request *start,
    struct arena *a, struct run_rejection *why)
{
	struct runner_list list;
	enum rc rc;

	if (start->engine.n > 0)
		return RC_OK;
	rc = runner_list_read(r, a, &list);
	if (rc == RC_OK)
		start->engine = tool_default_engine(&list);
	if (rc == RC_OK && start->engine.n > 0)
		return RC_OK;
	*why = (struct run_rejection){ .rc = RC_DOWN,
		.error.text = rc == RC_OK
		    ? "no runner that is up has an engine"
		    : "Redis is unavailable: try again later" };
	return RC_DOWN;
}

static enum rc
tool_start(struct tool_provider *p, const struct wire_run_start_request *start,
    struct arena *a, struct run_record *rec, struct run_rejection *why)
{
	struct buf body = BUF_INIT(RUN_SPEC_MAX);
	struct wire_err err;
	enum rc rc =
	    wire_encode(&wire_run_start_request_desc, start, &body, &err);

	if (rc == RC_OK)
		rc = run_request_start(
		    p->runner, start, buf_str(&body), a, rec, why);
	else
		*why = (struct run_rejection){ .rc = RC_INVALID,
			.error.text = "the task is too long" };
	buf_free(&body);
	return rc;
}

static void
tool_run_task(
    struct tool_provider *p, struct svc_call *c, const struct wire_tree *args)
{
	const struct wire_tool_call_request *q = svc_call_request(c);
	struct str mode = wire_tree_text(wire_tree_get(args, STR("mode")));
	struct arena *a = svc_call_arena(c);
	struct wire_run_start_request start;
	struct run_rejection why;
	struct run_record rec;
	char key[TASK_KEY_MAX];
	int i;

	task_tool_key(q->call_id, key);
	wire_init(&wire_run_start_request_desc, &start);
	start.user_id = q->user_id;
	start.session_id = q->session_id;
	start.idempotency_key = str_of(key);
	start.engine = wire_tree_text(wire_tree_get(args, STR("engine")));
	start.prompt = wire_tree_text(wire_tree_get(args, STR("task")));
	for (i = 0; i <= WIRE_RUN_START_REQUEST_MODE_FILE_WRITE; i++)
		if (str_eq(mode, wire_run_start_request_mode_names[i]))
			start.mode = (enum wire_run_start_request_mode)i;
	if (tool_fill_engine(p->runner, &start, a, &why) != RC_OK ||
	    tool_start(p, &start, a, &rec, &why) != RC_OK) {
		tool_reject(c, &why);
		return;
	}
	tool_remember(p, key, &rec);
	tool_reply(c, true,
	    arena_printf(a,
		"The task is accepted, not done: run %.*s of %.*s has been "
		"started. Nothing is known of its result yet; the next turn "
		"of this conversation reports it when there is one.",
		STR_ARG(rec.run_id), STR_ARG(rec.engine)));
}

/* ---- answer_task ---- */

/* The runs that wait for an answer, for the model: "<id> (<title>), …". */
static struct str
tool_waiting_list(const struct run_page *page, struct arena *a)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	struct str s;
	size_t i;

	for (i = 0; i < page->n; i++)
		if (page->run[i].status == RUN_IS_WAITING)
			buf_printf(&b, "%s%.*s (%.*s)", b.n > 0 ? ", " : "",
			    STR_ARG(page->run[i].run_id),
			    STR_ARG(page->run[i].title));
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* The user's only run that waits for an answer; false: c was replied to. */
static bool
tool_find_waiting(
    struct runner *r, struct svc_call *c, struct str user, struct str *run)
{
	struct run_page page = { .max = RUN_PAGE_MAX };
	struct arena *a = svc_call_arena(c);
	enum rc rc = run_list(r->state, user, a, &page);
	size_t i, n = 0;

	if (rc != RC_OK) {
		tool_fail(c, "SERVER_UNAVAILABLE",
		    STR("Redis is unavailable: try again later"));
		return false;
	}
	for (i = 0; i < page.n; i++)
		if (page.run[i].status == RUN_IS_WAITING) {
			*run = page.run[i].run_id;
			n++;
		}
	if (n == 0)
		tool_reply(c, false, STR("no task waits for an answer"));
	else if (n > 1)
		tool_fail(c, "INVALID_ARGUMENTS",
		    arena_printf(a,
			"/run_id: is missing; these wait for an answer: %.*s",
			STR_ARG(tool_waiting_list(&page, a))));
	return n == 1;
}

/* What can be chosen, for a model whose answer was none of it. */
static struct str
tool_wrong_reply(const char *why, const struct run_record *rec, struct arena *a)
{
	struct wire_run_question question;
	struct buf b = BUF_INIT(TEXT_MAX);
	struct str s;
	size_t i;

	buf_printf(&b, "/answer: %s", why);
	if (rec->question.n > 0 &&
	    wire_decode(&wire_run_question_desc, rec->question, a, &question,
		NULL) == RC_OK)
		for (i = 0; i < question.n_options; i++)
			buf_printf(&b, "%s%.*s", i == 0 ? ": " : ", ",
			    STR_ARG(question.options[i].value));
	s = arena_str(a, fcmp_truncate(buf_str(&b), FCMP_MESSAGE_MAX));
	buf_free(&b);
	return s;
}

static void
tool_reply_task(
    struct tool_provider *p, struct svc_call *c, const struct wire_tree *args)
{
	const struct wire_tool_call_request *q = svc_call_request(c);
	struct str run = wire_tree_text(wire_tree_get(args, STR("run_id")));
	struct arena *a = svc_call_arena(c);
	struct run_rejection why = { .rc = RC_OK };
	struct wire_run_reply_request reply;
	struct run_record rec, after;
	char key[TASK_KEY_MAX];
	enum rc rc;

	if (run.n == 0 && !tool_find_waiting(p->runner, c, q->user_id, &run))
		return;
	rc = run_read(p->runner->state, run, a, &rec);
	if (rc == RC_NOENT || rc == RC_INVALID ||
	    (rc == RC_OK && !str_eq(rec.user_id, q->user_id))) {
		tool_reply(c, false, STR("the user has no such run"));
		return;
	}
	task_tool_key(q->call_id, key);
	reply = (struct wire_run_reply_request){ .run_id = run,
		.user_id = q->user_id,
		.interaction_id = rec.question_id,
		.content = wire_tree_text(wire_tree_get(args, STR("answer"))),
		.idempotency_key = str_of(key) };
	if (rc == RC_OK && rec.question_id.n == 0) {
		tool_reply(c, false, STR("the run has asked nothing"));
		return;
	}
	if (rc != RC_OK)
		why = (struct run_rejection){ .rc = RC_DOWN,
			.error.text = "Redis is unavailable: try again later" };
	else
		rc = run_request_reply(p->runner, &reply, a, &after, &why);
	if (rc == RC_OK)
		tool_reply(c, true,
		    arena_printf(a,
			"The answer was given to run %.*s, which goes on. It "
			"is not done; the next turn of this conversation "
			"reports how it ends.",
			STR_ARG(after.run_id)));
	else if (why.rc == RC_INVALID)
		tool_fail(c, "INVALID_ARGUMENTS",
		    tool_wrong_reply(why.error.text, &rec, a));
	else
		tool_reject(c, &why);
}

/* ---- calls ---- */

void
on_tool_call(void *app, struct svc_call *c)
{
	struct tool_provider *p = ((struct runner *)app)->tools;
	const struct wire_tool_call_request *q = svc_call_request(c);
	const struct own_tool *tool = own_tools_find(p->tools, q->name);
	struct wire_tool_call_reply denial;
	struct wire_tree *args;
	struct wire_err err;
	char text[600];

	if (tool == NULL) {
		tool_fail(c, "UNKNOWN_TOOL", STR("there is no such tool"));
		return;
	}
	if (own_tool_check(tool, q->arguments, &err) != RC_OK ||
	    wire_tree_parse(q->arguments, &args) != RC_OK) {
		wire_err_text(&err, text, sizeof(text));
		tool_fail(c, "INVALID_ARGUMENTS", str_of(text));
		return;
	}
	if (own_tools_allow(p->runner->state, p->tools, tool, q,
		svc_call_arena(c), &denial)) {
		log_info("tool.call", LOG_V("tool", tool->row->name),
		    LOG_V("call", q->call_id));
		if (tool == &p->tools->list[TASK_RUN])
			tool_run_task(p, c, args);
		else
			tool_reply_task(p, c, args);
	} else {
		svc_reply(c, &denial);
	}
	wire_tree_free(args);
}

void
on_tool_list(void *app, struct svc_call *c)
{
	const struct tool_provider *p = ((struct runner *)app)->tools;
	const struct wire_tool_list_request *q = svc_call_request(c);
	struct wire_tool_list_reply rep;

	enum rc rc = own_tools_offer(
	    p->runner->state, p->tools, q, svc_call_arena(c), &rep);

	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		svc_fail(c, rc, "the tools cannot be listed");
}

/* ---- cancel ---- */

struct tool_canceling {
	struct runner *runner;
	struct tool_recent what;
};

static void
tool_cancel_fiber(void *arg)
{
	struct tool_canceling *t = arg;
	struct arena *a = arena_new(ARENA_MAX);
	struct run_canceling q = { str_of(t->what.run), str_of(t->what.user),
		false };
	struct run_rejection why;
	struct run_record rec;
	enum rc rc = run_request_cancel(t->runner, &q, a, &rec, &why);

	log_info("tool.cancel", LOG_S("run", t->what.run), LOG_RC(rc));
	arena_free(a);
	svc_release(t->runner->svc);
	free(t);
}

/* The runner that has started a run for the call cancels it. */
static void
tool_on_cancel(void *arg, struct bus_msg *m)
{
	struct tool_provider *p = arg;
	struct arena *a = arena_new(ARENA_MAX);
	struct wire_tool_cancel msg;
	char key[TASK_KEY_MAX];
	size_t i;

	if (wire_decode(&wire_tool_cancel_desc, bus_msg_data(m), a, &msg,
		NULL) == RC_OK) {
		task_tool_key(msg.call_id, key);
		for (i = 0; i < RECENT_MAX; i++) {
			struct tool_canceling *t;

			if (strcmp(p->recent[i].key, key) != 0)
				continue;
			t = mem_zalloc(sizeof(*t));
			t->runner = p->runner;
			t->what = p->recent[i];
			p->recent[i].key[0] = '\0';
			svc_hold(p->runner->svc);
			fiber_start(tool_cancel_fiber, t);
		}
	}
	arena_free(a);
	bus_msg_free(m);
}

/* ---- begin and end ---- */

struct tool_provider *
tool_provider_new(struct runner *r)
{
	struct tool_provider *p = mem_zalloc(sizeof(*p));
	char subject[128];

	p->runner = r;
	p->tools = task_tools_new(strcmp(r->conf->task_policy, "auto") != 0);
	(void)snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_TOOL_CANCEL,
	    TASK_PROVIDER);
	if (bus_subscribe(r->bus, subject, NULL, tool_on_cancel, p,
		&p->cancel) != RC_OK) {
		tool_provider_free(p);
		return NULL;
	}
	return p;
}

void
tool_provider_begin(struct tool_provider *p)
{
	tool_on_present(p);
}

void
tool_provider_free(struct tool_provider *p)
{
	if (p == NULL)
		return;
	loop_timer_cancel(p->runner->loop, &p->present);
	bus_unsubscribe(p->cancel);
	own_tools_free(p->tools);
	free(p);
}
