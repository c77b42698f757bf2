/*
 * Plain NATS clients, all on one thread.
 */
#include "testkit/orch_peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"

#define ORCH_PEERS_DRAIN_MS 2000

/* ---- log ---- */

static void
orch_peers_record(struct orch_peers *p, const char *what, const char *more)
{
	if (p->n_log < ORCH_PEERS_LOG)
		snprintf(p->log[p->n_log++], ORCH_PEERS_LINE, "%s%s%s", what,
		    more[0] != '\0' ? ":" : "", more);
}

/* All requests in order, "observe filter …". */
const char *
orch_peers_log(struct orch_peers *p, char *dst, size_t size)
{
	size_t n = 0;

	dst[0] = '\0';
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n_log; i++)
		n += (size_t)snprintf(
		    dst + n, size - n, "%s%s", i > 0 ? " " : "", p->log[i]);
	pthread_mutex_unlock(&p->lock);
	return dst;
}

size_t
orch_peers_count(struct orch_peers *p, const char *line)
{
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n_log; i++)
		n += strncmp(p->log[i], line, strlen(line)) == 0;
	pthread_mutex_unlock(&p->lock);
	return n;
}

/* Valid until the next request of its kind. */
json_t *
orch_peers_last_of(struct orch_peers *p, json_t *const *which)
{
	pthread_mutex_lock(&p->lock);
	json_t *j = *which;
	pthread_mutex_unlock(&p->lock);
	return j;
}

size_t
orch_peers_invokes(struct orch_peers *p)
{
	pthread_mutex_lock(&p->lock);
	size_t n = p->n_invokes;
	pthread_mutex_unlock(&p->lock);
	return n;
}

void
orch_peers_clear(struct orch_peers *p)
{
	pthread_mutex_lock(&p->lock);
	p->n_log = 0;
	p->n_invokes = 0;
	pthread_mutex_unlock(&p->lock);
}

/* ---- replies ---- */

static json_t *
orch_peers_decode(natsMsg *m)
{
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);

	ck_assert_ptr_nonnull(j);
	return j;
}

static void
orch_peers_reply(struct orch_peers *p, natsMsg *m, const char *json)
{
	if (json == NULL || natsMsg_GetReply(m) == NULL)
		return;
	natsConnection_PublishString(p->nc, natsMsg_GetReply(m), json);
}

/* An error reply, as the suite's services send it. */
static void
orch_peers_reject(struct orch_peers *p, natsMsg *m, const char *code)
{
	char body[96];
	natsMsg *r = NULL;

	snprintf(
	    body, sizeof(body), "{\"error\":\"no\",\"code\":\"%s\"}", code);

	natsMsg_Create(&r, natsMsg_GetReply(m), NULL, body, (int)strlen(body));
	natsMsgHeader_Set(r, "Nats-Service-Error", code);
	natsMsgHeader_Set(r, "Nats-Service-Error-Code", "503");
	natsConnection_PublishMsg(p->nc, r);
	natsMsg_Destroy(r);
}

#define ORCH_PEERS_SAVED                                                 \
	"{\"soul_id\":\"soul_1\",\"user_emotion\":{\"emotion\":\"joy\"," \
	"\"p\":0.7,\"a\":0.5,\"d\":0.2,\"intensity\":0.6},"              \
	"\"soul_emotion\":{\"p\":0.1,\"a\":0.2,\"d\":0.3},"              \
	"\"exec_probability\":0.88,\"exec_mode\":\"auto_execute\","      \
	"\"version\":4}"

void
orch_peers_on_observe(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct orch_peers *p = arg;
	char rep[512];

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	orch_peers_record(p, "observe", "");
	json_decref(p->last_observe);
	p->last_observe = orch_peers_decode(m);
	snprintf(rep, sizeof(rep),
	    "{\"soul_id\":\"soul_1\",\"user_emotion\":{\"emotion\":\"joy\","
	    "\"p\":0.7,\"a\":0.5,\"d\":0.2,\"intensity\":0.6},"
	    "\"soul_emotion\":{\"p\":0.1,\"a\":0.2,\"d\":0.3},"
	    "\"exec_probability\":0.88,\"exec_mode\":\"%s\",\"version\":3%s}",
	    p->exec_mode != NULL ? p->exec_mode : "",
	    p->save_later ? ",\"saved\":false" : "");
	if (p->exec_mode != NULL)
		orch_peers_reply(p, m, rep);
	if (p->save_later)
		snprintf(p->save_inbox, sizeof(p->save_inbox), "%s",
		    natsMsg_GetReply(m));
	pthread_mutex_unlock(&p->lock);
	natsMsg_Destroy(m);
}

void
orch_peers_save(struct orch_peers *p, const char *error)
{
	natsMsg *m = NULL;

	pthread_mutex_lock(&p->lock);
	ck_assert_str_ne(p->save_inbox, "");
	ck_assert_int_eq(
	    natsMsg_Create(&m, "none", p->save_inbox, "", 0), NATS_OK);
	if (error != NULL)
		orch_peers_reject(p, m, error);
	else
		orch_peers_reply(p, m, ORCH_PEERS_SAVED);
	natsMsg_Destroy(m);
	p->save_inbox[0] = '\0';
	pthread_mutex_unlock(&p->lock);
}

