/*
 * Servers that are killed: what was answered 2xx is there afterwards, and the
 * next request works.
 */
#include <pthread.h>

#include "peer.h"

#define SAID                                                        \
	"{\"session_id\":\"s1\",\"terminal_id\":\"t1\",\"inputs\":" \
	"[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}"

/* As soon as a server is back, so is the gateway: within this time. */
#define BACK_MS 3000

static bool
chats(void *arg)
{
	struct tk_answer a = { 0 };
	bool is = chat(arg, &a, "t1", "") == 200;

	tk_answer_free(&a);
	return is;
}

static bool
lists_souls(void *arg)
{
	struct tk_answer a = { 0 };
	bool is = ask(arg, &a, "GET", "/v1/souls", NULL) == 200;

	tk_answer_free(&a);
	return is;
}

/* ---- NATS -----------------------------------------------------------------
 */

static bool
bus_is_down(void *arg)
{
	struct tk_answer a = { 0 };
	bool is = chat(arg, &a, "t1", "") == 503 &&
	    tk_answer_has(&a, "\"the message bus cannot be reached now\"");

	tk_answer_free(&a);
	return is;
}

TEST_T(nats_may_be_killed, 60)
{
	char id[SOUL_ID];
	struct peer p;
	struct bed b;
	int i;

	chat_start(&b, &p, id);
	for (i = 0; i < 3; i++) {
		chat_ok(&b, "t1", "");
		tk_server_stop(&b.nats, SIGKILL);
		ck_assert(tk_until(bus_is_down, &b, BED_MS));
		/* What needs no bus goes on. */
		has_soul(&b, "demo-user", "t1", id);
		tk_server_restart(&b.nats);
		ck_assert(tk_until(chats, &b, BACK_MS));
		ck_assert(tk_until(lists_souls, &b, BACK_MS));
	}
	peer_stop(&p);
	bed_stop(&b);
}

TEST_T(a_turn_that_runs_while_nats_is_killed_is_lost, 60)
{
	natsSubscription *turns;
	struct tk_answer a = { 0 };
	struct tk_http c = { 0 };
	char id[SOUL_ID];
	struct turn t;
	struct peer p;
	struct bed b;

	bed_start(&b, NULL);
	make_soul(&b, NULL, "friendly", id);
	bound(&b, "demo-user", "t1", id);
	turns = turns_listen(&b);
	ask_begin(&b, &c, "POST", "/v1/chat", SAID);
	turn_take(turns, &t);
	turn_say(&b, &t, "accepted", NULL);
	tk_server_stop(&b.nats, SIGKILL);
	ck_assert(tk_http_read(&c, &a, BED_MS));
	answer_refuses(&a, 502, "the turn was lost");
	natsSubscription_Destroy(turns);
	turn_end(&t);
	tk_server_restart(&b.nats);
	peer_start(&b, &p);
	ck_assert(tk_until(chats, &b, BACK_MS));
	tk_http_close(&c);
	tk_answer_free(&a);
	peer_stop(&p);
	bed_stop(&b);
}

/* ---- Redis ----------------------------------------------------------------
 */

static bool
state_is_down(void *arg)
{
	struct tk_answer a = { 0 };
	bool is = ask(arg, &a, "GET", "/v1/terminals/t1", NULL) == 503 &&
	    tk_answer_has(&a, "\"the state cannot be reached now\"");

	tk_answer_free(&a);
	return is;
}

TEST_T(redis_may_be_killed, 60)
{
	char id[SOUL_ID];
	struct peer p;
	struct bed b;
	int i;

	chat_start(&b, &p, id);
	for (i = 0; i < 3; i++) {
		chat_ok(&b, "t1", "");
		tk_server_stop(&b.redis, SIGKILL);
		ck_assert(tk_until(state_is_down, &b, BED_MS));
		refused(&b, "POST", "/v1/chat", SAID, 503,
		    "the state cannot be reached now");
		refused(&b, "GET", "/v1/souls", NULL, 503,
		    "the state cannot be reached now");
		tk_server_restart(&b.redis);
		ck_assert(tk_until(chats, &b, BACK_MS));
		ck_assert(tk_until(lists_souls, &b, BACK_MS));
		has_soul(&b, "demo-user", "t1", id);
	}
	peer_stop(&p);
	bed_stop(&b);
}

