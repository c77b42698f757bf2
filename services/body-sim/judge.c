/*
 * Presence, heartbeats, flags; the rest is told to order, reports, answers.
 */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>

#include "answers.h"
#include "core/arena.h"
#include "core/mem.h"
#include "order.h"
#include "reports.h"
#include "wire/msgs.h"

/* Heartbeats further apart are worth a word. */
#define BEAT_ADVISED_MS 15000
/* Gaps between heartbeats that make a period. */
#define BEAT_GAPS_MIN 2
#define KEPT_N        (REPORT_INTENTS + 1)

enum presence { PRESENCE_UNKNOWN, PRESENCE_AWAY, PRESENCE_THERE };

struct judge {
	struct judge_opts o;
	struct verdicts v;
	struct order order;
	struct reports reports;
	struct answers answers;
	struct arena *arena;

	bool any;
	enum presence is;

	int64_t beat_at; /* the last, or when it came online */
	bool beat_known; /* the last was a heartbeat */
	int64_t gap_sum, gap_max;
	int gaps, beats_away;

	/* What was announced last, and what the broker has kept of it. */
	char *live[KEPT_N], *kept[KEPT_N];
	int64_t kept_since; /* -1: not waiting for it */
	int kept_wanted;    /* announcements that have been looked into */
	bool qos_seen[KEPT_N];

	int64_t kicked; /* -1: not */
	bool off_since_kick;
};

struct judge *
judge_new(const struct judge_opts *o)
{
	struct judge *j = mem_zalloc(sizeof(*j));

	j->o = *o;
	j->arena = arena_new(WIRE_ARENA_MAX);
	j->kicked = -1;
	verdicts_init(&j->v);
	order_init(&j->order, &j->v);
	reports_init(&j->reports, &j->v, str_of(o->terminal));
	answers_init(&j->answers, &j->v);
	return j;
}

void
judge_free(struct judge *j)
{
	int i;

	if (j == NULL)
		return;
	for (i = 0; i < KEPT_N; i++) {
		free(j->live[i]);
		free(j->kept[i]);
	}
	verdicts_free(&j->v);
	reports_free(&j->reports);
	answers_free(&j->answers);
	arena_free(j->arena);
	free(j);
}

const struct verdicts *
judge_verdicts(const struct judge *j)
{
	return &j->v;
}

/* ---- flags --------------------------------------------------------------- */

static void
judge_qos(struct judge *j, enum report r, int qos)
{
	bool all = true;
	int i;

	if (r == REPORT_HEARTBEAT) {
		if (qos != 0)
			verdict_fail(
			    &j->v, LINE_QOS, "heartbeat has QoS %d", qos);
		return;
	}
	if (qos == 0)
		verdict_fail(&j->v, LINE_QOS, "%s has QoS 0", order_name(r));
	j->qos_seen[r] = true;
	for (i = 0; i < KEPT_N; i++)
		all = all && j->qos_seen[i];
	if (all)
		verdict_pass(&j->v, LINE_QOS, "of what was seen");
}

static void
copy(char **to, struct str s)
{
	free(*to);
	*to = str_dup(s);
}

static void
keep(struct judge *j, enum report r, const struct judge_msg *m)
{
	if (r == REPORT_HEARTBEAT) {
		if (m->kept)
			verdict_fail(
			    &j->v, LINE_RETAIN, "a heartbeat is retained");
	} else {
		copy(m->kept ? &j->kept[r] : &j->live[r], m->payload);
		/* The kept one is about to be replaced. */
		if (!m->kept)
			j->kept_since = -1;
	}
}

/* All that the broker has kept has come. */
static void
judge_kept(struct judge *j)
{
	bool all = true;
	int i;

	j->kept_since = -1;
	for (i = 0; i < KEPT_N; i++) {
		const char *kept = j->kept[i], *live = j->live[i];

		all = all && kept != NULL;
		if (live != NULL && kept == NULL)
			verdict_fail(&j->v, LINE_RETAIN, "%s is not retained",
			    order_name((enum report)i));
		else if (live != NULL && !str_eq(str_of(live), str_of(kept)))
			verdict_fail(&j->v, LINE_RETAIN,
			    "the %s that is retained is not the one that was "
			    "announced",
			    order_name((enum report)i));
	}
	if (all)
		verdict_pass(&j->v, LINE_RETAIN, "the three are, as announced");
}

