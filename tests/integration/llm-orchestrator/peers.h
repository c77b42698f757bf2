/*
 * peers: emotion-engine, intent-filter, memory-worker, mqtt-bridge and a body,
 * played by plain NATS clients, and a diary of what they were asked.
 */
#ifndef PEERS_H
#define PEERS_H

#include <jansson.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"

#define PEERS_LINE     1024
#define PEERS_LOG      256
#define PEERS_DRAIN_MS 2000

/* What the body does with an invoke. */
enum body_mode {
	BODY_OK,
	BODY_ERROR,
	BODY_MUTE,     /* no result */
	BODY_WRONG_ID, /* a result of another request, on the right subject */
	BODY_BAD,      /* a result that is no JSON */
	BODY_TWICE     /* ok, then an error */
};

struct peers {
	natsConnection *nc;
	natsSubscription *subs[8];
	size_t n_subs;
	pthread_mutex_t lock;
	/* Under lock, as all below.  What they are to do: */
	const char *exec_mode; /* NULL: emotion-engine says nothing */
	const char *filter;    /* its answer, or NULL: an error */
	const char *names;     /* its error to a named catalog; NULL: none */
	size_t filter_mute;    /* so many requests it does not answer */
	bool ready;            /* memories can be searched */
	bool memory_hangs;     /* memory-worker says nothing */
	const char *recall;    /* memory-worker's answer, or NULL: error */
	const char *forget;    /* the same */
	bool forget_mute;      /* to that it says nothing */
	const char *delivery;  /* a state, or NULL: no answer */
	enum body_mode body;
	const char *mute_skill; /* this one is never answered */
	/* What they were asked: */
	char log[PEERS_LOG][PEERS_LINE];
	size_t n_log;
	/* Subscriptions made, and those of which nothing more comes. */
	size_t n_made, n_ended;
	json_t *last_action, *last_invoke, *last_filter, *last_observe;
	json_t *last_forget;
	size_t n_invokes;
	json_int_t top_k; /* of the last search */
};

/* ---- the diary --------------------------------------------------------- */

static inline void
peers_note(struct peers *p, const char *what, const char *more)
{
	if (p->n_log < PEERS_LOG)
		snprintf(p->log[p->n_log++], PEERS_LINE, "%s%s%s", what,
		    more[0] != '\0' ? ":" : "", more);
}

/* All that was asked, in order, "observe filter …"; without the name not. */
static inline const char *
peers_diary(struct peers *p, char *dst, size_t size)
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

static inline size_t
peers_count(struct peers *p, const char *line)
{
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n_log; i++)
		n += strncmp(p->log[i], line, strlen(line)) == 0;
	pthread_mutex_unlock(&p->lock);
	return n;
}

/* Tell the peers what to do: peers_set(p, delivery, "offline"). */
#define peers_set(p, member, value)               \
	do {                                      \
		pthread_mutex_lock(&(p)->lock);   \
		(p)->member = (value);            \
		pthread_mutex_unlock(&(p)->lock); \
	} while (0)

/* The last of what they got: valid until the next of its kind. */
static inline json_t *
peers_last_of(struct peers *p, json_t *const *which)
{
	pthread_mutex_lock(&p->lock);
	json_t *j = *which;
	pthread_mutex_unlock(&p->lock);
	return j;
}
#define peers_last(p, what) peers_last_of((p), &(p)->last_##what)

static inline size_t
peers_invokes(struct peers *p)
{
	pthread_mutex_lock(&p->lock);
	size_t n = p->n_invokes;
	pthread_mutex_unlock(&p->lock);
	return n;
}

static inline void
peers_forget(struct peers *p)
{
	pthread_mutex_lock(&p->lock);
	p->n_log = 0;
	p->n_invokes = 0;
	pthread_mutex_unlock(&p->lock);
}

/* ---- answering --------------------------------------------------------- */

static inline json_t *
peers_read(natsMsg *m)
{
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);

	ck_assert_ptr_nonnull(j);
	return j;
}

static inline void
peers_answer(struct peers *p, natsMsg *m, const char *json)
{
	if (json == NULL || natsMsg_GetReply(m) == NULL)
		return;
	natsConnection_PublishString(p->nc, natsMsg_GetReply(m), json);
}

