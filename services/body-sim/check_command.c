#include "check_command.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "checker.h"
#include "core/buf.h"
#include "core/conf.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/worker.h"
#include "mqtt/mqtt.h"
#include "options.h"
#include "svc/svc.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define OUT_MAX (64 * 1024)
#define TICK_MS 50
/* The broker counts as unreachable after this time. */
#define REACH_MS 10000
/* Time limit of the connection that replaces the body's. */
#define KICK_MS 5000
/* The server's time limit for a result. */
#define INVOKE_MS 8000

struct check_conf {
	const char *terminal_id;
	const char *broker_url;
	const char *user, *password;
	const char *ca_file, *cert_file, *key_file;
	const char *prefix;
	double seconds;
	double ttl_s;
	const char *kick;                            /* "": none */
	const char *invoke_skill, *invoke_arguments; /* "": none */
	bool probe;
};

enum exit_code {
	EXIT_FAILED = 1,
	EXIT_USAGE = 64,
	EXIT_UNREACHED = 69,
	EXIT_CONFIG = 78
};

struct check_client {
	const struct check_conf *conf;
	struct loop *loop;
	struct worker_pool *workers;
	struct mqtt *mqtt, *kicker;
	struct checker *checker;
	struct loop_timer tick;
	struct loop_fd signals;
	struct mono began, started; /* {0}: not yet */
	struct mono kick_until;
	bool invoked, repeated, probed, kicked, lost;
	char invoke_id[ID_UUID_MAX];
	struct buf out;
};

static int64_t
check_elapsed(const struct check_client *c)
{
	return mono_diff_ms(clock_mono(), c->began);
}

static void
check_topic(const struct check_client *c, const char *leaf,
    char dst[MQTT_TOPIC_MAX + 1])
{
	(void)snprintf(dst, MQTT_TOPIC_MAX + 1, "%s/terminal/%s/%s",
	    c->conf->prefix, c->conf->terminal_id, leaf);
}

static void
check_print(const struct check_client *c, const char *what, const char *text)
{
	printf("%7.1f s  %-*s%s%s\n", (double)check_elapsed(c) / 1000,
	    text[0] != '\0' ? 16 : 0, what, text[0] != '\0' ? " " : "", text);
}

static struct mqtt_opts
check_mqtt_opts(struct check_client *c, void (*on_state)(void *arg, bool up))
{
	bool named = c->conf->user[0] != '\0';

	return (struct mqtt_opts){ .loop = c->loop,
		.workers = c->workers,
		.url = c->conf->broker_url,
		.user = named ? c->conf->user : NULL,
		.password = named ? c->conf->password : NULL,
		.ca_file = c->conf->ca_file,
		.cert_file = c->conf->cert_file,
		.key_file = c->conf->key_file,
		.on_state = on_state,
		.arg = c };
}

static enum rc
check_subscribe(struct check_client *c)
{
	/*
	 * Not the commands, so that --probe finds only the body's
	 * subscriptions.
	 */
	static const char *const leaves[] = { "online", "heartbeat", "skills",
		"intent_catalog", "invoke/+", "result/+" };
	char filter[MQTT_TOPIC_MAX + 1];
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < NELEM(leaves) && rc == RC_OK; i++) {
		check_topic(c, leaves[i], filter);
		rc = mqtt_subscribe(c->mqtt, str_of(filter), 1, NULL, NULL);
	}
	return rc;
}

/* ---- actions: --invoke, --probe, --kick ---- */

static enum rc
check_send(struct check_client *c, const char *leaf,
    const struct wire_desc *desc, const void *msg, mqtt_done_fn fn)
{
	char topic[MQTT_TOPIC_MAX + 1];
	struct mqtt_msg m = { .qos = 1 };
	enum rc rc;

	check_topic(c, leaf, topic);
	buf_reset(&c->out);
	rc = wire_encode(desc, msg, &c->out, NULL);
	m.topic = str_of(topic);
	m.payload = buf_str(&c->out);
	return rc == RC_OK ? mqtt_publish(c->mqtt, &m, fn, c) : rc;
}

