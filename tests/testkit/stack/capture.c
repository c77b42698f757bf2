/* One loop reads NATS and MQTT messages in turn, so no lock is needed. */
#include "testkit/stack/capture.h"

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/map.h"
#include "core/mem.h"
#include "testkit/stack/verdict.h"

/* Requests whose replies are still recognized. */
#define PENDING_MAX 65536
/* A reply may be received before its request; the most such replies. */
#define EARLY_MAX 64
#define EARLY_MS  500
/* MQTT messages per iteration before NATS is read. */
#define MQTT_BATCH 256

struct pending {
	const struct wire_subject
	    *row; /* NULL: internal to the server, or discovery */
	char inbox[128];
};

struct capture {
	natsConnection *nc;
	natsSubscription *sub;
	struct mosquitto *m;
	struct arena *arena;
	struct map *by_inbox; /* struct pending */
	struct pending *pending;
	size_t next;
	struct {
		natsMsg *msg;
		struct mono since;
	} early[EARLY_MAX];
	size_t n_early;
	size_t *subjects, *topics, *events; /* messages per row */
	size_t nats, mqtt, wrong;
};

static volatile sig_atomic_t stop_requested;

static void
on_term(int sig)
{
	(void)sig;
	stop_requested = 1;
}

static void
capture_report(struct capture *t, const char *where, struct str name,
    struct str data, const char *why)
{
	t->wrong++;
	printf(CAPTURE_WRONG "%s %.*s: %s: %.*s\n", where, STR_ARG(name), why,
	    (int)(data.n < 400 ? data.n : 400), data.n > 0 ? data.p : "");
	fflush(stdout);
}

/* ---- NATS ---- */

static struct str
capture_data(natsMsg *m)
{
	return (
	    struct str){ natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m) };
}

static bool
has_header(natsMsg *m, const char *name)
{
	const char *value = NULL;

	return natsMsgHeader_Get(m, name, &value) == NATS_OK && value != NULL;
}

/* Expect replies on an inbox. */
static void
capture_expect_reply(
    struct capture *t, const char *inbox, const struct wire_subject *row)
{
	struct pending *a = &t->pending[t->next++ % PENDING_MAX];

	if (map_get(t->by_inbox, str_of(a->inbox)) == a)
		(void)map_del(t->by_inbox, str_of(a->inbox));
	a->row = row;
	snprintf(a->inbox, sizeof(a->inbox), "%s", inbox);
	(void)map_put(t->by_inbox, str_of(a->inbox), a);
}

/* Subjects of the server itself, and discovery. */
static bool
is_of_server(struct str subject)
{
	return str_starts(subject, STR("$JS.API.")) ||
	    str_starts(subject, STR("$JS.ACK.")) ||
	    str_starts(subject, STR("$JS.EVENT.ADVISORY.")) ||
	    str_starts(subject, STR("$SRV."));
}

static bool
was_disconnected(struct capture *t)
{
	natsStatistics *s = NULL;
	uint64_t retry = 0;

	if (natsStatistics_Create(&s) == NATS_OK &&
	    natsConnection_GetStats(t->nc, s) == NATS_OK)
		(void)natsStatistics_GetCounts(
		    s, NULL, NULL, NULL, NULL, &retry);
	natsStatistics_Destroy(s);
	return retry > 0;
}

/* A reply; false if its request has not been seen. */
static bool
capture_reply(struct capture *t, natsMsg *m)
{
	struct str inbox = str_of(natsMsg_GetSubject(m));
	const struct pending *a = map_get(t->by_inbox, inbox);
	struct verdict v = { 0 };

	/* The request may have been missed while disconnected. */
	if (a == NULL)
		return was_disconnected(t);
	/*
	 * Status messages of the server (no responders, no messages) have no
	 * data.
	 */
	if (a->row == NULL ||
	    (capture_data(m).n == 0 && has_header(m, "Status")))
		return true;
	verdict_reply(t->arena, a->row, capture_data(m),
	    has_header(m, "Nats-Service-Error"), &v);
	if (v.wrong)
		capture_report(t, "NATS reply to", str_of(a->row->subject),
		    capture_data(m), v.why);
	return true;
}

