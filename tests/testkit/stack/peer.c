/*
 * The client's thread appends received messages to a list, from which the test
 * takes them.
 */
#include "testkit/stack/peer.h"
#include "testkit/cases.h"

#include <mosquitto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/str.h"
#include "testkit/mqtt_loop.h"
#include "testkit/stack/capture.h"
#include "testkit/stack/client.h"
#include "testkit/stack/lock.h"

#define PEER_RETRY_MS 1000

struct got {
	TAILQ_ENTRY(got) link;
	json_t *message;
	const char *topic; /* in message */
};

TAILQ_HEAD(got_list, got);

struct peer {
	struct mosquitto *m;
	struct mqtt_loop loop;
	pthread_mutex_t lock;
	struct got_list list;
	bool up;
	int subscribed; /* of the last SUBACK */
	bool granted;
	int published;
	void (*on_message)(void *arg, const char *topic, json_t *payload);
	void *arg;
};

/* ---- the client's thread ---- */

static void
on_connect(struct mosquitto *m, void *arg, int rc)
{
	struct peer *p = arg;

	(void)m;
	pthread_mutex_lock(&p->lock);
	p->up = rc == 0;
	pthread_mutex_unlock(&p->lock);
}

static void
on_disconnect(struct mosquitto *m, void *arg, int rc)
{
	struct peer *p = arg;

	(void)m;
	(void)rc;
	pthread_mutex_lock(&p->lock);
	p->up = false;
	pthread_mutex_unlock(&p->lock);
}

static void
on_subscribe(struct mosquitto *m, void *arg, int mid, int n, const int *granted)
{
	struct peer *p = arg;

	(void)m;
	(void)n;
	pthread_mutex_lock(&p->lock);
	p->granted = granted[0] <= 2;
	p->subscribed = mid;
	pthread_mutex_unlock(&p->lock);
}

static void
on_publish(struct mosquitto *m, void *arg, int mid)
{
	struct peer *p = arg;

	(void)m;
	pthread_mutex_lock(&p->lock);
	p->published = mid;
	pthread_mutex_unlock(&p->lock);
}

static void
on_message(struct mosquitto *m, void *arg, const struct mosquitto_message *msg)
{
	struct peer *p = arg;
	struct got *g = mem_zalloc(sizeof(*g));
	struct mono now = clock_mono();
	json_t *payload = json_loadb(
	    msg->payload, (size_t)msg->payloadlen, JSON_DECODE_ANY, NULL);

	(void)m;
	if (payload == NULL)
		payload = json_stringn(msg->payload, (size_t)msg->payloadlen);
	if (payload == NULL)
		payload = json_null();
	g->message = json_pack("{sssOsisbsI}", "topic", msg->topic, "payload",
	    payload, "qos", msg->qos, "retain", msg->retain, "at_ms",
	    (json_int_t)mono_diff_ms(now, (struct mono){ 0 }));
	g->topic = json_string_value(json_object_get(g->message, "topic"));
	if (p->on_message != NULL)
		p->on_message(p->arg, g->topic, payload);
	json_decref(payload);
	pthread_mutex_lock(&p->lock);
	TAILQ_INSERT_TAIL(&p->list, g, link);
	pthread_mutex_unlock(&p->lock);
}

/* ---- the test's thread ---- */

static bool
is_up(void *arg)
{
	struct peer *p = arg;
	bool up;

	pthread_mutex_lock(&p->lock);
	up = p->up;
	pthread_mutex_unlock(&p->lock);
	return up;
}

static struct peer *
peer_make(struct stack *st, const struct peer_opts *o,
    void (*fn)(void *, const char *, json_t *), void *arg)
{
	struct peer *p = mem_zalloc(sizeof(*p));

	(void)mosquitto_lib_init();
	pthread_mutex_init(&p->lock, NULL);
	TAILQ_INIT(&p->list);
	p->on_message = fn;
	p->arg = arg;
	p->m = mosquitto_new(o->client_id, !o->lasting, p);
	ck_assert_ptr_nonnull(p->m);
	mosquitto_connect_callback_set(p->m, on_connect);
	mosquitto_disconnect_callback_set(p->m, on_disconnect);
	mosquitto_subscribe_callback_set(p->m, on_subscribe);
	mosquitto_publish_callback_set(p->m, on_publish);
	mosquitto_message_callback_set(p->m, on_message);
	if (o->as != NULL)
		(void)mosquitto_username_pw_set(
		    p->m, o->as, lock_password(o->as));
	if (o->will_topic != NULL)
		(void)mosquitto_will_set(p->m, o->will_topic,
		    (int)strlen(o->will), o->will, 1, true);
	ck_assert_int_eq(
	    mosquitto_connect(p->m, "127.0.0.1",
		st->opts->locked && o->as == NULL ? st->lock.witness
						  : st->server[STACK_MQTT].port,
		60),
	    MOSQ_ERR_SUCCESS);
	mqtt_loop_start(&p->loop, p->m, PEER_RETRY_MS);
	ck_assert(tk_until(is_up, p, STACK_MS));
	return p;
}

