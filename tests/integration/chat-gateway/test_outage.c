/*
 * Killed servers: what was acknowledged with 2xx is stored, and the next
 * request works.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "testkit/gateway_turn_fixture.h"

#define CHAT_BODY                                                   \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\",\"inputs\":" \
	"[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}"

/* The gateway works again within this time after a server is back. */
#define BACK_MS 3000

static bool
chats(void *arg)
{
	struct tk_response a = { 0 };
	bool is = gw_chat(arg, &a, "t1", "") == 200;

	tk_response_free(&a);
	return is;
}

static bool
lists_souls(void *arg)
{
	struct tk_response a = { 0 };
	bool is = gw_request(arg, &a, "GET", "/v1/souls", NULL) == 200;

	tk_response_free(&a);
	return is;
}

/* ---- NATS ---- */

static bool
bus_is_down(void *arg)
{
	struct tk_response a = { 0 };
	bool is = gw_chat(arg, &a, "t1", "") == 503 &&
	    tk_response_has(&a, "\"the message bus cannot be reached now\"");

	tk_response_free(&a);
	return is;
}

TEST_T(the_gateway_recovers_from_a_killed_nats, 60)
{
	char id[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;
	int i;

	gw_chat_start(&b, &p, id);
	for (i = 0; i < 3; i++) {
		gw_chat_ok(&b, "t1", "");
		tk_server_stop(&b.nats, SIGKILL);
		ck_assert(tk_until(bus_is_down, &b, GW_MS));
		/* Requests that need no NATS still work. */
		gw_check_binding(&b, "demo-user", "t1", id);
		tk_server_restart(&b.nats);
		ck_assert(tk_until(chats, &b, BACK_MS));
		ck_assert(tk_until(lists_souls, &b, BACK_MS));
	}
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

TEST_T(a_turn_that_runs_while_nats_is_killed_is_lost, 60)
{
	natsSubscription *turns;
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	char id[GW_SOUL_ID];
	struct gw_turn t;
	struct gw_peer p;
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, NULL, "friendly", id);
	gw_bind_ok(&b, "demo-user", "t1", id);
	turns = gw_turns_subscribe(&b);
	gw_send(&b, &c, "POST", "/v1/chat", CHAT_BODY);
	gw_turn_next(turns, &t);
	gw_turn_reply(&b, &t, "accepted", NULL);
	tk_server_stop(&b.nats, SIGKILL);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	gw_check_error(&a, 502, "the turn was lost");
	natsSubscription_Destroy(turns);
	gw_turn_free(&t);
	tk_server_restart(&b.nats);
	gw_peer_start(&b, &p);
	ck_assert(tk_until(chats, &b, BACK_MS));
	tk_http_close(&c);
	tk_response_free(&a);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

/* ---- Redis ---- */

static bool
state_is_down(void *arg)
{
	struct tk_response a = { 0 };
	bool is = gw_request(arg, &a, "GET", "/v1/terminals/t1", NULL) == 503 &&
	    tk_response_has(&a, "\"the state cannot be reached now\"");

	tk_response_free(&a);
	return is;
}

TEST_T(the_gateway_recovers_from_a_killed_redis, 60)
{
	char id[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;
	int i;

	gw_chat_start(&b, &p, id);
	for (i = 0; i < 3; i++) {
		gw_chat_ok(&b, "t1", "");
		tk_server_stop(&b.redis, SIGKILL);
		ck_assert(tk_until(state_is_down, &b, GW_MS));
		gw_rejects(&b, "POST", "/v1/chat", CHAT_BODY, 503,
		    "the state cannot be reached now");
		gw_rejects(&b, "GET", "/v1/souls", NULL, 503,
		    "the state cannot be reached now");
		tk_server_restart(&b.redis);
		ck_assert(tk_until(chats, &b, BACK_MS));
		ck_assert(tk_until(lists_souls, &b, BACK_MS));
		gw_check_binding(&b, "demo-user", "t1", id);
	}
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

/* Souls per user; the limit is 1,000. */
#define SOULS_EACH 900

/* Creates souls one after another during the outage. */
struct creator {
	struct gateway_fixture *b;
	_Atomic bool stop;
	_Atomic int acknowledged; /* since the last kill */
	int users;
	json_t *created; /* names that were acknowledged */
	pthread_t thread;
};

static void *
creator_run(void *arg)
{
	struct creator *m = arg;
	struct tk_response a = { 0 };
	char name[32], body[128];
	int i;

	for (i = 0; !atomic_load(&m->stop); i++) {
		m->users = i / SOULS_EACH + 1;
		snprintf(name, sizeof(name), "soul %d", i);
		snprintf(body, sizeof(body),
		    "{\"user_id\":\"u%d\",\"name\":\"%s\","
		    "\"mbti_type\":\"ISTP\"}",
		    i / SOULS_EACH, name);
		if (gw_request(m->b, &a, "POST", "/v1/souls", body) != 200)
			continue;
		json_object_set_new(m->created, name, json_true());
		atomic_fetch_add(&m->acknowledged, 1);
	}
	tk_response_free(&a);
	return NULL;
}

static bool
creator_has_more(void *arg)
{
	struct creator *m = arg;

	return atomic_load(&m->acknowledged) >= 40;
}

/* Every acknowledged soul is in its user's list. */
static void
check_all_stored(struct gateway_fixture *b, struct creator *m)
{
	char path[64];
	json_t *j, *soul;
	size_t i;
	int user;

	tk_service_wait(&b->gateway);
	tk_service_wait(&b->engine);
	for (user = 0; user < m->users; user++) {
		snprintf(path, sizeof(path), "/v1/souls?user_id=u%d", user);
		j = gw_json(b, "GET", path, NULL);
		json_array_foreach (tk_at(j, "items"), i, soul)
			json_object_del(m->created, tk_text(soul, "name"));
		json_decref(j);
	}
	ck_assert_uint_eq(json_object_size(m->created), 0);
}

static void
kill_while_creating(void (*kill_one)(struct gateway_fixture *b))
{
	struct creator m = { 0 };
	struct gateway_fixture b;
	int i;

	gateway_fixture_start(&b, NULL);
	m.b = &b;
	m.created = json_object();
	ck_assert_int_eq(pthread_create(&m.thread, NULL, creator_run, &m), 0);
	for (i = 0; i < 4; i++) {
		ck_assert(tk_until(creator_has_more, &m, GW_MS));
		kill_one(&b);
		atomic_store(&m.acknowledged, 0);
	}
	ck_assert(tk_until(creator_has_more, &m, GW_MS));
	atomic_store(&m.stop, true);
	pthread_join(m.thread, NULL);
	ck_assert_uint_ge(json_object_size(m.created), 5 * 40);
	check_all_stored(&b, &m);
	json_decref(m.created);
	gateway_fixture_stop(&b);
}

static void
kill_redis(struct gateway_fixture *b)
{
	tk_server_stop(&b->redis, SIGKILL);
	tk_server_restart(&b->redis);
}

TEST_T(acknowledged_souls_survive_a_killed_redis, 60)
{
	kill_while_creating(kill_redis);
}

/* ---- the gateway ---- */

TEST_T(acknowledged_data_survives_a_killed_gateway, 60)
{
	char id[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;

	gw_chat_start(&b, &p, id);
	tk_service_kill(&b.gateway);
	gateway_fixture_spawn(&b, &b.gateway, "chat-gateway", NULL);
	gw_check_binding(&b, "demo-user", "t1", id);
	gw_chat_ok(&b, "t1", "");
	gw_ok(&b, "GET", "/v1/souls", NULL);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}