/* The gate alone; without exec_mode no reply. */
static void
orch_peers_on_gate(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct orch_peers *p = arg;
	char rep[160];

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	orch_peers_record(p, "gate", "");
	snprintf(rep, sizeof(rep),
	    "{\"soul_id\":\"soul_1\",\"exec_probability\":0.88,"
	    "\"exec_mode\":\"%s\",\"version\":3}",
	    p->exec_mode != NULL ? p->exec_mode : "");
	if (p->exec_mode != NULL)
		orch_peers_reply(p, m, rep);
	pthread_mutex_unlock(&p->lock);
	natsMsg_Destroy(m);
}

static void
orch_peers_on_emotion(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	if (strcmp(natsMsg_GetSubject(m), "soul.rpc.emotion.gate") == 0)
		orch_peers_on_gate(nc, sub, m, arg);
	else
		orch_peers_on_observe(nc, sub, m, arg);
}

void
orch_peers_on_intents(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct orch_peers *p = arg;

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	orch_peers_record(p, "filter", "");
	json_decref(p->last_filter);
	p->last_filter = orch_peers_decode(m);
	if (p->filter_mute > 0)
		p->filter_mute--;
	else if (p->names != NULL &&
	    json_object_get(p->last_filter, "catalog_ref") != NULL)
		orch_peers_reject(p, m, p->names);
	else if (p->filter != NULL)
		orch_peers_reply(p, m, p->filter);
	else
		orch_peers_reject(p, m, "unavailable");
	pthread_mutex_unlock(&p->lock);
	natsMsg_Destroy(m);
}

static void
orch_peers_memory_forget(struct orch_peers *p, natsMsg *m, json_t *j)
{
	orch_peers_record(
	    p, "forget", json_string_value(json_object_get(j, "query")));
	json_decref(p->last_forget);
	p->last_forget = json_incref(j);
	if (p->forget_mute)
		return;
	if (p->forget != NULL)
		orch_peers_reply(p, m, p->forget);
	else
		orch_peers_reject(p, m, "unavailable");
}

static void
orch_peers_on_memory(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct orch_peers *p = arg;
	const char *subject = natsMsg_GetSubject(m);
	json_t *j = orch_peers_decode(m);

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	if (p->memory_hangs) {
		orch_peers_record(p, "ready", "");
	} else if (strcmp(subject, "soul.rpc.memory.ready") == 0) {
		orch_peers_reply(p, m,
		    p->ready ? "{\"ready\":true,\"backend\":\"builtin\"}"
			     : "{\"ready\":false,\"backend\":\"builtin\"}");
	} else if (strcmp(subject, "soul.rpc.memory.forget") == 0) {
		orch_peers_memory_forget(p, m, j);
	} else {
		orch_peers_record(p, "recall",
		    json_string_value(json_object_get(j, "query")));
		p->top_k = json_integer_value(json_object_get(j, "top_k"));
		if (p->recall != NULL)
			orch_peers_reply(p, m, p->recall);
		else
			orch_peers_reject(p, m, "unavailable");
	}
	pthread_mutex_unlock(&p->lock);
	json_decref(j);
	natsMsg_Destroy(m);
}

/* The body's result, on its subject. */
void
orch_body_result(struct orch_peers *p, const char *terminal, const char *id,
    const char *json)
{
	char subject[256];

	snprintf(subject, sizeof(subject), "soul.result.%s.%s", terminal, id);
	natsConnection_PublishString(p->nc, subject, json);
}

static void
orch_body_execute(struct orch_peers *p, const char *terminal, json_t *invoke)
{
	const char *id =
	    json_string_value(json_object_get(invoke, "request_id"));
	const char *skill = json_string_value(json_object_get(invoke, "skill"));
	char ok[256], error[256];

	if (p->mute_skill != NULL && strcmp(p->mute_skill, skill) == 0)
		return;
	snprintf(ok, sizeof(ok),
	    "{\"request_id\":\"%s\",\"ok\":true,\"output\":\"%s done\"}",
	    p->body == BODY_WRONG_ID ? "other" : id, skill);
	snprintf(error, sizeof(error),
	    "{\"request_id\":\"%s\",\"ok\":false,\"error\":\"stuck\"}", id);
	switch (p->body) {
	case BODY_OK:
	case BODY_WRONG_ID:
		orch_body_result(p, terminal, id, ok);
		break;
	case BODY_ERROR:
		orch_body_result(p, terminal, id, error);
		break;
	case BODY_TWICE:
		orch_body_result(p, terminal, id, ok);
		orch_body_result(p, terminal, id, error);
		break;
	case BODY_BAD:
		orch_body_result(p, terminal, id, "{");
		break;
	case BODY_MUTE:
		break;
	}
}

