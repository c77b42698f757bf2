/*
 * Subscribe, listen, do the little that was asked for.
 */
#include "watch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "checkup.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/worker.h"
#include "judge.h"
#include "mqtt/mqtt.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define TICK_MS 50
/* A broker that has not accepted us by then is not there. */
#define REACH_MS 10000
/* Of the connection that breaks the body's. */
#define KICK_MS 5000
/* As long as the server waits for a result. */
#define INVOKE_MS 8000

enum exit_code { EXIT_FAILED = 1, EXIT_UNREACHED = 69, EXIT_CONFIG = 78 };

struct watch {
	const struct checkup_conf *conf;
	struct loop *loop;
	struct worker_pool *workers;
	struct mqtt *mqtt, *kicker;
	struct judge *judge;
	struct loop_timer tick;
	struct loop_fd signals;
	struct mono began, asked; /* never: not yet */
	struct mono kick_until;
	bool invoked, probed, kicked, lost;
	struct buf out;
};

static int64_t
elapsed(const struct watch *w)
{
	return mono_diff_ms(clock_mono(), w->began);
}

static void
topic_of(const struct watch *w, const char *leaf, char dst[MQTT_TOPIC_MAX + 1])
{
	(void)snprintf(dst, MQTT_TOPIC_MAX + 1, "%s/terminal/%s/%s",
	    w->conf->prefix, w->conf->terminal_id, leaf);
}

static void
say(const struct watch *w, const char *what, const char *text)
{
	printf("%7.1f s  %-*s%s%s\n", (double)elapsed(w) / 1000,
	    text[0] != '\0' ? 16 : 0, what, text[0] != '\0' ? " " : "", text);
}

static enum rc
subscribe(struct watch *w)
{
	/* Not what the server sends, so that --probe does not hear itself. */
	static const char *const leaves[] = { "online", "heartbeat", "skills",
		"intent_catalog", "invoke/+", "result/+" };
	char filter[MQTT_TOPIC_MAX + 1];
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < NELEM(leaves) && rc == RC_OK; i++) {
		topic_of(w, leaves[i], filter);
		rc = mqtt_subscribe(w->mqtt, str_of(filter), 1, NULL, NULL);
	}
	return rc;
}

/* ---- doing something to the body ----------------------------------------- */

static enum rc
send(struct watch *w, const char *leaf, const struct wire_desc *desc,
    const void *msg, mqtt_done_fn fn)
{
	char topic[MQTT_TOPIC_MAX + 1];
	struct mqtt_msg m = { .qos = 1 };
	enum rc rc;

	topic_of(w, leaf, topic);
	buf_reset(&w->out);
	rc = wire_encode(desc, msg, &w->out, NULL);
	m.topic = str_of(topic);
	m.payload = buf_str(&w->out);
	return rc == RC_OK ? mqtt_publish(w->mqtt, &m, fn, w) : rc;
}

static void
invoke(struct watch *w)
{
	char id[ID_UUID_MAX], leaf[ID_UUID_MAX + 8], stamp[WALL_FORMAT_MAX];
	struct wire_invoke in = { .skill = str_of(w->conf->invoke_skill),
		.arguments = str_of(w->conf->invoke_arguments),
		.has_deadline_ms = true,
		.deadline_ms = clock_wall().ms + INVOKE_MS };

	w->invoked = true;
	id_uuid(id);
	wall_format(clock_wall(), 0, stamp);
	in.request_id = str_of(id);
	in.ts = str_of(stamp);
	(void)snprintf(leaf, sizeof(leaf), "invoke/%s", id);
	if (send(w, leaf, &wire_invoke_desc, &in, NULL) != RC_OK)
		say(w, "invoke", "could not be sent");
}

static void
probe_done(struct watch *w, enum line line, enum rc rc)
{
	if (rc == RC_OK || rc == RC_NOENT)
		judge_probed(w->judge, line, rc == RC_OK);
	else
		say(w, "probe", "the broker refused it");
}

static void
on_felt(void *arg, enum rc rc, unsigned reason)
{
	(void)reason;
	probe_done(arg, LINE_EMOTION_UPDATE, rc);
}

