/* Connecting, announcing, heartbeats, and disconnecting. */
#include <signal.h>
#include <stdlib.h>

#include "testkit/sim_fixture.h"

static bool
announce_has_heartbeat(void *arg)
{
	struct sim_fixture *b = arg;

	return mqtt_peer_nth(&b->peer, T1 "heartbeat", 0) != NULL;
}

TEST(reports_are_sent_in_order)
{
	static const char *const env[] = { "TERMINAL_SOUL_HINT=friendly",
		"TERMINAL_SKILL_VERSION=3", "TERMINAL_CATALOG_VERSION=12",
		NULL };
	struct mqtt_peer second;
	struct mqtt_peer_msg *m;
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, env);
	ck_assert(
	    mqtt_peer_until(&b.peer, announce_has_heartbeat, &b, PEER_WAIT_MS));
	mqtt_peer_ck_topics(&b.peer, T1 "online", T1 "skills",
	    T1 "intent_catalog", T1 "heartbeat", NULL);
	m = mqtt_peer_get(&b.peer, T1 "online", 0);
	ck_assert_str_eq(m->payload, "online");
	ck_assert_int_eq(m->qos, 1);
	m = mqtt_peer_get(&b.peer, T1 "skills", 0);
	ck_assert_int_eq(m->qos, 1);
	j = sim_fixture_json(m);
	ck_assert_str_eq(tk_find_text(j, "terminal_id"), "terminal-001");
	ck_assert_str_eq(tk_find_text(j, "soul_hint"), "friendly");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(j, "skill_version")), 3);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "skills")), 4);
	json_decref(j);
	m = mqtt_peer_get(&b.peer, T1 "intent_catalog", 0);
	ck_assert_int_eq(m->qos, 1);
	j = sim_fixture_json(m);
	ck_assert_str_eq(tk_find_text(j, "terminal_id"), "terminal-001");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(j, "catalog_version")), 12);
	json_decref(j);
	m = mqtt_peer_get(&b.peer, T1 "heartbeat", 0);
	ck_assert_str_eq(m->payload, "1");
	ck_assert_int_eq(m->qos, 0);

	/* A later subscriber gets the three retained reports only. */
	mqtt_peer_open(&second, b.broker.port, T1 "+");
	ck_assert(mqtt_peer_get(&second, T1 "online", 0)->retain);
	ck_assert(mqtt_peer_get(&second, T1 "skills", 0)->retain);
	ck_assert(mqtt_peer_get(&second, T1 "intent_catalog", 0)->retain);
	ck_assert_ptr_null(mqtt_peer_nth(&second, T1 "heartbeat", 0));
	mqtt_peer_close(&second);
	sim_fixture_stop(&b);
}

/* A command sent right after online is received. */
TEST(it_subscribes_before_online)
{
	struct sim_fixture b = { 0 };
	json_t *j;

	tk_server_start(&b.broker, TK_MOSQUITTO);
	mqtt_peer_open(&b.peer, b.broker.port, "#");
	sim_fixture_spawn(&b, NULL);
	(void)mqtt_peer_get(&b.peer, T1 "online", 0);
	j = sim_fixture_invoke(&b, "terminal-001", "r1", "set_head_motion",
	    "{\"action\":\"点头\"}");
	ck_assert(json_is_true(tk_find(j, "ok")));
	json_decref(j);
	sim_fixture_stop(&b);
}

TEST(heartbeats_follow_the_interval)
{
	static const char *const env[] = {
		"TERMINAL_HEARTBEAT_INTERVAL_SECONDS=0.2", NULL
	};
	int64_t ms;
	struct sim_fixture b;

	sim_fixture_start(&b, env);
	(void)mqtt_peer_get(&b.peer, T1 "heartbeat", 5);
	ms = mono_diff_ms(mqtt_peer_get(&b.peer, T1 "heartbeat", 5)->at,
	    mqtt_peer_get(&b.peer, T1 "heartbeat", 0)->at);
	/* Five intervals, with a tolerance for the machine. */
	ck_assert_msg(ms >= 800, "%lld ms", (long long)ms);
	ck_assert_ptr_null(mqtt_peer_nth(&b.peer, T1 "online", 1));
	sim_fixture_stop(&b);
}

TEST(it_announces_to_a_restarted_broker)
{
	struct sim_fixture b;
	int i;

	sim_fixture_start(&b, NULL);
	ck_assert(
	    mqtt_peer_until(&b.peer, announce_has_heartbeat, &b, PEER_WAIT_MS));
	for (i = 0; i < 2; i++) {
		/* Paused until the peer has connected. */
		tk_signal(&b.sim.proc, SIGSTOP);
		tk_server_stop(&b.broker, SIGKILL);
		tk_server_restart(&b.broker);
		mqtt_peer_close(&b.peer);
		mqtt_peer_open(&b.peer, b.broker.port, "#");
		ck_assert_uint_eq(b.peer.n, 0);
		tk_signal(&b.sim.proc, SIGCONT);
		ck_assert(mqtt_peer_until(
		    &b.peer, announce_has_heartbeat, &b, PEER_WAIT_MS));
		mqtt_peer_ck_topics(&b.peer, T1 "online", T1 "skills",
		    T1 "intent_catalog", T1 "heartbeat", NULL);
		sim_fixture_expect(&b, "online", "true");
		json_decref(
		    sim_fixture_invoke(&b, "terminal-001", i == 0 ? "r1" : "r2",
			"control_light", "{\"mode\":\"on\"}"));
	}
	sim_fixture_stop(&b);
}

