/*
 * What several hubs agree on in the end: who holds an identity, who is in an
 * environment, and who has died.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/star_fixture.h"

#define A   "agent:agent_001"
#define B   "agent:agent_002"
#define BOB "human:bob"
#define ENV "environment:demo_world"

#define AGENT_A "/env/demo_world/agent/agent_001"
#define AGENT_B "/env/demo_world/agent/agent_002"

#define REQUEST(name, data)                                     \
	"{\"type\":\"stream\",\"id\":\"q1\",\"stream\":\"" name \
	"\",\"data\":{" data "}}"

static void
wait_ready(struct star_fixture *f, int n)
{
	int i;

	for (i = 0; i < n; i++)
		tk_service_wait(star_hub(f, i));
}

/* ---- a hub that comes later ---- */

TEST(a_hub_that_starts_later_knows_what_the_others_have)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, mars, a, b, bob;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &mars, "/env/mars");
	star_open_at(&f, 1, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	star_start_hub(&f, 2, NULL);
	star_know_each_other(&f, 3);
	star_open_at(&f, 2, &bob, "/human/bob");
	star_send(&bob, BOB, "hub:hub", REQUEST("get_environments", ""));
	star_expect_has(
	    &bob, "{\"id\":\"demo_world\",\"client_count\":1,\"up\":true}");
	ck_assert_ptr_nonnull(strstr(
	    bob.msg.p, "{\"id\":\"mars\",\"client_count\":0,\"up\":true}"));
	star_open_at(&f, 2, &b, AGENT_B);
	star_expect_has(
	    &env, "\"agent_joined\",\"data\":{\"agent_id\":\"agent_002\"}");
	star_send(&b, B, "hub:hub", REQUEST("get_members", ""));
	star_expect_has(&b, "\"up\":true,\"count\":2,\"members\":[");
	ck_assert_ptr_nonnull(strstr(b.msg.p, "\"agent_001\""));
	/* Messages to and from it. */
	star_send(&b, B, A, star_numbered(1));
	star_expect_message(&a, B, A, star_numbered(1));
	star_send(&env, ENV, "agent:*", star_numbered(2));
	star_expect_message(&a, ENV, "agent:*", star_numbered(2));
	star_expect_message(&b, ENV, "agent:*", star_numbered(2));
	/* What is there leaves. */
	star_leave(&env);
	star_expect_has(&b, "\"environment_down\"");
	star_expect_has(&a, "\"environment_down\"");
	/* An environment that comes to it hears of all members. */
	star_open_at(&f, 2, &env, "/env/demo_world");
	star_expect_has(&env, "\"agent_joined\"");
	star_expect_has(&env, "\"agent_joined\"");
	star_expect_has(&a, "\"environment_up\"");
	tk_ws_close(&env);
	tk_ws_close(&mars);
	tk_ws_close(&a);
	tk_ws_close(&b);
	tk_ws_close(&bob);
	star_stop(&f);
}

/* ---- one holder ---- */

struct opening {
	pthread_barrier_t *both;
	struct tk_ws c;
	int port, status;
};

static void *
opening_run(void *arg)
{
	struct opening *o = arg;

	pthread_barrier_wait(o->both);
	o->status = tk_ws_open(&o->c, o->port, AGENT_A, NULL);
	return NULL;
}

/* Both connect at the same instant. */
static void
open_both(struct star_fixture *f, struct opening o[2])
{
	pthread_barrier_t both;
	pthread_t thread[2];
	int i;

	ck_assert_int_eq(pthread_barrier_init(&both, NULL, 2), 0);
	for (i = 0; i < 2; i++) {
		o[i].both = &both;
		o[i].port = star_hub(f, i)->http;
		ck_assert_int_eq(
		    pthread_create(&thread[i], NULL, opening_run, &o[i]), 0);
	}
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
	pthread_barrier_destroy(&both);
}

/* Whether c, of which there is something to read, has ended. */
static bool
has_lost(struct tk_ws *c)
{
	const char *msg = tk_ws_next(c, TK_WS_MS);

	if (msg != NULL)
		ck_assert_ptr_nonnull(strstr(msg, "\"heartbeat\""));
	else
		ck_assert_uint_eq(c->code, 4409);
	return msg == NULL;
}