bool
judge_wants_kept(struct judge *j, int64_t t)
{
	int i;

	if (j->order.active || j->order.done == j->kept_wanted)
		return false;
	j->kept_wanted = j->order.done;
	for (i = 0; i < KEPT_N; i++)
		copy(&j->kept[i], (struct str){ 0 });
	j->kept_since = t;
	return true;
}

/* ---- presence ------------------------------------------------------------ */

static void
came(struct judge *j, int64_t t)
{
	if (j->kicked >= 0) {
		if (!j->off_since_kick)
			verdict_fail(&j->v, LINE_WILL,
			    "its connection was broken, and no offline came");
		j->kicked = -1;
	} else if (j->is == PRESENCE_THERE && j->order.reconnect &&
	    j->order.began == t) {
		verdict_note(&j->v,
		    "it came again without an offline in between: before a "
		    "goodbye, a body says offline itself");
	}
	j->is = PRESENCE_THERE;
	j->beats_away = 0;
	j->beat_at = t;
	j->beat_known = false;
}

static void
went(struct judge *j)
{
	j->is = PRESENCE_AWAY;
	order_away(&j->order);
	j->off_since_kick = true;
	verdict_pass(&j->v, LINE_WILL,
	    j->kicked >= 0 ? "it came when the connection was broken"
			   : "an offline came");
}

