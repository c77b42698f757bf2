/*
 * One subscription for list, call and cancel.
 */
#include "testkit/tool_provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/testkit.h"

#define ENDED_MS 10000

static void
provider_reply(struct tool_provider *p, natsMsg *m, const char *json)
{
	const char *to = natsMsg_GetReply(m);

	if (to != NULL)
		natsConnection_PublishString(p->nc, to, json);
}

static void
provider_on_list(struct tool_provider *p, natsMsg *m, json_t *j)
{
	const char *text = json_string_value(json_object_get(j, "text"));
	const char *list = p->list;
	char rep[16384];

	p->n_lists++;
	json_decref(p->last_list);
	p->last_list = json_incref(j);
	if (p->found != NULL && text[0] == '?')
		list = p->found;
	if (list == NULL)
		return;
	snprintf(
	    rep, sizeof(rep), "{\"revision\":\"r%d\",%s}", p->revision, list);
	provider_reply(p, m, rep);
}

static void
provider_end(
    struct tool_provider *p, natsMsg *m, const char *id, const char *reply)
{
	char rep[65536];

	snprintf(rep, sizeof(rep),
	    "{\"call_id\":\"%s\",\"state\":\"ended\",%s}", id, reply);
	provider_reply(p, m, rep);
}

static void
provider_progress(struct tool_provider *p, natsMsg *m, const char *id)
{
	char rep[512];

	for (int i = 1; i <= 3; i++) {
		snprintf(rep, sizeof(rep),
		    "{\"call_id\":\"%s\",\"state\":\"running\",\"progress\":%d,"
		    "\"total\":3,\"message\":\"step %d\"}",
		    id, i, i);
		provider_reply(p, m, rep);
	}
}

static void
provider_on_call(struct tool_provider *p, natsMsg *m, json_t *j)
{
	const char *id = json_string_value(json_object_get(j, "call_id"));
	const char *name = json_string_value(json_object_get(j, "name"));
	char rep[512];

	ck_assert_uint_lt(p->n_calls, TOOL_PROVIDER_CALLS_MAX);
	p->calls[p->n_calls++] = json_incref(j);
	snprintf(
	    p->last_reply, sizeof(p->last_reply), "%s", natsMsg_GetReply(m));
	if (p->mute != NULL && strcmp(p->mute, name) == 0)
		return;
	switch (p->mode) {
	case TOOL_MUTE:
		return;
	case TOOL_RUNS:
		snprintf(rep, sizeof(rep),
		    "{\"call_id\":\"%s\",\"state\":\"running\"}", id);
		provider_reply(p, m, rep);
		return;
	case TOOL_REPORTS:
		provider_progress(p, m, id);
		break;
	case TOOL_BAD:
		provider_reply(p, m, "{");
		provider_reply(p, m,
		    "{\"call_id\":\"other\",\"state\":\"ended\",\"ok\":false}");
		break;
	case TOOL_DOUBLES:
		provider_end(p, m, id, p->reply);
		break;
	case TOOL_REPLIES:
		break;
	}
	provider_end(p, m, id, p->reply);
}

static void
provider_on_message(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	const char *what = strrchr(natsMsg_GetSubject(m), '.');
	struct tool_provider *p = arg;
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&p->lock);
	if (strcmp(what, ".list") == 0)
		provider_on_list(p, m, j);
	else if (strcmp(what, ".call") == 0)
		provider_on_call(p, m, j);
	else
		p->n_cancels++;
	pthread_mutex_unlock(&p->lock);
	json_decref(j);
	natsMsg_Destroy(m);
}

void
tool_provider_announce(struct tool_provider *p, const char *user)
{
	char subject[128], text[256];

	snprintf(subject, sizeof(subject), "soul.tool.present.%s", p->name);
	snprintf(text, sizeof(text),
	    "{\"provider\":\"%s\",\"instance\":\"%s-1\",\"revision\":\"r%d\""
	    "%s%s%s}",
	    p->name, p->name, p->revision,
	    user != NULL ? ",\"user_id\":\"" : "", user != NULL ? user : "",
	    user != NULL ? "\"" : "");
	natsConnection_PublishString(p->nc, subject, text);
	ck_assert_int_eq(natsConnection_Flush(p->nc), NATS_OK);
}

static bool
provider_ended(void *arg)
{
	struct tool_provider *p = arg;

	return !natsSubscription_IsValid(p->sub);
}

void
tool_provider_start(struct tool_provider *p, const char *url, const char *name)
{
	natsOptions *o = NULL;
	char subject[128];

	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->reply = "\"ok\":true,\"text\":\"done\"";
	ck_assert_int_eq(natsOptions_Create(&o), NATS_OK);
	natsOptions_SetURL(o, url);
	natsOptions_SetSendAsap(o, true);
	ck_assert_int_eq(natsConnection_Connect(&p->nc, o), NATS_OK);
	natsOptions_Destroy(o);
	snprintf(subject, sizeof(subject), "soul.tool.%s.*", name);
	ck_assert_int_eq(natsConnection_Subscribe(
			     &p->sub, p->nc, subject, provider_on_message, p),
	    NATS_OK);
	tool_provider_announce(p, NULL);
}

void
tool_provider_stop(struct tool_provider *p)
{
	(void)natsSubscription_Drain(p->sub);
	ck_assert(tk_until(provider_ended, p, ENDED_MS));
	natsSubscription_Destroy(p->sub);
	natsConnection_Destroy(p->nc);
	for (size_t i = 0; i < p->n_calls; i++)
		json_decref(p->calls[i]);
	json_decref(p->last_list);
	pthread_mutex_destroy(&p->lock);
}

static size_t
provider_count(struct tool_provider *p, const size_t *n)
{
	pthread_mutex_lock(&p->lock);
	size_t now = *n;
	pthread_mutex_unlock(&p->lock);
	return now;
}

size_t
tool_provider_lists(struct tool_provider *p)
{
	return provider_count(p, &p->n_lists);
}

size_t
tool_provider_calls(struct tool_provider *p)
{
	return provider_count(p, &p->n_calls);
}

size_t
tool_provider_cancels(struct tool_provider *p)
{
	return provider_count(p, &p->n_cancels);
}

json_t *
tool_provider_call(struct tool_provider *p, size_t i)
{
	return i < tool_provider_calls(p) ? p->calls[i] : NULL;
}

void
tool_provider_alive(struct tool_provider *p)
{
	char rep[512];

	pthread_mutex_lock(&p->lock);
	snprintf(rep, sizeof(rep), "{\"call_id\":\"%s\",\"state\":\"running\"}",
	    json_string_value(
		json_object_get(p->calls[p->n_calls - 1], "call_id")));
	natsConnection_PublishString(p->nc, p->last_reply, rep);
	pthread_mutex_unlock(&p->lock);
}
