#include "checker_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire/device.h"

void
result_check_init(struct result_check *a, struct verdicts *v)
{
	*a = (struct result_check){ .v = v };
	a->arena = arena_new(WIRE_ARENA_MAX);
}

static void
result_check_clear(struct result_check *a, size_t i)
{
	free(a->ring[i].id);
	free(a->ring[i].output);
	a->ring[i].id = a->ring[i].output = NULL;
}

void
result_check_free(struct result_check *a)
{
	size_t i;

	for (i = 0; i < RESULT_CHECK_MAX; i++)
		result_check_clear(a, i);
	arena_free(a->arena);
}

static ptrdiff_t
result_check_find(const struct result_check *a, struct str id)
{
	size_t i;

	for (i = 0; i < RESULT_CHECK_MAX; i++) {
		if (a->ring[i].id != NULL && str_eq(str_of(a->ring[i].id), id))
			return (ptrdiff_t)i;
	}
	return -1;
}

void
result_check_invoke(struct result_check *a, int64_t t, struct str id)
{
	if (result_check_find(a, id) >= 0)
		return;
	result_check_clear(a, a->next);
	a->ring[a->next].repeated = 0;
	a->ring[a->next].id = str_dup(id);
	a->ring[a->next].sent = t;
	a->ring[a->next].received = false;
	a->ring[a->next].given_up = false;
	a->next = (a->next + 1) % RESULT_CHECK_MAX;
}

/* The server accepts ok=false without an error; the protocol requires one. */
static void
result_check_complete(struct result_check *a, struct str payload)
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

/* A body that executes an unknown skill has another result than the first. */
static void
result_check_second(
    struct result_check *a, size_t i, const struct wire_result *r)
{
	if (a->ring[i].repeated == 0)
		verdict_note(a->v, "a result was sent twice");
	else if (r->ok == a->ring[i].ok &&
	    str_eq(r->output, str_of(a->ring[i].output)))
		verdict_pass(a->v, LINE_REPEATED,
		    "it has sent the first result a second time");
	else
		verdict_fail(a->v, LINE_REPEATED,
		    "an invoke with the id of an earlier one was executed: "
		    "store the results of the last 16 request_ids");
}

void
result_check_repeat(struct result_check *a, int64_t t, struct str id)
{
	ptrdiff_t i = result_check_find(a, id);

	if (i >= 0)
		a->ring[i].repeated = t > 0 ? t : 1;
}

static void
result_check_time(struct result_check *a, int64_t t, struct str id,
    const struct wire_result *r)
{
	ptrdiff_t i = result_check_find(a, id);
	int64_t ms;

	if (i < 0) {
		/* The invoke may have been sent before the check began. */
		if (t > RESULT_TIMEOUT_MS)
			verdict_fail(a->v, LINE_RESULT,
			    "result/%.*s belongs to no invoke", STR_ARG(id));
		return;
	}
	ms = t - a->ring[i].sent;
	if (a->ring[i].received) {
		result_check_second(a, (size_t)i, r);
		return;
	}
	a->ring[i].received = true;
	a->ring[i].ok = r->ok;
	a->ring[i].output = str_dup(r->output);
	if (ms > RESULT_DUE_MS)
		verdict_fail(
		    a->v, LINE_IN_TIME, "one took %.1f s", (double)ms / 1000);
	else
		verdict_pass(
		    a->v, LINE_IN_TIME, "the last took %lld ms", (long long)ms);
	if (!a->ring[i].given_up)
		verdict_pass(a->v, LINE_RESULT, "results: %zu", a->n);
}

void
result_check_result(struct result_check *a, int64_t t, struct str id,
    struct str payload, char text[RESULT_CHECK_TEXT_MAX])
{
	char why[WIRE_ERR_TEXT_MAX], error[RESULT_CHECK_TEXT_MAX - 16];
	struct wire_result r;
	struct wire_err err;

	arena_reset(a->arena);
	a->n++;
	if (wire_device_result(payload, id, a->arena, &r, &err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		verdict_fail(a->v, LINE_COMPLETE, "%s", why);
		verdict_fail(a->v, LINE_RESULT,
		    "the server rejects result/%.*s: %s", STR_ARG(id), why);
		(void)snprintf(text, RESULT_CHECK_TEXT_MAX, "rejected");
		result_check_time(a, t, id, &(struct wire_result){ 0 });
		return;
	}
	result_check_time(a, t, id, &r);
	result_check_complete(a, payload);
	str_copy(r.ok ? STR("") : r.error, error, sizeof(error));
	(void)snprintf(text, RESULT_CHECK_TEXT_MAX, "ok=%s %s",
	    r.ok ? "true" : "false", error);
}

void
result_check_tick(struct result_check *a, int64_t t)
{
	size_t i;

	for (i = 0; i < RESULT_CHECK_MAX; i++) {
		if (a->ring[i].id != NULL && a->ring[i].repeated != 0 &&
		    t - a->ring[i].repeated > RESULT_TIMEOUT_MS)
			verdict_pass(
			    a->v, LINE_REPEATED, "it has sent no other result");
		if (a->ring[i].id == NULL || a->ring[i].received ||
		    t - a->ring[i].sent <= RESULT_TIMEOUT_MS)
			continue;
		a->ring[i].given_up = true;
		verdict_fail(a->v, LINE_RESULT,
		    "no result of invoke/%s within %d s", a->ring[i].id,
		    RESULT_TIMEOUT_MS / 1000);
		verdict_fail(a->v, LINE_IN_TIME, "no result of invoke/%s",
		    a->ring[i].id);
	}
}
