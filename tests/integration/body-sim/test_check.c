/*
 * body-sim check: correct bodies pass; every flaw is found, and nothing else.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/sim_fixture.h"

#define RETAIN    "3.2   online, skills"
#define QOS       "3.2   QoS 1"
#define SKILLS    "3.3   skills is valid"
#define ONLINE    "3.4   online has a valid"
#define WILL      "3.4   the will"
#define HEARTBEAT "3.5   a heartbeat"
#define IN_TIME   "3.6   a result"
#define CATALOG   "3.10  intent_catalog"
#define ORDER     "6.1   announces"
#define SAME_ID   "6.2   the terminal_id"
#define VERSION   "6.3   skill_version"
#define RESULT    "6.4   every invoke"
#define RECONNECT "6.7   announces itself"
#define OWN       "6.8   every intent"
#define EMOTION   "6.11  is subscribed"
#define ACTION    "6.12  is subscribed"
#define REPORTS   "7.4   skills and"
#define MAPPING   "7.4   the skill of"
#define COMPLETE  "7.4   results have"

/* ---- flawed bodies ---- */

#define FLAW_FAILS_MAX 4

enum flaw {
	FLAW_NONE,
	FLAW_CATALOG_FIRST,
	FLAW_HEARTBEAT_FIRST,
	FLAW_NO_CATALOG,
	FLAW_NO_SECOND,
	FLAW_NOT_RETAINED,
	FLAW_HEARTBEAT_RETAINED,
	FLAW_RESULT_RETAINED,
	FLAW_QOS_0,
	FLAW_WRONG_ID,
	FLAW_ROLL_BACK,
	FLAW_NO_WILL,
	FLAW_OLD_WILL,
	FLAW_ODD_ONLINE,
	FLAW_NO_HEARTBEAT,
	FLAW_SLOW_HEARTBEAT,
	FLAW_SILENT,
	FLAW_SLOW_RESULT,
	FLAW_WRONG_REQUEST,
	FLAW_NO_ERROR,
	FLAW_NO_OK,
	FLAW_BAD_REGEX,
	FLAW_ALIEN_INTENT,
	FLAW_BAD_SCHEMA,
	FLAW_NO_EMOTION,
	FLAW_NO_ACTION
};

/* A flaw, and what the check must report. */
struct flaw_case {
	enum flaw flaw;
	const char *id;
	const char *seconds, *ttl;         /* of the check */
	const char *fails[FLAW_FAILS_MAX]; /* the lines that must fail */
};

struct flawed {
	const struct flaw_case *c;
	struct mqtt_peer peer;
	struct tk_proc check;
	int connects, code;
	bool ended;
	struct mono heartbeat, result, old_will; /* when due; {0}: not */
	char request_id[64];
};

static void
flawed_publish(struct flawed *f, const char *leaf, const char *payload, int qos,
    bool retain)
{
	char topic[128];

	snprintf(topic, sizeof(topic), "soul/terminal/%s/%s", f->c->id, leaf);
	ck_assert_int_eq(mosquitto_publish(f->peer.mosq, NULL, topic,
			     (int)strlen(payload), payload, qos, retain),
	    MOSQ_ERR_SUCCESS);
}

static void
flawed_skills(struct flawed *f)
{
	int version = f->c->flaw == FLAW_ROLL_BACK ? 5 - f->connects : 5;
	char text[512];

	snprintf(text, sizeof(text),
	    "{\"terminal_id\":\"%s\",\"skill_version\":%d,\"skills\":[{"
	    "\"name\":\"beep\",\"description\":\"beeps\",\"input_schema\":"
	    "{\"type\":\"%s\"}}]}",
	    f->c->flaw == FLAW_WRONG_ID ? "another" : f->c->id, version,
	    f->c->flaw == FLAW_BAD_SCHEMA ? "thing" : "object");
	flawed_publish(f, "skills", text, f->c->flaw == FLAW_QOS_0 ? 0 : 1,
	    f->c->flaw != FLAW_NOT_RETAINED);
}