/* Which of the two is closed; the other one stays. */
static int
wait_loser(struct opening o[2])
{
	struct pollfd fds[2];
	int i;

	for (i = 0; i < 2; i++)
		if (o[i].status != 101) {
			ck_assert_int_eq(o[i].status, 409);
			ck_assert_int_eq(o[1 - i].status, 101);
			return i;
		}
	for (;;) {
		for (i = 0; i < 2; i++) {
			fds[i] = (struct pollfd){ o[i].c.fd, POLLIN, 0 };
			/* It came with the response. */
			if (o[i].c.in.n > 0 && has_lost(&o[i].c))
				return i;
		}
		ck_assert_int_gt(poll(fds, 2, TK_WS_MS), 0);
		for (i = 0; i < 2; i++)
			if (fds[i].revents != 0 && has_lost(&o[i].c))
				return i;
	}
}

/* But for its heartbeat. */
static void
expect_first(struct tk_ws *c, const char *from, const char *payload)
{
	char text[512];
	const char *msg = star_next(c);

	if (strstr(msg, "{\"type\":\"heartbeat\"") == msg)
		msg = star_next(c);
	star_envelope(text, sizeof(text), from, A, payload);
	ck_assert_msg(strncmp(msg, text, strlen(text) - 1) == 0, "%s", msg);
}

TEST_T(one_of_two_connections_holds_an_identity, 120)
{
	struct star_fixture f = { 0 };
	struct opening o[2];
	struct tk_ws env, b;
	int i, loser, won[2] = { 0, 0 };

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &b, AGENT_B);
	for (i = 0; i < 200; i++) {
		open_both(&f, o);
		loser = wait_loser(o);
		won[1 - loser]++;
		tk_ws_close(&o[loser].c);
		/* Both hubs agree who it is. */
		star_send(&env, ENV, A, star_numbered(i));
		expect_first(&o[1 - loser].c, ENV, star_numbered(i));
		star_send(&b, B, A, star_numbered(i));
		expect_first(&o[1 - loser].c, B, star_numbered(i));
		star_idle(&o[1 - loser].c, A);
		star_leave(&o[1 - loser].c);
	}
	printf("# %d at the first hub, %d at the second\n", won[0], won[1]);
	star_idle(&env, ENV);
	star_idle(&b, B);
	tk_ws_close(&env);
	tk_ws_close(&b);
	star_stop(&f);
}

TEST_T(an_identity_that_is_claimed_without_nats_has_one_holder, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, one, two;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &one, AGENT_A);
	tk_server_stop(&f.nats, SIGKILL);
	/* The hubs do not hear each other meanwhile. */
	star_open_at(&f, 0, &two, AGENT_A);
	ck_assert_uint_eq(tk_ws_end(&one), 4409);
	tk_server_restart(&f.nats);
	star_send(&env, ENV, A, star_numbered(1));
	star_expect_message(&two, ENV, A, star_numbered(1));
	star_idle(&two, A);
	tk_ws_close(&one);
	tk_ws_close(&two);
	tk_ws_close(&env);
	star_stop(&f);
}

/* ---- presence ---- */

TEST_T(presence_converges_after_an_outage_of_both_servers, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	star_open_at(&f, 1, &b, AGENT_B);
	star_expect_has(&env, "\"agent_joined\"");
	tk_server_stop(&f.nats, SIGKILL);
	tk_server_stop(&f.redis, SIGKILL);
	/* No notice tells of it, and Redis hears of it late. */
	star_leave(&a);
	tk_server_restart(&f.nats);
	tk_server_restart(&f.redis);
	star_expect_has(
	    &env, "\"agent_left\",\"data\":{\"agent_id\":\"agent_001\"");
	wait_ready(&f, 2);
	star_send(&env, ENV, "hub:hub", REQUEST("get_members", ""));
	star_expect_has(&env, "\"count\":1,\"members\":[");
	star_idle(&env, ENV);
	tk_ws_close(&b);
	tk_ws_close(&env);
	star_stop(&f);
}

/* Its broadcasts continue with the numbers that Redis has, which has missed
 * some of those that members got. */
