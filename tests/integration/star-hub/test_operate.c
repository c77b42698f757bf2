/*
 * What an operator sees and does from a shell: star-hub ls, kick, tap.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "testkit/star_fixture.h"

#define A   "agent:agent_001"
#define BOB "human:bob"
#define ENV "environment:demo_world"

#define EVENT "{\"type\":\"event\",\"id\":\"e1\",\"event\":\"seen\"}"

/* Start a command with up to five arguments; name is of its log. */
static void
command(struct star_fixture *f, struct tk_proc *p, const char *name,
    const char *const args[])
{
	const char *argv[8] = { tk_bin("star-hub") };
	char nats[80];
	const char *const env[] = { nats, NULL };
	size_t i;

	for (i = 0; args[i] != NULL; i++)
		argv[i + 1] = args[i];
	(void)snprintf(nats, sizeof(nats), "NATS_URL=%s", f->nats.url);
	tk_spawn(p, name, argv, env);
}

#define RUN(f, code, output, ...)                                        \
	do {                                                             \
		struct tk_proc p_;                                       \
		command(f, &p_, "command",                               \
		    (const char *const[]){ __VA_ARGS__, NULL });         \
		ck_assert_int_eq(tk_wait(&p_, 20000), code);             \
		ck_assert_msg(tk_log_has(&p_, output), "no %s", output); \
	} while (0)

TEST(ls_lists_what_all_hubs_have)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, bob;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, "/env/demo_world/agent/agent_001");
	star_open_at(&f, 1, &bob, "/human/bob");
	star_expect_has(&env, "\"agent_joined\"");
	RUN(&f, 0, "     1  demo_world", "ls");
	RUN(&f, 0, "1 environments, 1 agents, 1 humans, 2 hubs", "ls");
	RUN(&f, 0, "agent_001", "ls", "demo_world");
	RUN(&f, 0, "0 members; the environment is not connected", "ls",
	    "nowhere");
	RUN(&f, 0, "0 environments, 0 agents", "ls", "--tenant", "acme");
	RUN(&f, 64, "wrong arguments", "ls", "a", "b");
	RUN(&f, 0, "Of all hubs", "ls", "--help");
	tk_ws_close(&env);
	tk_ws_close(&a);
	tk_ws_close(&bob);
	star_stop(&f);
}

TEST(kick_closes_a_client_at_any_hub)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, bob;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 0, &a, "/env/demo_world/agent/agent_001");
	star_expect_has(&env, "\"agent_joined\"");
	star_open_at(&f, 1, &bob, "/human/bob");
	RUN(&f, 0, "disconnects it", "kick", "agent", "agent_001", "demo_world",
	    "--reason", "maintenance");
	ck_assert_uint_eq(tk_ws_end(&a), 1008);
	ck_assert_str_eq(a.reason, "disconnected by an operator: maintenance");
	star_expect_has(&env, "\"reason\":\"kicked\"");
	RUN(&f, 0, "disconnects it", "kick", "human", "bob");
	ck_assert_uint_eq(tk_ws_end(&bob), 1008);
	RUN(&f, 1, "no client has this identity", "kick", "human", "bob");
	RUN(&f, 64, "give agent ID ENV", "kick", "agent", "agent_001");
	tk_ws_close(&env);
	tk_ws_close(&a);
	tk_ws_close(&bob);
	star_stop(&f);
}

static bool
log_has_message(void *arg)
{
	struct tk_proc *p = arg;

	return tk_log_has(p, "agent agent_001  ->  environment demo_world");
}

struct monitored {
	struct star_fixture *f;
	struct tk_proc *p;
	struct tk_ws *a;
};

/* Until the hubs know of the tap nothing is seen. */
static bool
is_monitored(void *arg)
{
	struct monitored *t = arg;

	star_send(t->a, A, ENV, EVENT);
	return log_has_message(t->p);
}

TEST(monitoring_follows_an_environment)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct tk_proc p;
	struct monitored t = { &f, &p, &a };

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, "/env/demo_world/agent/agent_001");
	command(&f, &p, "tap",
	    (const char *const[]){ "tap", "demo_world", "--payload", NULL });
	ck_assert(tk_until(is_monitored, &t, TK_WS_MS));
	ck_assert(tk_log_has(&p, "  41 bytes  " EVENT));
	tk_signal(&p, SIGINT);
	(void)tk_wait(&p, 20000);
	tk_ws_close(&env);
	tk_ws_close(&a);
	star_stop(&f);
}

TEST(without_hubs_commands_fail)
{
	struct star_fixture f = { 0 };

	tk_server_start(&f.nats, TK_NATS);
	RUN(&f, 1, "is a star-hub running?", "ls");
	RUN(&f, 1, "is a star-hub running?", "tap", "demo_world");
}
