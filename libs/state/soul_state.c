/*
 * soul_state: emotional states, many at a time, and their logs.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/soul.h"
#include "state/state_internal.h"

#define BLOB_FORMAT '1'
/* States that one script swaps, while other clients wait. */
#define CAS_MAX 1024

struct str
soul_blob(char dst[SOUL_BLOB_MAX], int64_t version, struct str bytes)
{
	uint64_t v = (uint64_t)version;
	int i;

	dst[0] = BLOB_FORMAT;
	for (i = 8; i > 0; i--, v >>= 8)
		dst[i] = (char)(v & 0xff);
	if (bytes.n > 0)
		memcpy(dst + SOUL_BLOB_HEAD, bytes.p, bytes.n);
	return (struct str){ dst, SOUL_BLOB_HEAD + bytes.n };
}

/* The version in the string stored for a state, 0 if it is none. */
static int64_t
soul_blob_version(struct str blob)
{
	uint64_t v = 0;
	size_t i;

	if (blob.n < SOUL_BLOB_HEAD || blob.n > SOUL_BLOB_MAX ||
	    blob.p[0] != BLOB_FORMAT)
		return 0;
	for (i = 1; i < SOUL_BLOB_HEAD; i++)
		v = v << 8 | (unsigned char)blob.p[i];
	return v > INT64_MAX ? 0 : (int64_t)v;
}

enum rc
soul_state_parse(
    const struct state_reply *r, struct soul_state *st, struct arena *a)
{
	struct str blob = state_reply_str(r);

	st->version = soul_blob_version(blob);
	if (st->version == 0) {
		if (state_reply_kind(r) != STATE_NIL)
			record_log_invalid(
			    st->soul_id, STR("not a soul's state"));
		return RC_OK;
	}
	st->bytes = arena_str(a,
	    (struct str){ blob.p + SOUL_BLOB_HEAD, blob.n - SOUL_BLOB_HEAD });
	return st->bytes.p == NULL ? RC_TOOBIG : RC_OK;
}

/* A key of one soul. */
static enum rc
soul_state_key(const struct soul_state *st, const char *pattern,
    char text[STATE_KEY_MAX], struct str *key)
{
	const struct str ids[] = { st->user_id, st->soul_id };

	return state_key(text, pattern, ids, NELEM(ids), key);
}

/* One round trip of soul_state_get(). */
static enum rc
soul_state_get_trip(
    struct state_pipe *p, struct soul_state *st, size_t n, struct arena *a)
{
	const struct state_reply *r;
	char text[STATE_KEY_MAX];
	enum rc rc = RC_OK;
	struct str key;
	size_t i;

	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = soul_state_key(&st[i], KEY_SOUL_STATE, text, &key);
		if (rc == RC_OK)
			rc = state_pipe_cmd(p, STATE_ARGS(STR("GET"), key));
	}
	if (rc == RC_OK)
		rc = state_pipe_run(p);
	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = state_pipe_reply(p, i, &r);
		if (rc == RC_OK || rc == RC_INVALID)
			rc = soul_state_parse(r, &st[i], a);
	}
	return rc;
}

enum rc
soul_state_get(
    struct state *s, struct soul_state *st, size_t n, struct arena *a)
{
	struct state_pipe *p =
	    state_pipe_new(s, n < STATE_PIPE_MAX ? n : STATE_PIPE_MAX);
	enum rc rc = RC_OK;
	size_t i, part;

	for (i = 0; i < n; i++) {
		st[i].version = 0;
		st[i].bytes = STR_NONE;
		st[i].log = STR_NONE;
	}
	for (i = 0; rc == RC_OK && i < n; i += part) {
		part = n - i < STATE_PIPE_MAX ? n - i : STATE_PIPE_MAX;
		rc = soul_state_get_trip(p, st + i, part, a);
	}
	state_pipe_free(p);
	return rc;
}

/* Key and arguments of one soul. */
struct soul_cas_args {
	char key[STATE_KEY_MAX], old[SOUL_BLOB_MAX], new[SOUL_BLOB_MAX];
};

static enum rc
soul_cas_args(const struct soul_state *st, struct soul_cas_args *a,
    struct str *key, struct str argv[2])
{
	if (st->version <= 0 || st->version == INT64_MAX)
		return RC_INVALID;
	if (st->bytes.n > SOUL_STATE_MAX)
		return RC_TOOBIG;
	argv[0] = soul_blob(a->old, st->version, STR_NONE);
	argv[1] = soul_blob(a->new, st->version + 1, st->bytes);
	return soul_state_key(st, KEY_SOUL_STATE, a->key, key);
}

/*
 * How many of st one script can swap: in a cluster, those of one bucket.  An id
 * that is not valid gets its error later.
 */