/* Souls that one user is made; he may have 1,000. */
#define SOULS_EACH 900

/* Who makes one soul after the other, whatever happens. */
struct maker {
	struct bed *b;
	_Atomic bool stop;
	_Atomic int tried;
	int users;
	json_t *made; /* names of those that were answered 200 */
	pthread_t thread;
};

static void *
maker_run(void *arg)
{
	struct maker *m = arg;
	struct tk_answer a = { 0 };
	char name[32], body[128];
	int i;

	for (i = 0; !atomic_load(&m->stop); i++) {
		m->users = i / SOULS_EACH + 1;
		snprintf(name, sizeof(name), "soul %d", i);
		snprintf(body, sizeof(body),
		    "{\"user_id\":\"u%d\",\"name\":\"%s\","
		    "\"mbti_type\":\"ISTP\"}",
		    i / SOULS_EACH, name);
		if (ask(m->b, &a, "POST", "/v1/souls", body) == 200)
			json_object_set_new(m->made, name, json_true());
		atomic_fetch_add(&m->tried, 1);
	}
	tk_answer_free(&a);
	return NULL;
}

static bool
made_more(void *arg)
{
	struct maker *m = arg;

	return atomic_load(&m->tried) >= 40;
}

/* Every soul that was answered 200 is in its user's list. */
static void
all_are_there(struct bed *b, struct maker *m)
{
	char path[64];
	json_t *j, *soul;
	size_t i;
	int user;

	tk_service_wait(&b->gateway);
	tk_service_wait(&b->engine);
	for (user = 0; user < m->users; user++) {
		snprintf(path, sizeof(path), "/v1/souls?user_id=u%d", user);
		j = take(b, "GET", path, NULL);
		json_array_foreach (tk_at(j, "items"), i, soul)
			json_object_del(m->made, tk_text(soul, "name"));
		json_decref(j);
	}
	ck_assert_uint_eq(json_object_size(m->made), 0);
}

static void
kill_while_making(void (*kill_one)(struct bed *b))
{
	struct maker m = { 0 };
	struct bed b;
	int i;

	bed_start(&b, NULL);
	m.b = &b;
	m.made = json_object();
	ck_assert_int_eq(pthread_create(&m.thread, NULL, maker_run, &m), 0);
	for (i = 0; i < 4; i++) {
		ck_assert(tk_until(made_more, &m, BED_MS));
		atomic_store(&m.tried, 0);
		kill_one(&b);
	}
	ck_assert(tk_until(made_more, &m, BED_MS));
	atomic_store(&m.stop, true);
	pthread_join(m.thread, NULL);
	ck_assert_uint_gt(json_object_size(m.made), 40);
	all_are_there(&b, &m);
	json_decref(m.made);
	bed_stop(&b);
}

static void
kill_redis(struct bed *b)
{
	tk_server_stop(&b->redis, SIGKILL);
	tk_server_restart(&b->redis);
}

TEST_T(what_was_answered_survives_redis, 60)
{
	kill_while_making(kill_redis);
}

/* ---- the gateway itself ---------------------------------------------------
 */

TEST_T(the_gateway_may_be_killed, 60)
{
	char id[SOUL_ID];
	struct peer p;
	struct bed b;

	chat_start(&b, &p, id);
	tk_service_kill(&b.gateway);
	bed_spawn(&b, &b.gateway, "chat-gateway", NULL);
	has_soul(&b, "demo-user", "t1", id);
	chat_ok(&b, "t1", "");
	done(&b, "GET", "/v1/souls", NULL);
	peer_stop(&p);
	bed_stop(&b);
}