static void
check_send_invoke(struct check_client *c, const char *skill, const char *args)
{
	char leaf[ID_UUID_MAX + 8], stamp[WALL_FORMAT_MAX];
	struct wire_invoke in = { .request_id = str_of(c->invoke_id),
		.skill = str_of(skill),
		.arguments = str_of(args),
		.has_deadline_ms = true,
		.deadline_ms = clock_wall().ms + INVOKE_MS };

	wall_format(clock_wall(), 0, stamp);
	in.ts = str_of(stamp);
	(void)snprintf(leaf, sizeof(leaf), "invoke/%s", c->invoke_id);
	if (check_send(c, leaf, &wire_invoke_desc, &in, NULL) != RC_OK)
		check_print(c, "invoke", "could not be sent");
}

static void
check_invoke(struct check_client *c)
{
	c->invoked = true;
	id_uuid(c->invoke_id);
	check_send_invoke(c, c->conf->invoke_skill, c->conf->invoke_arguments);
}

/* Only a body that does not know the id looks at the skill. */
static void
check_repeat(struct check_client *c)
{
	c->repeated = true;
	checker_repeated(c->checker, check_elapsed(c), str_of(c->invoke_id));
	check_send_invoke(c, "body_sim_check", "{}");
}

static void
check_probe_done(struct check_client *c, enum line line, enum rc rc)
{
	if (rc == RC_OK || rc == RC_NOENT)
		checker_probed(c->checker, line, rc == RC_OK);
	else
		check_print(c, "probe", "the broker rejected it");
}

static void
check_on_emotion(void *arg, enum rc rc, unsigned reason)
{
	(void)reason;
	check_probe_done(arg, LINE_EMOTION_UPDATE, rc);
}

static void
check_on_action(void *arg, enum rc rc, unsigned reason)
{
	(void)reason;
	check_probe_done(arg, LINE_INTENT_ACTION, rc);
}

/* An update that changes nothing, and an action of an unknown skill. */
static void
check_probe(struct check_client *c)
{
	static const struct str us = STR_INIT("body-sim-check");
	char stamp[WALL_FORMAT_MAX], id[ID_UUID_MAX];
	struct wire_emotion_update u = { .session_id = STR("system_decay_tick"),
		.terminal_id = str_of(c->conf->terminal_id),
		.soul_id = us,
		.exec_probability = 1,
		.exec_mode = WIRE_EXEC_MODE_AUTO_EXECUTE };
	struct wire_intent_action_intents none = { .intent_id = us,
		.confidence = 0,
		.normalized = STR("{\"skill\":\"body_sim_check\"}") };
	struct wire_intent_action a = { .session_id = us,
		.terminal_id = u.terminal_id,
		.soul_id = us,
		.intents = &none,
		.n_intents = 1,
		.exec_probability = 1 };

	c->probed = true;
	id_uuid(id);
	wall_format(clock_wall(), 0, stamp);
	u.ts = a.ts = str_of(stamp);
	a.request_id = str_of(id);
	if (check_send(c, "emotion_update", &wire_emotion_update_desc, &u,
		check_on_emotion) != RC_OK ||
	    check_send(c, "intent_action", &wire_intent_action_desc, &a,
		check_on_action) != RC_OK)
		check_print(c, "probe", "could not be sent");
}

/* Of two clients with one id, the broker disconnects the older one. */
static void
check_on_kick(void *arg, bool up)
{
	struct check_client *c = arg;

	if (!up)
		return;
	check_print(c, "kick", "its connection was broken");
	mqtt_free(c->kicker);
	c->kicker = NULL;
}

static void
check_kick(struct check_client *c)
{
	struct mqtt_opts o = check_mqtt_opts(c, check_on_kick);

	o.client_id = c->conf->kick;
	c->kicked = true;
	c->kick_until = mono_add_ms(clock_mono(), KICK_MS);
	checker_kicked(c->checker, check_elapsed(c));
	if (mqtt_new(&o, &c->kicker) != RC_OK) {
		check_print(c, "kick", "not a valid client id");
		checker_kicked(c->checker, -1);
	}
}

