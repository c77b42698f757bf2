/*
 * A hub, NATS or Redis dies, stands still, or comes back.
 */
#include <signal.h>
#include <stdio.h>

#include "core/clock.h"
#include "testkit/star_fixture.h"

#define A   "agent:agent_001"
#define B   "agent:agent_002"
#define BOB "human:bob"
#define ENV "environment:demo_world"

#define EVENT "{\"type\":\"event\",\"id\":\"e1\",\"event\":\"seen\"}"

#define AGENT_A "/env/demo_world/agent/agent_001"
#define AGENT_B "/env/demo_world/agent/agent_002"

/* The whole of a death that is noticed by its silence alone. */
#define PRESENCE_MS 4000

TEST_T(a_killed_hub_is_noticed_within_four_seconds, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, mars, a, b, m;
	struct mono began;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	star_open_at(&f, 0, &b, AGENT_B);
	star_expect_has(&env, "\"agent_joined\"");
	star_open_at(&f, 1, &mars, "/env/mars");
	star_open_at(&f, 0, &m, "/env/mars/agent/agent_001");
	star_expect_has(&mars, "\"agent_joined\"");
	began = clock_mono();
	tk_service_kill(star_hub(&f, 1));
	star_expect_has(&env,
	    "\"agent_left\",\"data\":{\"agent_id\":\"agent_001\","
	    "\"reason\":\"hub_down\"}");
	star_expect_has(&m,
	    "\"environment_down\",\"data\":{\"env_id\":\"mars\","
	    "\"reason\":\"hub_down\"}");
	printf("# noticed after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), began));
	/* Of its clients nobody is there any more, and all ids are free. */
	star_send(&env, ENV, A, EVENT);
	star_expect_error(&env, "CONNECTION_ERROR", "target_not_found");
	tk_ws_close(&a);
	star_open_at(&f, 0, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	star_send(&env, ENV, A, EVENT);
	star_expect_message(&a, ENV, A, EVENT);
	tk_ws_close(&a);
	tk_ws_close(&b);
	tk_ws_close(&m);
	tk_ws_close(&env);
	tk_ws_close(&mars);
	star_stop(&f);
}

static bool
all_is_confirmed(void *arg)
{
	struct star_fixture *f = arg;

	return tk_service_metric(&f->hub, "soul_star_unconfirmed") == 0;
}

static bool
first_is_alone(void *arg)
{
	struct star_fixture *f = arg;

	return tk_service_metric(&f->hub, "soul_star_hubs") == 1;
}

static bool
first_is_not_alone(void *arg)
{
	return !first_is_alone(arg);
}

TEST_T(what_a_killed_hub_did_not_confirm_is_reported, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	int i;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_send(&env, ENV, A, EVENT);
	star_expect_message(&a, ENV, A, EVENT);
	ck_assert(tk_until(all_is_confirmed, &f, TK_WS_MS));
	/* It stands still, so that nothing is confirmed, and is then killed. */
	tk_signal(&star_hub(&f, 1)->proc, SIGSTOP);
	for (i = 0; i < 3; i++)
		star_send(&env, ENV, A, EVENT);
	for (i = 0; i < 3; i++)
		star_expect_error(&env, "CONNECTION_LOST", "delivery_unknown");
	tk_service_kill(star_hub(&f, 1));
	star_know_each_other(&f, 1);
	star_send(&env, ENV, A, EVENT);
	star_expect_error(&env, "CONNECTION_ERROR", "target_not_found");
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(a_hub_that_stood_still_delivers_nothing_more, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, other;
	int i;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_open_at(&f, 1, &other, AGENT_B);
	for (i = 0; i < 10; i++) {
		star_send(&env, ENV, A, EVENT);
		star_expect_message(&a, ENV, A, EVENT);
	}
	ck_assert(tk_until(all_is_confirmed, &f, TK_WS_MS));
	tk_signal(&star_hub(&f, 1)->proc, SIGSTOP);
	ck_assert(tk_until(first_is_alone, &f, TK_WS_MS));
	/* Its agent comes back elsewhere, while it does not know. */
	tk_ws_send_close(&other, 1001);
	star_send(&a, A, ENV, EVENT);
	tk_signal(&star_hub(&f, 1)->proc, SIGCONT);
	ck_assert_uint_eq(tk_ws_end(&a), 1012);
	/* What was sent to it after its death was not delivered. */
	star_idle(&env, ENV);
	tk_ws_close(&a);
	tk_ws_close(&other);
	star_know_each_other(&f, 2);
	star_open_at(&f, 1, &a, AGENT_A);
	star_send(&a, A, ENV, EVENT);
	star_expect_message(&env, A, ENV, EVENT);
	/* To the other hub it is a new one, whose messages are new as well. */
	star_send(&env, ENV, A, EVENT);
	star_expect_message(&a, ENV, A, EVENT);
	star_idle(&env, ENV);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

/* Both ways, and neither gets an error. */
static void
expect_connected(struct tk_ws *env, struct tk_ws *a)
{
	star_send(env, ENV, A, EVENT);
	star_expect_message(a, ENV, A, EVENT);
	star_send(a, A, ENV, EVENT);
	star_expect_message(env, A, ENV, EVENT);
}

TEST_T(without_nats_local_clients_go_on, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 0, &b, AGENT_B);
	star_open_at(&f, 1, &a, AGENT_A);
	expect_connected(&env, &a);
	tk_server_stop(&f.nats, SIGKILL);
	star_send(&env, ENV, B, EVENT);
	star_expect_message(&b, ENV, B, EVENT);
	star_send(&env, ENV, A, EVENT);
	star_expect_has(&env, "\"error_code\":\"CONNECTION_");
	tk_server_restart(&f.nats);
	tk_service_wait(star_hub(&f, 0));
	tk_service_wait(star_hub(&f, 1));
	expect_connected(&env, &a);
	tk_ws_close(&a);
	tk_ws_close(&b);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(presence_converges_after_an_outage_of_nats, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	tk_server_stop(&f.nats, SIGKILL);
	/* One goes and one comes, of which no notice tells. */
	star_leave(&a);
	star_open_at(&f, 1, &b, AGENT_B);
	tk_server_restart(&f.nats);
	star_expect_has(
	    &env, "\"agent_joined\",\"data\":{\"agent_id\":\"agent_002\"}");
	star_expect_has(
	    &env, "\"agent_left\",\"data\":{\"agent_id\":\"agent_001\"");
	tk_ws_close(&b);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(without_redis_known_clients_go_on, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	expect_connected(&env, &a);
	tk_server_stop(&f.redis, SIGKILL);
	expect_connected(&env, &a);
	ck_assert_int_eq(
	    tk_ws_open(&b, star_hub(&f, 0)->http, AGENT_B, NULL), 503);
	tk_ws_close(&b);
	star_send(&env, ENV, B, EVENT);
	star_expect_error(&env, "CONNECTION_ERROR", "hub_unreachable");
	/* It ends, of which Redis hears when it is there again. */
	star_leave(&a);
	tk_server_restart(&f.redis);
	tk_service_wait(star_hub(&f, 0));
	tk_service_wait(star_hub(&f, 1));
	star_send(&env, ENV, A, EVENT);
	star_expect_error(&env, "CONNECTION_ERROR", "target_not_found");
	star_open_at(&f, 0, &b, AGENT_A);
	expect_connected(&env, &b);
	tk_ws_close(&b);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(a_newer_connection_during_an_outage_of_nats_closes_the_older_one, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws older, newer, env;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 0, &older, AGENT_A);
	tk_server_stop(&f.nats, SIGKILL);
	/* The older one's hub hears of that by Redis. */
	star_open_at(&f, 1, &newer, AGENT_A);
	ck_assert_uint_eq(tk_ws_end(&older), 4409);
	tk_server_restart(&f.nats);
	tk_service_wait(star_hub(&f, 0));
	tk_service_wait(star_hub(&f, 1));
	expect_connected(&env, &newer);
	tk_ws_close(&older);
	tk_ws_close(&newer);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(a_hub_that_redis_does_not_list_yet_is_not_dead, 60)
{
	struct star_fixture f = { 0 };
	struct tk_server other = { 0 };
	char url[96];
	struct mono noticed;

	star_start(&f, STAR_QUIET);
	/* It is never listed where the first one looks. */
	tk_server_start(&other, TK_REDIS);
	(void)snprintf(url, sizeof(url), "REDIS_URL=%s", other.url);
	star_spawn_hub(&f, 1, TK_ENV(url));
	ck_assert(tk_until(first_is_not_alone, &f, TK_WS_MS));
	noticed = clock_mono();
	ck_assert(tk_until(first_is_alone, &f, TK_WS_MS));
	/* Several renewals later. */
	ck_assert_int_gt(mono_diff_ms(clock_mono(), noticed), 2000);
	star_stop(&f);
	tk_server_stop(&other, SIGTERM);
}
