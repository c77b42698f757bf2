/* How a body comes, stays and goes. */
#include "integration/body-sim/bed.h"

static bool
spoke(void *arg)
{
	struct bed *b = arg;

	return peer_nth(&b->peer, T1 "heartbeat", 0) != NULL;
}

TEST(it_announces_itself_in_order)
{
	static const char *const env[] = { "TERMINAL_SOUL_HINT=friendly",
		"TERMINAL_SKILL_VERSION=3", "TERMINAL_CATALOG_VERSION=12",
		NULL };
	struct peer late;
	struct peer_msg *m;
	struct bed b;
	json_t *j;

	bed_start(&b, env);
	ck_assert(peer_until(&b.peer, spoke, &b, PEER_MS));
	peer_expect(&b.peer, T1 "online", T1 "skills", T1 "intent_catalog",
	    T1 "heartbeat", NULL);
	m = peer_get(&b.peer, T1 "online", 0);
	ck_assert_str_eq(m->payload, "online");
	ck_assert_int_eq(m->qos, 1);
	m = peer_get(&b.peer, T1 "skills", 0);
	ck_assert_int_eq(m->qos, 1);
	j = bed_json(m);
	ck_assert_str_eq(text_of(j, "terminal_id"), "terminal-001");
	ck_assert_str_eq(text_of(j, "soul_hint"), "friendly");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(j, "skill_version")), 3);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "skills")), 3);
	json_decref(j);
	m = peer_get(&b.peer, T1 "intent_catalog", 0);
	ck_assert_int_eq(m->qos, 1);
	j = bed_json(m);
	ck_assert_str_eq(text_of(j, "terminal_id"), "terminal-001");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(j, "catalog_version")), 12);
	json_decref(j);
	m = peer_get(&b.peer, T1 "heartbeat", 0);
	ck_assert_str_eq(m->payload, "1");
	ck_assert_int_eq(m->qos, 0);

	/* Who comes later finds the three, and no heartbeat. */
	peer_open(&late, b.broker.port, T1 "+");
	ck_assert(peer_get(&late, T1 "online", 0)->retain);
	ck_assert(peer_get(&late, T1 "skills", 0)->retain);
	ck_assert(peer_get(&late, T1 "intent_catalog", 0)->retain);
	ck_assert_ptr_null(peer_nth(&late, T1 "heartbeat", 0));
	peer_free(&late);
	bed_stop(&b);
}

/* The moment it is there, it can be told something. */
TEST(it_listens_before_it_speaks)
{
	struct bed b = { 0 };
	json_t *j;

	tk_server_start(&b.broker, TK_MOSQUITTO);
	peer_open(&b.peer, b.broker.port, "#");
	bed_sim(&b, NULL);
	(void)peer_get(&b.peer, T1 "online", 0);
	j = bed_invoke(&b, "terminal-001", "r1", "set_head_motion",
	    "{\"action\":\"点头\"}");
	ck_assert(is_true(j, "ok"));
	json_decref(j);
	bed_stop(&b);
}

TEST(it_beats)
{
	static const char *const env[] = {
		"TERMINAL_HEARTBEAT_INTERVAL_SECONDS=0.2", NULL
	};
	int64_t ms;
	struct bed b;

	bed_start(&b, env);
	(void)peer_get(&b.peer, T1 "heartbeat", 5);
	ms = mono_diff_ms(peer_get(&b.peer, T1 "heartbeat", 5)->at,
	    peer_get(&b.peer, T1 "heartbeat", 0)->at);
	/* Five intervals: not faster, whatever the machine does. */
	ck_assert_msg(ms >= 800, "%lld ms", (long long)ms);
	ck_assert_ptr_null(peer_nth(&b.peer, T1 "online", 1));
	bed_stop(&b);
}

TEST(it_announces_all_again_after_the_broker_was_killed)
{
	struct bed b;
	int i;

	bed_start(&b, NULL);
	ck_assert(peer_until(&b.peer, spoke, &b, PEER_MS));
	for (i = 0; i < 2; i++) {
		/* Held, so that the peer is there before it. */
		tk_signal(&b.sim.proc, SIGSTOP);
		tk_server_stop(&b.broker, SIGKILL);
		tk_server_restart(&b.broker);
		peer_free(&b.peer);
		peer_open(&b.peer, b.broker.port, "#");
		ck_assert_uint_eq(b.peer.n, 0);
		tk_signal(&b.sim.proc, SIGCONT);
		ck_assert(peer_until(&b.peer, spoke, &b, PEER_MS));
		peer_expect(&b.peer, T1 "online", T1 "skills",
		    T1 "intent_catalog", T1 "heartbeat", NULL);
		bed_expect(&b, "online", "true");
		json_decref(bed_invoke(&b, "terminal-001", i == 0 ? "r1" : "r2",
		    "control_light", "{\"mode\":\"on\"}"));
	}
	bed_stop(&b);
}

TEST(its_will_says_offline)
{
	struct peer late;
	struct bed b;

	bed_start(&b, NULL);
	ck_assert(peer_until(&b.peer, spoke, &b, PEER_MS));
	tk_service_kill(&b.sim);
	ck_assert_str_eq(peer_get(&b.peer, T1 "online", 1)->payload, "offline");
	peer_open(&late, b.broker.port, T1 "online");
	ck_assert_str_eq(peer_get(&late, T1 "online", 0)->payload, "offline");
	ck_assert(peer_get(&late, T1 "online", 0)->retain);
	peer_free(&late);
	/* And back. */
	bed_sim(&b, NULL);
	ck_assert_str_eq(peer_get(&b.peer, T1 "online", 2)->payload, "online");
	bed_stop(&b);
}