static void
check_kick_timeout(struct check_client *c)
{
	if (c->kicker == NULL || mono_diff_ms(clock_mono(), c->kick_until) < 0)
		return;
	check_print(
	    c, "kick", "the broker rejects a connection with that client id");
	checker_kicked(c->checker, -1);
	mqtt_free(c->kicker);
	c->kicker = NULL;
}

/* One action at a time, while the body is online and idle. */
static void
check_next_action(struct check_client *c)
{
	const struct verdicts *v = checker_verdicts(c->checker);
	bool invokes = c->conf->invoke_skill[0] != '\0';

	if (!checker_idle(c->checker, check_elapsed(c)))
		return;
	if (invokes && !c->invoked)
		check_invoke(c);
	else if (c->invoked && !c->repeated &&
	    v->lines[LINE_RESULT].is == VERDICT_PASS)
		check_repeat(c);
	else if (c->conf->probe && !c->probed)
		check_probe(c);
	else if (c->conf->kick[0] != '\0' && !c->kicked &&
	    (!invokes || v->lines[LINE_RESULT].is == VERDICT_FAIL ||
		v->lines[LINE_REPEATED].is != VERDICT_NOT_SEEN))
		check_kick(c);
}

/* ---- events ---- */

static void
check_on_tick(void *arg)
{
	struct check_client *c = arg;

	loop_timer_set(c->loop, &c->tick, mono_add_ms(clock_mono(), TICK_MS),
	    check_on_tick, c);
	if (c->began.ns == 0) {
		if (mono_diff_ms(clock_mono(), c->started) > REACH_MS)
			loop_stop(c->loop);
		return;
	}
	checker_tick(c->checker, check_elapsed(c));
	if (checker_wants_retained(c->checker, check_elapsed(c)) &&
	    check_subscribe(c) != RC_OK)
		check_print(c, "broker", "could not subscribe again");
	check_kick_timeout(c);
	check_next_action(c);
	if (checker_done(c->checker) ||
	    (double)check_elapsed(c) >= c->conf->seconds * 1000)
		loop_stop(c->loop);
}

static void
check_on_state(void *arg, bool up)
{
	struct check_client *c = arg;

	if (!up) {
		c->lost = true;
		loop_stop(c->loop);
		return;
	}
	c->began = clock_mono();
	printf("watching %s below %s/terminal/ for up to %g s; restart it now, "
	       "best by\ncutting its power, so that its will is seen\n\n",
	    c->conf->terminal_id, c->conf->prefix, c->conf->seconds);
}

static void
check_on_message(void *arg, const struct mqtt_msg *m)
{
	char base[MQTT_TOPIC_MAX + 1], text[CHECKER_TEXT_MAX], what[64];
	struct check_client *c = arg;
	struct checker_msg msg = { .leaf = m->topic,
		.payload = m->payload,
		.qos = m->qos,
		.retained = m->retain };

	check_topic(c, "", base);
	if (!str_starts(msg.leaf, str_of(base)))
		return;
	msg.leaf.p += str_of(base).n;
	msg.leaf.n -= str_of(base).n;
	checker_message(c->checker, check_elapsed(c), &msg, text);
	str_copy(msg.leaf, what, m->retain ? sizeof(what) - 12 : sizeof(what));
	if (m->retain)
		(void)snprintf(what + str_of(what).n,
		    sizeof(what) - str_of(what).n, " (retained)");
	check_print(c, what, text);
}

static void
check_on_signal(void *arg, unsigned events)
{
	struct check_client *c = arg;

	(void)events;
	loop_stop(c->loop);
}

/* A signal stops the check, but the report is still printed. */
static void
check_block_signals(struct check_client *c)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c->signals = (struct loop_fd){ .fd = signalfd(-1, &set,
					   SFD_NONBLOCK | SFD_CLOEXEC),
		.fn = check_on_signal,
		.arg = c };
	loop_fd_watch(c->loop, &c->signals, LOOP_READ);
}

