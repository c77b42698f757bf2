/*
 * connection_open: connecting to a server of Redis, on a worker thread: name
 * resolved, authenticated, database selected, role and format of keys checked,
 * scripts loaded.
 */
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>

#include "state/scripts.h"
#include "state/state_internal.h"

#define CONNECT_MS 2000
#define COMMAND_MS 1000 /* of AUTH, SELECT, … */
/* Bytes of the replies to SCRIPT LOAD, and of those to other commands. */
#define SCRIPT_REPLIES_MAX (256UL * 1024)
#define REPLY_MAX          (64UL * 1024)

enum rc
state_connection_dial(const struct redis_address *a, int64_t ms,
    struct connection **out, char why[STATE_ERROR_MAX])
{
	struct timeval tv = { (time_t)(ms / 1000),
		(suseconds_t)(ms % 1000 * 1000) };
	redisContext *rc;
	int fd, flags;

	*out = NULL;
	rc = redisConnectWithTimeout(a->host, a->port, tv);
	if (rc == NULL)
		abort();
	if (rc->err != 0 || redisEnableKeepAlive(rc) != REDIS_OK) {
		str_copy(str_of(rc->errstr), why, STATE_ERROR_MAX);
		redisFree(rc);
		return RC_DOWN;
	}
	fd = redisFreeKeepFd(rc);
	flags = fcntl(fd, F_GETFD);
	(void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
	*out = state_connection_wrap(fd);
	return RC_OK;
}

enum rc
state_connection_query(struct connection *c, const struct connection_query *q,
    struct state_reply **out, char why[STATE_ERROR_MAX])
{
	struct state_reply *reply = NULL;
	struct connection_replies w = { &reply, 1, 0, arena_new(q->max) };
	struct buf bytes = BUF_INIT(REPLY_MAX);
	enum rc rc;

	resp_put(&bytes, q->args, q->n);
	rc = state_connection_exchange(
	    c, buf_str(&bytes), &w, mono_add_ms(clock_mono(), q->ms), why);
	if (rc != RC_OK)
		rc = RC_DOWN;
	else if ((rc = reply_rc(reply)) != RC_OK)
		str_copy(reply->s, why, STATE_ERROR_MAX);
	buf_free(&bytes);
	if (rc == RC_OK && out != NULL) {
		reply->owner = w.a;
		*out = reply;
	} else {
		arena_free(w.a);
	}
	return rc;
}

/* One command whose reply says no more than whether it was accepted. */
static enum rc
connection_command(struct connection *c, const struct str *args, size_t n,
    int64_t ms, char why[STATE_ERROR_MAX])
{
	const struct connection_query q = { args, n, ms, REPLY_MAX };

	return state_connection_query(c, &q, NULL, why);
}

enum rc
state_connection_login(struct connection *c, const char *user,
    const char *password, char why[STATE_ERROR_MAX])
{
	enum rc rc = RC_OK;

	if (user[0] != '\0')
		rc = connection_command(c,
		    STATE_ARGS(STR("AUTH"), str_of(user), str_of(password)),
		    COMMAND_MS, why);
	else if (password[0] != '\0')
		rc = connection_command(c,
		    STATE_ARGS(STR("AUTH"), str_of(password)), COMMAND_MS, why);
	return rc == RC_INVALID ? RC_DENIED : rc;
}

/* What a connection is before its first call. */
static enum rc
connection_prepare(struct connection *c, const struct connection_opts *o,
    char why[STATE_ERROR_MAX])
{
	char num[STR_NUM_MAX], ignored[STATE_ERROR_MAX];
	enum rc rc;

	rc = state_connection_login(c, o->url.user, o->url.password, why);
	if (rc == RC_OK && o->url.db != 0) {
		rc = connection_command(c,
		    STATE_ARGS(STR("SELECT"), str_num(o->url.db, num)),
		    COMMAND_MS, why);
		if (rc == RC_INVALID)
			rc = RC_DENIED;
	}
	if (rc != RC_OK)
		return rc;
	/* Only a convenience for operators; permission may be missing. */
	if (o->name[0] != '\0' &&
	    connection_command(c,
		STATE_ARGS(STR("CLIENT"), STR("SETNAME"), str_of(o->name)),
		COMMAND_MS, ignored) == RC_DOWN) {
		str_copy(str_of(ignored), why, STATE_ERROR_MAX);
		return RC_DOWN;
	}
	return connection_command(
	    c, STATE_ARGS(STR("PING")), o->deadline_ms, why);
}

/*
 * Load all scripts, so that calls need no more than their digests.  The server
 * may reject that: it will do so when one is called, whose caller learns it.
 */
static enum rc
connection_load_scripts(struct connection *c, char why[STATE_ERROR_MAX])
{
	struct state_reply *replies[STATE_SCRIPTS];
	struct connection_replies w = { replies, STATE_SCRIPTS, 0,
		arena_new(SCRIPT_REPLIES_MAX) };
	struct buf out = BUF_INIT(STATE_SEND_MAX);
	enum rc rc;
	size_t i;

	for (i = 0; i < STATE_SCRIPTS; i++)
		resp_put(&out,
		    STATE_ARGS(STR("SCRIPT"), STR("LOAD"),
			str_of(state_scripts[i]->text)));
	rc = state_connection_exchange(
	    c, buf_str(&out), &w, mono_add_ms(clock_mono(), COMMAND_MS), why);
	buf_free(&out);
	arena_free(w.a);
	return rc == RC_OK ? RC_OK : RC_DOWN;
}

/*
 * Sentinels may name a server that has become a replica; writes to it would be
 * rejected, and reads be stale.
 */
static enum rc
connection_check_master(struct connection *c, char why[STATE_ERROR_MAX])
{
	const struct connection_query q = { STATE_ARGS(STR("ROLE")), COMMAND_MS,
		REPLY_MAX };
	struct state_reply *r = NULL;
	enum rc rc = state_connection_query(c, &q, &r, why);

	if (rc == RC_OK &&
	    !str_eq(state_reply_str(state_reply_at(r, 0)), STR("master"))) {
		str_copy(
		    STR("the server is not a master"), why, STATE_ERROR_MAX);
		rc = RC_DOWN;
	}
	state_reply_free(r);
	return rc;
}

enum rc
state_connection_open(const struct connection_opts *o,
    const struct connection_target *t, struct connection **out,
    char why[STATE_ERROR_MAX])
{
	struct connection *c;
	enum rc rc;

	*out = NULL;
	rc = state_connection_dial(&t->address, CONNECT_MS, &c, why);
	if (rc != RC_OK)
		return rc;
	rc = connection_prepare(c, o, why);
	if (rc == RC_OK && t->master)
		rc = connection_check_master(c, why);
	if (rc == RC_OK && t->scripts && o->check_format)
		rc = format_check(c, o, why);
	if (rc == RC_OK && t->scripts)
		rc = connection_load_scripts(c, why);
	if (rc == RC_OK) {
		*out = c;
		return RC_OK;
	}
	state_connection_close(c);
	return rc == RC_DENIED || rc == RC_CONFLICT ? rc : RC_DOWN;
}