TEST_T(members_get_what_follows_an_outage_of_redis, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	int i;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	/* Its hub knows where the agent is. */
	star_send(&a, A, ENV, star_numbered(0));
	star_expect_message(&env, A, ENV, star_numbered(0));
	tk_server_stop(&f.redis, SIGKILL);
	for (i = 1; i <= 5; i++) {
		star_send(&env, ENV, "agent:*", star_numbered(i));
		star_expect_message(&a, ENV, "agent:*", star_numbered(i));
	}
	star_leave(&env);
	tk_server_restart(&f.redis);
	wait_ready(&f, 2);
	star_open_at(&f, 0, &env, "/env/demo_world");
	for (i = 6; i <= 8; i++) {
		star_send(&env, ENV, "agent:*", star_numbered(i));
		star_expect_message(&a, ENV, "agent:*", star_numbered(i));
	}
	star_idle(&a, A);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

/* ---- a hub is killed ---- */

#define AGENTS 1000

struct many {
	struct star_fixture f;
	struct tk_ws env, agent[AGENTS];
	char session[AGENTS][33];
	int joined[AGENTS], left[AGENTS];
};

/* An event about one of them. */
static void
members_count(struct many *w, const char *msg)
{
	static const char key[] = "\"agent_id\":\"agent_";
	const char *at = strstr(msg, key);
	struct str id;
	int64_t i;

	if (strstr(msg, "\"heartbeat\"") != NULL)
		return;
	ck_assert_msg(at != NULL, "%s", msg);
	id = str_of(at + strlen(key));
	ck_assert_int_eq(
	    str_to_i64(str_split(&id, '"'), 0, AGENTS - 1, &i), RC_OK);
	if (strstr(msg, "\"agent_joined\"") != NULL)
		w->joined[i]++;
	else if (strstr(msg, "\"agent_left\"") != NULL)
		w->left[i]++;
	else
		ck_abort_msg("%s", msg);
}

/* What the environment has got by now. */
static void
members_read(struct many *w)
{
	const char *msg;

	while ((msg = tk_ws_next(&w->env, 0)) != NULL)
		members_count(w, msg);
	ck_assert_uint_eq(w->env.code, 0);
}

/* Each of them has come so many times, and is there, as the environment knows.
 */
static bool
members_are_right(const struct many *w, int times)
{
	int i;

	for (i = 0; i < AGENTS; i++)
		if (w->joined[i] != times || w->left[i] != times - 1)
			return false;
	return true;
}

static void
members_wait_right(struct many *w, int times)
{
	const char *msg;

	members_read(w);
	while (!members_are_right(w, times)) {
		msg = tk_ws_next(&w->env, TK_WS_MS);
		ck_assert_msg(msg != NULL, "presence does not converge");
		members_count(w, msg);
	}
}

/* Every second one has lost its session, too. */
static void
member_open(struct many *w, int i, int hub, bool back)
{
	char path[160], id[64];
	const char *at;

	(void)snprintf(id, sizeof(id), "/env/demo_world/agent/agent_%d", i);
	if (back && i % 2 == 0)
		(void)snprintf(path, sizeof(path), "%s?session=%s&last=0", id,
		    w->session[i]);
	else
		(void)snprintf(path, sizeof(path), "%s", id);
	at = strstr(
	    star_open_at(&w->f, hub, &w->agent[i], path), "\"session\":\"");
	ck_assert_ptr_nonnull(at);
	(void)snprintf(w->session[i], sizeof(w->session[i]), "%.32s",
	    at + strlen("\"session\":\""));
	members_read(w);
}

TEST_T(all_clients_of_a_killed_hub_come_back_to_others, 120)
{
	struct many *w = mem_zalloc(sizeof(*w));
	struct mono began;
	int64_t ms;
	int i;

	star_start_hubs(&w->f, 3, NULL);
	star_open_at(&w->f, 0, &w->env, "/env/demo_world");
	for (i = 0; i < AGENTS; i++)
		member_open(w, i, 1, false);
	members_wait_right(w, 1);
	tk_service_kill(star_hub(&w->f, 1));
	began = clock_mono();
	for (i = 0; i < AGENTS; i++) {
		tk_ws_close(&w->agent[i]);
		member_open(w, i, i % 3 == 0 ? 0 : 2, true);
	}
	ms = mono_diff_ms(clock_mono(), began);
	printf("# %d clients came back in %lld ms\n", AGENTS, (long long)ms);
	members_wait_right(w, 2);
	star_know_each_other(&w->f, 2);
	/* The death of their old hub changes nothing any more. */
	star_send(&w->env, ENV, "hub:hub", REQUEST("get_members", ""));
	star_expect_has(&w->env, "\"count\":1000,\"members\":[");
	star_idle(&w->env, ENV);
	for (i = 0; i < AGENTS; i++)
		tk_ws_close(&w->agent[i]);
	tk_ws_close(&w->env);
	star_stop(&w->f);
	free(w);
}
