/*
 * peers: several processes at once against one Redis.
 */
#ifndef STATE_PEERS_H
#define STATE_PEERS_H

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/mem.h"
#include "integration/state/rig.h"

#define OK(x)     ck_assert_int_eq((x), RC_OK)
#define IS(rc, x) ck_assert_int_eq((x), (rc))

#define PEERS_MAX 8

static const struct str nobody = { NULL, 0 };

/* A process of its own that dies with the test. */
static inline pid_t
peer_fork(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		ck_assert_int_eq(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
	return pid;
}

/*
 * Run fn in n processes of their own, connected to url, and wait for their end.
 * Before any thread was made here.
 */
static inline void
peers_run(const char *url, int n, void (*fn)(struct rig *r, int who))
{
	pid_t pids[PEERS_MAX];
	struct rig r;
	int i, status;

	ck_assert_int_le(n, PEERS_MAX);
	for (i = 0; i < n; i++) {
		pids[i] = peer_fork();
		if (pids[i] != 0)
			continue;
		rig_bare(&r);
		rig_connect(&r, url, 5000);
		rig_wait_up(&r);
		fn(&r, i);
		rig_end(&r);
		_exit(0);
	}
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_int_eq(status, 0);
	}
}

/* A rig on a server that runs. */
static inline void
rig_join(struct rig *r, const struct tk_server *server)
{
	rig_bare(r);
	rig_connect(r, server->url, 5000);
	rig_wait_up(r);
}

/* Run a command whose reply does not matter. */
static inline void
rig_do(struct rig *r, const struct str *args, size_t n)
{
	OK(state_cmd(r->s, args, n, NULL));
}
#define DO(r, ...) rig_do((r), STATE_ARGS(__VA_ARGS__))

/* The integer that a command answers. */
static inline int64_t
rig_int(struct rig *r, const struct str *args, size_t n)
{
	struct state_reply *reply;
	int64_t v;

	OK(state_cmd(r->s, args, n, &reply));
	ck_assert_int_eq(state_reply_kind(reply), STATE_INT);
	v = state_reply_int(reply);
	state_reply_free(reply);
	return v;
}
#define INT_OF(r, ...) rig_int((r), STATE_ARGS(__VA_ARGS__))

/* Where peers that claim the same things note what they got. */
#define CLAIMED STR("claimed")

/* They noted n things, no two the same. */
static inline void
ck_claimed_once(struct rig *r, int64_t n)
{
	static const struct state_script unique = {
		"local l=redis.call('LRANGE','claimed',0,-1) "
		"for _,x in ipairs(l) do redis.call('SADD','unique',x) end "
		"return {#l,redis.call('SCARD','unique')}"
	};
	struct state_call c = { .script = &unique };
	struct state_reply *reply;

	OK(state_eval(r->s, &c, &reply));
	ck_assert_int_eq(state_reply_int(state_reply_at(reply, 0)), n);
	ck_assert_int_eq(state_reply_int(state_reply_at(reply, 1)), n);
	state_reply_free(reply);
}

/* Whether s is the text want; NULL: absent. */
static inline void
ck_text(struct str s, const char *want)
{
	if (want == NULL)
		ck_assert_ptr_null(s.p);
	else
		ck_assert_msg(s.p != NULL && str_eq(s, str_of(want)),
		    "'%.*s' is not '%s'", STR_ARG(s), want);
}

#endif /* !STATE_PEERS_H */
