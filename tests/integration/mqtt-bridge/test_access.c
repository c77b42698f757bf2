/*
 * The shipped access control of the broker, tried by an attacker who has the
 * credential of the body t1; the body t2 and the bridge do not notice.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "attack.h"

/* Whatever is published, wherever, as if it were of somebody else. */
TEST_T(nobody_speaks_for_another, 60)
{
	static const char *const topics[] = { "soul/terminal/t2/online",
		"soul/terminal/t2/heartbeat", "soul/terminal/t2/skills",
		"soul/terminal/t2/intent_catalog", "soul/terminal/t2/result/x",
		"soul/terminal/t2/invoke/x", "soul/terminal/t2/status",
		"soul/terminal/t2/emotion_update",
		"soul/terminal/t2/intent_action", "soul/terminal/t1/invoke/x",
		"soul/terminal/t1/status", "soul/terminal/t1/emotion_update",
		"soul/terminal/t1/intent_action", "soul/terminal/t1",
		"soul/terminal/t1/other", "soul/terminal/t1/result",
		"soul/terminal/t1/result/x/y", "soul/x", "x",
		"/soul/terminal/t1/online", "soul/terminal/t1/online/",
		"$SYS/broker/uptime", "$CONTROL/dynamic-security/v1",
		"$share/x/soul/terminal/t2/online" };
	struct scene s;
	struct body t1;
	size_t i;

	open_scene(&s);
	hear(&s.t2, "soul/terminal/t2/#");
	enter(&t1, &s, "t1", s.k.bodies);
	hear(&t1, "soul/terminal/t1/#");
	for (i = 0; i < NELEM(topics); i++)
		body_publish(&t1, topics[i], STR("forged"),
		    (struct say){ 1, i % 2 == 0 });
	/* Behind all of it. */
	body_say(&t1, "result/end", "the end", (struct say){ 1, false });
	body_expect(&s.watcher, "the end");
	ck_never(&s.watcher, "forged");
	ck_never(&s.t2, "forged");
	ck_never(&t1, "forged");
	ck_t2_works(&s, "r1");
	ck_assert(bed_terminal(&s.b, "t2").present);
	body_leave(&t1);
	close_scene(&s);
}

TEST_T(nobody_hears_another, 60)
{
	static const char *const filters[] = { "#", "+/+/+/+", "+/#", "soul/#",
		"soul/terminal/+/invoke/+", "soul/terminal/t2/#",
		"soul/terminal/t2/invoke/+", "$SYS/#", "$SYS/broker/uptime",
		"$share/x/#", "$share/mqttbridge/soul/#",
		"$share/y/soul/terminal/+/result/+", "$CONTROL/#",
		"soul/terminal/+/result/+", "soul/terminal/t1/result/+",
		"soul/terminal/t1/online", "soul/terminal/t1/invoke/r1" };
	static const char told[] = "soul/terminal/t1/status=for t1";
	struct body_wish mine;
	struct scene s;
	struct body t1, bridge;
	char *got, *line, *rest;
	size_t i;

	open_scene(&s);
	body_report(&s.t2, "skills", "[]");
	enter(&t1, &s, "t1", s.k.bodies);
	for (i = 0; i < NELEM(filters); i++)
		ck_assert_msg(!may_hear(&t1, filters[i]), "%s", filters[i]);
	hear(&t1, "soul/terminal/t1/#");
	for (i = 0; i < 8; i++) {
		char request[16];

		snprintf(request, sizeof(request), "r%zu", i);
		ck_t2_works(&s, request);
	}
	enter(&bridge, &s, "mqtt-bridge", s.k.services);
	body_publish(&bridge, "soul/terminal/t1/status", STR("for t1"),
	    (struct say){ 1, false });
	mine = (struct body_wish){ &t1, told };
	ck_assert(tk_until(body_has, &mine, BED_MS));
	got = rest = body_got(&t1);
	while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0')
		ck_assert_str_eq(line, told);
	free(got);
	body_leave(&bridge);
	body_leave(&t1);
	close_scene(&s);
}

/* ---- connecting ---------------------------------------------------------- */

static _Atomic int answer;

static void
on_answer(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)arg;
	atomic_store(&answer, rc);
}

static bool
answered(void *arg)
{
	(void)arg;
	return atomic_load(&answer) != -1;
}

