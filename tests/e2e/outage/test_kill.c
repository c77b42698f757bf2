/*
 * kill -9 of each process in turn, servers included, during a conversation:
 * afterwards the next chat succeeds without intervention, and everything that
 * got a 200 before is still stored.
 */
#include <signal.h>

#include "testkit/stack/chatter.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/subscriber.h"

#define IDLE_AFTER "USER_IDLE_TIMEOUT_SECONDS="
#define IDLE_SCAN  "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS="

/* The state before the first kill. */
struct scene {
	struct stack st;
	struct client other; /* a second conversation with the same device */
	const char *soul;
	struct chatter chatter;
};

static void
scene_begin(struct scene *s)
{
	static const struct stack_opts o = {
		.env[STACK_LLM_ORCHESTRATOR] = { IDLE_AFTER "1" },
		.env[STACK_MEMORY_WORKER] = { IDLE_SCAN "0.2" },
	};
	struct subscriber *e;

	stack_start(&s->st, &o);
	s->soul = client_create_soul(&s->st, STACK_USER, "小元", "ENFP");
	client_select_soul(&s->st, STACK_USER, STACK_BODY, s->soul);
	s->other = (struct client){ &s->st, STACK_USER, "before", STACK_BODY };
	e = subscriber_new(&s->st, "soul.event.memory_stored.>", NULL);
	json_decref(client_chat(&s->other, "我最喜欢的水果是山竹"));
	json_decref(subscriber_next(e, STACK_MS));
	subscriber_free(e);
	s->other.session = "s2";
	chatter_start(&s->chatter,
	    &(struct client){ &s->st, STACK_USER, "s1", STACK_BODY });
	chatter_resumes(&s->chatter);
}

static bool
body_is_online(void *arg)
{
	struct stack *st = arg;
	json_t *j = client_sim_state(st, STACK_BODY);
	bool is = json_is_true(tk_at(j, "online"));

	json_decref(j);
	return is;
}

/* The state is unchanged, for the next chat and for the history. */
static void
scene_check(struct scene *s, const char *killed)
{
	json_t *j;
	int i;

	for (i = 0; i < STACK_SERVICES; i++)
		stack_wait_ready(&s->st.service[i]);
	ck_assert(tk_until(body_is_online, &s->st, STACK_MS));
	client_wait_terminal(
	    &s->st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	j = client_chat(&s->other, "把灯变成红色");
	ck_assert_msg(
	    tk_json_equals(tk_at(j, "executed_skills"), "[\"control_light\"]"),
	    "after %s: %s", killed, tk_text(j, "reply"));
	json_decref(j);
	j = client_chat(&s->other, "今天上海天气如何？");
	ck_assert_msg(tk_text_has(j, "reply", "上海"), "after %s: %s", killed,
	    tk_text(j, "reply"));
	json_decref(j);
	j = client_ok(&s->st, "GET", "/v1/souls", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	ck_assert_str_eq(tk_text(j, "items.0.soul_id"), s->soul);
	json_decref(j);
	j = client_terminal(&s->st, STACK_USER, STACK_BODY);
	ck_assert_str_eq(tk_text(j, "soul_id"), s->soul);
	json_decref(j);
	chatter_resumes(&s->chatter);
}

static bool
remembers(void *arg)
{
	struct scene *s = arg;
	json_t *r = client_chat(&s->other, "你还记得我喜欢的水果吗");
	bool yes = tk_text_has(r, "reply", "山竹");

	json_decref(r);
	return yes;
}

static void
scene_end(struct scene *s)
{
	const char *why;

	chatter_stop(&s->chatter);
	chatter_check(&s->chatter);
	s->other.session = "after";
	/* The first request after an outage of the memory may go without it. */
	ck_assert(tk_until(remembers, s, STACK_MS));
	stack_check(&s->st);
	why = stack_end(&s->st);
	ck_assert_msg(why == NULL, "%s", why);
}

static struct scene scene;

TEST_T(each_service_is_killed_in_turn, 120)
{
	enum stack_service i;

	scene_begin(&scene);
	for (i = 0; i < STACK_SERVICES; i++) {
		stack_kill(&scene.st, i);
		stack_restart(&scene.st, i);
		scene_check(&scene, stack_name(i));
	}
	scene_end(&scene);
}

TEST_T(each_server_is_killed_in_turn, 120)
{
	enum stack_server i;

	scene_begin(&scene);
	for (i = 0; i < STACK_SERVERS; i++) {
		tk_server_stop(&scene.st.server[i], SIGKILL);
		tk_server_restart(&scene.st.server[i]);
		scene_check(&scene, scene.st.server[i].proc.name);
	}
	scene_end(&scene);
}

TEST_T(all_processes_are_killed_together, 120)
{
	enum stack_service i;
	enum stack_server k;

	scene_begin(&scene);
	for (k = 0; k < STACK_SERVERS; k++)
		tk_server_stop(&scene.st.server[k], SIGKILL);
	for (i = 0; i < STACK_SERVICES; i++)
		stack_kill(&scene.st, i);
	for (k = 0; k < STACK_SERVERS; k++)
		tk_server_restart(&scene.st.server[k]);
	for (i = 0; i < STACK_SERVICES; i++)
		stack_restart(&scene.st, i);
	scene_check(&scene, "all");
	scene_end(&scene);
}

TEST_T(s7_4_1_a_terminal_announces_itself_after_a_broker_kill, 60)
{
	static const char *const order[] = { "/online", "/skills",
		"/intent_catalog", "/heartbeat" };
	struct peer_opts o = { .client_id = "watcher" };
	struct stack st;
	struct peer *w;
	json_t *m;
	size_t i;

	stack_start(&st, &(const struct stack_opts){ 0 });
	w = peer_new(&st, &o);
	peer_subscribe(w, "soul/terminal/" STACK_BODY "/#");
	/* The retained messages. */
	for (i = 0; i < 3; i++)
		json_decref(peer_next(w, order[i], STACK_MS));
	tk_server_stop(&st.server[STACK_MQTT], SIGKILL);
	peer_free(w);
	tk_server_restart(&st.server[STACK_MQTT]);
	w = peer_new(&st, &o);
	peer_subscribe(w, "soul/terminal/" STACK_BODY "/#");
	for (i = 0; i < 4; i++) {
		m = i == 0 ? peer_await(w, order[i], "payload", "online")
			   : peer_next(w, order[i], STACK_MS);
		ck_assert_msg(m != NULL, "no %s", order[i]);
		json_decref(m);
	}
	peer_free(w);
	ck_assert_ptr_null(stack_end(&st));
}
