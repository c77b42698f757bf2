/* The capture reports invalid messages, and no others. */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/stack/capture.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/stack.h"
#include "testkit/stack/subscriber.h"

static const struct stack_opts bare = { .without = STACK_BARE };

#define ENVELOPE(type, payload)                                            \
	"{\"trace_id\":\"3f0c1d9a-7c1e-4b52-9d3e-0a1b2c3d4e5f\","          \
	"\"type\":\"" type "\",\"source\":\"system\",\"payload\":" payload \
	",\"meta\":{\"timestamp\":1.5}}"

/* On NATS: the expected complaint, NULL if there is none. */
static const struct {
	const char *subject, *data, *text_contains;
} published[] = {
	{ "soul.rpc.nothing", "{}", "unknown subject" },
	{ "other", "{}", "unknown subject" },
	{ "soul.result.t1", "{}", "unknown subject" },
	{ "soul.result.t1.r1", "{}", "no result: /request_id: is missing" },
	{ "soul.result.t1.r1", "{\"request_id\":\"r1\",\"ok\":true}", NULL },
	{ "soul.result.t1.r2", "{\"request_id\":7,\"ok\":true}",
	    "no result: /request_id" },
	{ "soul.event.terminal_online.t1",
	    ENVELOPE("terminal_online",
		"{\"terminal_id\":\"t1\",\"online\":true,\"broker\":\"m\"}"),
	    NULL },
	{ "soul.event.terminal_online.t1", ENVELOPE("terminal_online", "{}"),
	    "no terminal_online: /terminal_id" },
	{ "soul.event.terminal_online.t1", ENVELOPE("user_input", "{}"),
	    "is an event of type user_input" },
	{ "soul.event.nonsense.t1", ENVELOPE("nonsense", "{}"),
	    "unknown type of event" },
	{ "soul.event.terminal_online.t1", "[]", "no event_envelope" },
	{ "soul.rpc.emotion.gate", "{\"user_id\":\"u1\",\"soul_id\":\"s1\"}",
	    "takes no reply" },
	{ "soul.rpc.emotion.gate", "{\"user_id\":\"u1\",\"soul_id\":\"s2\"}",
	    "has no deadline" },
	{ "soul.rpc.emotion.gate", "{\"user_id\":\"u1\",\"soul_id\":\"s3\"}",
	    "has no trace" },
	{ "_INBOX.unknown.request", "{}", "a reply without a request" },
	{ "_INBOX.greeting.0", "", NULL },
	{ "$JS.API.INFO", "", NULL },
	{ "$JS.OTHER", "", "unknown subject" },
};

/* The number of complaints so far. */
static size_t
complaints(struct stack *st)
{
	char *log = tk_read_file(st->capture.log, NULL);
	const char *p = log;
	size_t n = 0;

	while ((p = strstr(p, CAPTURE_WRONG)) != NULL) {
		n++;
		p++;
	}
	free(log);
	return n;
}

struct complaint {
	struct stack *st;
	size_t n;
};

static bool
are_made(void *arg)
{
	const struct complaint *c = arg;

	return complaints(c->st) >= c->n;
}

/* There are n complaints by now, one of which contains the text. */
static void
assert_reports(struct stack *st, size_t n, const char *text)
{
	struct complaint c = { st, n };

	ck_assert_msg(
	    tk_until(are_made, &c, STACK_MS), "not reported: %s", text);
	ck_assert_msg(tk_log_has(&st->capture, text), "not reported: %s", text);
}

TEST(nats_messages_are_checked)
{
	natsConnection *nc = NULL;
	struct stack st;
	size_t i, wrong = 0;

	stack_start(&st, &bare);
	ck_assert_int_eq(
	    natsConnection_ConnectTo(&nc, st.server[STACK_NATS].url), NATS_OK);
	for (i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		ck_assert_int_eq(natsConnection_PublishString(nc,
				     published[i].subject, published[i].data),
		    NATS_OK);
		ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
		if (published[i].text_contains == NULL)
			continue;
		/*
		 * A request without its required members violates three rules.
		 */
		wrong += strstr(published[i].subject, ".gate") != NULL ? 3 : 1;
		assert_reports(&st, wrong, published[i].text_contains);
	}
	ck_assert_uint_eq(complaints(&st), wrong);
	natsConnection_Destroy(nc);
	nats_Close();
	ck_assert_ptr_nonnull(stack_end(&st));
}