static void
flawed_catalog(struct flawed *f)
{
	char text[512];

	if (f->c->flaw == FLAW_NO_CATALOG)
		return;
	snprintf(text, sizeof(text),
	    "{\"terminal_id\":\"%s\",\"catalog_version\":2,"
	    "\"intent_catalog\":[{\"id\":\"intent_beep\",\"match\":{"
	    "\"keywords_any\":[\"beep\"]},\"slots\":[{\"name\":\"skill\","
	    "\"default\":\"%s\"},{\"name\":\"n\",\"regex\":\"%s\"}]}]}",
	    f->c->id, f->c->flaw == FLAW_ALIEN_INTENT ? "fly" : "beep",
	    f->c->flaw == FLAW_BAD_REGEX ? "(" : "(a)");
	flawed_publish(f, "intent_catalog", text, 1, true);
}

static void
flawed_heartbeat(struct flawed *f)
{
	if (f->c->flaw == FLAW_NO_HEARTBEAT)
		return;
	flawed_publish(
	    f, "heartbeat", "1", 0, f->c->flaw == FLAW_HEARTBEAT_RETAINED);
	f->heartbeat = mono_add_ms(
	    clock_mono(), f->c->flaw == FLAW_SLOW_HEARTBEAT ? 4000 : 300);
}

static void
flawed_announce(struct flawed *f)
{
	flawed_publish(f, "online",
	    f->c->flaw == FLAW_ODD_ONLINE ? "here" : "online", 1, true);
	if (f->c->flaw == FLAW_HEARTBEAT_FIRST)
		flawed_heartbeat(f);
	if (f->c->flaw != FLAW_NO_SECOND || f->connects == 1) {
		if (f->c->flaw == FLAW_CATALOG_FIRST)
			flawed_catalog(f);
		flawed_skills(f);
		if (f->c->flaw != FLAW_CATALOG_FIRST)
			flawed_catalog(f);
	}
	if (f->c->flaw != FLAW_HEARTBEAT_FIRST)
		flawed_heartbeat(f);
	if (f->c->flaw == FLAW_OLD_WILL && f->connects > 1)
		f->old_will = mono_add_ms(clock_mono(), 500);
}

static void
flawed_result(struct flawed *f, const char *id)
{
	char leaf[96], text[256];
	const char *rest = ",\"ok\":true,\"output\":\"beep\"";

	if (f->c->flaw == FLAW_NO_ERROR)
		rest = ",\"ok\":false";
	if (f->c->flaw == FLAW_NO_OK)
		rest = "";
	snprintf(leaf, sizeof(leaf), "result/%s", id);
	snprintf(text, sizeof(text), "{\"request_id\":\"%s\"%s}",
	    f->c->flaw == FLAW_WRONG_REQUEST ? "another" : id, rest);
	flawed_publish(f, leaf, text, 1, f->c->flaw == FLAW_RESULT_RETAINED);
}

/* The result is sent later: libmosquitto holds locks here. */
static void
flawed_on_message(struct mqtt_peer *p, const struct mqtt_peer_msg *m)
{
	const char *id = strstr(m->topic, "/invoke/");
	struct flawed *f = p->arg;

	if (id == NULL || f->c->flaw == FLAW_SILENT)
		return;
	snprintf(f->request_id, sizeof(f->request_id), "%s",
	    id + strlen("/invoke/"));
	f->result = mono_add_ms(
	    clock_mono(), f->c->flaw == FLAW_SLOW_RESULT ? 5500 : 0);
}

static void
flawed_listen(struct flawed *f, const char *leaf)
{
	char filter[128];

	snprintf(filter, sizeof(filter), "soul/terminal/%s/%s", f->c->id, leaf);
	ck_assert_int_eq(mosquitto_subscribe(f->peer.mosq, NULL, filter, 1),
	    MOSQ_ERR_SUCCESS);
}

static void
flawed_connect(struct flawed *f, int port)
{
	ck_assert_int_eq(mosquitto_connect(f->peer.mosq, "127.0.0.1", port, 60),
	    MOSQ_ERR_SUCCESS);
	ck_assert(
	    mqtt_peer_until(&f->peer, mqtt_peer_is_up, &f->peer, PEER_WAIT_MS));
	f->connects++;
	flawed_listen(f, "invoke/+");
	if (f->c->flaw != FLAW_NO_EMOTION)
		flawed_listen(f, "emotion_update");
	if (f->c->flaw != FLAW_NO_ACTION)
		flawed_listen(f, "intent_action");
	flawed_announce(f);
}