static void
orch_bridge_invoke(
    struct orch_peers *p, natsMsg *m, const char *terminal, json_t *j)
{
	char rep[96];

	orch_peers_record(
	    p, "invoke", json_string_value(json_object_get(j, "skill")));
	json_decref(p->last_invoke);
	p->last_invoke = json_incref(j);
	p->n_invokes++;
	if (p->delivery == NULL)
		return;
	snprintf(rep, sizeof(rep), "{\"state\":\"%s\"}", p->delivery);
	orch_peers_reply(p, m, rep);
	if (strcmp(p->delivery, "delivered") == 0)
		orch_body_execute(p, terminal, j);
}

/* soul.body.main.<terminal>.<what> */
static void
orch_bridge_on_message(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct orch_peers *p = arg;
	char terminal[128], what[64], rep[96];
	json_t *j = orch_peers_decode(m);

	(void)nc;
	(void)sub;
	ck_assert_int_eq(sscanf(natsMsg_GetSubject(m),
			     "soul.body.main.%127[^.].%63s", terminal, what),
	    2);
	pthread_mutex_lock(&p->lock);
	if (strcmp(what, "invoke") == 0) {
		orch_bridge_invoke(p, m, terminal, j);
	} else if (strcmp(what, "status") == 0) {
		orch_peers_record(p, "status",
		    json_string_value(json_object_get(j, "status")));
	} else {
		orch_peers_record(p, what, "");
		json_decref(p->last_action);
		p->last_action = json_incref(j);
		snprintf(rep, sizeof(rep), "{\"state\":\"%s\"}",
		    p->delivery != NULL ? p->delivery : "");
		if (p->delivery != NULL)
			orch_peers_reply(p, m, rep);
	}
	pthread_mutex_unlock(&p->lock);
	json_decref(j);
	natsMsg_Destroy(m);
}

/* ---- start and end ---- */

static void
orch_peers_on_end(void *arg)
{
	struct orch_peers *p = arg;

	pthread_mutex_lock(&p->lock);
	p->n_ended++;
	pthread_mutex_unlock(&p->lock);
}

static bool
orch_peers_ended(void *arg)
{
	struct orch_peers *p = arg;

	pthread_mutex_lock(&p->lock);
	bool is = p->n_ended == p->n_made;
	pthread_mutex_unlock(&p->lock);
	return is;
}

natsSubscription *
orch_peers_serve(struct orch_peers *p, const char *subject, natsMsgHandler fn)
{
	natsSubscription *sub = NULL;

	ck_assert_uint_lt(p->n_subs, 8);
	ck_assert_int_eq(
	    natsConnection_Subscribe(&sub, p->nc, subject, fn, p), NATS_OK);
	ck_assert_int_eq(
	    natsSubscription_SetOnCompleteCB(sub, orch_peers_on_end, p),
	    NATS_OK);
	p->n_made++;
	p->subs[p->n_subs++] = sub;
	ck_assert_int_eq(natsConnection_Flush(p->nc), NATS_OK);
	return sub;
}

void
orch_peers_start(struct orch_peers *p, const char *url)
{
	natsOptions *o = NULL;

	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
	p->exec_mode = "auto_execute";
	p->delivery = "delivered";
	/* One thread for all, so that the log has the order of the wire. */
	ck_assert_int_eq(nats_Open(-1), NATS_OK);
	ck_assert_int_eq(nats_SetMessageDeliveryPoolSize(1), NATS_OK);
	ck_assert_int_eq(natsOptions_Create(&o), NATS_OK);
	natsOptions_UseGlobalMessageDelivery(o, true);
	natsOptions_SetURL(o, url);
	natsOptions_SetSendAsap(o, true);
	ck_assert_int_eq(natsConnection_Connect(&p->nc, o), NATS_OK);
	natsOptions_Destroy(o);
	orch_peers_serve(p, "soul.rpc.emotion.*", orch_peers_on_emotion);
	orch_peers_serve(p, "soul.rpc.intent.filter", orch_peers_on_intents);
	orch_peers_serve(p, "soul.rpc.memory.*", orch_peers_on_memory);
	orch_peers_serve(p, "soul.body.main.>", orch_bridge_on_message);
}

void
orch_peers_stop(struct orch_peers *p)
{
	/*
	 * Messages that wait for the thread when the library closes would
	 * leak.
	 */
	for (size_t i = 0; i < p->n_subs; i++)
		(void)natsSubscription_Drain(p->subs[i]);
	ck_assert(tk_until(orch_peers_ended, p, ORCH_PEERS_DRAIN_MS));
	for (size_t i = 0; i < p->n_subs; i++)
		natsSubscription_Destroy(p->subs[i]);
	natsConnection_Destroy(p->nc);
	json_decref(p->last_action);
	json_decref(p->last_invoke);
	json_decref(p->last_filter);
	json_decref(p->last_observe);
	json_decref(p->last_forget);
	pthread_mutex_destroy(&p->lock);
}