TEST(the_will_is_offline)
{
	struct mqtt_peer second;
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	ck_assert(
	    mqtt_peer_until(&b.peer, announce_has_heartbeat, &b, PEER_WAIT_MS));
	tk_service_kill(&b.sim);
	ck_assert_str_eq(
	    mqtt_peer_get(&b.peer, T1 "online", 1)->payload, "offline");
	mqtt_peer_open(&second, b.broker.port, T1 "online");
	ck_assert_str_eq(
	    mqtt_peer_get(&second, T1 "online", 0)->payload, "offline");
	ck_assert(mqtt_peer_get(&second, T1 "online", 0)->retain);
	mqtt_peer_close(&second);
	/* And a return. */
	sim_fixture_spawn(&b, NULL);
	ck_assert_str_eq(
	    mqtt_peer_get(&b.peer, T1 "online", 2)->payload, "online");
	sim_fixture_stop(&b);
}

TEST(it_publishes_offline_when_stopped)
{
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	tk_service_end(&b.sim);
	ck_assert_str_eq(
	    mqtt_peer_get(&b.peer, T1 "online", 1)->payload, "offline");
	ck_assert_ptr_null(mqtt_peer_nth(&b.peer, T1 "online", 2));
	sim_fixture_stop(&b);
}

TEST(prefix_and_id_are_configurable)
{
	static const char *const env[] = { "MQTT_TOPIC_PREFIX=a/b",
		"TERMINAL_ID=机器人 1", NULL };
	struct tk_response a = { 0 };
	struct sim_fixture b;
	json_t *j;

	sim_fixture_start(&b, env);
	(void)mqtt_peer_get(&b.peer, "a/b/terminal/机器人 1/heartbeat", 0);
	mqtt_peer_send(&b.peer, "a/b/terminal/机器人 1/invoke/请求",
	    "{\"request_id\":\"请求\",\"skill\":\"control_light\","
	    "\"arguments\":{\"mode\":\"on\"}}",
	    false);
	j = sim_fixture_json(
	    mqtt_peer_get(&b.peer, "a/b/terminal/机器人 1/result/请求", 0));
	ck_assert_str_eq(tk_find_text(j, "request_id"), "请求");
	json_decref(j);
	j = sim_fixture_state(&b, "%E6%9C%BA%E5%99%A8%E4%BA%BA%201");
	ck_assert_str_eq(tk_find_text(j, "color"), "white");
	json_decref(j);
	ck_assert_int_eq(tk_http_request(b.sim.http, &a, "GET",
			     "/state?terminal_id=x", NULL),
	    404);
	tk_response_free(&a);
	sim_fixture_stop(&b);
}

static bool
announce_is_unready(void *arg)
{
	struct sim_fixture *b = arg;
	struct tk_response a = { 0 };
	bool is = tk_service_get(&b->sim, &a, "/readyz") == 503 &&
	    tk_response_has(&a, "the MQTT broker is not reachable");

	tk_response_free(&a);
	return is;
}

TEST(readiness_follows_the_broker)
{
	struct sim_fixture b = { 0 };
	json_t *j;

	tk_server_start(&b.broker, TK_MOSQUITTO);
	tk_server_stop(&b.broker, SIGTERM);
	sim_fixture_spawn(&b, NULL);
	ck_assert(tk_until(announce_is_unready, &b, PEER_WAIT_MS));
	j = sim_fixture_state(&b, NULL);
	ck_assert(!json_is_true(tk_find(j, "online")));
	json_decref(j);
	tk_server_restart(&b.broker);
	tk_service_wait(&b.sim);
	mqtt_peer_open(&b.peer, b.broker.port, "#");
	tk_server_stop(&b.broker, SIGKILL);
	ck_assert(tk_until(announce_is_unready, &b, PEER_WAIT_MS));
	sim_fixture_stop(&b);
}

static int
announce_exit_code(const char *const argv[], const char *env)
{
	const char *const more[] = { env, NULL };
	struct tk_proc p;

	tk_spawn(&p, "refused", argv, more);
	return tk_wait(&p, PEER_WAIT_MS);
}

TEST(wrong_arguments_and_configuration_are_rejected)
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
	ck_assert_int_eq(announce_exit_code(flag, NULL), 64);
	ck_assert_int_eq(announce_exit_code(unknown, NULL), 64);
	ck_assert_int_eq(announce_exit_code(plain, "BODY_COUNT=0"), 78);
	ck_assert_int_eq(announce_exit_code(plain, "BODY_FAULTS=slow"), 78);
	ck_assert_int_eq(announce_exit_code(plain, "TERMINAL_ID=a/b"), 78);
	ck_assert_int_eq(announce_exit_code(plain, "TERMINAL_ID=a+b"), 78);
	ck_assert_int_eq(
	    announce_exit_code(plain, "MQTT_TOPIC_PREFIX=a/#"), 78);
	ck_assert_int_eq(
	    announce_exit_code(plain, "MQTT_BROKER_URL=http://x"), 78);
	/* More bodies than the limit of open files. */
	ck_assert_int_eq(announce_exit_code(narrow, "BODY_COUNT=200"), 78);
	tk_spawn(&p, "print", print, NULL);
	ck_assert_int_eq(tk_wait(&p, PEER_WAIT_MS), 0);
	ck_assert(tk_log_has(&p, "BODY_COUNT=7\n"));
	ck_assert(tk_log_has(&p, "TERMINAL_ID=x9\n"));
	ck_assert(tk_log_has(&p, "BODY_FAULTS=error\n"));
	ck_assert(!tk_log_has(&p, "NATS_URL"));
}
