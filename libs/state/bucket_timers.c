/*
 * bucket_timers: when the first timer of each of many buckets is due.
 */
#include "state/state_internal.h"

static enum rc
bucket_timers_put(struct state_pipe *p, const char *pattern, unsigned bucket)
{
	char text[STATE_KEY_MAX];
	struct str key;
	enum rc rc;

	rc = state_bucket_key(text, pattern, bucket, &key);
	if (rc != RC_OK)
		return rc;
	return state_pipe_cmd(p,
	    STATE_ARGS(
		STR("ZRANGE"), key, STR("0"), STR("0"), STR("WITHSCORES")));
}

static enum rc
bucket_timers_read(const struct state_pipe *p, size_t i, struct wall *next)
{
	struct record_reader rd = { 0 };
	const struct state_reply *r;
	int64_t ms;
	enum rc rc;

	next->ms = -1;
	rc = state_pipe_reply(p, i, &r);
	if (rc != RC_OK)
		return rc;
	ms = record_num(&rd, state_reply_at(r, 1));
	if (rd.rc == RC_OK)
		next->ms = ms < 0 ? 0 : ms;
	return rd.rc;
}

enum rc
bucket_timers_next(struct state *s, const char *pattern,
    const unsigned *buckets, size_t n, struct wall *next)
{
	enum rc rc = RC_OK, one;
	struct state_pipe *p;
	size_t i;

	for (i = 0; i < n; i++)
		next[i].ms = -1;
	if (n == 0 || n > STATE_BUCKETS)
		return n == 0 ? RC_OK : RC_INVALID;
	p = state_pipe_new(s, n);
	for (i = 0; i < n && rc == RC_OK; i++)
		rc = bucket_timers_put(p, pattern, buckets[i]);
	if (rc == RC_OK) {
		(void)!state_pipe_run(p);
		for (i = 0; i < n; i++) {
			one = bucket_timers_read(p, i, &next[i]);
			rc = rc == RC_OK ? one : rc;
		}
	}
	state_pipe_free(p);
	return rc;
}