/* A message that is not a reply. */
static void
capture_subject(struct capture *t, natsMsg *m)
{
	struct str subject = str_of(natsMsg_GetSubject(m));
	const char *inbox = natsMsg_GetReply(m);
	const struct wire_subject *row;
	struct verdict v = { 0 };

	if (is_of_server(subject)) {
		if (inbox != NULL)
			capture_expect_reply(t, inbox, NULL);
		return;
	}
	row = verdict_subject_row(subject);
	if (row == NULL) {
		capture_report(
		    t, "NATS", subject, capture_data(m), "unknown subject");
		return;
	}
	t->subjects[row - wire_subjects]++;
	if (row->kind == WIRE_SUBJECT_KIND_REQUEST) {
		if (inbox == NULL)
			capture_report(t, "NATS", subject, capture_data(m),
			    "takes no reply");
		else
			capture_expect_reply(t, inbox, row);
		if (!has_header(m, "Soul-Deadline"))
			capture_report(t, "NATS", subject, capture_data(m),
			    "has no deadline");
		if (!has_header(m, "traceparent"))
			capture_report(t, "NATS", subject, capture_data(m),
			    "has no trace");
	} else if (inbox != NULL) {
		capture_expect_reply(t, inbox, NULL);
	}
	verdict_request(t->arena, row, subject, capture_data(m), &v);
	if (v.wrong)
		capture_report(t, "NATS", subject, capture_data(m), v.why);
	else if (row->kind == WIRE_SUBJECT_KIND_EVENT) {
		(void)str_split(&subject, '.');
		(void)str_split(&subject, '.');
		t->events[wire_event_find(str_split(&subject, '.')) -
		    wire_events]++;
	}
}

/* A libs/bus connection checks itself like this: _INBOX.<its id>.0 */
static bool
is_greeting(natsMsg *m)
{
	return str_ends(str_of(natsMsg_GetSubject(m)), STR(".0")) &&
	    capture_data(m).n == 0 && natsMsg_GetReply(m) == NULL;
}

static void
capture_nats(struct capture *t, natsMsg *m)
{
	t->nats++;
	if (!str_starts(str_of(natsMsg_GetSubject(m)), STR("_INBOX."))) {
		capture_subject(t, m);
		natsMsg_Destroy(m);
	} else if (is_greeting(m) || capture_reply(t, m)) {
		natsMsg_Destroy(m);
	} else if (t->n_early < EARLY_MAX) {
		t->early[t->n_early].since = clock_mono();
		t->early[t->n_early++].msg = m;
	} else {
		capture_report(t, "NATS", str_of(natsMsg_GetSubject(m)),
		    capture_data(m), "a reply without a request");
		natsMsg_Destroy(m);
	}
}

/* Check the replies again whose request had not been seen. */
static void
capture_early(struct capture *t, bool at_end)
{
	size_t i, n = 0;
	natsMsg *m;

	for (i = 0; i < t->n_early; i++) {
		m = t->early[i].msg;
		if (!capture_reply(t, m)) {
			if (!at_end &&
			    mono_diff_ms(clock_mono(), t->early[i].since) <
				EARLY_MS) {
				t->early[n++] = t->early[i];
				continue;
			}
			capture_report(t, "NATS", str_of(natsMsg_GetSubject(m)),
			    capture_data(m), "a reply without a request");
		}
		natsMsg_Destroy(m);
	}
	t->n_early = n;
}

/* url may have several servers, with commas between them. */
static natsStatus
capture_set_servers(natsOptions *o, const char *url)
{
	char text[512], *rest, *one;
	const char *server[8];
	int n = 0;

	snprintf(text, sizeof(text), "%s", url);
	for (one = strtok_r(text, ",", &rest); one != NULL && n < 8;
	     one = strtok_r(NULL, ",", &rest))
		server[n++] = one;
	return natsOptions_SetServers(o, server, n);
}

static void
capture_open_nats(struct capture *t, const char *url)
{
	natsOptions *o = NULL;

	if (natsOptions_Create(&o) != NATS_OK ||
	    capture_set_servers(o, url) != NATS_OK ||
	    natsOptions_SetMaxReconnect(o, -1) != NATS_OK ||
	    natsOptions_SetReconnectWait(o, 10) != NATS_OK ||
	    natsConnection_Connect(&t->nc, o) != NATS_OK ||
	    natsConnection_SubscribeSync(&t->sub, t->nc, ">") != NATS_OK ||
	    natsSubscription_SetPendingLimits(t->sub, -1, -1) != NATS_OK ||
	    natsConnection_Flush(t->nc) != NATS_OK) {
		printf(CAPTURE_WRONG "no NATS at %s\n", url);
		exit(1);
	}
	natsOptions_Destroy(o);
}

/* ---- MQTT ---- */

static void
on_message(struct mosquitto *m, void *arg, const struct mosquitto_message *msg,
    const mosquitto_property *props)
{
	struct capture *t = arg;
	struct verdict_mqtt what = {
		.topic = str_of(msg->topic),
		.payload = { msg->payload, (size_t)msg->payloadlen },
		.qos = msg->qos,
		.retain = msg->retain,
	};
	const struct wire_topic *row;
	struct verdict v = { 0 };

	(void)m;
	(void)props;
	t->mqtt++;
	verdict_mqtt(t->arena, &what, &row, &v);
	if (row != NULL)
		t->topics[row - wire_topics]++;
	if (v.wrong && (row == NULL || row->from_body) &&
	    str_starts(
		verdict_topic_terminal(what.topic), STR(CAPTURE_HOSTILE)))
		return;
	if (v.wrong)
		capture_report(t, "MQTT", what.topic, what.payload, v.why);
}

