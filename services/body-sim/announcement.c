#include "checker_internal.h"

#include <stdio.h>

#include "core/str.h"

/* A report counts as early if online follows within this time. */
#define EARLY_MS 5000
/* Within this time, a second online does not start a new announcement. */
#define TWICE_MS 1000

#define TEXT_MAX 128

void
announcement_init(struct announcement *a, struct verdicts *v)
{
	*a = (struct announcement){ .v = v };
}

void
announcement_set_known(struct announcement *a)
{
	a->known = true;
}

void
announcement_abort(struct announcement *a)
{
	int r;

	a->active = false;
	for (r = 0; r < REPORT_N; r++)
		a->early[r] = 0;
}

const char *
report_topic(enum report r)
{
	static const char *const names[] = {
		[REPORT_ONLINE] = "online",
		[REPORT_SKILLS] = "skills",
		[REPORT_CATALOG] = "intent_catalog",
		[REPORT_HEARTBEAT] = "heartbeat",
	};

	return names[r];
}

static bool
announcement_has(const struct announcement *a, enum report r)
{
	int i;

	for (i = 0; i < a->n_seen; i++) {
		if (a->seen[i] == r)
			return true;
	}
	return false;
}

static bool
announcement_in_order(const struct announcement *a)
{
	int i;

	for (i = 0; i < a->n_seen; i++) {
		if (a->seen[i] != (enum report)i)
			return false;
	}
	return true;
}

static void
announcement_text(const struct announcement *a, char text[TEXT_MAX])
{
	int i, n = 0;

	text[0] = '\0';
	for (i = 0; i < a->n_seen && n >= 0 && n < TEXT_MAX; i++)
		n += snprintf(text + n, (size_t)(TEXT_MAX - n), "%s%s",
		    i > 0 ? " -> " : "", report_topic(a->seen[i]));
}

static void
announcement_check(struct announcement *a, enum line line)
{
	char text[TEXT_MAX];
	int r;

	announcement_text(a, text);
	if (!announcement_in_order(a)) {
		verdict_fail(a->v, line, "the order was %s", text);
	} else if (a->n_seen == REPORT_N) {
		verdict_pass(a->v, line, "%s", text);
	} else {
		for (r = 0; announcement_has(a, (enum report)r); r++)
			;
		verdict_fail(a->v, line, "%s, and no %s within %d s", text,
		    report_topic((enum report)r),
		    (r == REPORT_HEARTBEAT ? ANNOUNCEMENT_HEARTBEAT_MS
					   : ANNOUNCEMENT_REPORTS_MS) /
			1000);
	}
}

static void
announcement_end(struct announcement *a)
{
	bool skills = announcement_has(a, REPORT_SKILLS),
	     intents = announcement_has(a, REPORT_CATALOG);

	a->active = false;
	a->done++;
	announcement_check(a, LINE_ORDER);
	if (!a->reconnect)
		return;
	announcement_check(a, LINE_RECONNECT);
	if (skills && intents)
		verdict_pass(a->v, LINE_REPORTS_RECONNECT, "both were sent");
	else
		verdict_fail(a->v, LINE_REPORTS_RECONNECT, "no %s was sent",
		    report_topic(skills ? REPORT_CATALOG : REPORT_SKILLS));
}

static void
announcement_append(struct announcement *a, enum report r)
{
	if (!announcement_has(a, r))
		a->seen[a->n_seen++] = r;
}

static void
announcement_begin(struct announcement *a, int64_t t)
{
	int r;

	a->active = true;
	a->began = t;
	a->reconnect = a->known;
	a->known = true;
	a->n_seen = 0;
	for (r = REPORT_SKILLS; r < REPORT_N; r++) {
		if (a->early[r] != 0 && t - a->early[r] <= EARLY_MS)
			announcement_append(a, (enum report)r);
		a->early[r] = 0;
	}
	announcement_append(a, REPORT_ONLINE);
}

void
announcement_add(struct announcement *a, int64_t t, enum report r, bool offline)
{
	if (r == REPORT_ONLINE) {
		/* An interrupted announcement gets no verdict. */
		if (!a->active || t - a->began > TWICE_MS)
			announcement_begin(a, t);
	} else if (a->active) {
		announcement_append(a, r);
	} else if (offline || r != REPORT_HEARTBEAT) {
		a->early[r] = t > 0 ? t : 1;
	}
	if (a->active && a->n_seen == REPORT_N)
		announcement_end(a);
}

void
announcement_tick(struct announcement *a, int64_t t)
{
	int64_t waited = t - a->began;

	if (!a->active)
		return;
	if (waited > ANNOUNCEMENT_HEARTBEAT_MS ||
	    (waited > ANNOUNCEMENT_REPORTS_MS &&
		(!announcement_has(a, REPORT_SKILLS) ||
		    !announcement_has(a, REPORT_CATALOG))))
		announcement_end(a);
}
