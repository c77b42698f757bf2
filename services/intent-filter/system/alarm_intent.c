#include "system/alarm_intent.h"

#include "alarm/alarm_when.h"
#include "alarm/alarm_wire.h"
#include "core/buf.h"
#include "core/zone.h"
#include "wire/out.h"
#include "wire/wire.h"

/* Of normalized with a rule and an action. */
#define INTENT_MAX ((size_t)64 * 1024)

static const struct {
	const char *id, *name;
} alarm_acts[] = {
	[ALARM_ACT_SET] = { "sys.set_alarm", "设置提醒" },
	[ALARM_ACT_LIST] = { "sys.list_alarms", "查看提醒" },
	[ALARM_ACT_CHANGE] = { "sys.change_alarm", "修改提醒" },
	[ALARM_ACT_CANCEL] = { "sys.cancel_alarm", "取消提醒" },
};

/* The two objects of an intent while they are written. */
struct alarm_writer {
	const struct utterance *u;
	struct arena *a;
	struct buf normalized, parameters;
	struct wire_out n, p;
	bool has_question; /* normalized has a question */
	bool failed;
};

static void
alarm_writer_begin(struct alarm_writer *w, const struct utterance *u,
    enum alarm_act act, struct arena *a)
{
	*w = (struct alarm_writer){ .u = u, .a = a };
	buf_init(&w->normalized, INTENT_MAX);
	buf_init(&w->parameters, INTENT_MAX);
	w->n.b = &w->normalized;
	w->p.b = &w->parameters;
	wire_out_object(&w->n);
	wire_out_object(&w->p);
	wire_out_name(&w->n, "skill");
	wire_out_str(&w->n, str_of(alarm_acts[act].id));
}

/* A member of both, if it is not empty. */
static void
alarm_writer_put(struct alarm_writer *w, const char *name, struct str s)
{
	if (s.n == 0)
		return;
	wire_out_name(&w->n, name);
	wire_out_str(&w->n, s);
	wire_out_name(&w->p, name);
	wire_out_str(&w->p, s);
}

static enum rc
alarm_writer_end(struct alarm_writer *w, enum alarm_act act,
    struct wire_intent_filter_response_intents *out)
{
	enum rc rc = RC_TOOBIG;

	wire_out_object_end(&w->n);
	wire_out_object_end(&w->p);
	if (!w->failed && buf_rc(&w->normalized) == RC_OK &&
	    buf_rc(&w->parameters) == RC_OK) {
		out->intent_id = str_of(alarm_acts[act].id);
		out->intent_name = str_of(alarm_acts[act].name);
		out->normalized = arena_str(w->a, buf_str(&w->normalized));
		out->parameters = arena_str(w->a, buf_str(&w->parameters));
		out->missing_parameters = NULL;
		out->n_missing_parameters = 0;
		if (w->has_question) {
			out->missing_parameters =
			    arena_alloc(w->a, sizeof(*out->missing_parameters));
			if (out->missing_parameters != NULL)
				out->missing_parameters[0] = STR("when");
			out->n_missing_parameters = 1;
		}
		if (out->normalized.p != NULL && out->parameters.p != NULL &&
		    (!w->has_question || out->missing_parameters != NULL))
			rc = RC_OK;
	}
	buf_free(&w->normalized);
	buf_free(&w->parameters);
	return rc;
}

/* ---- the time ---- */

static void
alarm_writer_question(
    struct alarm_writer *w, enum alarm_when_error e, struct str when)
{
	char why[ALARM_WHY_MAX];

	/* The language is the command's where there is no time. */
	alarm_when_explain(
	    e, when.n > 0 ? when : w->u->cmd.text, why, sizeof(why));
	wire_out_name(&w->n, "question");
	wire_out_str(&w->n, str_of(why));
	w->has_question = true;
}

static void
alarm_writer_put_rule(struct alarm_writer *w, const struct alarm_rule *r)
{
	struct wire_alarm_rule rule;
	struct wire_err err;
	struct buf b = BUF_INIT(INTENT_MAX);

	if (alarm_rule_to_wire(r, w->u->zone, w->a, &rule) != RC_OK ||
	    wire_encode(&wire_alarm_rule_desc, &rule, &b, &err) != RC_OK) {
		w->failed = true;
	} else {
		wire_out_name(&w->n, "rule");
		wire_out_raw(&w->n, buf_str(&b));
		wire_out_name(&w->n, "zone");
		wire_out_str(&w->n, str_of(zone_name(w->u->zone)));
	}
	buf_free(&b);
}

static enum alarm_when_error
alarm_read_words(
    const struct utterance *u, struct str when, struct alarm_rule *r)
{
	const struct alarm_when_input in = {
		.when = when, .now = u->now, .zone = u->zone, .near_s = -1
	};

	return when.n == 0 ? ALARM_WHEN_NONE : alarm_when_parse(&in, r);
}

/* ---- intents ---- */

