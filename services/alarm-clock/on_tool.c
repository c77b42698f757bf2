/*
 * The tools set_alarm, list_alarms, change_alarm, cancel_alarm: a soul does for
 * its user what requests do.
 *
 * A call that is repeated sets nothing else: an alarm has the id of the call
 * that has set it, and the others change what is stored to the same again.
 */
#include <stdio.h>

#include "alarm_request.h"
#include "alarm_tool.h"
#include "bus/bus.h"
#include "context.h"
#include "core/buf.h"
#include "core/log.h"
#include "handlers.h"
#include "svc/svc.h"
#include "tool/own_tool_grants.h"
#include "wire/subjects.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define MESSAGE_MAX 1024
#define TEXT_MAX    12288

/* ---- presence ---- */

static void
tool_on_present(void *arg)
{
	struct alarm_clock *c = arg;
	struct buf json = BUF_INIT(MESSAGE_MAX);
	char subject[128];

	loop_timer_set(c->loop, &c->present,
	    mono_add_ms(clock_mono(), OWN_TOOLS_PRESENT_MS), tool_on_present,
	    c);
	if (c->draining)
		return;
	(void)snprintf(subject, sizeof(subject), WIRE_SUBJECT_FMT_TOOL_PRESENT,
	    ALARM_PROVIDER);
	/* While there is no connection, nobody is to know of it. */
	if (own_tools_put_present(c->tools, str_of(c->instance), &json) ==
	    RC_OK)
		(void)!bus_publish(c->bus, subject, buf_str(&json), NULL);
	buf_free(&json);
}

void
tool_begin(struct alarm_clock *c)
{
	tool_on_present(c);
}

void
tool_end(struct alarm_clock *c)
{
	loop_timer_cancel(c->loop, &c->present);
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
tool_reject(struct svc_call *c, const struct alarm_rejection *why)
{
	if (why->may_be_done)
		tool_fail(c, "NOT_CONFIRMED", why->text);
	else if (why->rc == RC_INVALID || why->rc == RC_NOENT ||
	    why->rc == RC_CONFLICT)
		tool_reply(c, false, why->text);
	else
		tool_fail(c, "SERVER_UNAVAILABLE", why->text);
}

#define TOOL_OWN_ALARM                                                        \
	"; the body has an alarm of its own for that, which cannot be taken " \
	"back: tell the user to turn it off there"

static void
tool_put_alarm(struct buf *b, const struct wire_alarm *m)
{
	buf_put_str(b, wire_alarm_kind_names[m->kind]);
	buf_puts(b, " ");
	buf_put_str(b, m->alarm_id);
	if (m->moment.n > 0) {
		buf_puts(b, ", rings next ");
		buf_put_str(b, m->moment);
	} else {
		buf_puts(b, ", is ringing");
	}
	if (m->rule.kind != WIRE_ALARM_RULE_KIND_ONCE) {
		buf_puts(b, ", repeats: ");
		buf_put_str(b, wire_alarm_rule_kind_names[m->rule.kind]);
	}
	if (m->text.n > 0) {
		buf_puts(b, ", text: ");
		buf_put_str(b, m->text);
	}
	if (m->state == WIRE_ALARM_STATE_CANCELED && m->self_ringing)
		buf_puts(b, TOOL_OWN_ALARM);
}

static void
tool_reply_list(struct svc_call *c, const char *what, const char *none,
    const struct wire_alarm_list *list)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	size_t i, from;

	buf_puts(&b, list->n_alarms > 0 ? what : none);
	for (i = 0; i < list->n_alarms; i++) {
		from = b.n;
		buf_puts(&b, "\n- ");
		tool_put_alarm(&b, &list->alarms[i]);
		if (b.n + 128 > TEXT_MAX || buf_rc(&b) != RC_OK) {
			b.n = from;
			buf_printf(&b, "\nand %zu more", list->n_alarms - i);
			break;
		}
	}
	tool_reply(c, true, buf_str(&b));
	buf_free(&b);
}

static void
tool_reply_alarm(
    struct svc_call *c, const struct wire_alarm_reply *out, const char *what)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	buf_puts(&b, what);
	tool_put_alarm(&b, &out->alarm);
	if (out->on.n > 0) {
		buf_puts(&b, "; rings on the body ");
		buf_put_str(&b, out->on);
	} else {
		buf_puts(&b,
		    "; no body of the user is known yet, so that it "
		    "may be missed");
	}
	if (out->own_alarm_stays)
		buf_puts(&b, TOOL_OWN_ALARM);
	tool_reply(c, true, buf_str(&b));
	buf_free(&b);
}

/* ---- calls ---- */

static struct str
tool_text(const struct wire_tree *args, const char *name)
{
	return wire_tree_text(wire_tree_get(args, str_of(name)));
}

static void
tool_set(
    struct alarm_clock *app, struct svc_call *c, const struct wire_tree *args)
{
	const struct wire_tool_call_request *q = svc_call_request(c);
	struct str kind = tool_text(args, "kind");
	struct wire_alarm_put_request put;
	struct alarm_rejection why = { .trace = svc_call_trace(c) };
	struct wire_alarm_reply out;
	int i;