static void
flawed_start(struct flawed *f, const struct flaw_case *c, int port)
{
	char topic[128];

	*f = (struct flawed){ .c = c };
	mqtt_peer_new(&f->peer, f->c->id);
	f->peer.fn = flawed_on_message;
	f->peer.arg = f;
	snprintf(topic, sizeof(topic), "soul/terminal/%s/online", f->c->id);
	if (f->c->flaw != FLAW_NO_WILL)
		ck_assert_int_eq(mosquitto_will_set(f->peer.mosq, topic,
				     strlen("offline"), "offline", 1, true),
		    MOSQ_ERR_SUCCESS);
	flawed_connect(f, port);
}

static bool
flawed_is_due(struct mono *at)
{
	bool is = at->ns != 0 && mono_diff_ms(clock_mono(), *at) >= 0;

	if (is)
		*at = (struct mono){ 0 };
	return is;
}

/* Run the body for a moment. */
static void
flawed_run(struct flawed *f, int port)
{
	mqtt_peer_poll(&f->peer, 0);
	if (!f->peer.up) {
		f->heartbeat = (struct mono){ 0 };
		flawed_connect(f, port);
	}
	if (flawed_is_due(&f->heartbeat))
		flawed_heartbeat(f);
	if (flawed_is_due(&f->result))
		flawed_result(f, f->request_id);
	if (flawed_is_due(&f->old_will))
		flawed_publish(f, "online", "offline", 1, true);
}

/* Start the check of the body. */
static void
flawed_start_check(struct flawed *f, const char *url)
{
	const char *argv[] = { tk_bin("body-sim"), "check", "--terminal",
		f->c->id, "--broker", url, "--seconds",
		f->c->seconds != NULL ? f->c->seconds : "40", "--ttl",
		f->c->ttl != NULL ? f->c->ttl : "60", "--invoke", "beep", "{}",
		"--probe", "--kick", f->c->id, NULL };

	tk_spawn(&f->check, f->c->id, argv, NULL);
}

static bool
check_line_failed(struct tk_proc *p, const char *line)
{
	char text[128];

	snprintf(text, sizeof(text), "\nFAIL      %s", line);
	return tk_log_has(p, text);
}

static void
check_verdicts(struct flawed *f)
{
	char *log = tk_read_file(f->check.log, NULL), sum[32];
	int i, n = 0;

	for (i = 0; i < FLAW_FAILS_MAX && f->c->fails[i] != NULL; i++) {
		ck_assert_msg(check_line_failed(&f->check, f->c->fails[i]),
		    "%s: %s did not fail\n%s", f->c->id, f->c->fails[i], log);
		n++;
	}
	snprintf(sum, sizeof(sum), " pass, %d fail, ", n);
	ck_assert_msg(
	    strstr(log, sum) != NULL, "%s: not %s\n%s", f->c->id, sum, log);
	ck_assert_msg(f->code == (n > 0), "%s: %d\n%s", f->c->id, f->code, log);
	free(log);
}

static bool
check_all_ended(struct flawed *f, size_t n)
{
	bool all = true;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!f[i].ended) {
			f[i].code = tk_wait(&f[i].check, 0);
			f[i].ended = f[i].code != -1;
		}
		all = all && f[i].ended;
	}
	return all;
}

