#include "testkit/stack/chatter.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"

static bool
chatter_has_gateway(void *arg)
{
	const struct chatter *t = arg;

	return tk_port_open(t->owner.st->service[STACK_CHAT_GATEWAY].http);
}

static void
chatter_note(struct chatter *t, size_t i, int status, json_t *j)
{
	t->ok[i] = status == 200;
	if (t->ok[i])
		snprintf(t->turn[i], sizeof(t->turn[i]), "%s",
		    tk_find_text(j, "turn_id"));
	else
		t->errors[status]++;
	atomic_fetch_add(&t->responses, t->ok[i]);
	atomic_fetch_add(&t->texts, 1);
}

static void *
chatter_main(void *arg)
{
	struct chatter *t = arg;
	char text[64];
	int status;
	json_t *j;
	size_t i;

	for (i = 0; i < CHATTER_MAX && !atomic_load(&t->enough); i++) {
		snprintf(text, sizeof(text), "第%zu句：%s", i,
		    i % 2 > 0 ? "把灯变成绿色" : "你好");
		j = client_call(t->owner.st->service[STACK_CHAT_GATEWAY].http,
		    "POST", "/v1/chat", client_chat_request(&t->owner, text),
		    &status);
		chatter_note(t, i, status, j);
		json_decref(j);
		if (status == 0)
			(void)tk_until(chatter_has_gateway, t, 1000);
	}
	return NULL;
}

void
chatter_start(struct chatter *t, const struct client *owner)
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

void
chatter_stop(struct chatter *t)
{
	atomic_store(&t->enough, true);
	ck_assert_int_eq(pthread_join(t->thread, NULL), 0);
}

static void
chatter_check_errors(const struct chatter *t)
{
	static const size_t retried[] = { 0, 429, 502, 503, 504 };
	size_t i, k;

	for (i = 0; i < NELEM(t->errors); i++) {
		for (k = 0; k < NELEM(retried) && retried[k] != i; k++)
			continue;
		ck_assert_msg(t->errors[i] == 0 || k < NELEM(retried),
		    "%zu: %zu", i, t->errors[i]);
	}
}

void
chatter_check(struct chatter *t)
{
	char path[128], begin[32];
	size_t texts = atomic_load(&t->texts), n, i, k = 0;
	const char *content = "";
	json_t *j, *list;

	chatter_check_errors(t);
	snprintf(
	    path, sizeof(path), "/v1/sessions/%s/messages", t->owner.session);
	j = client_ok(t->owner.st, "GET", path, NULL);
	list = tk_at(j, "items");
	n = json_array_size(list);
	/* The oldest may have been summarized; start with the first one left,
	 * after the end of a reply. */
	for (; k < n && sscanf(content, "第%zu句", &i) != 1; k++)
		content = tk_text(json_array_get(list, k), "content");
	ck_assert_uint_gt(k, 0);
	ck_assert_uint_lt(k, n);
	k--;
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
