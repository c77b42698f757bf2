/*
 * model: a language model of the test's own: an HTTP server on a thread that
 * gives the answers it was told to give, one a request, and keeps the requests.
 */
#ifndef MODEL_H
#define MODEL_H

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define MODEL_MAX 32

struct model_answer {
	int status; /* 0: close the connection instead */
	int delay_ms;
	char *body;
	int gap_ms; /* of a stream: between its events; -1: it is none */
};

struct model {
	int fd, port;
	int quit[2]; /* a byte in it ends the thread */
	pthread_t thread;
	pthread_mutex_t lock;
	struct model_answer answers[MODEL_MAX]; /* under lock, as all below */
	size_t n_answers, next;
	json_t *requests[MODEL_MAX];
	size_t n_requests;
	struct mono sent; /* the first event of the last stream */
	bool held;        /* streams stop after their first event */
};

/* ---- the server -------------------------------------------------------- */

/* One whole request from fd; its body, or NULL. */
static inline char *
model_read(struct model *m, int fd)
{
	size_t n = 0, cap = 1024 * 1024, want = 0;
	char *buf = mem_alloc(cap + 1), *body = NULL;

	for (;;) {
		struct pollfd p[2] = { { fd, POLLIN, 0 },
			{ m->quit[0], POLLIN, 0 } };
		if (poll(p, 2, 20000) <= 0 || p[1].revents != 0)
			break;
		ssize_t got = recv(fd, buf + n, cap - n, 0);
		if (got <= 0)
			break;
		n += (size_t)got;
		buf[n] = '\0';
		char *end = strstr(buf, "\r\n\r\n");
		const char *length = strcasestr(buf, "content-length:");
		if (end == NULL || length == NULL)
			continue;
		want = (size_t)(end + 4 - buf) + strtoul(length + 15, NULL, 10);
		if (n < want)
			continue;
		body = mem_strdup(end + 4);
		break;
	}
	free(buf);
	return body;
}

static inline struct model_answer
model_next(struct model *m, const char *body)
{
	struct model_answer a = { 0, 0, NULL, -1 };

	pthread_mutex_lock(&m->lock);
	if (m->n_requests < MODEL_MAX)
		m->requests[m->n_requests++] = json_loads(body, 0, NULL);
	if (m->next < m->n_answers)
		a = m->answers[m->next++];
	pthread_mutex_unlock(&m->lock);
	return a;
}

/* False when the thread is to end. */
static inline bool
model_pause(struct model *m, int ms)
{
	struct pollfd p = { m->quit[0], POLLIN, 0 };
	int n;

	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n == 0;
}

/* Event by event: they end with an empty line. */
static inline void
model_stream(struct model *m, int fd, const struct model_answer *a)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: "
				   "text/event-stream\r\nConnection: "
				   "close\r\n\r\n";
	const char *s = a->body, *end;
	bool first = true;

	(void)send(fd, head, sizeof(head) - 1, MSG_NOSIGNAL);
	for (; (end = strstr(s, "\n\n")) != NULL; s = end + 2) {
		bool held = !first;
		while (held && model_pause(m, 5)) {
			pthread_mutex_lock(&m->lock);
			held = m->held;
			pthread_mutex_unlock(&m->lock);
		}
		if (held || (!first && !model_pause(m, a->gap_ms)))
			return;
		pthread_mutex_lock(&m->lock);
		if (first)
			m->sent = clock_mono();
		pthread_mutex_unlock(&m->lock);
		if (send(fd, s, (size_t)(end + 2 - s), MSG_NOSIGNAL) < 0)
			return;
		first = false;
	}
}

static inline void
model_serve(struct model *m, int fd)
{
	char head[256], *body = model_read(m, fd);

	if (body == NULL)
		return;
	struct model_answer a = model_next(m, body);
	free(body);
	if (!model_pause(m, a.delay_ms) || a.status == 0)
		return;
	if (a.gap_ms >= 0) {
		model_stream(m, fd, &a);
		return;
	}
	int n = snprintf(head, sizeof(head),
	    "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n",
	    a.status, strlen(a.body));
	(void)send(fd, head, (size_t)n, MSG_NOSIGNAL);
	(void)send(fd, a.body, strlen(a.body), MSG_NOSIGNAL);
}

struct model_conn {
	struct model *m;
	int fd;
};

