/*
 * terminal_request: whether a terminal is reachable, expected results, results.
 *
 * A result is expected by a note that is stored where the result will be.  A
 * result that is not expected is not stored, so that a terminal cannot fill
 * Redis with results.
 */
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"
#include "state/terminal.h"

static enum rc
reachable_run(struct state *s, struct script_call *c, bool *is)
{
	struct state_reply *r;
	enum rc rc;

	rc = call_run(s, c, 2, &r);
	*is = rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0;
	state_reply_free(r);
	return rc;
}

enum rc
terminal_is_reachable(struct state *s, struct str id, struct str broker,
    int64_t ttl_ms, bool *here)
{
	struct script_call c;

	call_begin(&c, &script_terminal_is_reachable);
	call_key(&c, KEY_TERMINAL, id, STR_NONE);
	call_num(&c, ttl_ms);
	call_text(&c, broker, ID_MAX);
	return reachable_run(s, &c, here);
}

enum rc
terminal_expect_result(struct state *s, struct str id,
    const struct terminal_expect_result *e, bool *here)
{
	struct script_call c;

	call_begin(&c, &script_terminal_expect_result);
	call_key(&c, KEY_TERMINAL, id, STR_NONE);
	call_key(&c, KEY_RESULT, id, e->request_id);
	call_num(&c, e->ttl_ms);
	call_text(&c, e->broker, ID_MAX);
	call_text(&c, e->note, TERMINAL_NOTE_MAX);
	return reachable_run(s, &c, here);
}

/* The result of one; the note is copied. */
static void
result_end(
    struct terminal_result *v, const struct state_reply *r, struct arena *a)
{
	v->rc = call_status(r, 3);
	if (v->rc != RC_OK)
		return;
	v->first = state_reply_int(state_reply_at(r, 1)) != 0;
	v->note = arena_str(a, state_reply_str(state_reply_at(r, 2)));
}

/* How many of v fit a round trip: at least one. */
static size_t
result_trip(const struct terminal_result *v, size_t n)
{
	size_t i, bytes = 0;

	for (i = 0; i < n && i < STATE_PIPE_MAX; i++) {
		bytes += v[i].json.n;
		if (i > 0 && bytes > TERMINAL_TRIP_BYTES)
			break;
	}
	return i;
}

/* One round trip. */
static enum rc
result_put_trip(
    struct state_pipe *p, struct terminal_result *v, size_t n, struct arena *a)
{
	const struct state_reply *r;
	size_t i, at = 0;
	struct script_call c;
	enum rc rc;

	for (i = 0; i < n; i++) {
		call_begin(&c, &script_terminal_put_expected_result);
		call_key(&c, KEY_RESULT, v[i].id, v[i].request_id);
		call_key(&c, KEY_TERMINAL, v[i].id, STR_NONE);
		call_text(&c, STR(RESULT_FORMAT), 1);
		call_text(&c, v[i].json, TERMINAL_JSON_MAX);
		v[i].first = false;
		v[i].note = STR_NONE;
		v[i].rc = call_queue(p, &c);
	}
	rc = state_pipe_run(p);
	for (i = 0; i < n; i++) {
		if (v[i].rc != RC_OK)
			continue;
		v[i].rc = state_pipe_reply(p, at++, &r);
		if (v[i].rc == RC_INVALID)
			record_log_invalid(v[i].id, state_reply_str(r));
		if (v[i].rc == RC_OK)
			result_end(&v[i], r, a);
	}
	return at > 0 ? rc : RC_OK;
}

enum rc
terminal_put_results(
    struct state *s, struct terminal_result *v, size_t n, struct arena *a)
{
	struct state_pipe *p = state_pipe_new(s, n);
	enum rc rc = RC_OK;
	size_t i, part;

	for (i = 0; i < n && rc == RC_OK; i += part) {
		part = result_trip(v + i, n - i);
		rc = result_put_trip(p, v + i, part, a);
	}
	for (; i < n; i++) {
		v[i].rc = rc;
		v[i].first = false;
		v[i].note = STR_NONE;
	}
	state_pipe_free(p);
	return rc;
}

enum rc
terminal_get_result(struct state *s, struct str id, struct str request_id,
    struct arena *a, struct str *json)
{
	const struct str ids[] = { id, request_id };
	const struct str format = STR(RESULT_FORMAT);
	char text[STATE_KEY_MAX];
	struct state_reply *r;
	struct str key, got;
	enum rc rc;

	*json = STR_NONE;
	rc = state_key(text, KEY_RESULT, ids, NELEM(ids), &key);
	if (rc != RC_OK)
		return rc;
	rc = state_cmd(s, STATE_ARGS(STR("GET"), key), &r);
	got = state_reply_str(r);
	if (rc == RC_OK &&
	    (state_reply_kind(r) == STATE_NIL ||
		str_starts(got, STR(RESULT_PENDING)))) {
		rc = RC_NOENT;
	} else if (rc == RC_INVALID ||
	    (rc == RC_OK && !str_starts(got, format))) {
		record_log_invalid(key, STR("not a result"));
		rc = RC_INVALID;
	} else if (rc == RC_OK) {
		got.p += format.n;
		got.n -= format.n;
		*json = arena_str(a, got);
		rc = json->p == NULL ? RC_TOOBIG : RC_OK;
	}
	state_reply_free(r);
	return rc;
}
