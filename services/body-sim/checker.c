/*
 * Presence, heartbeats, QoS and retain flags; the rest is passed on to the
 * parts in checker_internal.h.
 */
#include "checker.h"

#include <stdio.h>
#include <stdlib.h>

#include "checker_internal.h"
#include "core/arena.h"
#include "core/mem.h"
#include "wire/msgs.h"

/* Heartbeats further apart than this get advice. */
#define HEARTBEAT_ADVISED_MS 15000
/* Intervals needed for a verdict. */
#define HEARTBEAT_GAPS_MIN 2
#define RETAINED_N         (REPORT_CATALOG + 1)

enum presence { PRESENCE_UNKNOWN, PRESENCE_OFFLINE, PRESENCE_ONLINE };

struct checker {
	struct checker_opts o;
	struct verdicts v;
	struct announcement announcement;
	struct report_check reports;
	struct result_check results;
	struct arena *arena;

	bool any;
	enum presence is;

	int64_t heartbeat_at; /* of the last one, or when it came online */
	bool heartbeat_known; /* the last one was a heartbeat */
	int64_t gap_sum, gap_max;
	int gaps, heartbeats_offline;

	/* The last reports, and the retained messages of their topics. */
	char *live[RETAINED_N], *retained[RETAINED_N];
	int64_t retained_since; /* -1: not waiting for retained messages */
	int retained_checked;   /* announcements whose retained messages were
				   compared */
	bool qos_seen[RETAINED_N];

	int64_t kicked; /* -1: not */
	bool off_since_kick;
};

struct checker *
checker_new(const struct checker_opts *o)
{
	struct checker *c = mem_zalloc(sizeof(*c));

	c->o = *o;
	c->arena = arena_new(WIRE_ARENA_MAX);
	c->kicked = -1;
	verdicts_init(&c->v);
	announcement_init(&c->announcement, &c->v);
	report_check_init(&c->reports, &c->v, str_of(o->terminal));
	result_check_init(&c->results, &c->v);
	return c;
}

void
checker_free(struct checker *c)
{
	int i;

	if (c == NULL)
		return;
	for (i = 0; i < RETAINED_N; i++) {
		free(c->live[i]);
		free(c->retained[i]);
	}
	verdicts_free(&c->v);
	report_check_free(&c->reports);
	result_check_free(&c->results);
	arena_free(c->arena);
	free(c);
}

const struct verdicts *
checker_verdicts(const struct checker *c)
{
	return &c->v;
}

/* ---- QoS and retained messages ---- */

static void
checker_qos(struct checker *c, enum report r, int qos)
{
	bool all = true;
	int i;

	if (r == REPORT_HEARTBEAT) {
		if (qos != 0)
			verdict_fail(
			    &c->v, LINE_QOS, "heartbeat has QoS %d", qos);
		return;
	}
	if (qos == 0)
		verdict_fail(&c->v, LINE_QOS, "%s has QoS 0", report_topic(r));
	c->qos_seen[r] = true;
	for (i = 0; i < RETAINED_N; i++)
		all = all && c->qos_seen[i];
	if (all)
		verdict_pass(&c->v, LINE_QOS, "of all messages seen");
}

static void
checker_copy(char **to, struct str s)
{
	free(*to);
	*to = str_dup(s);
}

static void
checker_store(struct checker *c, enum report r, const struct checker_msg *m)
{
	if (r == REPORT_HEARTBEAT) {
		if (m->retained)
			verdict_fail(
			    &c->v, LINE_RETAIN, "a heartbeat is retained");
	} else {
		checker_copy(
		    m->retained ? &c->retained[r] : &c->live[r], m->payload);
		/* The retained message is about to be replaced. */
		if (!m->retained)
			c->retained_since = -1;
	}
}

/* All retained messages have arrived. */
static void
checker_compare_retained(struct checker *c)
{
	bool all = true;
	int i;

	c->retained_since = -1;
	for (i = 0; i < RETAINED_N; i++) {
		const char *retained = c->retained[i], *live = c->live[i];

		all = all && retained != NULL;
		if (live != NULL && retained == NULL)
			verdict_fail(&c->v, LINE_RETAIN, "%s is not retained",
			    report_topic((enum report)i));
		else if (live != NULL &&
		    !str_eq(str_of(live), str_of(retained)))
			verdict_fail(&c->v, LINE_RETAIN,
			    "the retained %s differs from the announced one",
			    report_topic((enum report)i));
	}
	if (all)
		verdict_pass(
		    &c->v, LINE_RETAIN, "all three are retained as announced");
}

