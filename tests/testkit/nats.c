#include "testkit/nats.h"

#include <stdio.h>

#include "testkit/json.h"
#include "testkit/testkit.h"

#define REQUEST_MS 60000

natsConnection *
tk_nats_connect(const char *url)
{
	natsConnection *nc = NULL;

	ck_assert_int_eq(natsConnection_ConnectTo(&nc, url), NATS_OK);
	return nc;
}

natsSubscription *
tk_nats_listen(natsConnection *nc, const char *subject)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, nc, subject), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	return sub;
}

/*
 * The library's reader may still have a message for a subscription that it has
 * just let go of, and does not keep it; after a flush it has none.
 */
void
tk_nats_unlisten(natsConnection *nc, natsSubscription *sub)
{
	ck_assert_int_eq(natsSubscription_Unsubscribe(sub), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	natsSubscription_Destroy(sub);
}

json_t *
tk_nats_json(natsMsg *m)
{
	return tk_json(natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m));
}

json_t *
tk_nats_next(natsSubscription *sub, int ms, char *subject)
{
	natsMsg *m = NULL;
	json_t *j;

	if (natsSubscription_NextMsg(&m, sub, ms) != NATS_OK)
		return NULL;
	if (subject != NULL)
		snprintf(subject, TK_SUBJECT, "%s", natsMsg_GetSubject(m));
	j = tk_nats_json(m);
	natsMsg_Destroy(m);
	return j;
}

json_t *
tk_nats_request(natsConnection *nc, const char *subject, const char *body,
    char code[TK_CODE])
{
	natsMsg *m = NULL;
	const char *err = NULL;
	json_t *j;

	ck_assert_int_eq(
	    natsConnection_RequestString(&m, nc, subject, body, REQUEST_MS),
	    NATS_OK);
	if (natsMsgHeader_Get(m, "Nats-Service-Error", &err) != NATS_OK)
		err = "";
	snprintf(code, TK_CODE, "%s", err);
	j = tk_nats_json(m);
	natsMsg_Destroy(m);
	return j;
}

void
tk_nats_send(natsConnection *nc, const char *subject, const char *body)
{
	ck_assert_int_eq(
	    natsConnection_PublishString(nc, subject, body), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
}

size_t
tk_nats_stored(natsConnection *nc, const char *stream, const char *filter,
    void (*fn)(void *arg, json_t *j), void *arg)
{
	char subject[TK_SUBJECT], body[512], code[TK_CODE];
	natsSubscription *sub;
	natsInbox *inbox;
	json_int_t n, i;
	json_t *j;

	/* Its own: the consumer of an earlier call may still deliver. */
	ck_assert_int_eq(natsInbox_Create(&inbox), NATS_OK);
	sub = tk_nats_listen(nc, inbox);
	snprintf(
	    subject, sizeof(subject), "$JS.API.CONSUMER.CREATE.%s", stream);
	snprintf(body, sizeof(body),
	    "{\"stream_name\":\"%s\",\"config\":{\"deliver_subject\":\"%s\","
	    "\"ack_policy\":\"none\",\"deliver_policy\":\"all\","
	    "\"filter_subject\":\"%s\"}}",
	    stream, inbox, filter);
	j = tk_nats_request(nc, subject, body, code);
	ck_assert_msg(tk_find(j, "error") == NULL, "%s: %s", filter,
	    tk_find_text(j, "error.description"));
	n = tk_int(j, "num_pending") + tk_int(j, "delivered.consumer_seq");
	json_decref(j);
	for (i = 0; i < n; i++) {
		j = tk_nats_next(sub, REQUEST_MS, NULL);
		ck_assert_msg(
		    j != NULL, "%lld of %lld", (long long)i, (long long)n);
		fn(arg, j);
		json_decref(j);
	}
	tk_nats_unlisten(nc, sub);
	natsInbox_Destroy(inbox);
	return (size_t)n;
}

void
tk_nats_events(natsConnection *nc)
{
	char code[TK_CODE];
	json_t *j = tk_nats_request(nc, "$JS.API.STREAM.CREATE.SOUL_EVENTS",
	    "{\"name\":\"SOUL_EVENTS\",\"subjects\":[\"soul.event.>\"],"
	    "\"retention\":\"limits\",\"storage\":\"file\","
	    "\"num_replicas\":1,\"max_consumers\":-1,\"max_msgs\":-1,"
	    "\"max_bytes\":-1,\"max_age\":0,\"duplicate_window\":"
	    "120000000000}",
	    code);

	ck_assert_msg(json_object_get(j, "config") != NULL, "%s",
	    json_dumps(j, JSON_COMPACT));
	json_decref(j);
}