/* Concurrently, as a check mostly waits. */
TEST_T(each_flaw_is_found_and_nothing_else, 120)
{
	static const struct flaw_case cases[] = {
		{ FLAW_NONE, "good", NULL, NULL, { NULL } },
		{ FLAW_CATALOG_FIRST, "catalog-first", NULL, NULL,
		    { ORDER, RECONNECT } },
		{ FLAW_HEARTBEAT_FIRST, "beat-first", NULL, NULL,
		    { ORDER, RECONNECT } },
		{ FLAW_NO_CATALOG, "no-catalog", "16", NULL,
		    { ORDER, RECONNECT, REPORTS } },
		{ FLAW_NO_SECOND, "not-again", "30", NULL,
		    { ORDER, RECONNECT, REPORTS } },
		{ FLAW_NOT_RETAINED, "not-retained", "16", NULL, { RETAIN } },
		{ FLAW_HEARTBEAT_RETAINED, "beat-retained", NULL, NULL,
		    { RETAIN } },
		{ FLAW_RESULT_RETAINED, "result-retained", NULL, NULL,
		    { RETAIN } },
		{ FLAW_QOS_0, "qos-0", NULL, NULL, { QOS } },
		{ FLAW_WRONG_ID, "wrong-id", "12", NULL, { SAME_ID, SKILLS } },
		{ FLAW_ROLL_BACK, "roll-back", NULL, NULL, { VERSION } },
		{ FLAW_NO_WILL, "no-will", NULL, NULL, { WILL } },
		{ FLAW_OLD_WILL, "old-will", "12", NULL, { WILL } },
		{ FLAW_ODD_ONLINE, "odd-online", "8", NULL, { ONLINE } },
		{ FLAW_NO_HEARTBEAT, "no-beat", "10", "2", { HEARTBEAT } },
		{ FLAW_SLOW_HEARTBEAT, "slow-beat", "20", "2", { HEARTBEAT } },
		{ FLAW_SILENT, "silent", "20", NULL, { RESULT, IN_TIME } },
		{ FLAW_SLOW_RESULT, "late", NULL, NULL, { IN_TIME } },
		{ FLAW_WRONG_REQUEST, "wrong-request", NULL, NULL,
		    { RESULT, COMPLETE } },
		{ FLAW_NO_ERROR, "no-error", NULL, NULL, { COMPLETE } },
		{ FLAW_NO_OK, "no-ok", NULL, NULL, { RESULT, COMPLETE } },
		{ FLAW_BAD_REGEX, "bad-regex", NULL, NULL, { CATALOG } },
		{ FLAW_ALIEN_INTENT, "alien-intent", NULL, NULL,
		    { OWN, MAPPING } },
		{ FLAW_BAD_SCHEMA, "bad-schema", NULL, NULL, { SKILLS } },
		{ FLAW_NO_EMOTION, "no-emotion", NULL, NULL, { EMOTION } },
		{ FLAW_NO_ACTION, "no-action", NULL, NULL, { ACTION } },
	};
	static struct flawed f[NELEM(cases)];
	struct mono until = mono_add_ms(clock_mono(), 100000);
	struct tk_server broker;
	size_t i;

	tk_server_start(&broker, TK_MOSQUITTO);
	for (i = 0; i < NELEM(f); i++) {
		flawed_start(&f[i], &cases[i], broker.port);
		flawed_start_check(&f[i], broker.url);
	}
	while (!check_all_ended(f, NELEM(f))) {
		ck_assert_int_lt(mono_diff_ms(clock_mono(), until), 0);
		for (i = 0; i < NELEM(f); i++)
			flawed_run(&f[i], broker.port);
		/* Sets the pace for all. */
		mqtt_peer_poll(&f[0].peer, 10);
	}
	for (i = 0; i < NELEM(f); i++) {
		check_verdicts(&f[i]);
		mqtt_peer_close(&f[i].peer);
	}
}

/* ---- body-sim ---- */

static void
check_spawn(struct sim_fixture *b, struct tk_proc *p, const char *name,
    const char *const more[4])
{
	const char *argv[] = { tk_bin("body-sim"), "check", "--broker",
		b->broker.url, "--seconds", "60", more[0], more[1], more[2],
		more[3], NULL };

	tk_spawn(p, name, argv, NULL);
}

static const char *const check_fast_heartbeat[] = {
	"TERMINAL_HEARTBEAT_INTERVAL_SECONDS=0.5", NULL
};

TEST_T(body_sim_passes_the_check, 90)
{
	const char *const invoke[4] = { "--invoke", "set_head_motion",
		"{\"action\":\"点头\"}", "--kick=no" };
	const char *argv[] = { tk_bin("body-sim"), "check", "--broker", NULL,
		"--invoke", "set_head_motion", "{\"action\":\"点头\"}",
		"--probe", "--kick", "body-sim-terminal-001", NULL };
	struct tk_proc p;
	struct sim_fixture b;

	sim_fixture_start(&b, check_fast_heartbeat);
	argv[3] = b.broker.url;
	tk_spawn(&p, "check", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 60000), 0);
	ck_assert(tk_log_has(&p, "\n20 pass, 0 fail, 1 not seen\n"));
	ck_assert(!tk_log_has(&p, "advice"));
	/* The probe has no effect on the body. */
	sim_fixture_expect(&b, "color", "\"off\"");
	sim_fixture_expect(&b, "expression", "微笑");
	sim_fixture_expect(&b, "head_motion", "点头");
	sim_fixture_expect(&b, "conversation_turns", "0");

	check_spawn(&b, &p, "refused", invoke);
	ck_assert_int_eq(tk_wait(&p, PEER_WAIT_MS), 64);
	ck_assert(tk_log_has(&p, "unknown argument --kick=no"));
	sim_fixture_stop(&b);
}

