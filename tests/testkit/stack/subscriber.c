#include "testkit/stack/subscriber.h"

#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/stack/client.h"

struct subscriber {
	natsConnection *nc;
	natsSubscription *sub;
	char subject[1024];
	char inbox[256];
};

struct subscriber *
subscriber_new(struct stack *st, const char *subject, const char *queue)
{
	struct subscriber *e = mem_zalloc(sizeof(*e));
	natsStatus s;

	s = natsConnection_ConnectTo(&e->nc, stack_nats_url(st));
	ck_assert_int_eq(s, NATS_OK);
	s = queue != NULL
	    ? natsConnection_QueueSubscribeSync(&e->sub, e->nc, subject, queue)
	    : natsConnection_SubscribeSync(&e->sub, e->nc, subject);
	ck_assert_int_eq(s, NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(e->nc), NATS_OK);
	return e;
}

void
subscriber_free(struct subscriber *e)
{
	natsSubscription_Destroy(e->sub);
	natsConnection_Destroy(e->nc);
	nats_Close();
	free(e);
}

json_t *
subscriber_next(struct subscriber *e, int ms)
{
	natsMsg *m = NULL;
	const char *inbox;
	json_t *j;

	if (natsSubscription_NextMsg(&m, e->sub, ms) != NATS_OK)
		return NULL;
	snprintf(e->subject, sizeof(e->subject), "%s", natsMsg_GetSubject(m));
	inbox = natsMsg_GetReply(m);
	snprintf(e->inbox, sizeof(e->inbox), "%s", inbox != NULL ? inbox : "");
	j = json_loadb(natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m),
	    JSON_DECODE_ANY, NULL);
	ck_assert_msg(j != NULL, "%s: no JSON", e->subject);
	natsMsg_Destroy(m);
	return j;
}

json_t *
subscriber_await(struct subscriber *e, const char *path, const char *part)
{
	json_t *m;

	while ((m = subscriber_next(e, STACK_MS)) != NULL &&
	    !tk_text_has(m, path, part))
		json_decref(m);
	ck_assert_msg(m != NULL, "nothing with %s at %s", part, path);
	return m;
}

const char *
subscriber_subject(const struct subscriber *e)
{
	return e->subject;
}

void
subscriber_reply(struct subscriber *e, json_t *reply)
{
	char *text = json_dumps(reply, 0);

	ck_assert_str_ne(e->inbox, "");
	ck_assert_int_eq(
	    natsConnection_PublishString(e->nc, e->inbox, text), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(e->nc), NATS_OK);
	free(text);
	json_decref(reply);
}