/* An error answer, as the suite's services give. */
static inline void
peers_fail(struct peers *p, natsMsg *m, const char *code)
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

static inline void
on_observe(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct peers *p = arg;
	char rep[512];

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	peers_note(p, "observe", "");
	json_decref(p->last_observe);
	p->last_observe = peers_read(m);
	snprintf(rep, sizeof(rep),
	    "{\"soul_id\":\"soul_1\",\"user_emotion\":{\"emotion\":\"joy\","
	    "\"p\":0.7,\"a\":0.5,\"d\":0.2,\"intensity\":0.6},"
	    "\"soul_emotion\":{\"p\":0.1,\"a\":0.2,\"d\":0.3},"
	    "\"exec_probability\":0.88,\"exec_mode\":\"%s\",\"version\":3}",
	    p->exec_mode != NULL ? p->exec_mode : "");
	if (p->exec_mode != NULL)
		peers_answer(p, m, rep);
	pthread_mutex_unlock(&p->lock);
	natsMsg_Destroy(m);
}

static inline void
on_intents(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct peers *p = arg;

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	peers_note(p, "filter", "");
	json_decref(p->last_filter);
	p->last_filter = peers_read(m);
	if (p->filter_mute > 0)
		p->filter_mute--;
	else if (p->names != NULL &&
	    json_object_get(p->last_filter, "catalog_ref") != NULL)
		peers_fail(p, m, p->names);
	else if (p->filter != NULL)
		peers_answer(p, m, p->filter);
	else
		peers_fail(p, m, "unavailable");
	pthread_mutex_unlock(&p->lock);
	natsMsg_Destroy(m);
}

static inline void
memory_forgets(struct peers *p, natsMsg *m, json_t *j)
{
	peers_note(p, "forget", json_string_value(json_object_get(j, "query")));
	json_decref(p->last_forget);
	p->last_forget = json_incref(j);
	if (p->forget_mute)
		return;
	if (p->forget != NULL)
		peers_answer(p, m, p->forget);
	else
		peers_fail(p, m, "unavailable");
}

static inline void
on_memory(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct peers *p = arg;
	const char *subject = natsMsg_GetSubject(m);
	json_t *j = peers_read(m);

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	if (p->memory_hangs) {
		peers_note(p, "ready", "");
	} else if (strcmp(subject, "soul.rpc.memory.ready") == 0) {
		peers_answer(p, m,
		    p->ready ? "{\"ready\":true,\"backend\":\"builtin\"}"
			     : "{\"ready\":false,\"backend\":\"builtin\"}");
	} else if (strcmp(subject, "soul.rpc.memory.forget") == 0) {
		memory_forgets(p, m, j);
	} else {
		peers_note(p, "recall",
		    json_string_value(json_object_get(j, "query")));
		p->top_k = json_integer_value(json_object_get(j, "top_k"));
		if (p->recall != NULL)
			peers_answer(p, m, p->recall);
		else
			peers_fail(p, m, "unavailable");
	}
	pthread_mutex_unlock(&p->lock);
	json_decref(j);
	natsMsg_Destroy(m);
}

/* What the body sends back, on the subject of its result. */
static inline void
body_result(
    struct peers *p, const char *terminal, const char *id, const char *json)
{
	char subject[256];

	snprintf(subject, sizeof(subject), "soul.result.%s.%s", terminal, id);
	natsConnection_PublishString(p->nc, subject, json);
}

static inline void
body_does(struct peers *p, const char *terminal, json_t *invoke)
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
		body_result(p, terminal, id, ok);
		break;
	case BODY_ERROR:
		body_result(p, terminal, id, error);
		break;
	case BODY_TWICE:
		body_result(p, terminal, id, ok);
		body_result(p, terminal, id, error);
		break;
	case BODY_BAD:
		body_result(p, terminal, id, "{");
		break;
	case BODY_MUTE:
		break;
	}
}

