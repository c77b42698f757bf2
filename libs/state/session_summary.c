/*
 * session_summary: summaries, and the jobs they make.
 *
 * The job waits in the session's own record until it has been published, so
 * that summary and job are stored by one write.
 */
#include "core/mem.h"
#include "state/record.h"
#include "state/session.h"

#define NUMBER_MAX INT64_C(9007199254740991)

/* KEYS session  ARGV summary, after, number, job or '' */
static const struct state_script summarise = { LUA_RECORD
	"local r,k=redis.call,KEYS[1]\n"
	"local after,n=tonumber(ARGV[2]),tonumber(ARGV[3])\n"
	"if not record(k,'" SESSION_FORMAT "') then return " LUA_NOENT " end\n"
	"local h=r('HMGET',k,'sumn','last','job')\n"
	"if (tonumber(h[1] or '') or 0)~=after or h[3] or\n"
	" (tonumber(h[2] or '') or 0)<n then\n"
	" return " LUA_CONFLICT "\n"
	"end\n"
	"r('HSET',k,'sum',ARGV[1],'sumn',ARGV[3])\n"
	"if tonumber(h[2])==n then\n"
	" r('HSET',k,'chars',string.format('%.0f:%.0f:0',n,n))\n"
	"end\n"
	"if ARGV[4]~='' then r('HSET',k,'job',ARGV[4]) end\n"
	"return " LUA_OK };

/* KEYS session  ARGV job */
static const struct state_script job_done = {
	"if redis.call('HGET',KEYS[1],'job')==ARGV[1] then\n"
	" redis.call('HDEL',KEYS[1],'job')\n"
	"end\n"
	"return " LUA_OK
};

static void
session_call(struct call *c, const struct state_script *script,
    const struct session_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
}

enum rc
session_summarise(struct state *s, const struct session_key *k,
    const struct session_summary *sum)
{
	struct call c;

	if (sum->after < 0 || sum->number <= sum->after ||
	    sum->number > NUMBER_MAX)
		return RC_INVALID;
	session_call(&c, &summarise, k);
	call_text(&c, sum->text, SESSION_TEXT_MAX);
	call_num(&c, sum->after);
	call_num(&c, sum->number);
	call_text(&c, sum->job, SESSION_TEXT_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
session_job_done(struct state *s, const struct session_key *k, struct str job)
{
	struct call c;

	session_call(&c, &job_done, k);
	call_text(&c, job, SESSION_TEXT_MAX);
	return call_run(s, &c, 1, NULL);
}