struct peer *
peer_new(struct stack *st, const struct peer_opts *o)
{
	static const struct peer_opts plain;

	return peer_make(st, o != NULL ? o : &plain, NULL, NULL);
}

static void
peer_destroy(struct peer *p)
{
	struct got *g;

	mosquitto_destroy(p->m);
	while ((g = TAILQ_FIRST(&p->list)) != NULL) {
		TAILQ_REMOVE(&p->list, g, link);
		json_decref(g->message);
		free(g);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void
peer_drop(struct peer *p)
{
	mqtt_loop_drop(&p->loop);
	peer_destroy(p);
}

void
peer_free(struct peer *p)
{
	mqtt_loop_close(&p->loop);
	peer_destroy(p);
}

struct answer {
	struct peer *p;
	const int *which;
	int mid;
};

static bool
is_acknowledged(void *arg)
{
	struct answer *a = arg;
	bool is;

	pthread_mutex_lock(&a->p->lock);
	is = *a->which == a->mid;
	pthread_mutex_unlock(&a->p->lock);
	return is;
}

bool
peer_try_subscribe(struct peer *p, const char *filter)
{
	struct answer a = { p, &p->subscribed, 0 };
	bool may;

	ck_assert_int_eq(
	    mosquitto_subscribe(p->m, &a.mid, filter, 1), MOSQ_ERR_SUCCESS);
	ck_assert(tk_until(is_acknowledged, &a, STACK_MS));
	pthread_mutex_lock(&p->lock);
	may = p->granted;
	pthread_mutex_unlock(&p->lock);
	return may;
}

void
peer_subscribe(struct peer *p, const char *filter)
{
	ck_assert_msg(peer_try_subscribe(p, filter), "%s is denied", filter);
}

bool
peer_is_up(struct peer *p)
{
	return is_up(p);
}

void
peer_send(struct peer *p, const char *topic, const void *payload, size_t n,
    unsigned how)
{
	struct answer a = { p, &p->published, 0 };

	ck_assert_int_eq(mosquitto_publish(p->m, &a.mid, topic, (int)n, payload,
			     (how & PEER_QOS1) != 0, (how & PEER_RETAIN) != 0),
	    MOSQ_ERR_SUCCESS);
	ck_assert(tk_until(is_acknowledged, &a, STACK_MS));
}

struct search {
	struct peer *p;
	struct str end;
	struct got *found;
	size_t n;
};

static bool
peer_scan(void *arg)
{
	struct search *s = arg;
	struct got *g;

	s->found = NULL;
	s->n = 0;
	pthread_mutex_lock(&s->p->lock);
	TAILQ_FOREACH (g, &s->p->list, link) {
		if (!str_ends(str_of(g->topic), s->end))
			continue;
		if (s->found == NULL)
			s->found = g;
		s->n++;
	}
	pthread_mutex_unlock(&s->p->lock);
	return s->n > 0;
}

json_t *
peer_next(struct peer *p, const char *end, int ms)
{
	struct search s = { .p = p, .end = str_of(end) };
	json_t *message;

	if (!tk_until(peer_scan, &s, ms))
		return NULL;
	pthread_mutex_lock(&p->lock);
	TAILQ_REMOVE(&p->list, s.found, link);
	pthread_mutex_unlock(&p->lock);
	message = s.found->message;
	free(s.found);
	return message;
}

json_t *
peer_await(struct peer *p, const char *end, const char *path, const char *part)
{
	json_t *m;

	while ((m = peer_next(p, end, STACK_MS)) != NULL &&
	    !tk_text_has(m, path, part))
		json_decref(m);
	ck_assert_msg(m != NULL, "no ...%s with %s at %s", end, part, path);
	return m;
}

/*
 * A broker delivers to one subscriber in the order in which it accepted
 * messages.
 */
static void
peer_flush(struct peer *p)
{
	static const char mark[] =
	    "soul/terminal/" CAPTURE_HOSTILE "-mark/heartbeat";
	json_t *m;

	peer_subscribe(p, mark);
	peer_send(p, mark, "1", 1, PEER_QOS1);
	m = peer_next(p, mark, STACK_MS);
	ck_assert_ptr_nonnull(m);
	json_decref(m);
}

size_t
peer_count(struct peer *p, const char *end)
{
	struct search s = { .p = p, .end = str_of(end) };

	peer_flush(p);
	(void)peer_scan(&s);
	return s.n;
}

struct peer *
peer_watch(struct stack *st, const char *terminal)
{
	struct peer *p = peer_new(st, NULL);
	char filter[128];

	snprintf(filter, sizeof(filter), "soul/terminal/%s/#", terminal);
	peer_subscribe(p, filter);
	return p;
}

/* ---- a terminal ---- */

/* Runs on the client's thread. */
static void
reply_to_invoke(void *arg, const char *topic, json_t *payload)
{
	struct terminal *b = arg;
	const char *id = strstr(topic, "/invoke/");
	const char *skill =
	    json_string_value(json_object_get(payload, "skill"));
	char to[512], output[256];
	json_t *result;
	char *text;

	if (id == NULL || b->manner == TERMINAL_IS_SILENT)
		return;
	id += strlen("/invoke/");
	snprintf(to, sizeof(to), "soul/terminal/%s/result/%s", b->terminal, id);
	snprintf(output, sizeof(output), "%s %s",
	    skill != NULL ? skill : "nothing",
	    b->manner == TERMINAL_OBEYS ? "executed" : "failed");
	result = json_pack("{sssbss}", "request_id", id, "ok",
	    b->manner == TERMINAL_OBEYS, "output", output);
	if (b->manner == TERMINAL_FAILS)
		json_object_set_new(
		    result, "error", json_string("servo timeout"));
	text = json_dumps(result, 0);
	(void)mosquitto_publish(
	    b->peer->m, NULL, to, (int)strlen(text), text, 1, false);
	free(text);
	json_decref(result);
}

static void
terminal_publish(
    struct terminal *b, const char *leaf, const char *payload, unsigned how)
{
	char topic[512];

	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/%s", b->terminal, leaf);
	peer_send(b->peer, topic, payload, strlen(payload), how);
}

void
terminal_report(struct terminal *b, const char *leaf, json_t *report)
{
	char *text = json_dumps(report, 0);

	terminal_publish(b, leaf, text, PEER_REPORT);
	free(text);
	json_decref(report);
}

static void
terminal_on_message(struct terminal *b, const char *leaf)
{
	char topic[512];

	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/%s", b->terminal, leaf);
	peer_subscribe(b->peer, topic);
}

static void
report_skills(struct terminal *b, enum terminal_version speaks)
{
	bool old = speaks == TERMINAL_0220 || speaks == TERMINAL_0220_BARE;
	json_t *skills = tk_case_data("skills_report",
	    old ? "protocol 02-20, 3.3" : "protocol 02-22, 3.3");
	json_t *list = json_incref(tk_at(skills, "skills"));

	json_object_set_new(skills, "terminal_id", json_string(b->terminal));
	if (speaks == TERMINAL_0220_BARE) {
		json_decref(skills);
		terminal_report(b, "skills", list);
	} else {
		json_decref(list);
		terminal_report(b, "skills", skills);
	}
}

static void
report_intents(struct terminal *b)
{
	json_t *intents =
	    tk_case_data("intent_catalog_report", "protocol 02-22, 3.10");

	json_object_set_new(intents, "terminal_id", json_string(b->terminal));
	terminal_report(b, "intent_catalog", intents);
}

void
terminal_connect(struct terminal *b, struct stack *st, const char *terminal,
    enum terminal_version speaks)
{
	bool has_intents =
	    speaks == TERMINAL_0222 || speaks == TERMINAL_UNSUBSCRIBED;
	char topic[512];
	struct peer_opts o = { .will_topic = topic, .will = "offline" };

	if (st->opts->locked)
		o.as = terminal;

	b->terminal = terminal;
	snprintf(topic, sizeof(topic), "soul/terminal/%s/online", terminal);
	b->peer = peer_make(st, &o, reply_to_invoke, b);
	if (speaks != TERMINAL_UNSUBSCRIBED)
		terminal_on_message(b, "invoke/+");
	if (speaks == TERMINAL_0222) {
		terminal_on_message(b, "status");
		terminal_on_message(b, "emotion_update");
		terminal_on_message(b, "intent_action");
	}
	terminal_publish(b, "online",
	    speaks == TERMINAL_0220_BARE ? " TRUE " : "online", PEER_REPORT);
	report_skills(b, speaks);
	if (has_intents)
		report_intents(b);
	terminal_publish(b, "heartbeat", "1", PEER_QOS0);
	client_wait_terminal(st, b->user != NULL ? b->user : STACK_USER,
	    terminal, has_intents ? CLIENT_SEES_INTENTS : CLIENT_SEES_SKILLS);
}

void
terminal_free(struct terminal *b)
{
	terminal_publish(b, "online", "offline", PEER_REPORT);
	peer_free(b->peer);
}
