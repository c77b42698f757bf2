/*
 * record: what the records share: calling scripts, reading their replies.
 */
#include "state/run_id.h"
#include "state/state_internal.h"

#define LOG_EVERY_S 10

void
call_begin(struct script_call *c, const struct state_script *script)
{
	c->script = script;
	c->rc = RC_OK;
	c->n_keys = 0;
	c->n_args = 0;
	c->n_nums = 0;
	c->n_ids = 0;
	c->packing = false;
	c->n_packed = 0;
}

static void
call_fail(struct script_call *c, enum rc rc)
{
	if (c->rc == RC_OK)
		c->rc = rc;
}

void
call_key(struct script_call *c, const char *pattern, struct str a, struct str b)
{
	const struct str ids[] = { a, b };
	size_t n = 0;
	const char *p;
	enum rc rc;

	if (c->n_keys == SCRIPT_KEYS_MAX) {
		call_fail(c, RC_BUG);
		return;
	}
	for (p = pattern; *p != '\0'; p++)
		n += *p == '%';
	rc = state_key(c->key_text[c->n_keys], pattern, ids,
	    n < NELEM(ids) ? n : NELEM(ids), &c->keys[c->n_keys]);
	if (rc == RC_OK)
		c->n_keys++;
	else
		call_fail(c, rc);
}

void
call_bucket_key(struct script_call *c, const char *pattern, unsigned bucket)
{
	enum rc rc = RC_BUG;

	if (c->n_keys < SCRIPT_KEYS_MAX)
		rc = state_bucket_key(c->key_text[c->n_keys], pattern, bucket,
		    &c->keys[c->n_keys]);
	if (rc == RC_OK)
		c->n_keys++;
	else
		call_fail(c, rc);
}

static void
call_key_in(
    struct script_call *c, const char *pattern, unsigned bucket, struct str id)
{
	char tagged[STATE_KEY_MAX];
	struct str key;
	enum rc rc = state_bucket_key(tagged, pattern, bucket, &key);

	if (rc == RC_OK)
		call_key(c, tagged, id, STR_NONE);
	else
		call_fail(c, rc);
}

void
call_key_of(
    struct script_call *c, const char *pattern, struct str user, struct str id)
{
	unsigned bucket;
	enum rc rc = state_bucket(user, &bucket);

	if (rc == RC_OK)
		call_key_in(c, pattern, bucket, id);
	else
		call_fail(c, rc);
}

void
call_run_key(struct script_call *c, const char *pattern, struct str run_id)
{
	unsigned bucket;
	enum rc rc = run_id_bucket(run_id, &bucket);

	if (rc == RC_OK)
		call_key_in(c, pattern, bucket, run_id);
	else
		call_fail(c, rc);
}

/* ---- packed arguments: a sequence of MessagePack's values ---- */

/* A value's first byte. */
#define PACK_STR16 0xda /* two bytes of length follow */
#define PACK_INT64 0xd3

void
call_pack(struct script_call *c)
{
	c->packing = true;
}

void
call_pack_end(struct script_call *c)
{
	c->packing = false;
	call_text(c, (struct str){ c->packed, c->n_packed }, SCRIPT_PACK_MAX);
}

/* The n low bytes of v, the highest first, after a value's first byte. */
static void
call_pack_head(struct script_call *c, unsigned char first, uint64_t v, size_t n)
{
	c->packed[c->n_packed++] = (char)first;
	while (n-- > 0)
		c->packed[c->n_packed++] = (char)(v >> (8 * n));
}

static void
call_pack_text(struct script_call *c, struct str text)
{
	if (c->n_packed + 3 + text.n > SCRIPT_PACK_MAX) {
		call_fail(c, RC_TOOBIG);
		return;
	}
	call_pack_head(c, PACK_STR16, text.n, 2);
	if (text.n > 0)
		memcpy(c->packed + c->n_packed, text.p, text.n);
	c->n_packed += text.n;
}

static void
call_pack_num(struct script_call *c, int64_t v)
{
	if (c->n_packed + 1 + sizeof(v) > SCRIPT_PACK_MAX)
		call_fail(c, RC_TOOBIG);
	else
		call_pack_head(c, PACK_INT64, (uint64_t)v, sizeof(v));
}

