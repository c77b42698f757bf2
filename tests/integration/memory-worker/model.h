/*
 * model: a language model that answers as each test wants, and remembers what
 * it was asked.
 */
#ifndef MODEL_H
#define MODEL_H

#include "integration/httpc/peer.h"
#include "integration/memory-worker/talk.h"

#define ASKED_MAX 32

/* How the model answers the request of that number with that body. */
typedef void (*answer_fn)(int fd, int number, struct str body);

static struct {
	struct peer peer;
	answer_fn answer;
	pthread_mutex_t lock;
	int n;
	char *body[ASKED_MAX];
} model = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline void
serve(struct peer *p, int fd)
{
	struct buf in = BUF_INIT(4UL << 20);
	struct str body;
	ptrdiff_t head;
	int n;

	(void)p;
	if (peer_read(fd, &in)) {
		head = str_find(buf_str(&in), STR("\r\n\r\n"));
		body = (struct str){ in.p + head + 4, in.n - (size_t)head - 4 };
		pthread_mutex_lock(&model.lock);
		n = model.n++;
		if (n < ASKED_MAX)
			model.body[n] = str_dup(body);
		pthread_mutex_unlock(&model.lock);
		model.answer(fd, n, body);
	}
	buf_free(&in);
}

static inline void
say(int fd, int status, const char *body)
{
	char text[4096];

	snprintf(text, sizeof(text),
	    "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
	    "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
	    status, strlen(body), body);
	(void)peer_write(fd, text);
}

static inline void
say_text(int fd, const char *text)
{
	json_t *j = json_pack("{s[{s{ssss}ss}]}", "choices", "message", "role",
	    "assistant", "content", text, "finish_reason", "stop");
	char *s = json_dumps(j, 0);

	say(fd, 200, s);
	free(s);
	json_decref(j);
}

static inline void
model_start(struct bed *b, answer_fn answer)
{
	bed_servers(b);
	model.answer = answer;
	peer_open(&model.peer, serve);
	snprintf(b->llm_url, sizeof(b->llm_url), "http://127.0.0.1:%d/v1",
	    model.peer.port);
	b->more[0] = "OPENAI_API_KEY=secret";
	b->more[1] = "LLM_MODEL=m1";
	bed_spawn(b, 0);
	bed_ready(b, 0);
}

static inline void
model_stop(struct bed *b)
{
	bed_stop(b);
	peer_close(&model.peer);
}

static inline int
asked(void)
{
	int n;

	pthread_mutex_lock(&model.lock);
	n = model.n;
	pthread_mutex_unlock(&model.lock);
	return n;
}

/* The text of message i (0: the instruction) of request n; freed by caller. */
static inline char *
asked_text(int n, size_t i)
{
	json_t *j, *m;
	char *s;

	pthread_mutex_lock(&model.lock);
	ck_assert_int_lt(n, model.n);
	j = json_loads(model.body[n], 0, NULL);
	pthread_mutex_unlock(&model.lock);
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

static inline bool
asked_with(int n, size_t i, const char *text)
{
	char *s = asked_text(n, i);
	bool has = strstr(s, text) != NULL;

	free(s);
	return has;
}

#endif /* !MODEL_H */
