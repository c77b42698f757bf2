/*
 * Requests and results side by side.
 */
#include "answers.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire/device.h"

void
answers_init(struct answers *a, struct verdicts *v)
{
	*a = (struct answers){ .v = v };
	a->arena = arena_new(WIRE_ARENA_MAX);
}

void
answers_free(struct answers *a)
{
	size_t i;

	for (i = 0; i < ANSWERS_MAX; i++)
		free(a->ring[i].id);
	arena_free(a->arena);
}

static ptrdiff_t
find(const struct answers *a, struct str id)
{
	size_t i;

	for (i = 0; i < ANSWERS_MAX; i++) {
		if (a->ring[i].id != NULL && str_eq(str_of(a->ring[i].id), id))
			return (ptrdiff_t)i;
	}
	return -1;
}

void
answers_asked(struct answers *a, int64_t t, struct str id)
{
	if (find(a, id) >= 0)
		return;
	free(a->ring[a->next].id);
	a->ring[a->next].id = str_dup(id);
	a->ring[a->next].asked = t;
	a->ring[a->next].answered = false;
	a->ring[a->next].given_up = false;
	a->next = (a->next + 1) % ANSWERS_MAX;
}

/* What the server mends: ok=false without a reason. */
static void
judge_complete(struct answers *a, struct str payload)
{
	struct wire_result r;

	if (wire_decode(&wire_result_desc, payload, a->arena, &r, NULL) !=
	    RC_OK)
		return;
	if (!r.ok && r.error.n == 0)
		verdict_fail(
		    a->v, LINE_COMPLETE, "ok is false and error is missing");
	else
		verdict_pass(a->v, LINE_COMPLETE, "results: %zu", a->n);
}

static void
judge_when(struct answers *a, int64_t t, struct str id)
{
	ptrdiff_t i = find(a, id);
	int64_t ms;

	if (i < 0) {
		/* It may have been asked before the watch began. */
		if (t > ANSWERS_LAST_MS)
			verdict_fail(a->v, LINE_RESULT,
			    "result/%.*s answers no invoke", STR_ARG(id));
		return;
	}
	ms = t - a->ring[i].asked;
	if (a->ring[i].answered) {
		verdict_note(a->v, "a result came twice");
		return;
	}
	a->ring[i].answered = true;
	if (ms > ANSWERS_GOOD_MS)
		verdict_fail(
		    a->v, LINE_IN_TIME, "one took %.1f s", (double)ms / 1000);
	else
		verdict_pass(
		    a->v, LINE_IN_TIME, "the last took %lld ms", (long long)ms);
	if (!a->ring[i].given_up)
		verdict_pass(a->v, LINE_RESULT, "results: %zu", a->n);
}

void
answers_came(struct answers *a, int64_t t, struct str id, struct str payload,
    char said[ANSWERS_SAID_MAX])
{
	char why[WIRE_ERR_TEXT_MAX], error[ANSWERS_SAID_MAX - 16];
	struct wire_result r;
	struct wire_err err;

	arena_reset(a->arena);
	a->n++;
	if (wire_device_result(payload, id, a->arena, &r, &err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		verdict_fail(a->v, LINE_COMPLETE, "%s", why);
		verdict_fail(a->v, LINE_RESULT,
		    "the server cannot take result/%.*s: %s", STR_ARG(id), why);
		(void)snprintf(said, ANSWERS_SAID_MAX, "refused");
		judge_when(a, t, id);
		return;
	}
	judge_when(a, t, id);
	judge_complete(a, payload);
	str_copy(r.ok ? STR("") : r.error, error, sizeof(error));
	(void)snprintf(
	    said, ANSWERS_SAID_MAX, "ok=%s %s", r.ok ? "true" : "false", error);
}

void
answers_time(struct answers *a, int64_t t)
{
	size_t i;

	for (i = 0; i < ANSWERS_MAX; i++) {
		if (a->ring[i].id == NULL || a->ring[i].answered ||
		    t - a->ring[i].asked <= ANSWERS_LAST_MS)
			continue;
		a->ring[i].given_up = true;
		verdict_fail(a->v, LINE_RESULT,
		    "invoke/%s had none within %d s", a->ring[i].id,
		    ANSWERS_LAST_MS / 1000);
		verdict_fail(
		    a->v, LINE_IN_TIME, "invoke/%s had none", a->ring[i].id);
	}
}
