#include "testkit/stack/conversation.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/mem.h"

struct conversation {
	pthread_t thread;
	int port;
	const char *token, *from;
	json_t *request, *answer;
	int status;
};

static void *
conversation_main(void *arg)
{
	struct conversation *t = arg;

	client_set_identity(t->token, t->from);
	t->answer =
	    client_call(t->port, "POST", "/v1/chat", t->request, &t->status);
	return NULL;
}

struct conversation *
conversation_begin(const struct client *o, const char *text)
{
	struct conversation *t = mem_zalloc(sizeof(*t));

	t->port = o->st->service[STACK_CHAT_GATEWAY].http;
	client_get_identity(&t->token, &t->from);
	t->request = client_chat_request(o, text);
	ck_assert_int_eq(
	    pthread_create(&t->thread, NULL, conversation_main, t), 0);
	return t;
}

json_t *
conversation_end(struct conversation *t, int *status)
{
	json_t *answer;

	ck_assert_int_eq(pthread_join(t->thread, NULL), 0);
	answer = t->answer;
	*status = t->status;
	free(t);
	return answer;
}