bool
checker_wants_retained(struct checker *c, int64_t t)
{
	int i;

	if (c->announcement.active ||
	    c->announcement.done == c->retained_checked)
		return false;
	c->retained_checked = c->announcement.done;
	for (i = 0; i < RETAINED_N; i++)
		checker_copy(&c->retained[i], (struct str){ 0 });
	c->retained_since = t;
	return true;
}

/* ---- presence ---- */

static void
checker_online(struct checker *c, int64_t t)
{
	if (c->kicked >= 0) {
		if (!c->off_since_kick)
			verdict_fail(&c->v, LINE_WILL,
			    "no offline after its connection was broken");
		c->kicked = -1;
	} else if (c->is == PRESENCE_ONLINE && c->announcement.reconnect &&
	    c->announcement.began == t) {
		verdict_note(&c->v,
		    "it came online again without an offline in between: a "
		    "body should publish offline before it disconnects");
	}
	c->is = PRESENCE_ONLINE;
	c->heartbeats_offline = 0;
	c->heartbeat_at = t;
	c->heartbeat_known = false;
}

static void
checker_offline(struct checker *c)
{
	c->is = PRESENCE_OFFLINE;
	announcement_abort(&c->announcement);
	c->off_since_kick = true;
	verdict_pass(&c->v, LINE_WILL,
	    c->kicked >= 0 ? "offline after its connection was broken"
			   : "offline");
}

