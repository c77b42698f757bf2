#include "testkit/state_fixture.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state/soul.h"
#include "testkit/redis_set.h"

#define DEADLINE_MS 5000
#define ARENA_MAX   (16UL << 20)

static struct tk_cluster shared; /* its url: empty if there is none */

bool
state_fixture_is_up(void *state)
{
	return state_up(state);
}

static bool
state_fixture_is_down(void *arg)
{
	return !state_up(arg);
}

void
state_fixture_wait_up(struct state_fixture *f)
{
	ck_assert(tk_loop_until(
	    f->loop, state_fixture_is_up, f->s, STATE_FIXTURE_WAIT_MS));
}

void
state_fixture_wait_down(struct state_fixture *f)
{
	ck_assert(tk_loop_until(
	    f->loop, state_fixture_is_down, f->s, STATE_FIXTURE_WAIT_MS));
}

void
state_fixture_init(struct state_fixture *f)
{
	*f = (struct state_fixture){ 0 };
	f->loop = loop_new(64);
	f->workers = worker_new(f->loop, 1, 16);
	f->metrics = metric_set_new();
	f->a = arena_new(ARENA_MAX);
	f->w = (struct terminal_writer){ STR("main"), 5, STATE_FIXTURE_TTL_MS,
		false };
}

void
state_fixture_connect(struct state_fixture *f, const char *url, int deadline_ms)
{
	struct state_opts o = { .loop = f->loop,
		.workers = f->workers,
		.url = url,
		.name = "test",
		.deadline_ms = deadline_ms,
		.metrics = f->metrics };

	OK(state_new(&o, &f->s));
}

void
state_fixture_join(struct state_fixture *f, const struct tk_server *server)
{
	state_fixture_init(f);
	state_fixture_connect(f, server->url, DEADLINE_MS);
	state_fixture_wait_up(f);
}

void
state_fixture_share_begin(void)
{
	if (getenv("SOUL_TEST_CLUSTER") != NULL)
		tk_cluster_start(&shared);
}

const char *
state_fixture_share_end(void)
{
	tk_cluster_stop(&shared);
	return NULL;
}

static void
state_fixture_command_shared(const char *line)
{
	for (size_t i = 0; i < TK_CLUSTER_MASTERS; i++)
		tk_redis_do(&shared.node[i], NULL, 0, "%s", line);
}

void
state_fixture_start_server(struct tk_server *server)
{
	if (shared.url[0] == '\0') {
		tk_server_start(server, TK_REDIS);
		return;
	}
	*server = (struct tk_server){ .kind = TK_REDIS };
	str_copy(str_of(shared.url), server->url, sizeof(server->url));
	ck_assert_str_eq(server->url, shared.url);
	state_fixture_command_shared("FLUSHALL");
}

void
state_fixture_command(const struct state_fixture *f, const char *line)
{
	if (shared.url[0] == '\0')
		tk_redis_do(&f->redis, NULL, 0, "%s", line);
	else
		state_fixture_command_shared(line);
}

void
state_fixture_flush(const struct state_fixture *f)
{
	state_fixture_command(f, "FLUSHALL");
}

void
state_fixture_start(struct state_fixture *f)
{
	state_fixture_init(f);
	state_fixture_start_server(&f->redis);
	state_fixture_connect(f, f->redis.url, DEADLINE_MS);
	state_fixture_wait_up(f);
}

void
state_fixture_stop(struct state_fixture *f)
{
	state_free(f->s);
	worker_free(f->workers);
	loop_free(f->loop);
	metric_set_free(f->metrics);
	arena_free(f->a);
}

void
state_fixture_do(struct state_fixture *f, const struct str *args, size_t n)
{
	OK(state_cmd(f->s, args, n, NULL));
}

void
state_fixture_expect(
    struct state_fixture *f, const char *want, const struct str *args, size_t n)
{
	struct state_reply *reply = NULL;
	enum rc rc = state_cmd(f->s, args, n, &reply);

	ck_assert_msg(rc == RC_OK, "%s: %.*s", rc_name(rc),
	    STR_ARG(state_reply_str(reply)));
	if (want == NULL)
		ck_assert_int_eq(state_reply_kind(reply), STATE_NIL);
	else
		ck_assert_str_eq(state_reply_str(reply).p, want);
	state_reply_free(reply);
}

int64_t
state_fixture_int(struct state_fixture *f, const struct str *args, size_t n)
{
	struct state_reply *reply;
	int64_t v;

	OK(state_cmd(f->s, args, n, &reply));
	ck_assert_int_eq(state_reply_kind(reply), STATE_INT);
	v = state_reply_int(reply);
	state_reply_free(reply);
	return v;
}

enum rc
state_fixture_ping(struct state_fixture *f)
{
	return state_cmd(f->s, STATE_ARGS(STR("PING")), NULL);
}

int64_t
state_fixture_metric(struct state_fixture *f, const char *name)
{
	return metric_value(metric_counter(f->metrics, name, "", NULL));
}

int64_t
state_fixture_now(struct state_fixture *f)
{
	static const struct state_script now = {
		.text = "local t=redis.call('TIME') "
			"return t[1]*1000+math.floor(t[2]/1000)",
		.sha = "7f94161f9a8c0e6f5a181f3b43c6d684b33c461e",
	};
	struct state_call c = { .script = &now };
	struct state_reply *r;
	int64_t v;

	OK(state_eval(f->s, &c, &r));
	v = state_reply_int(r);
	state_reply_free(r);
	return v;
}