static inline void *
model_conn_run(void *arg)
{
	struct model_conn *c = arg;

	model_serve(c->m, c->fd);
	close(c->fd);
	free(c);
	return NULL;
}

static inline void *
model_run(void *arg)
{
	struct model *m = arg;
	pthread_t conns[MODEL_MAX * 2];
	size_t n = 0;

	for (;;) {
		struct pollfd p[2] = { { m->fd, POLLIN, 0 },
			{ m->quit[0], POLLIN, 0 } };
		if (poll(p, 2, -1) < 0 || p[1].revents != 0)
			break;
		int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 || n == NELEM(conns)) {
			close(fd);
			continue;
		}
		struct model_conn *c = mem_alloc(sizeof(*c));
		*c = (struct model_conn){ m, fd };
		ck_assert_int_eq(
		    pthread_create(&conns[n++], NULL, model_conn_run, c), 0);
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(conns[i], NULL);
	return NULL;
}

static inline void
model_start(struct model *m)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(a);

	memset(m, 0, sizeof(*m));
	pthread_mutex_init(&m->lock, NULL);
	m->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(m->fd, (struct sockaddr *)&a, n), 0);
	ck_assert_int_eq(listen(m->fd, 64), 0);
	ck_assert_int_eq(getsockname(m->fd, (struct sockaddr *)&a, &n), 0);
	m->port = ntohs(a.sin_port);
	ck_assert_int_eq(pipe(m->quit), 0);
	ck_assert_int_eq(pthread_create(&m->thread, NULL, model_run, m), 0);
}

static inline void
model_stop(struct model *m)
{
	ck_assert_int_eq(write(m->quit[1], "q", 1), 1);
	pthread_join(m->thread, NULL);
	close(m->fd);
	close(m->quit[0]);
	close(m->quit[1]);
	for (size_t i = 0; i < m->n_answers; i++)
		free(m->answers[i].body);
	for (size_t i = 0; i < m->n_requests; i++)
		json_decref(m->requests[i]);
	pthread_mutex_destroy(&m->lock);
}

/* ---- what it is to say ------------------------------------------------- */

/* Takes body. */
static inline void
model_will(struct model *m, int status, int delay_ms, char *body)
{
	pthread_mutex_lock(&m->lock);
	ck_assert_uint_lt(m->n_answers, MODEL_MAX);
	m->answers[m->n_answers++] =
	    (struct model_answer){ status, delay_ms, body, -1 };
	pthread_mutex_unlock(&m->lock);
}

/*
 * Its words piece by piece, "|" between them, gap_ms apart; then calls, a list
 * of [name, arguments as text], or NULL.
 */
static inline void
model_will_stream(
    struct model *m, const char *words, const char *calls, int gap_ms)
{
	json_t *list = calls != NULL ? json_loads(calls, 0, NULL) : NULL, *c;
	size_t i, n, cap = 65536, at = 0;
	char *body = mem_alloc(cap), *text, id[32];
	const char *s;

	ck_assert(calls == NULL || list != NULL);
	for (s = words; *s != '\0'; s += n + (s[n] == '|')) {
		n = strcspn(s, "|");
		json_t *j = json_pack("{s:s,s:[{s:i,s:{s:s%}}]}", "object",
		    "chat.completion.chunk", "choices", "index", 0, "delta",
		    "content", s, n);
		text = json_dumps(j, 0);
		at +=
		    (size_t)snprintf(body + at, cap - at, "data: %s\n\n", text);
		free(text);
		json_decref(j);
	}
	json_array_foreach (list, i, c) {
		snprintf(id, sizeof(id), "call_%zu", i);
		json_t *j = json_pack(
		    "{s:s,s:[{s:i,s:{s:[{s:i,s:s,s:s,s:{s:O,s:O}}]}}]}",
		    "object", "chat.completion.chunk", "choices", "index", 0,
		    "delta", "tool_calls", "index", (int)i, "id", id, "type",
		    "function", "function", "name", json_array_get(c, 0),
		    "arguments", json_array_get(c, 1));
		text = json_dumps(j, 0);
		at +=
		    (size_t)snprintf(body + at, cap - at, "data: %s\n\n", text);
		free(text);
		json_decref(j);
	}
	at += (size_t)snprintf(body + at, cap - at,
	    "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{"
	    "\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}]}\n\n"
	    "data: [DONE]\n\n",
	    list != NULL ? "tool_calls" : "stop");
	ck_assert_uint_lt(at, cap);
	json_decref(list);
	pthread_mutex_lock(&m->lock);
	ck_assert_uint_lt(m->n_answers, MODEL_MAX);
	m->answers[m->n_answers++] =
	    (struct model_answer){ 200, 0, body, gap_ms };
	pthread_mutex_unlock(&m->lock);
}