static size_t
soul_cas_run(const struct state *s, const struct soul_state *st, size_t n)
{
	unsigned first = 0, bucket = 0;
	size_t i;

	if (s->cluster == NULL)
		return n < CAS_MAX ? n : CAS_MAX;
	for (i = 0; i < n && i < CAS_MAX; i++) {
		if (state_bucket(st[i].user_id, &bucket) != RC_OK)
			bucket = STATE_BUCKETS;
		if (i == 0)
			first = bucket;
		if (bucket != first)
			break;
	}
	return i;
}

/* What one script swaps. */
struct soul_cas {
	size_t n, n_logs;
	struct soul_cas_args *args; /* n */
	char (*log_keys)[STATE_KEY_MAX];
	struct str *keys; /* states, then logs */
	struct str *argv; /* SOUL_CAS_HEAD, then 3 of each */
};

#define SOUL_CAS_HEAD 3

static enum rc
soul_cas_put(struct soul_cas *c, size_t i, const struct soul_state *st)
{
	struct str *argv = &c->argv[SOUL_CAS_HEAD + 3 * i];
	enum rc rc = soul_cas_args(st, &c->args[i], &c->keys[i], argv);

	argv[2] = STR("");
	if (rc != RC_OK || st->log.p == NULL)
		return rc;
	if (st->log.n > SOUL_LOG_ENTRY_MAX)
		return RC_TOOBIG;
	argv[2] = st->log;
	rc = soul_state_key(st, KEY_SOUL_LOG, c->log_keys[c->n_logs],
	    &c->keys[c->n + c->n_logs]);
	c->n_logs++;
	return rc;
}

/* n states, in a cluster of one bucket. */
static enum rc
soul_cas_queue(struct state_pipe *p, const struct soul_state *st, size_t n)
{
	char num[SOUL_CAS_HEAD][STR_NUM_MAX];
	struct soul_cas c = { .n = n,
		.args = mem_alloc(n * sizeof(*c.args)),
		.log_keys = mem_alloc(n * sizeof(*c.log_keys)),
		.keys = mem_calloc(2 * n, sizeof(*c.keys)),
		.argv = mem_calloc(SOUL_CAS_HEAD + 3 * n, sizeof(*c.argv)) };
	enum rc rc = RC_OK;
	size_t i;

	c.argv[0] = str_num((int64_t)n, num[0]);
	c.argv[1] = str_num(SOUL_LOG_MAX, num[1]);
	c.argv[2] = str_num(SOUL_LOG_MS, num[2]);
	for (i = 0; rc == RC_OK && i < n; i++)
		rc = soul_cas_put(&c, i, &st[i]);
	if (rc == RC_OK)
		rc = state_pipe_eval(p,
		    &(struct state_call){ &script_soul_state_swap, c.keys,
			n + c.n_logs, c.argv, SOUL_CAS_HEAD + 3 * n });
	free(c.args);
	free(c.log_keys);
	free(c.keys);
	free(c.argv);
	return rc;
}

/* The call that swaps one state; its texts are in a. */
static enum rc
soul_cas_call(
    const struct soul_state *st, struct soul_cas_args *a, struct script_call *c)
{
	struct str key, argv[2];
	enum rc rc;

	rc = soul_cas_args(st, a, &key, argv);
	if (rc != RC_OK)
		return rc;
	call_begin(c, &script_soul_state_swap_log);
	call_key(c, KEY_SOUL_STATE, st->user_id, st->soul_id);
	call_key(c, KEY_SOUL_LOG, st->user_id, st->soul_id);
	if (st->turn_id.p != NULL)
		call_key(c, KEY_TURN, st->user_id, st->turn_id);
	call_text(c, argv[0], SOUL_BLOB_HEAD);
	call_text(c, argv[1], SOUL_BLOB_MAX);
	call_text(c, st->log, SOUL_LOG_ENTRY_MAX);
	call_num(c, SOUL_LOG_MAX);
	call_num(c, SOUL_LOG_MS);
	return c->rc;
}

/* The reply of the script for n of st. */
static enum rc
soul_cas_read(struct state_pipe *p, size_t at, const struct soul_state *st,
    size_t n, bool *won)
{
	const struct state_reply *r;
	enum rc rc = state_pipe_reply(p, at, &r);
	size_t i;

	if (rc == RC_INVALID)
		record_log_invalid(st->soul_id, state_reply_str(r));
	for (i = 0; rc == RC_OK && i < n; i++)
		won[i] = state_reply_int(state_reply_at(r, i)) == 1;
	return rc;
}