static void
on_acted(void *arg, enum rc rc, unsigned reason)
{
	(void)reason;
	probe_done(arg, LINE_INTENT_ACTION, rc);
}

/* A soul at rest, and an action of a skill that no body has. */
static void
probe(struct watch *w)
{
	static const struct str us = STR_INIT("body-sim-check");
	char stamp[WALL_FORMAT_MAX], id[ID_UUID_MAX];
	struct wire_emotion_update u = { .session_id = STR("system_decay_tick"),
		.terminal_id = str_of(w->conf->terminal_id),
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

	w->probed = true;
	id_uuid(id);
	wall_format(clock_wall(), 0, stamp);
	u.ts = a.ts = str_of(stamp);
	a.request_id = str_of(id);
	if (send(w, "emotion_update", &wire_emotion_update_desc, &u, on_felt) !=
		RC_OK ||
	    send(w, "intent_action", &wire_intent_action_desc, &a, on_acted) !=
		RC_OK)
		say(w, "probe", "could not be sent");
}

/* Of two clients with one id the broker throws the older one out. */
static void
on_kick(void *arg, bool up)
{
	struct watch *w = arg;

	if (!up)
		return;
	say(w, "kick", "its connection is broken");
	mqtt_free(w->kicker);
	w->kicker = NULL;
}

static void
kick(struct watch *w)
{
	const struct mqtt_opts o = { .loop = w->loop,
		.workers = w->workers,
		.url = w->conf->broker_url,
		.client_id = w->conf->kick,
		.user = w->conf->user[0] != '\0' ? w->conf->user : NULL,
		.password = w->conf->user[0] != '\0' ? w->conf->password : NULL,
		.ca_file = w->conf->ca_file,
		.cert_file = w->conf->cert_file,
		.key_file = w->conf->key_file,
		.on_state = on_kick,
		.arg = w };

	w->kicked = true;
	w->kick_until = mono_add_ms(clock_mono(), KICK_MS);
	judge_kicked(w->judge, elapsed(w));
	if (mqtt_new(&o, &w->kicker) != RC_OK) {
		say(w, "kick", "that is no client id");
		judge_kicked(w->judge, -1);
	}
}

static void
time_kick(struct watch *w)
{
	if (w->kicker == NULL || mono_diff_ms(clock_mono(), w->kick_until) < 0)
		return;
	say(w, "kick", "the broker does not let us in with that client id");
	judge_kicked(w->judge, -1);
	mqtt_free(w->kicker);
	w->kicker = NULL;
}

/* One after the other, while the body is there and calm. */
static void
do_next(struct watch *w)
{
	const struct verdicts *v = judge_verdicts(w->judge);
	bool invokes = w->conf->invoke_skill[0] != '\0';

	if (!judge_calm(w->judge, elapsed(w)))
		return;
	if (invokes && !w->invoked)
		invoke(w);
	else if (w->conf->probe && !w->probed)
		probe(w);
	else if (w->conf->kick[0] != '\0' && !w->kicked &&
	    (!invokes || v->lines[LINE_RESULT].is != VERDICT_NOT_SEEN))
		kick(w);
}

/* ---- listening ----------------------------------------------------------- */

static void
on_tick(void *arg)
{
	struct watch *w = arg;

	loop_timer_set(
	    w->loop, &w->tick, mono_add_ms(clock_mono(), TICK_MS), on_tick, w);
	if (w->began.ns == 0) {
		if (mono_diff_ms(clock_mono(), w->asked) > REACH_MS)
			loop_stop(w->loop);
		return;
	}
	judge_time(w->judge, elapsed(w));
	if (judge_wants_kept(w->judge, elapsed(w)) && subscribe(w) != RC_OK)
		say(w, "broker", "could not subscribe again");
	time_kick(w);
	do_next(w);
	if (judge_done(w->judge) ||
	    (double)elapsed(w) >= w->conf->seconds * 1000)
		loop_stop(w->loop);
}

static void
on_up(void *arg, bool up)
{
	struct watch *w = arg;

	if (!up) {
		w->lost = true;
		loop_stop(w->loop);
		return;
	}
	w->began = clock_mono();
	printf("watching %s below %s/terminal/ for up to %g s; restart it now, "
	       "best by\ncutting its power, so that its will is seen\n\n",
	    w->conf->terminal_id, w->conf->prefix, w->conf->seconds);
}

static void
on_message(void *arg, const struct mqtt_msg *m)
{
	char base[MQTT_TOPIC_MAX + 1], text[JUDGE_SAID_MAX], what[64];
	struct watch *w = arg;
	struct judge_msg saw = { .leaf = m->topic,
		.payload = m->payload,
		.qos = m->qos,
		.kept = m->retain };

	topic_of(w, "", base);
	if (!str_starts(saw.leaf, str_of(base)))
		return;
	saw.leaf.p += str_of(base).n;
	saw.leaf.n -= str_of(base).n;
	judge_saw(w->judge, elapsed(w), &saw, text);
	str_copy(saw.leaf, what, m->retain ? sizeof(what) - 8 : sizeof(what));
	if (m->retain)
		(void)snprintf(what + str_of(what).n,
		    sizeof(what) - str_of(what).n, " (kept)");
	say(w, what, text);
}

static void
on_signal(void *arg, unsigned events)
{
	struct watch *w = arg;

	(void)events;
	loop_stop(w->loop);
}

/* An interrupt ends the watch, not the report. */
static void
signals(struct watch *w)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	w->signals = (struct loop_fd){ .fd = signalfd(-1, &set,
					   SFD_NONBLOCK | SFD_CLOEXEC),
		.fn = on_signal,
		.arg = w };
	loop_fd_watch(w->loop, &w->signals, LOOP_READ);
}