TEST_T(who_gets_in, 60)
{
	struct scene s;
	size_t i;

	open_scene(&s);
	const struct {
		const char *user, *pw;
		int port;
		bool in;
	} cases[] = {
		{ "t1", BROKER_PW, s.k.bodies, true },
		{ "t1", "", s.k.bodies, false },
		{ "t1", "wrong", s.k.bodies, false },
		{ "t1", NULL, s.k.bodies, false },
		{ NULL, NULL, s.k.bodies, false },
		{ "", "", s.k.bodies, false },
		{ "t3", BROKER_PW, s.k.bodies, false },
		{ "+", BROKER_PW, s.k.bodies, false },
		{ "#", BROKER_PW, s.k.bodies, false },
		{ "t1/online", BROKER_PW, s.k.bodies, false },
		{ "t2/../t1", BROKER_PW, s.k.bodies, false },
		{ "mqtt-bridge", BROKER_PW, s.k.bodies, false },
		{ "health", BROKER_PW, s.k.bodies, false },
		{ "t1", BROKER_PW, s.k.services, false },
		{ "mqtt-bridge", BROKER_PW, s.k.services, true },
		{ NULL, NULL, s.k.services, false },
	};
	for (i = 0; i < NELEM(cases); i++) {
		struct mosquitto *m = mosquitto_new(NULL, true, NULL);

		atomic_store(&answer, -1);
		mosquitto_username_pw_set(m, cases[i].user, cases[i].pw);
		mosquitto_connect_callback_set(m, on_answer);
		ck_assert_int_eq(
		    mosquitto_connect(m, "127.0.0.1", cases[i].port, 60), 0);
		ck_assert_int_eq(mosquitto_loop_start(m), 0);
		ck_assert(tk_until(answered, NULL, BED_MS));
		ck_assert_msg(
		    (atomic_load(&answer) == 0) == cases[i].in, "case %zu", i);
		mosquitto_disconnect(m);
		mosquitto_loop_stop(m, false);
		mosquitto_destroy(m);
	}
	close_scene(&s);
}

/* Another's will, and another's client id. */
TEST_T(wills_and_client_ids, 60)
{
	static const char *const wills[] = { "soul/terminal/t2/online",
		"soul/terminal/t1/status", "soul/terminal/t2/result/x" };
	struct scene s;
	struct body t1;
	size_t i;

	open_scene(&s);
	for (i = 0; i < NELEM(wills); i++) {
		body_init(&t1, PREFIX, "t1");
		mosquitto_destroy(t1.mosq);
		t1.mosq = mosquitto_new("t2", true, &t1);
		mosquitto_connect_callback_set(t1.mosq, body_connected);
		mosquitto_username_pw_set(t1.mosq, "t1", BROKER_PW);
		ck_assert_int_eq(
		    mosquitto_will_set(t1.mosq, wills[i], 6, "forged", 1, true),
		    0);
		body_connect(&t1, &s.b);
		body_crash(&t1);
	}
	enter(&t1, &s, "t1", s.k.bodies);
	body_say(&t1, "result/end", "the end", (struct say){ 1, false });
	body_expect(&s.watcher, "the end");
	ck_never(&s.watcher, "forged");
	ck_t2_works(&s, "r1");
	ck_assert_int_eq(atomic_load(&s.t2.up), 1);
	ck_assert(bed_terminal(&s.b, "t2").present);
	body_leave(&t1);
	close_scene(&s);
}

static void
on_gone(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)arg;
	atomic_store(&answer, rc);
}

/* More than a message may have: the connection ends. */
TEST_T(messages_too_large, 60)
{
	static char big[1100 * 1000];
	struct scene s;
	struct body t1;

	open_scene(&s);
	enter(&t1, &s, "t1", s.k.bodies);
	atomic_store(&answer, -1);
	mosquitto_disconnect_callback_set(t1.mosq, on_gone);
	ck_assert_int_eq(
	    mosquitto_publish(t1.mosq, NULL, "soul/terminal/t1/skills",
		(int)sizeof(big), big, 1, true),
	    0);
	ck_assert(tk_until(answered, NULL, BED_MS));
	body_leave(&t1);
	ck_never(&s.watcher, "t1/skills");
	ck_t2_works(&s, "r1");
	close_scene(&s);
}

/* Bytes of MQTT 5, as a client that keeps no rules sends them. */
#define NEVER_RELEASED 400
#define EACH           1000000

static void
send_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = send(fd, p, n, MSG_NOSIGNAL);
		ck_assert_int_gt((int)k, 0);
	}
}