static void
on_connect(struct mosquitto *m, void *arg, int rc, int flags,
    const mosquitto_property *props)
{
	(void)arg;
	(void)flags;
	(void)props;
	/* Retained messages were checked when they were published. */
	if (rc == 0)
		(void)mosquitto_subscribe_v5(m, NULL, "#", 2,
		    MQTT_SUB_OPT_RETAIN_AS_PUBLISHED |
			MQTT_SUB_OPT_SEND_RETAIN_NEVER,
		    NULL);
}

static void
on_subscribe(struct mosquitto *m, void *arg, int mid, int n, const int *qos,
    const mosquitto_property *props)
{
	(void)m;
	(void)arg;
	(void)mid;
	(void)n;
	(void)qos;
	(void)props;
	printf(CAPTURE_READY);
	fflush(stdout);
}

static void
capture_open_mqtt(struct capture *t, int port)
{
	t->m = mosquitto_new(NULL, true, t);
	if (t->m == NULL)
		abort();
	(void)mosquitto_int_option(
	    t->m, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
	(void)mosquitto_int_option(t->m, MOSQ_OPT_RECEIVE_MAXIMUM, 65535);
	mosquitto_connect_v5_callback_set(t->m, on_connect);
	mosquitto_subscribe_v5_callback_set(t->m, on_subscribe);
	mosquitto_message_v5_callback_set(t->m, on_message);
	(void)mosquitto_connect(t->m, "127.0.0.1", port, 60);
}

/* Read pending messages, waiting for some milliseconds at most. */
static void
capture_mqtt(struct capture *t)
{
	size_t before;
	int i = 0;

	if (t->m == NULL)
		return;
	do {
		before = t->mqtt;
		if (mosquitto_loop(t->m, i == 0 ? 5 : 0, 1) != MOSQ_ERR_SUCCESS)
			(void)mosquitto_reconnect(t->m);
	} while (t->mqtt > before && i++ < MQTT_BATCH);
}

/* ---- the process ---- */

static void
capture_print_counts(const struct capture *t)
{
	size_t i;

	for (i = 0; i < wire_subjects_n; i++)
		printf("seen: nats %s %zu\n", wire_subjects[i].name,
		    t->subjects[i]);
	for (i = 0; i < wire_events_n; i++)
		printf(
		    "seen: event %s %zu\n", wire_events[i].type, t->events[i]);
	for (i = 0; i < wire_topics_n; i++)
		printf(
		    "seen: mqtt %s %zu\n", wire_topics[i].name, t->topics[i]);
	printf("capture: %zu NATS messages, %zu MQTT messages, %zu wrong\n",
	    t->nats, t->mqtt, t->wrong);
}

static void
capture_free(struct capture *t)
{
	natsSubscription_Destroy(t->sub);
	natsConnection_Destroy(t->nc);
	nats_Close();
	if (t->m != NULL)
		mosquitto_destroy(t->m);
	(void)mosquitto_lib_cleanup();
	map_free(t->by_inbox);
	free(t->pending);
	free(t->subjects);
	free(t->topics);
	free(t->events);
	arena_free(t->arena);
}

int
capture_main(void *where)
{
	const struct capture_source *w = where;
	struct capture t = { 0 };
	natsMsg *m;

	(void)signal(SIGTERM, on_term);
	t.arena = arena_new(WIRE_ARENA_MAX);
	t.by_inbox = map_new();
	t.pending = mem_calloc(PENDING_MAX, sizeof(*t.pending));
	t.subjects = mem_calloc(wire_subjects_n, sizeof(*t.subjects));
	t.topics = mem_calloc(wire_topics_n, sizeof(*t.topics));
	t.events = mem_calloc(wire_events_n, sizeof(*t.events));
	(void)mosquitto_lib_init();
	capture_open_nats(&t, w->nats_url);
	if (w->mqtt_port != 0)
		capture_open_mqtt(&t, w->mqtt_port);
	else
		printf(CAPTURE_READY);
	fflush(stdout);
	while (!stop_requested) {
		while (natsSubscription_NextMsg(
			   &m, t.sub, t.m != NULL ? 1 : 20) == NATS_OK)
			capture_nats(&t, m);
		capture_mqtt(&t);
		capture_early(&t, false);
	}
	capture_early(&t, true);
	capture_print_counts(&t);
	capture_free(&t);
	return t.wrong > 0 ? 1 : 0;
}
