/*
 * A thread that waits for one answer.
 */
#include "testkit/stack/talk.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/mem.h"

struct talk {
	pthread_t thread;
	int port;
	const char *token, *from;
	json_t *request, *answer;
	int status;
};

static void *
talk_main(void *arg)
{
	struct talk *t = arg;

	owner_is(t->token, t->from);
	t->answer =
	    owner_call(t->port, "POST", "/v1/chat", t->request, &t->status);
	return NULL;
}

struct talk *
talk_begin(const struct owner *o, const char *text)
{
	struct talk *t = mem_zalloc(sizeof(*t));

	t->port = o->st->service[STACK_CHAT_GATEWAY].http;
	owner_who(&t->token, &t->from);
	t->request = owner_request(o, text);
	ck_assert_int_eq(pthread_create(&t->thread, NULL, talk_main, t), 0);
	return t;
}

json_t *
talk_end(struct talk *t, int *status)
{
	json_t *answer;

	ck_assert_int_eq(pthread_join(t->thread, NULL), 0);
	answer = t->answer;
	*status = t->status;
	free(t);
	return answer;
}