/* Streams stop after their first event until they are let go on. */
static inline void
model_hold(struct model *m, bool held)
{
	pthread_mutex_lock(&m->lock);
	m->held = held;
	pthread_mutex_unlock(&m->lock);
}

static inline void
model_will_fail(struct model *m, int status)
{
	model_will(m, status, 0,
	    mem_strdup("{\"error\":{\"message\":\"no\",\"type\":\"x\"}}"));
}

/* calls is NULL or a list of [name, arguments as text]. */
static inline void
model_will_say_late(
    struct model *m, const char *text, const char *calls, int delay_ms)
{
	json_t *list = calls != NULL ? json_loads(calls, 0, NULL) : NULL;
	json_t *out = json_array(), *msg, *all, *c;
	char id[32];
	size_t i;

	ck_assert(calls == NULL || list != NULL);
	json_array_foreach (list, i, c) {
		snprintf(id, sizeof(id), "call_%zu", i);
		json_array_append_new(out,
		    json_pack("{s:s,s:s,s:{s:O,s:O}}", "id", id, "type",
			"function", "function", "name", json_array_get(c, 0),
			"arguments", json_array_get(c, 1)));
	}
	msg = json_pack("{s:s,s:s?}", "role", "assistant", "content", text);
	if (json_array_size(out) > 0)
		json_object_set(msg, "tool_calls", out);
	all = json_pack("{s:s,s:[{s:i,s:o,s:s}]}", "object", "chat.completion",
	    "choices", "index", 0, "message", msg, "finish_reason",
	    json_array_size(out) > 0 ? "tool_calls" : "stop");
	model_will(m, 200, delay_ms, json_dumps(all, 0));
	json_decref(all);
	json_decref(out);
	json_decref(list);
}

static inline void
model_will_say(struct model *m, const char *text, const char *calls)
{
	model_will_say_late(m, text, calls, 0);
}

/* ---- what it was asked ------------------------------------------------- */

static inline size_t
model_asked(struct model *m)
{
	pthread_mutex_lock(&m->lock);
	size_t n = m->n_requests;
	pthread_mutex_unlock(&m->lock);
	return n;
}

/* Request i; valid until model_stop(). */
static inline json_t *
model_request(struct model *m, size_t i)
{
	pthread_mutex_lock(&m->lock);
	ck_assert_uint_lt(i, m->n_requests);
	json_t *j = m->requests[i];
	pthread_mutex_unlock(&m->lock);
	ck_assert_ptr_nonnull(j);
	return j;
}

/* The names of the tools of a request: "nod,light". */
static inline const char *
model_tools(json_t *request, char *dst, size_t size)
{
	json_t *t;
	size_t i, n = 0;

	dst[0] = '\0';
	json_array_foreach (json_object_get(request, "tools"), i, t)
		n += (size_t)snprintf(dst + n, size - n, "%s%s",
		    i > 0 ? "," : "",
		    json_string_value(json_object_get(
			json_object_get(t, "function"), "name")));
	return dst;
}

/* Message i of a request; from the end if i < 0. */
static inline json_t *
model_message(json_t *request, int i)
{
	json_t *list = json_object_get(request, "messages");
	size_t n = json_array_size(list);
	json_t *j = json_array_get(list, i < 0 ? n - (size_t)-i : (size_t)i);

	ck_assert_ptr_nonnull(j);
	return j;
}

static inline const char *
model_text(json_t *request, int i)
{
	const char *s = json_string_value(
	    json_object_get(model_message(request, i), "content"));

	return s != NULL ? s : "";
}

/* The roles of a request's messages: "suat". */
static inline const char *
model_roles(json_t *request, char *dst, size_t size)
{
	json_t *m;
	size_t i;

	json_array_foreach (json_object_get(request, "messages"), i, m) {
		ck_assert_uint_lt(i + 1, size);
		dst[i] = *json_string_value(json_object_get(m, "role"));
		dst[i + 1] = '\0';
	}
	return dst;
}

#endif /* !MODEL_H */