unsigned
state_fixture_bucket(const char *user)
{
	unsigned bucket;

	OK(state_bucket(str_of(user), &bucket));
	return bucket;
}

struct str
state_fixture_key(
    char dst[STATE_KEY_MAX], const char *pattern, const char *user)
{
	struct str key;

	OK(state_bucket_key(dst, pattern, state_fixture_bucket(user), &key));
	return key;
}

void
ck_text(struct str s, const char *want)
{
	if (want == NULL)
		ck_assert_ptr_null(s.p);
	else
		ck_assert_msg(s.p != NULL && str_eq(s, str_of(want)),
		    "'%.*s' is not '%s'", STR_ARG(s), want);
}

/* ---- several processes ---- */

pid_t
state_fixture_fork(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		ck_assert_int_eq(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
	return pid;
}

void
state_fixture_run_peers(
    const char *url, int n, void (*fn)(struct state_fixture *f, int peer))
{
	pid_t pids[STATE_FIXTURE_PEERS_MAX];
	struct state_fixture f;
	int i, status;

	ck_assert_int_le(n, STATE_FIXTURE_PEERS_MAX);
	for (i = 0; i < n; i++) {
		pids[i] = state_fixture_fork();
		if (pids[i] != 0)
			continue;
		state_fixture_init(&f);
		state_fixture_connect(&f, url, DEADLINE_MS);
		state_fixture_wait_up(&f);
		fn(&f, i);
		state_fixture_stop(&f);
		_exit(0);
	}
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_int_eq(status, 0);
	}
}

void
state_fixture_check_claims(struct state_fixture *f, int64_t n)
{
	static const struct state_script unique = {
		.text =
		    "local l,n=redis.call('LRANGE',KEYS[1],0,-1),0 local u={} "
		    "for _,x in ipairs(l) do if not u[x] then n=n+1 end "
		    "u[x]=true end return {#l,n}",
		.sha = "c1a3634517e89e01940bacf8da10f11da7e47597",
	};
	const struct str key = STATE_FIXTURE_CLAIMED;
	struct state_call c = { .script = &unique, .keys = &key, .n_keys = 1 };
	struct state_reply *reply;

	OK(state_eval(f->s, &c, &reply));
	ck_assert_int_eq(state_reply_int(state_reply_at(reply, 0)), n);
	ck_assert_int_eq(state_reply_int(state_reply_at(reply, 1)), n);
	state_reply_free(reply);
}

enum rc
session_fixture_claim(struct state_fixture *f, const char *user,
    int64_t lease_ms, size_t max, struct session_idle_list *out)
{
	const struct session_idle_claim c = { state_fixture_bucket(user),
		lease_ms, max };

	return session_idle_claim(f->s, &c, f->a, out);
}

/* ---- turns without records and events ---- */

void
turn_fixture_soul(struct state *s, const char *user, const char *soul)
{
	const struct soul new = { .id = str_of(soul),
		.user_id = str_of(user),
		.name = str_of(soul),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };
	enum rc rc = soul_create(s, &new, STR("state"));

	ck_assert(rc == RC_OK || rc == RC_CONFLICT);
}

enum rc
turn_fixture_alive(struct state *s, const struct turn_slot *p, int64_t ms)
{
	unsigned bucket;
	enum rc rc = state_bucket(p->key.user_id, &bucket);

	return rc == RC_OK ? turn_alive(s, p->instance, &bucket, 1, ms) : rc;
}

enum rc
turn_fixture_enter(struct state *s, const struct turn_slot *p, int64_t *ahead)
{
	struct arena *a = arena_new(4096);
	struct turn_entry e = { .fingerprint = { NULL, 0 } };
	struct turn_entered in;
	enum rc rc = turn_enter(s, p, &e, a, &in);

	*ahead = in.ahead;
	arena_free(a);
	return rc;
}

enum rc
turn_fixture_poll(struct state *s, const struct turn_slot *p, int64_t *ahead)
{
	struct arena *a = arena_new(4096);
	struct turn_position at;
	enum rc rc = turn_poll(s, p, NULL, a, &at);

	*ahead = at.ahead;
	arena_free(a);
	return rc;
}

enum rc
turn_fixture_append(struct state *s, const struct turn_slot *p,
    const struct str *json, size_t n)
{
	return turn_append_messages(
	    s, p, &(struct session_new){ .json = json, .n = n });
}

enum rc
turn_fixture_input(struct state *s, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in)
{
	struct turn_events none = { .n = 0 };

	return turn_append_input(s, p, new, in, &none);
}

enum rc
turn_fixture_leave(struct state *s, const struct turn_slot *p, struct arena *a,
    struct str *next)
{
	struct turn_ending end = { .forget = false };
	enum rc rc = turn_leave(s, p, &end, a);

	*next = end.next;
	return rc;
}

enum rc
turn_fixture_finish(struct state *s, const struct turn_slot *p,
    const struct session_new *new, struct arena *a, struct str *next)
{
	struct turn_ending end = { .forget = false };
	enum rc rc = turn_finish(s, p, new, &end, a);

	*next = end.next;
	return rc;
}