struct check_log {
	struct tk_proc *p;
	const char *text;
};

static bool
check_log_has(void *arg)
{
	struct check_log *w = arg;

	return tk_log_has(w->p, w->text);
}

/* The check runs while the body is killed and started again. */
TEST_T(a_restart_is_detected, 90)
{
	const char *const nothing[4] = { NULL };
	struct tk_proc p;
	struct check_log w = { &p, "heartbeat" };
	struct sim_fixture b;

	sim_fixture_start(&b, check_fast_heartbeat);
	check_spawn(&b, &p, "check", nothing);
	ck_assert(tk_until(check_log_has, &w, PEER_WAIT_MS));
	tk_service_kill(&b.sim);
	sim_fixture_spawn(&b, check_fast_heartbeat);
	ck_assert_int_eq(tk_wait(&p, 60000), 0);
	ck_assert(tk_log_has(&p, "\n14 pass, 0 fail, 7 not seen\n"));
	ck_assert(tk_log_has(&p, "pass      6.7 "));
	ck_assert(tk_log_has(&p, "pass      3.4   the will"));
	sim_fixture_stop(&b);
}

TEST_T(a_missing_body_or_broker_is_an_error, 90)
{
	const char *const unknown[4] = { "--terminal", "x", "--seconds", "2" };
	const char *const lost[4] = { "--seconds", "60" };
	struct tk_proc p;
	struct check_log w = { &p, "watching" };
	struct sim_fixture b;

	sim_fixture_start(&b, NULL);
	check_spawn(&b, &p, "unknown", unknown);
	ck_assert_int_eq(tk_wait(&p, PEER_WAIT_MS), 1);
	ck_assert(tk_log_has(&p, "no message from x"));
	/* A signal ends the check with the verdicts so far. */
	check_spawn(&b, &p, "interrupted", lost);
	ck_assert(tk_until(check_log_has, &w, PEER_WAIT_MS));
	w.text = "intent_catalog (retained)";
	ck_assert(tk_until(check_log_has, &w, PEER_WAIT_MS));
	tk_signal(&p, SIGINT);
	ck_assert_int_eq(tk_wait(&p, PEER_WAIT_MS), 0);
	ck_assert(tk_log_has(&p, "pass      3.3 "));
	check_spawn(&b, &p, "lost", lost);
	w.text = "watching";
	ck_assert(tk_until(check_log_has, &w, PEER_WAIT_MS));
	tk_server_stop(&b.broker, SIGKILL);
	ck_assert_int_eq(tk_wait(&p, PEER_WAIT_MS), 69);
	ck_assert(tk_log_has(&p, "the connection to the broker was lost"));
	check_spawn(&b, &p, "unreached", lost);
	ck_assert_int_eq(tk_wait(&p, PEER_WAIT_MS), 69);
	ck_assert(tk_log_has(&p, "the broker cannot be reached"));
	sim_fixture_stop(&b);
}

static int
check_exit_code(const char *a, const char *b, const char *c)
{
	const char *const argv[] = { tk_bin("body-sim"), "check", a, b, c,
		NULL };
	struct tk_proc p;

	tk_spawn(&p, "refused", argv, NULL);
	return tk_wait(&p, PEER_WAIT_MS);
}

TEST(wrong_arguments_are_rejected)
{
	ck_assert_int_eq(check_exit_code("--help", NULL, NULL), 0);
	ck_assert_int_eq(check_exit_code("--fast", NULL, NULL), 64);
	ck_assert_int_eq(check_exit_code("--terminal", NULL, NULL), 64);
	ck_assert_int_eq(check_exit_code("--invoke", "beep", NULL), 64);
	ck_assert_int_eq(check_exit_code("--invoke", "beep", "[]"), 78);
	ck_assert_int_eq(check_exit_code("--invoke", "beep", "{"), 78);
	ck_assert_int_eq(check_exit_code("--terminal", "a/b", NULL), 78);
	ck_assert_int_eq(check_exit_code("--seconds", "0", NULL), 78);
	ck_assert_int_eq(check_exit_code("--broker", "http://x", NULL), 78);
	ck_assert_int_eq(check_exit_code("--prefix", "a/#", NULL), 78);
}