static int
check_report(struct check_client *c)
{
	const struct verdicts *v = checker_verdicts(c->checker);
	struct buf out = BUF_INIT(64 * 1024);

	if (c->began.ns == 0) {
		fprintf(
		    stderr, "body-sim check: the broker cannot be reached\n");
		return EXIT_UNREACHED;
	}
	checker_finish(c->checker, check_elapsed(c));
	buf_puts(&out, "\n");
	verdicts_write(v, &out);
	printf("%.*s", STR_ARG(buf_str(&out)));
	buf_free(&out);
	if (c->lost) {
		fprintf(stderr,
		    "body-sim check: the connection to the broker was lost\n");
		return EXIT_UNREACHED;
	}
	return verdict_count(v, VERDICT_FAIL) > 0 ? EXIT_FAILED : 0;
}

static enum rc
check_start(struct check_client *c)
{
	struct mqtt_opts o = check_mqtt_opts(c, check_on_state);
	enum rc rc;

	o.on_message = check_on_message;
	rc = mqtt_new(&o, &c->mqtt);
	return rc == RC_OK ? check_subscribe(c) : rc;
}

/*
 * Run the check until everything is known or its time is over, and print the
 * messages and the verdicts; returns the exit code.
 */
static int
check_watch(const struct check_conf *conf)
{
	struct check_client c = { .conf = conf, .loop = loop_new(64) };
	int code = EXIT_CONFIG;

	setvbuf(stdout, NULL, _IOLBF, 0);
	buf_init(&c.out, WIRE_MESSAGE_MAX);
	check_block_signals(&c);
	c.workers = worker_new(c.loop, 1, 4);
	c.checker =
	    checker_new(&(struct checker_opts){ .terminal = conf->terminal_id,
		.ttl_ms = llround(conf->ttl_s * 1000),
		.invokes = conf->invoke_skill[0] != '\0',
		.probes = conf->probe });
	c.started = clock_mono();
	if (check_start(&c) == RC_OK) {
		check_on_tick(&c);
		loop_run(c.loop);
		code = check_report(&c);
	}
	/* mqtt_free() runs completions that use the checker. */
	c.began = c.began.ns != 0 ? c.began : c.started;
	loop_timer_cancel(c.loop, &c.tick);
	loop_fd_watch(c.loop, &c.signals, 0);
	mqtt_free(c.kicker);
	mqtt_free(c.mqtt);
	worker_free(c.workers);
	loop_free(c.loop);
	checker_free(c.checker);
	close(c.signals.fd);
	buf_free(&c.out);
	return code;
}

/* ---- arguments ---- */

static const struct conf_opt check_opts[] = {
	{ "TERMINAL_ID", CONF_STR, CONF_AT(check_conf, terminal_id),
	    "terminal-001", 0, 0, "id of the body (--terminal ID)" },
	{ "MQTT_BROKER_URL", CONF_URL, CONF_AT(check_conf, broker_url),
	    "mqtt://127.0.0.1:1883", 0, 0,
	    "mqtt:// or mqtts://, with user and password if any (--broker "
	    "URL)" },
	MQTT_CLIENT_OPTS(check_conf),
	{ "MQTT_TOPIC_PREFIX", CONF_STR, CONF_AT(check_conf, prefix), "soul", 0,
	    0, "first levels of all topics (--prefix P)" },
	{ "CHECK_SECONDS", CONF_F64, CONF_AT(check_conf, seconds), "90", 1,
	    86400, "longest time to watch, s (--seconds N)" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_F64, CONF_AT(check_conf, ttl_s),
	    "60", 1, 86400,
	    "the server's: time without a message after which it ignores the "
	    "skills, s (--ttl N)" },
	{ "CHECK_INVOKE_SKILL", CONF_STR, CONF_AT(check_conf, invoke_skill), "",
	    0, 0, "skill to invoke once; empty for none" },
	{ "CHECK_INVOKE_ARGUMENTS", CONF_STR,
	    CONF_AT(check_conf, invoke_arguments), "{}", 0, 0,
	    "its arguments, a JSON object (--invoke SKILL JSON sets both)" },
	{ "CHECK_PROBE", CONF_BOOL, CONF_AT(check_conf, probe), "off", 0, 0,
	    "send an emotion_update tick and an intent_action of no skill, to "
	    "see whether the body is subscribed (--probe)" },
	{ "CHECK_KICK", CONF_STR, CONF_AT(check_conf, kick), "", 0, 0,
	    "MQTT client id of the body: break its connection once, by "
	    "connecting with that id (--kick ID)" },
};

