#include "testkit/terminal_fixture.h"

#include <stdlib.h>

#include "core/mem.h"
#include "state/keys.h"
#include "testkit/testkit.h"

#define TTL_MS 60000
#define KEYS   8

struct str
terminal_fixture_key(const char *pattern, const char *user, const char *id)
{
	static char text[KEYS][STATE_KEY_MAX];
	static size_t next;
	const struct str ids[] = { str_of(user), str_of(id) };
	char *dst = text[next++ % KEYS];
	unsigned bucket;
	struct str key;

	ck_assert_int_eq(state_bucket(ids[0], &bucket), RC_OK);
	if (strchr(pattern, '%') == NULL)
		ck_assert_int_eq(
		    state_bucket_key(dst, pattern, bucket, &key), RC_OK);
	else
		ck_assert_int_eq(
		    state_key(dst, pattern, ids, id == NULL ? 1 : 2, &key),
		    RC_OK);
	return key;
}

enum rc
terminal_fixture_bind(
    struct state *s, struct str id, struct str user, struct str soul)
{
	bool ticks;

	return terminal_bind(
	    s, &(struct terminal_binding){ id, user, soul, TTL_MS }, &ticks);
}

enum rc
terminal_fixture_bind_if_unbound(
    struct state *s, struct str id, struct str user, struct str soul)
{
	bool ticks;

	return terminal_bind_if_unbound(
	    s, &(struct terminal_binding){ id, user, soul, TTL_MS }, &ticks);
}

/* As the bridge does after each batch. */
static enum rc
terminal_fixture_copy(struct state *s, const struct terminal_writer *w,
    const struct terminal_report *r)
{
	struct terminal_copy c = { .id = r->id,
		.user_id = r->user_id,
		.soul_id = r->soul_id,
		.at = r->at,
		.until = r->until };
	bool ticks;
	enum rc rc;

	if ((r->rc != RC_OK && r->rc != RC_CONFLICT) ||
	    r->kind == TERMINAL_REJECTION || r->user_id.p == NULL || !r->here)
		return RC_OK;
	rc = terminal_put_copies(s, w->broker, &c, 1);
	if (rc == RC_OK && c.rc == RC_NOENT)
		return terminal_repair(s, r->id, w->ttl_ms, &ticks);
	return rc == RC_OK ? c.rc : rc;
}

static enum rc
terminal_fixture_report(
    struct state *s, const struct terminal_writer *w, struct terminal_report *r)
{
	struct arena *a = arena_new(4096);
	enum rc rc;

	r->replayed = w->replayed;
	rc = terminal_put_reports(s, w, r, 1, a);
	if (rc == RC_OK)
		rc = terminal_fixture_copy(s, w, r);
	arena_free(a);
	return rc != RC_OK ? rc : r->rc;
}

enum rc
terminal_fixture_put_online(struct state *s, const struct terminal_writer *w,
    struct str id, bool online, bool *changed)
{
	struct terminal_report r = {
		.kind = online ? TERMINAL_ONLINE : TERMINAL_OFFLINE, .id = id
	};
	enum rc rc = terminal_fixture_report(s, w, &r);

	if (changed != NULL)
		*changed = rc == RC_OK && r.turned;
	return rc;
}

enum rc
terminal_fixture_put_skills(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_snapshot *snap, int64_t *current)
{
	struct terminal_report r = {
		.kind = TERMINAL_SKILLS, .id = id, .snap = *snap
	};
	enum rc rc = terminal_fixture_report(s, w, &r);

	*current = r.current;
	return rc;
}

enum rc
terminal_fixture_put_catalog(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_snapshot *snap, int64_t *current)
{
	struct terminal_report r = {
		.kind = TERMINAL_CATALOG, .id = id, .snap = *snap
	};
	enum rc rc = terminal_fixture_report(s, w, &r);

	*current = r.current;
	return rc;
}

enum rc
terminal_fixture_put_rejection(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_rejection *rejection)
{
	struct terminal_report r = {
		.kind = TERMINAL_REJECTION, .id = id, .rejection = *rejection
	};

	return terminal_fixture_report(s, w, &r);
}

enum rc
terminal_fixture_heartbeats(struct state *s, const struct terminal_writer *w,
    const struct str *ids, size_t n, bool *came)
{
	struct terminal_report *v = mem_calloc(n, sizeof(*v));
	struct arena *a = arena_new(4096 + n * 1024);
	enum rc rc;
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = (struct terminal_report){ .kind = TERMINAL_HEARTBEAT,
			.id = ids[i],
			.replayed = w->replayed };
	rc = terminal_put_reports(s, w, v, n, a);
	for (i = 0; i < n; i++) {
		if (rc == RC_OK)
			rc = terminal_fixture_copy(s, w, &v[i]);
		if (came != NULL)
			came[i] = v[i].rc == RC_OK && v[i].turned;
		if (rc == RC_OK)
			rc = v[i].rc;
	}
	free(v);
	arena_free(a);
	return rc;
}

enum rc
terminal_fixture_put_result(struct state *s, struct str id,
    struct str request_id, struct str json, bool *first)
{
	const struct str ids[] = { id, request_id };
	struct terminal_result v = {
		.id = id, .request_id = request_id, .json = json
	};
	char text[STATE_KEY_MAX], ttl[STR_NUM_MAX];
	struct arena *a;
	struct str key;
	enum rc rc;

	*first = false;
	rc = state_key(text, KEY_RESULT, ids, NELEM(ids), &key);
	if (rc == RC_OK)
		rc = state_cmd(s,
		    STATE_ARGS(STR("SET"), key, STR(RESULT_PENDING), STR("NX"),
			STR("PX"), str_num(RESULT_TTL_MS, ttl)),
		    NULL);
	if (rc != RC_OK)
		return rc;
	a = arena_new(TERMINAL_NOTE_MAX * 2);
	rc = terminal_put_results(s, &v, 1, a);
	arena_free(a);
	*first = v.first;
	return rc != RC_OK ? rc : v.rc;
}
