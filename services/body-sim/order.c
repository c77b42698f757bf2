/*
 * One announcement at a time.
 */
#include "order.h"

#include <stdio.h>

#include "core/str.h"

/* A report is early if online follows within this time. */
#define EARLY_MS 5000
/* Online said twice is no new announcement within this time. */
#define TWICE_MS 1000

#define TEXT_MAX 128

void
order_init(struct order *o, struct verdicts *v)
{
	*o = (struct order){ .v = v };
}

void
order_known(struct order *o)
{
	o->known = true;
}

void
order_away(struct order *o)
{
	int r;

	o->active = false;
	for (r = 0; r < REPORT_N; r++)
		o->early[r] = 0;
}

const char *
order_name(enum report r)
{
	static const char *const names[] = {
		[REPORT_ONLINE] = "online",
		[REPORT_SKILLS] = "skills",
		[REPORT_INTENTS] = "intent_catalog",
		[REPORT_HEARTBEAT] = "heartbeat",
	};

	return names[r];
}

static bool
has(const struct order *o, enum report r)
{
	int i;

	for (i = 0; i < o->n_seen; i++) {
		if (o->seen[i] == r)
			return true;
	}
	return false;
}

static bool
in_order(const struct order *o)
{
	int i;

	for (i = 0; i < o->n_seen; i++) {
		if (o->seen[i] != (enum report)i)
			return false;
	}
	return true;
}

static void
say(const struct order *o, char text[TEXT_MAX])
{
	int i, n = 0;

	text[0] = '\0';
	for (i = 0; i < o->n_seen && n >= 0 && n < TEXT_MAX; i++)
		n += snprintf(text + n, (size_t)(TEXT_MAX - n), "%s%s",
		    i > 0 ? " -> " : "", order_name(o->seen[i]));
}

static void
judge(struct order *o, enum line line)
{
	char text[TEXT_MAX];
	int r;

	say(o, text);
	if (!in_order(o)) {
		verdict_fail(o->v, line, "it was %s", text);
	} else if (o->n_seen == REPORT_N) {
		verdict_pass(o->v, line, "%s", text);
	} else {
		for (r = 0; has(o, (enum report)r); r++)
			;
		verdict_fail(o->v, line, "%s, and no %s within %d s", text,
		    order_name((enum report)r),
		    (r == REPORT_HEARTBEAT ? ORDER_HEARTBEAT_MS
					   : ORDER_REPORTS_MS) /
			1000);
	}
}

static void
end(struct order *o)
{
	bool skills = has(o, REPORT_SKILLS), intents = has(o, REPORT_INTENTS);

	o->active = false;
	o->done++;
	judge(o, LINE_ORDER);
	if (!o->reconnect)
		return;
	judge(o, LINE_RECONNECT);
	if (skills && intents)
		verdict_pass(o->v, LINE_REPORTS_AGAIN, "both came");
	else
		verdict_fail(o->v, LINE_REPORTS_AGAIN, "no %s came",
		    order_name(skills ? REPORT_INTENTS : REPORT_SKILLS));
}

static void
add(struct order *o, enum report r)
{
	if (!has(o, r))
		o->seen[o->n_seen++] = r;
}

static void
begin(struct order *o, int64_t t)
{
	int r;

	o->active = true;
	o->began = t;
	o->reconnect = o->known;
	o->known = true;
	o->n_seen = 0;
	for (r = REPORT_SKILLS; r < REPORT_N; r++) {
		if (o->early[r] != 0 && t - o->early[r] <= EARLY_MS)
			add(o, (enum report)r);
		o->early[r] = 0;
	}
	add(o, REPORT_ONLINE);
}

void
order_saw(struct order *o, int64_t t, enum report r, bool away)
{
	if (r == REPORT_ONLINE) {
		/* One that is cut short is neither right nor wrong. */
		if (!o->active || t - o->began > TWICE_MS)
			begin(o, t);
	} else if (o->active) {
		add(o, r);
	} else if (away || r != REPORT_HEARTBEAT) {
		o->early[r] = t > 0 ? t : 1;
	}
	if (o->active && o->n_seen == REPORT_N)
		end(o);
}

void
order_time(struct order *o, int64_t t)
{
	int64_t waited = t - o->began;

	if (!o->active)
		return;
	if (waited > ORDER_HEARTBEAT_MS ||
	    (waited > ORDER_REPORTS_MS &&
		(!has(o, REPORT_SKILLS) || !has(o, REPORT_INTENTS))))
		end(o);
}
