#include "testkit/fake_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/raw_server.h"

#define CALLS_MAX 32

static struct {
	struct raw_server peer;
	fake_model_fn fn;
	pthread_mutex_t lock;
	int n;
	char *body[CALLS_MAX];
} fake_model = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
fake_model_serve(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(4UL << 20);
	struct str body;
	ptrdiff_t head;
	int n;

	(void)p;
	if (raw_server_read(fd, &in)) {
		head = str_find(buf_str(&in), STR("\r\n\r\n"));
		body = (struct str){ in.p + head + 4, in.n - (size_t)head - 4 };
		pthread_mutex_lock(&fake_model.lock);
		n = fake_model.n++;
		if (n < CALLS_MAX)
			fake_model.body[n] = str_dup(body);
		pthread_mutex_unlock(&fake_model.lock);
		fake_model.fn(fd, n, body);
	}
	buf_free(&in);
}

void
fake_model_respond(int fd, int status, const char *body)
{
	char text[4096];

	snprintf(text, sizeof(text),
	    "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
	    "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
	    status, strlen(body), body);
	(void)raw_server_write(fd, text);
}

void
fake_model_respond_text(int fd, const char *text)
{
	json_t *j = json_pack("{s[{s{ssss}ss}]}", "choices", "message", "role",
	    "assistant", "content", text, "finish_reason", "stop");
	char *s = json_dumps(j, 0);

	fake_model_respond(fd, 200, s);
	free(s);
	json_decref(j);
}

void
fake_model_start(struct memory_fixture *fx, fake_model_fn fn)
{
	memory_fixture_servers(fx);
	fake_model.fn = fn;
	raw_server_open(&fake_model.peer, fake_model_serve);
	snprintf(fx->llm_url, sizeof(fx->llm_url), "http://127.0.0.1:%d/v1",
	    fake_model.peer.port);
	fx->env[0] = "OPENAI_API_KEY=secret";
	fx->env[1] = "LLM_MODEL=m1";
	memory_fixture_spawn_ready(fx, 0);
}

void
fake_model_stop(struct memory_fixture *fx)
{
	memory_fixture_stop(fx);
	raw_server_close(&fake_model.peer);
}

int
fake_model_calls(void)
{
	int n;

	pthread_mutex_lock(&fake_model.lock);
	n = fake_model.n;
	pthread_mutex_unlock(&fake_model.lock);
	return n;
}

char *
fake_model_prompt(int n, size_t i)
{
	json_t *j, *m;
	char *s;

	pthread_mutex_lock(&fake_model.lock);
	ck_assert_int_lt(n, fake_model.n);
	j = json_loads(fake_model.body[n], 0, NULL);
	pthread_mutex_unlock(&fake_model.lock);
	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(json_string_value(json_object_get(j, "model")), "m1");
	m = json_object_get(j, "messages");
	ck_assert_uint_eq(json_array_size(m), 2);
	m = json_array_get(m, i);
	ck_assert_str_eq(json_string_value(json_object_get(m, "role")),
	    i == 0 ? "system" : "user");
	s = str_dup(str_of(json_string_value(json_object_get(m, "content"))));
	json_decref(j);
	return s;
}

bool
fake_model_prompt_has(int n, size_t i, const char *text)
{
	char *s = fake_model_prompt(n, i);
	bool has = strstr(s, text) != NULL;

	free(s);
	return has;
}