static inline void
bridge_invoke(struct peers *p, natsMsg *m, const char *terminal, json_t *j)
{
	char rep[96];

	peers_note(p, "invoke", json_string_value(json_object_get(j, "skill")));
	json_decref(p->last_invoke);
	p->last_invoke = json_incref(j);
	p->n_invokes++;
	if (p->delivery == NULL)
		return;
	snprintf(rep, sizeof(rep), "{\"state\":\"%s\"}", p->delivery);
	peers_answer(p, m, rep);
	if (strcmp(p->delivery, "delivered") == 0)
		body_does(p, terminal, j);
}

/* soul.body.main.<terminal>.<what> */
static inline void
on_body_msg(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct peers *p = arg;
	char terminal[128], what[64], rep[96];
	json_t *j = peers_read(m);

	(void)nc;
	(void)sub;
	ck_assert_int_eq(sscanf(natsMsg_GetSubject(m),
			     "soul.body.main.%127[^.].%63s", terminal, what),
	    2);
	pthread_mutex_lock(&p->lock);
	if (strcmp(what, "invoke") == 0) {
		bridge_invoke(p, m, terminal, j);
	} else if (strcmp(what, "status") == 0) {
		peers_note(p, "status",
		    json_string_value(json_object_get(j, "status")));
	} else {
		peers_note(p, what, "");
		json_decref(p->last_action);
		p->last_action = json_incref(j);
		snprintf(rep, sizeof(rep), "{\"state\":\"%s\"}",
		    p->delivery != NULL ? p->delivery : "");
		if (p->delivery != NULL)
			peers_answer(p, m, rep);
	}
	pthread_mutex_unlock(&p->lock);
	json_decref(j);
	natsMsg_Destroy(m);
}

/* ---- start and end ----------------------------------------------------- */

static inline void
peers_on_end(void *arg)
{
	struct peers *p = arg;

	pthread_mutex_lock(&p->lock);
	p->n_ended++;
	pthread_mutex_unlock(&p->lock);
}

static inline bool
peers_ended(void *arg)
{
	struct peers *p = arg;

	pthread_mutex_lock(&p->lock);
	bool is = p->n_ended == p->n_made;
	pthread_mutex_unlock(&p->lock);
	return is;
}

static inline natsSubscription *
peers_serve(struct peers *p, const char *subject, natsMsgHandler fn)
{
	natsSubscription *sub = NULL;

	ck_assert_uint_lt(p->n_subs, 8);
	ck_assert_int_eq(
	    natsConnection_Subscribe(&sub, p->nc, subject, fn, p), NATS_OK);
	ck_assert_int_eq(
	    natsSubscription_SetOnCompleteCB(sub, peers_on_end, p), NATS_OK);
	p->n_made++;
	p->subs[p->n_subs++] = sub;
	ck_assert_int_eq(natsConnection_Flush(p->nc), NATS_OK);
	return sub;
}

static inline void
peers_start(struct peers *p, const char *url)
{
	natsOptions *o = NULL;

	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
	p->exec_mode = "auto_execute";
	p->delivery = "delivered";
	/* One thread for all, so that the diary has the order of the wire. */
	ck_assert_int_eq(nats_Open(-1), NATS_OK);
	ck_assert_int_eq(nats_SetMessageDeliveryPoolSize(1), NATS_OK);
	ck_assert_int_eq(natsOptions_Create(&o), NATS_OK);
	natsOptions_UseGlobalMessageDelivery(o, true);
	natsOptions_SetURL(o, url);
	natsOptions_SetSendAsap(o, true);
	ck_assert_int_eq(natsConnection_Connect(&p->nc, o), NATS_OK);
	natsOptions_Destroy(o);
	peers_serve(p, "soul.rpc.emotion.observe", on_observe);
	peers_serve(p, "soul.rpc.intent.filter", on_intents);
	peers_serve(p, "soul.rpc.memory.*", on_memory);
	peers_serve(p, "soul.body.main.>", on_body_msg);
}

static inline void
peers_stop(struct peers *p)
{
	/* What waits for its thread when the library ends would leak. */
	for (size_t i = 0; i < p->n_subs; i++)
		(void)natsSubscription_Drain(p->subs[i]);
	ck_assert(tk_until(peers_ended, p, PEERS_DRAIN_MS));
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

#endif /* !PEERS_H */