void
call_text(struct script_call *c, struct str text, size_t max)
{
	if (text.n > max)
		call_fail(c, RC_TOOBIG);
	else if (c->packing)
		call_pack_text(c, text);
	else if (c->n_args == SCRIPT_ARGS_MAX)
		call_fail(c, RC_BUG);
	else
		c->args[c->n_args++] = text;
}

void
call_num(struct script_call *c, int64_t v)
{
	if (c->packing) {
		call_pack_num(c, v);
		return;
	}
	if (c->n_nums == SCRIPT_NUMS_MAX) {
		call_fail(c, RC_BUG);
		return;
	}
	call_text(c, str_num(v, c->num_text[c->n_nums]), STR_NUM_MAX);
	c->n_nums++;
}

/* Room for the next argument made of ids; local, of the same size, is enough
 * for one that is packed. */
static char *
call_id_room(struct script_call *c, char *local)
{
	if (c->packing)
		return local;
	if (c->n_ids < SCRIPT_IDS_MAX)
		return c->id_text[c->n_ids++];
	call_fail(c, RC_BUG);
	return NULL;
}

void
call_token(struct script_call *c, struct str id)
{
	char local[sizeof(c->id_text[0])], *dst = call_id_room(c, local);

	if (dst == NULL)
		return;
	if (id_token(id, dst) == RC_OK)
		call_text(c, str_of(dst), ID_TOKEN_MAX);
	else
		call_fail(c, RC_INVALID);
}

/* Longest cursor: milliseconds, ':', a token. */
#define CURSOR_MAX (ID_TOKEN_MAX + 24)

enum rc
call_cursor(struct script_call *c, struct str after)
{
	struct str at = str_split(&after, ':');
	char id[ID_MAX + 1];
	int64_t ms;

	if (at.p == NULL) {
		call_text(c, STR("+inf"), CURSOR_MAX);
		call_text(c, STR(""), CURSOR_MAX);
		return RC_OK;
	}
	if (str_to_i64(at, 0, INT64_MAX, &ms) != RC_OK || after.p == NULL ||
	    id_untoken(after, id) != RC_OK)
		return RC_INVALID;
	call_num(c, ms);
	call_text(c, after, CURSOR_MAX);
	return RC_OK;
}

void
call_tokens(struct script_call *c, struct str a, char sep, struct str b)
{
	char local[sizeof(c->id_text[0])], *dst = call_id_room(c, local);
	char token[ID_TOKEN_MAX];
	size_t n;

	if (dst == NULL)
		return;
	if (id_token(a, dst) != RC_OK || id_token(b, token) != RC_OK) {
		call_fail(c, RC_INVALID);
		return;
	}
	n = strlen(dst);
	dst[n] = sep;
	memcpy(dst + n + 1, token, strlen(token) + 1);
	call_text(c, str_of(dst), 2 * ID_TOKEN_MAX);
}

void
record_log_invalid(struct str key, struct str why)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_error("state.record", LOG_V("key", key), LOG_V("why", why),
		    LOG_I("missed", missed));
}

enum rc
call_status(const struct state_reply *r, size_t want)
{
	const struct state_reply *first =
	    state_reply_kind(r) == STATE_ARRAY ? state_reply_at(r, 0) : r;
	size_t n = first == r ? 1 : state_reply_len(r);

	if (state_reply_kind(first) != STATE_INT)
		return RC_BUG;
	switch (state_reply_int(first)) {
	case RC_OK:
		return n >= want ? RC_OK : RC_BUG;
	case RC_RETRY:
		return RC_RETRY;
	case RC_NOENT:
		return RC_NOENT;
	case RC_DENIED:
		return RC_DENIED;
	case RC_CONFLICT:
		return RC_CONFLICT;
	default:
		return RC_BUG;
	}
}

static struct state_call
call_of(const struct script_call *c)
{
	return (struct state_call){
		.script = c->script,
		.keys = c->keys,
		.n_keys = c->n_keys,
		.args = c->args,
		.n_args = c->n_args,
	};
}

enum rc
call_replicated(struct state *s, const struct script_call *c,
    struct state_mark mark, enum rc rc)
{
	bool definite = rc == RC_OK || rc == RC_NOENT || rc == RC_CONFLICT ||
	    rc == RC_DENIED;

	/*
	 * What may be repeated mostly reads.  Also what was not done may be so
	 * only because of a write that no replica has yet, by an earlier try of
	 * the same call: it has to be waited for, too.
	 */
	if (!definite || c->script->idempotent ||
	    state_wait_replicated(s, mark, 0) == RC_OK)
		return rc;
	return rc == RC_OK ? RC_UNREPLICATED : RC_TIMEOUT;
}