static void
checker_on_online(struct checker *c, int64_t t, const struct checker_msg *m,
    char text[CHECKER_TEXT_MAX])
{
	struct wire_online online;
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	bool is_online;

	arena_reset(c->arena);
	if (wire_decode(&wire_online_desc, m->payload, c->arena, &online,
		&err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		verdict_fail(&c->v, LINE_ONLINE, "the value %s", err.why);
		(void)snprintf(text, CHECKER_TEXT_MAX, "rejected");
		return;
	}
	verdict_pass(
	    &c->v, LINE_ONLINE, "%s", wire_online_value_names[online.value].p);
	is_online = online.value == WIRE_ONLINE_VALUE_ONLINE ||
	    online.value == WIRE_ONLINE_VALUE_TRUE ||
	    online.value == WIRE_ONLINE_VALUE_1;
	(void)snprintf(
	    text, CHECKER_TEXT_MAX, "%s", is_online ? "online" : "offline");
	if (m->retained) {
		if (is_online)
			announcement_set_known(&c->announcement);
		if (c->is == PRESENCE_UNKNOWN)
			c->is = is_online ? PRESENCE_ONLINE : PRESENCE_OFFLINE;
	} else if (is_online) {
		announcement_add(&c->announcement, t, REPORT_ONLINE, false);
		checker_online(c, t);
	} else {
		checker_offline(c);
	}
}

/* ---- heartbeats ---- */

static void
checker_on_heartbeat(struct checker *c, int64_t t)
{
	int64_t gap = t - c->heartbeat_at;

	if (c->is == PRESENCE_OFFLINE && ++c->heartbeats_offline == 2)
		verdict_fail(&c->v, LINE_WILL,
		    "heartbeats after an offline: either the will of an old "
		    "connection followed the new online (use one client id), "
		    "or online was not published");
	if (c->heartbeat_known) {
		c->gaps++;
		c->gap_sum += gap;
		if (gap > c->gap_max)
			c->gap_max = gap;
	}
	c->heartbeat_at = t;
	c->heartbeat_known = true;
	if (c->gap_max > HEARTBEAT_ADVISED_MS)
		verdict_note(&c->v,
		    "heartbeats are up to %.1f s apart; 10 s is advised",
		    (double)c->gap_max / 1000);
	if (c->gaps >= HEARTBEAT_GAPS_MIN)
		verdict_pass(&c->v, LINE_HEARTBEAT,
		    "%.1f s apart, %.1f s at most",
		    (double)c->gap_sum / c->gaps / 1000,
		    (double)c->gap_max / 1000);
	else
		verdict_unseen(&c->v, LINE_HEARTBEAT, "too few heartbeats");
	if (gap >= c->o.ttl_ms && c->is == PRESENCE_ONLINE)
		verdict_fail(&c->v, LINE_HEARTBEAT,
		    "%.1f s without one; after %lld s the server ignores the "
		    "skills",
		    (double)gap / 1000, (long long)c->o.ttl_ms / 1000);
}

static void
checker_check_heartbeat(struct checker *c, int64_t t)
{
	if (c->is == PRESENCE_ONLINE && t - c->heartbeat_at > c->o.ttl_ms)
		verdict_fail(&c->v, LINE_HEARTBEAT,
		    "none for %lld s; the server ignores the skills",
		    (long long)c->o.ttl_ms / 1000);
}

/* ---- messages and time ---- */

static void
checker_on_report(struct checker *c, int64_t t, enum report r,
    const struct checker_msg *m, char text[CHECKER_TEXT_MAX])
{
	bool away = c->is == PRESENCE_OFFLINE;

	checker_qos(c, r, m->qos);
	checker_store(c, r, m);
	/* Only compared with the last report, not checked again. */
	if (m->retained && (r == REPORT_SKILLS || r == REPORT_CATALOG) &&
	    c->live[r] != NULL)
		return;
	switch (r) {
	case REPORT_ONLINE:
		checker_on_online(c, t, m, text);
		return;
	case REPORT_SKILLS:
		report_check_skills(&c->reports, m->payload, text);
		break;
	case REPORT_CATALOG:
		report_check_intents(&c->reports, m->payload, text);
		break;
	default:
		if (!m->retained)
			checker_on_heartbeat(c, t);
		break;
	}
	if (!m->retained)
		announcement_add(&c->announcement, t, r, away);
}

/* The request id of a leaf "<kind>/<id>"; absent if it is of another kind. */
static struct str
checker_request_id(struct str leaf, struct str kind)
{
	if (!str_starts(leaf, kind))
		return (struct str){ 0 };
	return (struct str){ leaf.p + kind.n, leaf.n - kind.n };
}

void
checker_message(struct checker *c, int64_t t, const struct checker_msg *m,
    char text[CHECKER_TEXT_MAX])
{
	struct str invoke = checker_request_id(m->leaf, STR("invoke/"));
	struct str result = checker_request_id(m->leaf, STR("result/"));
	int r;

	text[0] = '\0';
	for (r = 0; r < REPORT_N; r++) {
		if (str_eq(m->leaf, str_of(report_topic((enum report)r)))) {
			c->any = true;
			checker_on_report(c, t, (enum report)r, m, text);
		}
	}
	if (invoke.p != NULL && !m->retained)
		result_check_invoke(&c->results, t, invoke);
	if (result.p == NULL)
		return;
	c->any = true;
	if (m->retained) {
		verdict_fail(&c->v, LINE_RETAIN, "a result is retained");
		return;
	}
	if (m->qos == 0)
		verdict_fail(&c->v, LINE_QOS, "result has QoS 0");
	result_check_result(&c->results, t, result, m->payload, text);
}

void
checker_tick(struct checker *c, int64_t t)
{
	announcement_tick(&c->announcement, t);
	result_check_tick(&c->results, t);
	checker_check_heartbeat(c, t);
	if (c->retained_since >= 0 &&
	    t - c->retained_since > CHECKER_RETAINED_MS)
		checker_compare_retained(c);
	if (c->kicked >= 0 && t - c->kicked > CHECKER_RECONNECT_MS) {
		c->kicked = -1;
		verdict_fail(&c->v, LINE_RECONNECT,
		    "it did not come back within %d s after its connection "
		    "was broken",
		    CHECKER_RECONNECT_MS / 1000);
	}
}

void
checker_finish(struct checker *c, int64_t t)
{
	checker_tick(c, t);
	if (c->any)
		return;
	verdict_fail(&c->v, LINE_ONLINE,
	    "no message from %s: check its id, the prefix, and whether it is "
	    "connected to this broker",
	    c->o.terminal);
}

bool
checker_idle(const struct checker *c, int64_t t)
{
	return t > CHECKER_RETAINED_MS && c->is == PRESENCE_ONLINE &&
	    !c->announcement.active && c->retained_since < 0;
}

void
checker_kicked(struct checker *c, int64_t t)
{
	c->kicked = t;
	c->off_since_kick = false;
	announcement_abort(&c->announcement);
}

void
checker_repeated(struct checker *c, int64_t t, struct str id)
{
	result_check_repeat(&c->results, t, id);
}

void
checker_probed(struct checker *c, enum line line, bool subscribed)
{
	if (subscribed)
		verdict_pass(&c->v, line, "there is a subscriber");
	else
		verdict_fail(&c->v, line, "there is no subscriber");
}

bool
checker_done(const struct checker *c)
{
	int i;

	/* A last message of offline may be an old will. */
	if (c->is == PRESENCE_OFFLINE || c->kicked >= 0 ||
	    c->announcement.active || c->retained_since >= 0 ||
	    c->announcement.done != c->retained_checked)
		return false;
	for (i = 0; i < LINES_N; i++) {
		bool idle = i == LINE_EMOTION ||
		    (!c->o.invokes &&
			(i == LINE_RESULT || i == LINE_IN_TIME ||
			    i == LINE_COMPLETE || i == LINE_REPEATED)) ||
		    (!c->o.probes &&
			(i == LINE_EMOTION_UPDATE || i == LINE_INTENT_ACTION));

		if (c->v.lines[i].is == VERDICT_NOT_SEEN && !idle)
			return false;
	}
	return true;
}