static const struct flag check_flags[] = {
	{ "--terminal", { "TERMINAL_ID", NULL }, NULL },
	{ "--broker", { "MQTT_BROKER_URL", NULL }, NULL },
	{ "--prefix", { "MQTT_TOPIC_PREFIX", NULL }, NULL },
	{ "--seconds", { "CHECK_SECONDS", NULL }, NULL },
	{ "--ttl", { "SKILL_SNAPSHOT_TTL_SECONDS", NULL }, NULL },
	{ "--invoke", { "CHECK_INVOKE_SKILL", "CHECK_INVOKE_ARGUMENTS" },
	    NULL },
	{ "--probe", { "CHECK_PROBE", NULL }, "on" },
	{ "--kick", { "CHECK_KICK", NULL }, NULL },
};

static void
check_help(void)
{
	struct buf out = BUF_INIT(OUT_MAX);

	buf_puts(&out,
	    "body-sim check - watches a real body through its broker\n\n"
	    "usage: body-sim check --terminal ID [--broker URL] [--prefix P] "
	    "[--seconds N]\n"
	    "           [--ttl N] [--invoke SKILL JSON] [--probe] "
	    "[--kick ID]\n\n"
	    "Prints pass, FAIL or not seen for what the protocol asks of a "
	    "body.  Restart the\nbody while it watches, best by cutting its "
	    "power.  Only --invoke, --probe and\n--kick affect the "
	    "body.\n\n"
	    "Exit codes: 0 nothing failed, 1 something failed, 64 wrong "
	    "arguments, 69 no broker,\n78 wrong configuration.\n\n");
	conf_help(check_opts, NELEM(check_opts), &out);
	printf("%.*s", STR_ARG(buf_str(&out)));
	buf_free(&out);
}

static bool
check_is_object(const char *json)
{
	struct wire_tree *t;
	bool is;

	if (wire_tree_parse(str_of(json), &t) != RC_OK)
		return false;
	is = wire_tree_kind(t) == WIRE_TREE_OBJECT;
	wire_tree_free(t);
	return is;
}

static enum rc
check_load(struct check_conf *conf)
{
	struct buf errors = BUF_INIT(OUT_MAX);
	enum rc rc = conf_load(check_opts, NELEM(check_opts), conf, &errors);

	if (!id_terminal_valid(str_of(conf->terminal_id))) {
		buf_puts(&errors, "TERMINAL_ID: is not a valid terminal id\n");
		rc = RC_INVALID;
	}
	if (!check_is_object(conf->invoke_arguments)) {
		buf_puts(
		    &errors, "CHECK_INVOKE_ARGUMENTS: must be a JSON object\n");
		rc = RC_INVALID;
	}
	if (rc != RC_OK)
		fprintf(stderr, "%.*s", STR_ARG(buf_str(&errors)));
	buf_free(&errors);
	return rc;
}

int
check_run(const struct svc_run *r)
{
	struct check_conf conf;
	int argc = r->argc, code = EXIT_CONFIG;

	if (flags_apply(check_flags, NELEM(check_flags), &argc, r->argv) !=
	    RC_OK)
		return EXIT_USAGE;
	if (argc == 2 && strcmp(r->argv[1], "--help") == 0) {
		check_help();
		return 0;
	}
	if (argc > 1) {
		fprintf(stderr,
		    "body-sim check: unknown argument %s; see body-sim check "
		    "--help\n",
		    r->argv[1]);
		return EXIT_USAGE;
	}
	if (check_load(&conf) == RC_OK)
		code = check_watch(&conf);
	conf_free(check_opts, NELEM(check_opts), &conf);
	return code;
}