static void
alarm_write_set(struct alarm_writer *w, const struct alarm_phrase *p)
{
	struct alarm_rule rule;
	enum alarm_when_error e = alarm_read_words(w->u, p->when, &rule);

	wire_out_name(&w->n, "kind");
	wire_out_str(&w->n, str_of(p->kind));
	alarm_writer_put(w, "text", p->text);
	if (p->when.n > 0) {
		wire_out_name(&w->p, "when");
		wire_out_str(&w->p, p->when);
	}
	if (e == ALARM_WHEN_OK)
		alarm_writer_put_rule(w, &rule);
	else
		alarm_writer_question(w, e, p->when);
}

/*
 * The alarm that is changed says which half of the day 八点 is of: only the
 * service knows it.
 */
static void
alarm_write_change(struct alarm_writer *w, const struct alarm_phrase *p)
{
	struct alarm_rule rule;
	enum alarm_when_error e = alarm_read_words(w->u, p->when, &rule);

	alarm_writer_put(w, "select_when", p->select);
	alarm_writer_put(w, "match_text", p->text);
	if (e == ALARM_WHEN_OK || e == ALARM_WHEN_AMBIGUOUS)
		alarm_writer_put(w, "when", p->when);
	else
		alarm_writer_question(w, e, p->when);
}

enum rc
alarm_intent_write(const struct alarm_phrase *p, const struct utterance *u,
    struct arena *a, struct wire_intent_filter_response_intents *out)
{
	struct alarm_writer w;

	alarm_writer_begin(&w, u, p->act, a);
	switch (p->act) {
	case ALARM_ACT_SET:
		alarm_write_set(&w, p);
		break;
	case ALARM_ACT_CHANGE:
		alarm_write_change(&w, p);
		break;
	case ALARM_ACT_LIST:
	case ALARM_ACT_CANCEL:
		alarm_writer_put(&w, "when", p->select);
		alarm_writer_put(&w, "match_text", p->text);
		if (p->all && p->act == ALARM_ACT_CANCEL) {
			wire_out_name(&w.n, "all");
			wire_out_bool(&w.n, true);
		}
		break;
	}
	return alarm_writer_end(&w, p->act, out);
}

static void
alarm_write_action(struct alarm_writer *w, struct str text,
    const struct wire_intent_filter_response_intents *in)
{
	wire_out_name(&w->n, "action");
	wire_out_object(&w->n);
	wire_out_name(&w->n, "request_text");
	wire_out_str(&w->n, text);
	wire_out_name(&w->n, "intents");
	wire_out_array(&w->n);
	wire_out_object(&w->n);
	wire_out_name(&w->n, "intent_id");
	wire_out_str(&w->n, in->intent_id);
	wire_out_name(&w->n, "intent_name");
	wire_out_str(&w->n, in->intent_name);
	wire_out_name(&w->n, "confidence");
	wire_out_f64(&w->n, in->confidence);
	wire_out_name(&w->n, "parameters");
	wire_out_raw(&w->n, in->parameters);
	wire_out_name(&w->n, "normalized");
	wire_out_raw(&w->n, in->normalized);
	wire_out_object_end(&w->n);
	wire_out_array_end(&w->n);
	wire_out_object_end(&w->n);
}

/* Whether words that are no exact time are a wish for later all the same. */
static bool
alarm_is_for_later(enum alarm_when_error e)
{
	return e == ALARM_WHEN_OK || e == ALARM_WHEN_AMBIGUOUS ||
	    e == ALARM_WHEN_INEXACT || e == ALARM_WHEN_OPEN ||
	    e == ALARM_WHEN_UNSUPPORTED;
}

/* 关灯 of 十分钟后关灯; all of it if the time is in its middle. */
static struct str
alarm_without_time(struct str text, struct str when)
{
	struct str rest = text;

	if (str_starts(text, when))
		rest = (struct str){ text.p + when.n, text.n - when.n };
	else if (str_ends(text, when))
		rest.n -= when.n;
	rest = str_trim(rest);
	return rest.n > 0 ? rest : text;
}

enum rc
alarm_schedule_write(const struct utterance *u, struct str when,
    struct str text, struct arena *a,
    struct wire_intent_filter_response_intents *io)
{
	struct alarm_rule rule;
	enum alarm_when_error e = alarm_read_words(u, when, &rule);
	struct alarm_writer w;

	if (!alarm_is_for_later(e))
		return RC_NOENT;
	alarm_writer_begin(&w, u, ALARM_ACT_SET, a);
	wire_out_name(&w.n, "kind");
	wire_out_str(&w.n, STR("action"));
	alarm_writer_put(&w, "text", alarm_without_time(text, when));
	wire_out_name(&w.p, "when");
	wire_out_str(&w.p, when);
	alarm_write_action(&w, text, io);
	if (e == ALARM_WHEN_OK)
		alarm_writer_put_rule(&w, &rule);
	else
		alarm_writer_question(&w, e, when);
	return alarm_writer_end(&w, ALARM_ACT_SET, io);
}