TEST(it_says_goodbye)
{
	struct bed b;

	bed_start(&b, NULL);
	tk_service_end(&b.sim);
	ck_assert_str_eq(peer_get(&b.peer, T1 "online", 1)->payload, "offline");
	ck_assert_ptr_null(peer_nth(&b.peer, T1 "online", 2));
	bed_stop(&b);
}

TEST(prefix_and_name_are_its_own)
{
	static const char *const env[] = { "MQTT_TOPIC_PREFIX=a/b",
		"TERMINAL_ID=机器人 1", NULL };
	struct tk_answer a = { 0 };
	struct bed b;
	json_t *j;

	bed_start(&b, env);
	(void)peer_get(&b.peer, "a/b/terminal/机器人 1/heartbeat", 0);
	peer_send(&b.peer, "a/b/terminal/机器人 1/invoke/请求",
	    "{\"request_id\":\"请求\",\"skill\":\"control_light\","
	    "\"arguments\":{\"mode\":\"on\"}}",
	    false);
	j = bed_json(peer_get(&b.peer, "a/b/terminal/机器人 1/result/请求", 0));
	ck_assert_str_eq(text_of(j, "request_id"), "请求");
	json_decref(j);
	j = bed_state(&b, "%E6%9C%BA%E5%99%A8%E4%BA%BA%201");
	ck_assert_str_eq(text_of(j, "color"), "white");
	json_decref(j);
	ck_assert_int_eq(
	    tk_http_ask(b.sim.http, &a, "GET", "/state?terminal_id=x", NULL),
	    404);
	tk_answer_free(&a);
	bed_stop(&b);
}

static bool
is_without_broker(void *arg)
{
	struct bed *b = arg;
	struct tk_answer a = { 0 };
	bool is = tk_service_get(&b->sim, &a, "/readyz") == 503 &&
	    tk_answer_has(&a, "the MQTT broker is not reachable");

	tk_answer_free(&a);
	return is;
}

TEST(it_is_ready_with_its_broker)
{
	struct bed b = { 0 };
	json_t *j;

	tk_server_start(&b.broker, TK_MOSQUITTO);
	tk_server_stop(&b.broker, SIGTERM);
	bed_sim(&b, NULL);
	ck_assert(tk_until(is_without_broker, &b, PEER_MS));
	j = bed_state(&b, NULL);
	ck_assert(!is_true(j, "online"));
	json_decref(j);
	tk_server_restart(&b.broker);
	tk_service_wait(&b.sim);
	peer_open(&b.peer, b.broker.port, "#");
	tk_server_stop(&b.broker, SIGKILL);
	ck_assert(tk_until(is_without_broker, &b, PEER_MS));
	bed_stop(&b);
}

static int
exit_of(const char *const argv[], const char *env)
{
	const char *const more[] = { env, NULL };
	struct tk_proc p;

	tk_spawn(&p, "refused", argv, more);
	return tk_wait(&p, PEER_MS);
}

TEST(what_makes_no_sense_is_refused)
{
	const char *const plain[] = { tk_bin("body-sim"), NULL };
	const char *const flag[] = { tk_bin("body-sim"), "--count", NULL };
	const char *const narrow[] = { "/bin/sh", "-c",
		"ulimit -n 700; exec \"$0\"", tk_bin("body-sim"), NULL };
	const char *const unknown[] = { tk_bin("body-sim"), "--fast", NULL };
	const char *const print[] = { tk_bin("body-sim"), "--count", "7",
		"--terminal", "x9", "--faults", "error", "--print-config",
		NULL };
	struct tk_proc p;

	setenv("ADMIN_ADDR", "127.0.0.1:0", 1);
	setenv("HTTP_ADDR", "127.0.0.1:0", 1);
	ck_assert_int_eq(exit_of(flag, NULL), 64);
	ck_assert_int_eq(exit_of(unknown, NULL), 64);
	ck_assert_int_eq(exit_of(plain, "BODY_COUNT=0"), 78);
	ck_assert_int_eq(exit_of(plain, "BODY_FAULTS=slow"), 78);
	ck_assert_int_eq(exit_of(plain, "TERMINAL_ID=a/b"), 78);
	ck_assert_int_eq(exit_of(plain, "TERMINAL_ID=a+b"), 78);
	ck_assert_int_eq(exit_of(plain, "MQTT_TOPIC_PREFIX=a/#"), 78);
	ck_assert_int_eq(exit_of(plain, "MQTT_BROKER_URL=http://x"), 78);
	/* More bodies than descriptors. */
	ck_assert_int_eq(exit_of(narrow, "BODY_COUNT=200"), 78);
	tk_spawn(&p, "print", print, NULL);
	ck_assert_int_eq(tk_wait(&p, PEER_MS), 0);
	ck_assert(tk_log_has(&p, "BODY_COUNT=7\n"));
	ck_assert(tk_log_has(&p, "TERMINAL_ID=x9\n"));
	ck_assert(tk_log_has(&p, "BODY_FAULTS=error\n"));
	ck_assert(!tk_log_has(&p, "NATS_URL"));
}