static void
on_online(struct judge *j, int64_t t, const struct judge_msg *m,
    char said[JUDGE_SAID_MAX])
{
	struct wire_online online;
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	bool there;

	arena_reset(j->arena);
	if (wire_decode(&wire_online_desc, m->payload, j->arena, &online,
		&err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		verdict_fail(&j->v, LINE_ONLINE, "it %s", err.why);
		(void)snprintf(said, JUDGE_SAID_MAX, "refused");
		return;
	}
	verdict_pass(
	    &j->v, LINE_ONLINE, "%s", wire_online_value_names[online.value].p);
	there = online.value == WIRE_ONLINE_VALUE_ONLINE ||
	    online.value == WIRE_ONLINE_VALUE_TRUE ||
	    online.value == WIRE_ONLINE_VALUE_1;
	(void)snprintf(
	    said, JUDGE_SAID_MAX, "%s", there ? "online" : "offline");
	if (m->kept) {
		if (there)
			order_known(&j->order);
		if (j->is == PRESENCE_UNKNOWN)
			j->is = there ? PRESENCE_THERE : PRESENCE_AWAY;
	} else if (there) {
		order_saw(&j->order, t, REPORT_ONLINE, false);
		came(j, t);
	} else {
		went(j);
	}
}

/* ---- heartbeats ---------------------------------------------------------- */

static void
on_beat(struct judge *j, int64_t t)
{
	int64_t gap = t - j->beat_at;

	if (j->is == PRESENCE_AWAY && ++j->beats_away == 2)
		verdict_fail(&j->v, LINE_WILL,
		    "heartbeats go on after an offline: an old connection's "
		    "will came after the new online (use one client id), or "
		    "online was never said");
	if (j->beat_known) {
		j->gaps++;
		j->gap_sum += gap;
		if (gap > j->gap_max)
			j->gap_max = gap;
	}
	j->beat_at = t;
	j->beat_known = true;
	if (j->gap_max > BEAT_ADVISED_MS)
		verdict_note(&j->v,
		    "heartbeats are up to %.1f s apart; 10 s is advised",
		    (double)j->gap_max / 1000);
	if (j->gaps >= BEAT_GAPS_MIN)
		verdict_pass(&j->v, LINE_HEARTBEAT,
		    "%.1f s apart, %.1f s at most",
		    (double)j->gap_sum / j->gaps / 1000,
		    (double)j->gap_max / 1000);
	else
		verdict_unseen(&j->v, LINE_HEARTBEAT, "too few to judge");
	if (gap >= j->o.ttl_ms && j->is == PRESENCE_THERE)
		verdict_fail(&j->v, LINE_HEARTBEAT,
		    "%.1f s without one; after %lld s the server takes the "
		    "skills for void",
		    (double)gap / 1000, (long long)j->o.ttl_ms / 1000);
}

static void
time_beat(struct judge *j, int64_t t)
{
	if (j->is == PRESENCE_THERE && t - j->beat_at > j->o.ttl_ms)
		verdict_fail(&j->v, LINE_HEARTBEAT,
		    "none for %lld s; the server takes the skills for void",
		    (long long)j->o.ttl_ms / 1000);
}

/* ---- all ----------------------------------------------------------------- */

static void
on_report(struct judge *j, int64_t t, enum report r, const struct judge_msg *m,
    char said[JUDGE_SAID_MAX])
{
	bool away = j->is == PRESENCE_AWAY;

	judge_qos(j, r, m->qos);
	keep(j, r, m);
	/* What is kept is compared with what was announced, not judged. */
	if (m->kept && (r == REPORT_SKILLS || r == REPORT_INTENTS) &&
	    j->live[r] != NULL)
		return;
	switch (r) {
	case REPORT_ONLINE:
		on_online(j, t, m, said);
		return;
	case REPORT_SKILLS:
		reports_skills(&j->reports, m->payload, said);
		break;
	case REPORT_INTENTS:
		reports_intents(&j->reports, m->payload, said);
		break;
	default:
		if (!m->kept)
			on_beat(j, t);
		break;
	}
	if (!m->kept)
		order_saw(&j->order, t, r, away);
}

/* The request id of a leaf "<kind>/<id>"; absent if it is none. */
static struct str
request_of(struct str leaf, struct str kind)
{
	if (!str_starts(leaf, kind))
		return (struct str){ 0 };
	return (struct str){ leaf.p + kind.n, leaf.n - kind.n };
}

void
judge_saw(struct judge *j, int64_t t, const struct judge_msg *m,
    char said[JUDGE_SAID_MAX])
{
	struct str asked = request_of(m->leaf, STR("invoke/"));
	struct str answered = request_of(m->leaf, STR("result/"));
	int r;

	said[0] = '\0';
	for (r = 0; r < REPORT_N; r++) {
		if (str_eq(m->leaf, str_of(order_name((enum report)r)))) {
			j->any = true;
			on_report(j, t, (enum report)r, m, said);
		}
	}
	if (asked.p != NULL && !m->kept)
		answers_asked(&j->answers, t, asked);
	if (answered.p == NULL)
		return;
	j->any = true;
	if (m->kept) {
		verdict_fail(&j->v, LINE_RETAIN, "a result is retained");
		return;
	}
	if (m->qos == 0)
		verdict_fail(&j->v, LINE_QOS, "result has QoS 0");
	answers_came(&j->answers, t, answered, m->payload, said);
}

void
judge_time(struct judge *j, int64_t t)
{
	order_time(&j->order, t);
	answers_time(&j->answers, t);
	time_beat(j, t);
	if (j->kept_since >= 0 && t - j->kept_since > JUDGE_KEPT_MS)
		judge_kept(j);
	if (j->kicked >= 0 && t - j->kicked > JUDGE_BACK_MS) {
		j->kicked = -1;
		verdict_fail(&j->v, LINE_RECONNECT,
		    "it did not come back within %d s after its connection "
		    "was broken",
		    JUDGE_BACK_MS / 1000);
	}
}

void
judge_end(struct judge *j, int64_t t)
{
	judge_time(j, t);
	if (j->any)
		return;
	verdict_fail(&j->v, LINE_ONLINE,
	    "nothing came from %s: is that its id, the prefix right, and is "
	    "it connected to this broker?",
	    j->o.terminal);
}

bool
judge_calm(const struct judge *j, int64_t t)
{
	return t > JUDGE_KEPT_MS && j->is == PRESENCE_THERE &&
	    !j->order.active && j->kept_since < 0;
}

void
judge_kicked(struct judge *j, int64_t t)
{
	j->kicked = t;
	j->off_since_kick = false;
	order_away(&j->order);
}

void
judge_probed(struct judge *j, enum line line, bool heard)
{
	if (heard)
		verdict_pass(&j->v, line, "somebody is");
	else
		verdict_fail(&j->v, line, "nobody is");
}

bool
judge_done(const struct judge *j)
{
	int i;

	/* An offline as the last word may be an old will. */
	if (j->is == PRESENCE_AWAY || j->kicked >= 0 || j->order.active ||
	    j->kept_since >= 0 || j->order.done != j->kept_wanted)
		return false;
	for (i = 0; i < LINES_N; i++) {
		bool idle = i == LINE_FEELING ||
		    (!j->o.invokes &&
			(i == LINE_RESULT || i == LINE_IN_TIME ||
			    i == LINE_COMPLETE)) ||
		    (!j->o.probes &&
			(i == LINE_EMOTION_UPDATE || i == LINE_INTENT_ACTION));

		if (j->v.lines[i].is == VERDICT_NOT_SEEN && !idle)
			return false;
	}
	return true;
}
