#include "state/user_data.h"

#include "core/mem.h"
#include "state/state_internal.h"

/* DEL and the keys of a bucket. */
#define WIPE_KEYS_MAX 12

struct wipe {
	struct str args[1 + WIPE_KEYS_MAX];
	char text[WIPE_KEYS_MAX][STATE_KEY_MAX];
	size_t n;
	enum rc rc;
};

static void
wipe_add(struct wipe *w, const char *pattern, const struct str *ids, size_t n)
{
	enum rc rc =
	    state_key(w->text[w->n], pattern, ids, n, &w->args[w->n + 1]);

	if (w->rc == RC_OK)
		w->rc = rc;
	w->n++;
}

static enum rc
wipe_run(struct wipe *w, struct state *s)
{
	w->args[0] = STR("DEL");
	return w->rc == RC_OK ? state_cmd(s, w->args, w->n + 1, NULL) : w->rc;
}

enum rc
user_data_sessions(struct state *s, struct str user, struct arena *a,
    struct str **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc;

	*n = 0;
	rc = state_key(text, KEY_USER_SESSIONS, &user, 1, &key);
	if (rc == RC_OK)
		rc = state_cmd(
		    s, STATE_ARGS(STR("ZRANGE"), key, STR("0"), STR("-1")), &r);
	if (rc == RC_OK) {
		*list = record_ids(&rd, r, n);
		rc = record_end(&rd, key);
	}
	state_reply_free(r);
	return rc;
}

enum rc
user_data_delete_memory(struct state *s, struct str user, struct str soul)
{
	static const char *const patterns[] = { KEY_MEMORY, KEY_MEMORY_ITEMS,
		KEY_MEMORY_ORDER, KEY_MEMORY_GONE, KEY_MEMORY_VECS,
		KEY_MEMORY_PAST, KEY_MEMORY_PAST_ITEMS };
	const struct str ids[] = { user, soul };
	struct wipe w = { .rc = RC_OK };
	size_t i;

	for (i = 0; i < NELEM(patterns); i++)
		wipe_add(&w, patterns[i], ids, NELEM(ids));
	return wipe_run(&w, s);
}

enum rc
user_data_delete_rest(struct state *s, struct str user)
{
	static const char *const patterns[] = { KEY_PROFILE, KEY_USER_SESSIONS,
		KEY_USER_SOULS, KEY_USER_SOUL_NAMES, KEY_USER_RUNS,
		KEY_USER_RUNS_ACTIVE, KEY_USER_RUN_NOTES, KEY_MCP_USER,
		KEY_MCP_GRANTS, KEY_MCP_USED, KEY_SPEECH, KEY_USER_EVOLUTIONS };
	struct wipe w = { .rc = RC_OK };
	size_t i;

	for (i = 0; i < NELEM(patterns); i++)
		wipe_add(&w, patterns[i], &user, 1);
	return wipe_run(&w, s);
}