	wire_init(&wire_alarm_put_request_desc, &put);
	put.request_id = q->call_id;
	put.user_id = q->user_id;
	put.soul_id = q->soul_id;
	put.terminal_id = q->terminal_id;
	put.session_id = q->session_id;
	put.when = tool_text(args, "when");
	put.repeat = tool_text(args, "repeat");
	put.text = tool_text(args, "text");
	for (i = 0; i <= WIRE_ALARM_PUT_REQUEST_KIND_REMINDER; i++)
		if (str_eq(kind, wire_alarm_put_request_kind_names[i]))
			put.kind = (enum wire_alarm_put_request_kind)i;
	if (alarm_request_put(app, &put, svc_call_arena(c), &out, &why) ==
	    RC_OK)
		tool_reply_alarm(
		    c, &out, out.created ? "set: " : "it was set already: ");
	else
		tool_reject(c, &why);
}

static void
tool_list(
    struct alarm_clock *app, struct svc_call *c, const struct wire_tree *args)
{
	const struct wire_tool_call_request *q = svc_call_request(c);
	const struct wire_alarm_list_request list = { .user_id = q->user_id,
		.when = tool_text(args, "when") };
	struct alarm_rejection why = { .trace = svc_call_trace(c) };
	struct wire_alarm_list out;

	if (alarm_request_list(app, &list, svc_call_arena(c), &out, &why) ==
	    RC_OK)
		tool_reply_list(c, "the user's alarms:", "there is none", &out);
	else
		tool_reject(c, &why);
}

static void
tool_change(
    struct alarm_clock *app, struct svc_call *c, const struct wire_tree *args)
{
	const struct wire_tool_call_request *q = svc_call_request(c);
	struct wire_alarm_change_request change = { .user_id = q->user_id,
		.alarm_id = tool_text(args, "alarm_id"),
		.select_when = tool_text(args, "select_when"),
		.match_text = tool_text(args, "match_text"),
		.text = tool_text(args, "text"),
		.when = tool_text(args, "when"),
		.repeat = tool_text(args, "repeat") };
	struct alarm_rejection why = { .trace = svc_call_trace(c) };
	struct wire_alarm_reply out;

	if (alarm_request_change(app, &change, svc_call_arena(c), &out, &why) ==
	    RC_OK)
		tool_reply_alarm(c, &out, "changed: ");
	else
		tool_reject(c, &why);
}

static void
tool_cancel(
    struct alarm_clock *app, struct svc_call *c, const struct wire_tree *args)
{
	const struct wire_tool_call_request *q = svc_call_request(c);
	const struct wire_tree *all = wire_tree_get(args, STR("all"));
	struct wire_alarm_cancel_request cancel = { .user_id = q->user_id,
		.alarm_id = tool_text(args, "alarm_id"),
		.when = tool_text(args, "when"),
		.match_text = tool_text(args, "match_text"),
		.all = wire_tree_bool(all) };
	struct alarm_rejection why = { .trace = svc_call_trace(c) };
	struct wire_alarm_list out;

	if (alarm_request_cancel(app, &cancel, svc_call_arena(c), &out, &why) ==
	    RC_OK)
		tool_reply_list(c, "canceled:", "there was none", &out);
	else
		tool_reject(c, &why);
}

void
on_tool_call(void *app, struct svc_call *c)
{
	static void (*const calls[])(struct alarm_clock *, struct svc_call *,
	    const struct wire_tree *) = { [ALARM_TOOL_SET] = tool_set,
		[ALARM_TOOL_LIST] = tool_list,
		[ALARM_TOOL_CHANGE] = tool_change,
		[ALARM_TOOL_CANCEL] = tool_cancel };
	struct alarm_clock *a = app;
	const struct wire_tool_call_request *q = svc_call_request(c);
	const struct own_tool *tool = own_tools_find(a->tools, q->name);
	struct wire_tool_call_reply denial;
	struct wire_tree *args;
	struct wire_err err;
	char text[600];

	if (tool == NULL) {
		tool_fail(c, "UNKNOWN_TOOL", STR("there is no such tool"));
		return;
	}
	if (!own_tools_allow(
		a->state, a->tools, tool, q, svc_call_arena(c), &denial)) {
		svc_reply(c, &denial);
		return;
	}
	if (own_tool_check(tool, q->arguments, &err) != RC_OK ||
	    wire_tree_parse(q->arguments, &args) != RC_OK) {
		wire_err_text(&err, text, sizeof(text));
		tool_fail(c, "INVALID_ARGUMENTS", str_of(text));
		return;
	}
	log_info("tool.call", LOG_V("tool", tool->row->name),
	    LOG_V("call", q->call_id));
	calls[tool - a->tools->list](a, c, args);
	wire_tree_free(args);
}

void
on_tool_list(void *app, struct svc_call *c)
{
	const struct alarm_clock *a = app;
	const struct wire_tool_list_request *q = svc_call_request(c);
	struct wire_tool_list_reply rep;

	enum rc rc =
	    own_tools_offer(a->state, a->tools, q, svc_call_arena(c), &rep);

	if (rc == RC_OK)
		svc_reply(c, &rep);
	else
		svc_fail(c, rc, "the tools cannot be listed");
}
