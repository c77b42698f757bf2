#include "testkit/stack/chatter.h"

#include <stdio.h>
#include <string.h>

static bool
chatter_has_gateway(void *arg)
{
	const struct chatter *t = arg;

	return tk_port_open(t->owner.st->service[STACK_CHAT_GATEWAY].http);
}

static bool
chatter_may_retry(int status)
{
	return status == 0 || status == 429 || status == 502 || status == 503 ||
	    status == 504;
}

static void *
chatter_main(void *arg)
{
	struct chatter *t = arg;
	char text[64];
	int status;
	size_t i;

	for (i = 0; i < CHATTER_TEXTS_MAX && !atomic_load(&t->enough); i++) {
		snprintf(text, sizeof(text), "第%zu句：%s", i,
		    i % 2 > 0 ? "把灯变成绿色" : "你好");
		json_decref(client_call(
		    t->owner.st->service[STACK_CHAT_GATEWAY].http, "POST",
		    "/v1/chat", client_chat_request(&t->owner, text), &status));
		t->ok[i] = status == 200;
		if (status == 0)
			(void)tk_until(chatter_has_gateway, t, 1000);
		else if (!t->ok[i] && !chatter_may_retry(status))
			atomic_store(&t->unexpected, status);
		atomic_fetch_add(&t->responses, t->ok[i]);
		atomic_fetch_add(&t->texts, 1);
	}
	return NULL;
}

void
chatter_begin(struct chatter *t, const struct client *owner)
{
	t->owner = *owner;
	ck_assert_int_eq(pthread_create(&t->thread, NULL, chatter_main, t), 0);
}

struct chatter_progress {
	struct chatter *t;
	size_t responses;
};

static bool
chatter_has_resumed(void *arg)
{
	const struct chatter_progress *p = arg;

	return atomic_load(&p->t->responses) >= p->responses;
}

void
chatter_resumes(struct chatter *t)
{
	struct chatter_progress p = { t, atomic_load(&t->responses) + 3 };

	ck_assert_msg(tk_until(chatter_has_resumed, &p, STACK_MS),
	    "the conversation has stopped");
}

static void
chatter_check(struct chatter *t)
{
	char begin[64];
	json_t *j, *list;
	const char *content;
	size_t n, i, k = 0, texts = atomic_load(&t->texts);

	snprintf(
	    begin, sizeof(begin), "/v1/sessions/%s/messages", t->owner.session);
	j = client_ok(t->owner.st, "GET", begin, NULL);
	list = tk_at(j, "items");
	n = json_array_size(list);
	/*
	 * The oldest may have been summarized; start with the first one left.
	 */
	content = tk_text(json_array_get(list, 0), "content");
	ck_assert_int_eq(sscanf(content, "第%zu句", &i), 1);
	for (; i < texts; i++) {
		if (!t->ok[i])
			continue;
		snprintf(begin, sizeof(begin), "第%zu句", i);
		for (; k < n; k++) {
			content = tk_text(json_array_get(list, k), "content");
			if (strncmp(content, begin, strlen(begin)) == 0)
				break;
		}
		ck_assert_msg(k < n, "%s is lost, of %zu", begin, texts);
	}
	json_decref(j);
}

void
chatter_end(struct chatter *t)
{
	atomic_store(&t->enough, true);
	ck_assert_int_eq(pthread_join(t->thread, NULL), 0);
	chatter_check(t);
}
