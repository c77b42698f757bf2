/*
 * reply: replies without hiredis' types, in an arena that is freed at once.
 */
#include <hiredis/hiredis.h>

#include "core/mem.h"
#include "state/state_internal.h"

/* The object of a task: an element of its array, or a new root. */
static struct state_reply *
reply_new(const redisReadTask *t, enum state_kind kind)
{
	struct reply_sink *sink = t->privdata;
	struct state_reply *r;

	if (t->parent != NULL) {
		r = (struct state_reply *)t->parent->obj;
		r = &r->elem[t->idx];
	} else if ((r = arena_alloc(sink->a, sizeof(*r))) == NULL) {
		sink->over = true;
		return NULL;
	}
	r->kind = kind;
	return r;
}

static void *
reply_on_string(const redisReadTask *t, char *p, size_t n)
{
	struct reply_sink *sink = t->privdata;
	struct state_reply *r;

	r = reply_new(
	    t, t->type == REDIS_REPLY_ERROR ? STATE_ERROR : STATE_STR);
	if (r == NULL)
		return NULL;
	r->s = arena_str(sink->a, (struct str){ p, n });
	if (r->s.p == NULL) {
		sink->over = true;
		return NULL;
	}
	return r;
}

static void *
reply_on_array(const redisReadTask *t, int n)
{
	struct reply_sink *sink = t->privdata;
	struct state_reply *r = reply_new(t, STATE_ARRAY);

	if (r == NULL || n == 0)
		return r;
	/* The limit holds before the server has sent what it announces. */
	if ((size_t)n <= STATE_REPLY_MAX / sizeof(*r))
		r->elem = arena_alloc(sink->a, (size_t)n * sizeof(*r));
	if (r->elem == NULL) {
		sink->over = true;
		return NULL;
	}
	r->n = (size_t)n;
	return r;
}

static void *
reply_on_integer(const redisReadTask *t, long long i)
{
	struct state_reply *r = reply_new(t, STATE_INT);

	if (r != NULL)
		r->i = i;
	return r;
}

static void *
reply_on_nil(const redisReadTask *t)
{
	return reply_new(t, STATE_NIL);
}

void
reply_functions(struct redisReplyObjectFunctions *f)
{
	f->createString = reply_on_string;
	f->createArray = reply_on_array;
	f->createInteger = reply_on_integer;
	f->createNil = reply_on_nil;
	f->freeObject = NULL; /* the arena frees */
}

bool
reply_error_is(const struct state_reply *r, struct str code)
{
	return r != NULL && r->kind == STATE_ERROR && str_starts(r->s, code) &&
	    (r->s.n == code.n || r->s.p[code.n] == ' ');
}

static const struct {
	struct str code;
	enum rc rc;
	bool unusable;
} reply_errors[] = {
	{ STR_INIT("NOAUTH"), RC_DENIED, true },
	{ STR_INIT("NOPERM"), RC_DENIED, false },
	{ STR_INIT("WRONGPASS"), RC_DENIED, false },
	{ STR_INIT("LOADING"), RC_DOWN, true },
	{ STR_INIT("MASTERDOWN"), RC_DOWN, true },
	{ STR_INIT("READONLY"), RC_DOWN, true },
	{ STR_INIT("CLUSTERDOWN"), RC_DOWN, false },
	{ STR_INIT("MOVED"), RC_DOWN, false },
	{ STR_INIT("NOSCRIPT"), RC_DOWN, false },
	{ STR_INIT("ASK"), RC_DOWN, false },
	{ STR_INIT("NOREPLICAS"), RC_DOWN, false },
	{ STR_INIT("MISCONF"), RC_DOWN, false },
	{ STR_INIT("OOM"), RC_DOWN, false },
	{ STR_INIT("BUSY"), RC_RETRY, false },
	{ STR_INIT("TRYAGAIN"), RC_RETRY, false },
	{ STR_INIT("BUSYGROUP"), RC_CONFLICT, false },
};

/*
 * A key that a script has computed has moved to another server, or is moving
 * and does not exist.
 */
bool
reply_script_moving(const struct state_reply *r)
{
	return r != NULL && r->kind == STATE_ERROR &&
	    str_starts(
		r->s, STR("ERR Script attempted to access a non local key"));
}

/* What a script may not do is said in these words, by Redis 7.0 and later. */
static bool
reply_script_denied(struct str s)
{
	return str_starts(s, STR("ERR The user executing the script can't")) ||
	    str_starts(s, STR("ERR ACL failure in script"));
}

enum rc
reply_rc(const struct state_reply *r)
{
	size_t i;

	if (r->kind != STATE_ERROR)
		return RC_OK;
	if (reply_script_denied(r->s))
		return RC_DENIED;
	if (reply_script_moving(r))
		return RC_RETRY;
	for (i = 0; i < NELEM(reply_errors); i++)
		if (reply_error_is(r, reply_errors[i].code))
			return reply_errors[i].rc;
	return RC_INVALID;
}

bool
reply_unusable(const struct state_reply *r)
{
	size_t i;

	for (i = 0; i < NELEM(reply_errors); i++)
		if (reply_errors[i].unusable &&
		    reply_error_is(r, reply_errors[i].code))
			return true;
	return false;
}

enum state_kind
state_reply_kind(const struct state_reply *r)
{
	return r == NULL ? STATE_NIL : r->kind;
}

int64_t
state_reply_int(const struct state_reply *r)
{
	return r == NULL ? 0 : r->i;
}

struct str
state_reply_str(const struct state_reply *r)
{
	return r == NULL ? (struct str){ NULL, 0 } : r->s;
}

size_t
state_reply_len(const struct state_reply *r)
{
	return r == NULL ? 0 : r->n;
}

const struct state_reply *
state_reply_at(const struct state_reply *r, size_t i)
{
	return i < state_reply_len(r) ? &r->elem[i] : NULL;
}

void
state_reply_free(struct state_reply *r)
{
	if (r != NULL)
		arena_free(r->owner);
}