TEST(replies_are_checked_by_their_request)
{
	static const struct {
		const char *answer, *header, *text_contains;
	} rows[] = {
		{ "{}", NULL, "no memory_ready_reply: /ready: is missing" },
		{ "{\"error\":7}", "internal", "no error: /error" },
		{ "{\"error\":\"it broke\"}", "internal", NULL },
	};
	struct stack st;
	struct subscriber *e;
	natsConnection *nc = NULL;
	natsMsg *q = NULL, *r = NULL;
	char inbox[64];
	json_t *j;
	size_t i;

	stack_start(&st, &bare);
	e = subscriber_new(&st, "soul.rpc.memory.ready", NULL);
	ck_assert_int_eq(
	    natsConnection_ConnectTo(&nc, st.server[STACK_NATS].url), NATS_OK);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(inbox, sizeof(inbox), "_INBOX.test.%zu", i + 1);
		ck_assert_int_eq(
		    natsMsg_Create(&q, "soul.rpc.memory.ready", inbox, "{}", 2),
		    NATS_OK);
		(void)natsMsgHeader_Set(q, "Soul-Deadline", "1");
		(void)natsMsgHeader_Set(q, "traceparent", "x");
		ck_assert_int_eq(natsConnection_PublishMsg(nc, q), NATS_OK);
		natsMsg_Destroy(q);
		j = subscriber_next(e, STACK_MS);
		ck_assert_ptr_nonnull(j);
		json_decref(j);
		ck_assert_int_eq(natsMsg_Create(&r, inbox, NULL, rows[i].answer,
				     (int)strlen(rows[i].answer)),
		    NATS_OK);
		if (rows[i].header != NULL)
			(void)natsMsgHeader_Set(
			    r, "Nats-Service-Error", rows[i].header);
		ck_assert_int_eq(natsConnection_PublishMsg(nc, r), NATS_OK);
		natsMsg_Destroy(r);
		ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
		if (rows[i].text_contains != NULL)
			assert_reports(&st, i + 1, rows[i].text_contains);
	}
	ck_assert_uint_eq(complaints(&st), 2);
	subscriber_free(e);
	natsConnection_Destroy(nc);
	ck_assert_ptr_nonnull(stack_end(&st));
}

/* On MQTT. */
static const struct {
	const char *topic, *data;
	unsigned how;
	const char *text_contains;
} sent[] = {
	{ "soul/terminal/t1/online", "online", PEER_REPORT, NULL },
	{ "soul/terminal/t1/online", "maybe", PEER_REPORT, "no online" },
	{ "soul/terminal/t2/online", "online", PEER_QOS1, "is not retained" },
	{ "soul/terminal/t3/online", "online", PEER_RETAIN, "QoS is 0, not 1" },
	{ "soul/terminal/t1/heartbeat", "1", PEER_QOS0, NULL },
	{ "soul/terminal/t1/heartbeat", "1", PEER_RETAIN, "is retained" },
	{ "soul/terminal/t1/skills", "{\"terminal_id\":\"t1\",\"skills\":[]}",
	    PEER_REPORT, NULL },
	{ "soul/terminal/t1/skills", "{\"terminal_id\":\"t4\",\"skills\":[]}",
	    PEER_REPORT, "its terminal_id is t4" },
	{ "soul/terminal/t1/skills", "", PEER_REPORT, NULL },
	{ "soul/terminal/t1/skills", "{", PEER_REPORT, "no skills_report" },
	{ "soul/terminal/t1/invoke/r1",
	    "{\"request_id\":\"r2\",\"skill\":\"s\",\"arguments\":{}}",
	    PEER_QOS1, "its request_id is r2" },
	{ "soul/terminal/t1/invoke/r1",
	    "{\"request_id\":\"r1\",\"skill\":\"s\",\"arguments\":{}}",
	    PEER_QOS1, NULL },
	{ "soul/terminal/t1/nothing", "1", PEER_QOS1, "unknown topic" },
	{ "soul/terminal/t1", "1", PEER_QOS1, "unknown topic" },
	{ "other", "1", PEER_QOS1, "unknown topic" },
	{ "a/prefix/terminal/t1/heartbeat", "1", PEER_QOS0, NULL },
	{ "soul/terminal/" CAPTURE_HOSTILE "-1/skills", "{", PEER_QOS0, NULL },
	{ "soul/terminal/" CAPTURE_HOSTILE "-1/what", "{", PEER_QOS0, NULL },
	{ "soul/terminal/" CAPTURE_HOSTILE "-1/status", "{", PEER_QOS1,
	    "no status" },
};

TEST(mqtt_messages_are_checked)
{
	struct stack st;
	struct peer *p;
	size_t i, wrong = 0;

	stack_start(&st, &bare);
	p = peer_new(&st, NULL);
	for (i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		peer_send(p, sent[i].topic, sent[i].data, strlen(sent[i].data),
		    sent[i].how);
		if (sent[i].text_contains == NULL)
			continue;
		assert_reports(&st, ++wrong, sent[i].text_contains);
	}
	ck_assert_uint_eq(complaints(&st), wrong);
	peer_free(p);
	ck_assert_ptr_nonnull(stack_end(&st));
}

TEST(no_message_is_no_error)
{
	struct stack st;

	stack_start(&st, &bare);
	stack_check(&st);
	ck_assert_ptr_null(stack_end(&st));
}