/* One round trip of soul_state_cas(). */
static enum rc
soul_state_cas_trip(struct state *s, struct state_pipe *p,
    const struct soul_state *st, size_t n, bool *won)
{
	enum rc rc = RC_OK, run, one;
	size_t i, part, at = 0;

	for (i = 0; rc == RC_OK && i < n; i += part) {
		part = soul_cas_run(s, st + i, n - i);
		rc = soul_cas_queue(p, st + i, part);
	}
	if (rc != RC_OK)
		return rc;
	run = state_pipe_run(p);
	for (i = 0; i < n; i += part) {
		part = soul_cas_run(s, st + i, n - i);
		one = soul_cas_read(p, at++, st + i, part, won + i);
		if (rc == RC_OK)
			rc = one;
	}
	return run != RC_OK ? run : rc;
}

enum rc
soul_state_cas(
    struct state *s, const struct soul_state *st, size_t n, bool *won)
{
	struct state_pipe *p =
	    state_pipe_new(s, n < STATE_PIPE_MAX ? n : STATE_PIPE_MAX);
	enum rc rc = RC_OK;
	size_t i, part;

	if (n > 0)
		memset(won, 0, n * sizeof(*won));
	for (i = 0; rc == RC_OK && i < n; i += part) {
		part = n - i < STATE_PIPE_MAX ? n - i : STATE_PIPE_MAX;
		rc = soul_state_cas_trip(s, p, st + i, part, won + i);
	}
	state_pipe_free(p);
	return rc;
}

enum rc
soul_state_swap(
    struct state *s, struct soul_state *st, struct arena *a, bool *won)
{
	struct state_reply *r = NULL;
	struct soul_cas_args args;
	struct state_mark mark = { 0 };
	struct script_call c;
	enum rc rc;

	*won = st->noted = false;
	rc = soul_cas_call(st, &args, &c);
	if (rc == RC_OK) {
		mark = state_mark_now(s, c.keys[0]);
		rc = call_send(s, &c, &r);
	}
	if (rc == RC_INVALID)
		record_log_invalid(st->soul_id, state_reply_str(r));
	if (rc == RC_OK && state_reply_kind(r) == STATE_INT)
		*won = true;
	else if (rc == RC_OK)
		rc = soul_state_parse(r, st, a);
	st->noted = *won && state_reply_int(r) == 2;
	state_reply_free(r);
	if (*won)
		rc = call_replicated(s, &c, mark, rc);
	return rc;
}

/* [id, [field, value]]; the id begins with the time. */
static enum rc
soul_log_entry_parse(
    const struct state_reply *r, struct arena *a, struct soul_log_entry *out)
{
	struct str id = state_reply_str(state_reply_at(r, 0));
	const struct state_reply *fields = state_reply_at(r, 1);
	const char *dash = id.n > 0 ? memchr(id.p, '-', id.n) : NULL;

	if (dash == NULL || state_reply_len(fields) != 2 ||
	    str_to_i64((struct str){ id.p, (size_t)(dash - id.p) }, 0,
		INT64_MAX, &out->at.ms) != RC_OK)
		return RC_INVALID;
	out->bytes = arena_str(a, state_reply_str(state_reply_at(fields, 1)));
	return out->bytes.p == NULL ? RC_TOOBIG : RC_OK;
}

static enum rc
soul_log_parse(const struct state_reply *r, struct arena *a,
    struct soul_log_entry **list, size_t *n)
{
	size_t i, all = state_reply_len(r);
	enum rc rc = RC_OK;

	*list = arena_alloc(a, all * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < all; i++)
		rc = soul_log_entry_parse(
		    state_reply_at(r, all - 1 - i), a, &(*list)[i]);
	if (rc == RC_OK)
		*n = all;
	return rc;
}

enum rc
soul_log_read(struct state *s, const struct soul_log_page *page,
    struct arena *a, struct soul_log_entry **list, size_t *n)
{
	const struct str ids[] = { page->user_id, page->soul_id };
	char text[STATE_KEY_MAX], from[STR_NUM_MAX], max[STR_NUM_MAX];
	int64_t after = clock_wall().ms - SOUL_LOG_MS;
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc;

	*list = NULL;
	*n = 0;
	if (page->max == 0 || page->max > SOUL_LOG_MAX || page->since.ms < 0 ||
	    page->since.ms == INT64_MAX)
		return RC_INVALID;
	/* Older ones are removed now and then. */
	if (after < page->since.ms)
		after = page->since.ms;
	rc = state_key(text, KEY_SOUL_LOG, ids, NELEM(ids), &key);
	if (rc == RC_OK)
		rc = state_cmd(s,
		    STATE_ARGS(STR("XREVRANGE"), key, STR("+"),
			str_num(after + 1, from), STR("COUNT"),
			str_num((int64_t)page->max, max)),
		    &r);
	if (rc == RC_OK)
		rc = soul_log_parse(r, a, list, n);
	if (rc == RC_INVALID)
		record_log_invalid(key, STR("not a soul's log"));
	state_reply_free(r);
	return rc;
}