bool
call_is_done(enum rc rc)
{
	return rc == RC_OK || rc == RC_UNREPLICATED;
}

enum rc
call_run(struct state *s, struct script_call *c, size_t want,
    struct state_reply **out)
{
	struct state_call call = call_of(c);
	struct str key = c->n_keys > 0 ? c->keys[0] : STR("");
	struct state_mark mark = state_mark_now(s, key);
	struct state_reply *r = NULL;
	enum rc rc = c->rc;

	if (out != NULL)
		*out = NULL;
	if (rc != RC_OK)
		return rc;
	rc = state_eval(s, &call, &r);
	if (rc == RC_INVALID)
		record_log_invalid(key, state_reply_str(r));
	if (rc == RC_OK) {
		rc = call_status(r, want);
		if (rc == RC_BUG)
			record_log_invalid(key, STR("reply of the script"));
	}
	rc = call_replicated(s, c, mark, rc);
	if (out != NULL)
		*out = r;
	else
		state_reply_free(r);
	return rc;
}

enum rc
call_send(
    struct state *s, const struct script_call *c, struct state_reply **out)
{
	struct state_call call = call_of(c);

	return state_eval(s, &call, out);
}

enum rc
call_queue(struct state_pipe *p, struct script_call *c)
{
	struct state_call call = call_of(c);

	return c->rc == RC_OK ? state_pipe_eval(p, &call) : c->rc;
}

static void
record_fail(struct record_reader *rd, enum rc rc)
{
	if (rd->rc == RC_OK)
		rd->rc = rc;
}

struct str
record_text(struct record_reader *rd, const struct state_reply *r)
{
	struct str s = { NULL, 0 };

	if (state_reply_kind(r) == STATE_NIL)
		return s;
	if (state_reply_kind(r) != STATE_STR) {
		record_fail(rd, RC_INVALID);
		return s;
	}
	s = arena_str(rd->a, state_reply_str(r));
	if (s.p == NULL)
		record_fail(rd, RC_TOOBIG);
	return s;
}

int64_t
record_num(struct record_reader *rd, const struct state_reply *r)
{
	int64_t v = 0;

	if (state_reply_kind(r) == STATE_NIL)
		return 0;
	if (state_reply_kind(r) == STATE_INT)
		return state_reply_int(r);
	if (state_reply_kind(r) != STATE_STR ||
	    str_to_i64(state_reply_str(r), INT64_MIN, INT64_MAX, &v) != RC_OK)
		record_fail(rd, RC_INVALID);
	return v;
}

static struct str
record_untoken(struct record_reader *rd, struct str token)
{
	struct str s = { NULL, 0 };
	char id[ID_MAX + 1];

	if (id_untoken(token, id) != RC_OK) {
		record_fail(rd, RC_INVALID);
		return s;
	}
	s = arena_str(rd->a, str_of(id));
	if (s.p == NULL)
		record_fail(rd, RC_TOOBIG);
	return s;
}

void
record_id_pair(struct record_reader *rd, struct str member, struct str *first,
    struct str *second)
{
	struct str token = str_split(&member, ':');

	*first = record_untoken(rd, token);
	*second = record_untoken(rd, member);
}

struct str
record_id(struct record_reader *rd, const struct state_reply *r)
{
	if (state_reply_kind(r) == STATE_STR)
		return record_untoken(rd, state_reply_str(r));
	if (state_reply_kind(r) != STATE_NIL)
		record_fail(rd, RC_INVALID);
	return (struct str){ NULL, 0 };
}

struct str *
record_ids(struct record_reader *rd, const struct state_reply *r, size_t *n)
{
	size_t i, len = state_reply_len(r);
	struct str *ids = arena_alloc(rd->a, (len + 1) * sizeof(*ids));

	*n = 0;
	if (ids == NULL)
		record_fail(rd, RC_TOOBIG);
	for (i = 0; rd->rc == RC_OK && i < len; i++)
		ids[i] = record_id(rd, state_reply_at(r, i));
	if (rd->rc == RC_OK)
		*n = len;
	return ids;
}

enum rc
record_end(const struct record_reader *rd, struct str key)
{
	if (rd->rc == RC_INVALID)
		record_log_invalid(key, STR("invalid field"));
	return rd->rc;
}