static void
send_unreleased(int fd)
{
	static const char topic[] = "\0\027soul/terminal/t1/online";
	static char part[EACH];
	unsigned char head[4] = { 0x34 };
	size_t n = sizeof(topic) - 1 + 3 + sizeof(part), i;
	int k;

	for (i = 0; i < 3; i++, n /= 128)
		head[1 + i] = (unsigned char)(n % 128 | (i < 2 ? 128 : 0));
	for (k = 1; k <= NEVER_RELEASED; k++) {
		const unsigned char mid[3] = { (unsigned char)(k >> 8),
			(unsigned char)k, 0 };

		send_all(fd, head, sizeof(head));
		send_all(fd, topic, sizeof(topic) - 1);
		send_all(fd, mid, sizeof(mid));
		send_all(fd, part, sizeof(part));
	}
}

/* With QoS 2 the broker has to hold a message until it is released. */
TEST_T(what_is_never_released, 60)
{
	static const char hello[] = "\x10\x1a\0\4MQTT\5\xc2\0\x3c\0"
				    "\0\1x\0\2t1\0\6" BROKER_PW;
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct scene s;
	char answers[64];
	int fd;

	open_scene(&s);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_port = htons((uint16_t)s.k.bodies);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	send_all(fd, hello, sizeof(hello) - 1);
	ck_assert_int_gt((int)recv(fd, answers, sizeof(answers), 0), 3);
	send_unreleased(fd);
	ck_t2_works(&s, "r1");
	ck_assert_int_lt(
	    tk_proc_status(s.k.proc.pid, "VmRSS"), (268 + 120) * 1024);
	close(fd);
	ck_t2_works(&s, "r2");
	close_scene(&s);
}

/* ---- what the broker keeps ----------------------------------------------- */

#define KEPT 2000

static bool
none_is_kept(void *arg)
{
	struct scene *s = arg;
	struct body w;
	bool none;
	char *got;

	enter(&w, s, "mqtt-bridge", s->k.services);
	hear(&w, "soul/terminal/+/heartbeat");
	hear(&w, "soul/terminal/+/result/+");
	/* What it publishes now comes behind all that is kept. */
	body_publish(&w, "soul/terminal/t9/result/end", STR("end"),
	    (struct say){ 1, false });
	body_expect(&w, "end");
	got = body_got(&w);
	none = strstr(got, " kept") == NULL;
	free(got);
	body_leave(&w);
	return none;
}

/* Under t1's topics, whoever by is. */
static void
keep_many(struct body *by)
{
	static char text[70000];
	char topic[4096], id[3000];
	int i, before = atomic_load(&by->acked);

	memset(id, 'i', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	memset(text, 'x', sizeof(text));
	for (i = 0; i < KEPT; i++) {
		snprintf(topic, sizeof(topic), "soul/terminal/t1/result/%d%s",
		    i, i % 100 == 0 ? id : "");
		ck_assert_int_eq(
		    mosquitto_publish(by->mosq, NULL, topic,
			i % 100 == 1 ? (int)sizeof(text) : 10, text, 1, true),
		    0);
	}
	body_wait(&by->acked, before + KEPT);
	body_publish(by, "soul/terminal/t1/heartbeat", STR("1"),
	    (struct say){ 1, true });
}

TEST_T(nothing_is_kept_without_end, 120)
{
	struct scene s;
	struct body t1, free_one;

	open_scene_of(&s, BROKER_ANY_RATE);
	enter(&t1, &s, "t1", s.k.bodies);
	/* Of the gate's results none gets through, but the heartbeat. */
	keep_many(&t1);
	ck_assert(tk_until(none_is_kept, &s, BED_MS));
	ck_assert_int_eq(
	    tk_service_metric(&s.b.bridge[0], "soul_bridge_cleared_total"), 1);
	/* A listener without a gate. */
	enter(&free_one, &s, "mqtt-bridge", s.k.services);
	keep_many(&free_one);
	ck_assert(tk_until(none_is_kept, &s, BED_MS));
	ck_assert_int_ge(
	    tk_service_metric(&s.b.bridge[0], "soul_bridge_cleared_total"),
	    KEPT + 2);
	ck_t2_works(&s, "r1");
	/* Neither is what was said while nobody was there to clear it. */
	tk_service_end(&s.b.bridge[0]);
	keep_many(&free_one);
	ck_assert(!none_is_kept(&s));
	bridge_start_one(&s.b, 0);
	ck_assert(tk_until(none_is_kept, &s, BED_MS));
	body_leave(&free_one);
	body_leave(&t1);
	close_scene(&s);
}