static int
report(struct watch *w)
{
	const struct verdicts *v = judge_verdicts(w->judge);
	struct buf out = BUF_INIT(64 * 1024);

	if (w->began.ns == 0) {
		fprintf(stderr, "body-sim check: the broker is not there\n");
		return EXIT_UNREACHED;
	}
	judge_end(w->judge, elapsed(w));
	buf_puts(&out, "\n");
	verdicts_write(v, &out);
	printf("%.*s", STR_ARG(buf_str(&out)));
	buf_free(&out);
	if (w->lost) {
		fprintf(stderr, "body-sim check: the broker went away\n");
		return EXIT_UNREACHED;
	}
	return verdict_count(v, VERDICT_FAIL) > 0 ? EXIT_FAILED : 0;
}

static enum rc
start(struct watch *w)
{
	const struct mqtt_opts o = { .loop = w->loop,
		.workers = w->workers,
		.url = w->conf->broker_url,
		.user = w->conf->user[0] != '\0' ? w->conf->user : NULL,
		.password = w->conf->user[0] != '\0' ? w->conf->password : NULL,
		.ca_file = w->conf->ca_file,
		.cert_file = w->conf->cert_file,
		.key_file = w->conf->key_file,
		.on_state = on_up,
		.on_message = on_message,
		.arg = w };
	enum rc rc = mqtt_new(&o, &w->mqtt);

	return rc == RC_OK ? subscribe(w) : rc;
}

int
watch_run(const struct checkup_conf *conf)
{
	struct watch w = { .conf = conf, .loop = loop_new(64) };
	int code = EXIT_CONFIG;

	setvbuf(stdout, NULL, _IOLBF, 0);
	buf_init(&w.out, WIRE_MESSAGE_MAX);
	signals(&w);
	w.workers = worker_new(w.loop, 1, 4);
	w.judge = judge_new(&(struct judge_opts){ .terminal = conf->terminal_id,
	    .ttl_ms = llround(conf->ttl_s * 1000),
	    .invokes = conf->invoke_skill[0] != '\0',
	    .probes = conf->probe });
	w.asked = clock_mono();
	if (start(&w) == RC_OK) {
		on_tick(&w);
		loop_run(w.loop);
		code = report(&w);
	}
	/* Completions are told to the judge: it goes last. */
	w.began = w.began.ns != 0 ? w.began : w.asked;
	loop_timer_cancel(w.loop, &w.tick);
	loop_fd_watch(w.loop, &w.signals, 0);
	mqtt_free(w.kicker);
	mqtt_free(w.mqtt);
	worker_free(w.workers);
	loop_free(w.loop);
	judge_free(w.judge);
	close(w.signals.fd);
	buf_free(&w.out);
	return code;
}
