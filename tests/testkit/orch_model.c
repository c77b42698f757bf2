/*
 * An HTTP server on a thread, and a thread per connection.
 */
#include "testkit/orch_model.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/testkit.h"

/* ---- the server ---- */

/* One whole request from fd; its body, or NULL. */
static char *
orch_model_read(struct orch_model *m, int fd)
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

static struct orch_model_response
orch_model_next(struct orch_model *m, const char *body)
{
	struct orch_model_response a = { 0, 0, NULL, -1 };

	pthread_mutex_lock(&m->lock);
	if (m->n_requests < ORCH_MODEL_REQUESTS_MAX)
		m->requests[m->n_requests++] = json_loads(body, 0, NULL);
	if (m->next < m->n_responses)
		a = m->responses[m->next++];
	pthread_mutex_unlock(&m->lock);
	return a;
}

/* False: the model is being stopped. */
bool
orch_model_pause(struct orch_model *m, int ms)
{
	struct pollfd p = { m->quit[0], POLLIN, 0 };
	int n;

	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n == 0;
}

/* One event at a time; an empty line ends an event. */
static void
orch_model_send_stream(
    struct orch_model *m, int fd, const struct orch_model_response *a)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: "
				   "text/event-stream\r\nConnection: "
				   "close\r\n\r\n";
	const char *s = a->body, *end;
	bool first = true;

	(void)send(fd, head, sizeof(head) - 1, MSG_NOSIGNAL);
	for (; (end = strstr(s, "\n\n")) != NULL; s = end + 2) {
		bool held = !first;
		while (held && orch_model_pause(m, 5)) {
			pthread_mutex_lock(&m->lock);
			held = m->paused;
			pthread_mutex_unlock(&m->lock);
		}
		if (held || (!first && !orch_model_pause(m, a->gap_ms)))
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

static void
orch_model_serve(struct orch_model *m, int fd)
{
	char head[256], *body = orch_model_read(m, fd);

	if (body == NULL)
		return;
	struct orch_model_response a = orch_model_next(m, body);
	free(body);
	if (!orch_model_pause(m, a.delay_ms) || a.status == 0)
		return;
	if (a.gap_ms >= 0) {
		orch_model_send_stream(m, fd, &a);
		return;
	}
	int n = snprintf(head, sizeof(head),
	    "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n",
	    a.status, strlen(a.body));
	(void)send(fd, head, (size_t)n, MSG_NOSIGNAL);
	(void)send(fd, a.body, strlen(a.body), MSG_NOSIGNAL);
}

struct orch_model_connection {
	struct orch_model *m;
	int fd;
};

static void *
orch_model_connection_run(void *arg)
{
	struct orch_model_connection *c = arg;

	orch_model_serve(c->m, c->fd);
	close(c->fd);
	free(c);
	return NULL;
}

static void *
orch_model_run(void *arg)
{
	struct orch_model *m = arg;
	pthread_t conns[ORCH_MODEL_REQUESTS_MAX * 2];
	size_t n = 0;

	for (;;) {
		struct pollfd p[2] = { { m->fd, POLLIN, 0 },
			{ m->quit[0], POLLIN, 0 } };
		if (poll(p, 2, -1) < 0 || p[1].revents != 0)
			break;
		/* Not inherited by servers that the test restarts. */
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		int fd = accept4(
		    m->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (n == NELEM(conns)) {
			close(fd);
			continue;
		}
		struct orch_model_connection *c = mem_alloc(sizeof(*c));
		*c = (struct orch_model_connection){ m, fd };
		ck_assert_int_eq(pthread_create(&conns[n++], NULL,
				     orch_model_connection_run, c),
		    0);
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(conns[i], NULL);
	return NULL;
}

void
orch_model_start(struct orch_model *m)
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
	ck_assert_int_eq(
	    pthread_create(&m->thread, NULL, orch_model_run, m), 0);
}

void
orch_model_stop(struct orch_model *m)
{
	ck_assert_int_eq(write(m->quit[1], "q", 1), 1);
	pthread_join(m->thread, NULL);
	close(m->fd);
	close(m->quit[0]);
	close(m->quit[1]);
	for (size_t i = 0; i < m->n_responses; i++)
		free(m->responses[i].body);
	for (size_t i = 0; i < m->n_requests; i++)
		json_decref(m->requests[i]);
	pthread_mutex_destroy(&m->lock);
}

/* ---- responses ---- */

/* Takes body. */
void
orch_model_respond(struct orch_model *m, int status, int delay_ms, char *body)
{
	pthread_mutex_lock(&m->lock);
	ck_assert_uint_lt(m->n_responses, ORCH_MODEL_REQUESTS_MAX);
	m->responses[m->n_responses++] =
	    (struct orch_model_response){ status, delay_ms, body, -1 };
	pthread_mutex_unlock(&m->lock);
}

/* One event per chunk of text, then the calls. */
void
orch_model_stream(
    struct orch_model *m, const char *words, const char *calls, int gap_ms)
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
	ck_assert_uint_lt(m->n_responses, ORCH_MODEL_REQUESTS_MAX);
	m->responses[m->n_responses++] =
	    (struct orch_model_response){ 200, 0, body, gap_ms };
	pthread_mutex_unlock(&m->lock);
}

/* Streams stop after their first event while paused. */
void
orch_model_hold(struct orch_model *m, bool held)
{
	pthread_mutex_lock(&m->lock);
	m->paused = held;
	pthread_mutex_unlock(&m->lock);
}

void
orch_model_fail(struct orch_model *m, int status)
{
	orch_model_respond(m, status, 0,
	    mem_strdup("{\"error\":{\"message\":\"no\",\"type\":\"x\"}}"));
}

/* calls is NULL or a list of [name, arguments as text]. */
void
orch_model_reply_after(
    struct orch_model *m, const char *text, const char *calls, int delay_ms)
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
	orch_model_respond(m, 200, delay_ms, json_dumps(all, 0));
	json_decref(all);
	json_decref(out);
	json_decref(list);
}

void
orch_model_reply(struct orch_model *m, const char *text, const char *calls)
{
	orch_model_reply_after(m, text, calls, 0);
}

/* ---- requests ---- */

size_t
orch_model_requests(struct orch_model *m)
{
	pthread_mutex_lock(&m->lock);
	size_t n = m->n_requests;
	pthread_mutex_unlock(&m->lock);
	return n;
}

/* Request i; valid until model_stop(). */
json_t *
orch_model_request(struct orch_model *m, size_t i)
{
	pthread_mutex_lock(&m->lock);
	ck_assert_uint_lt(i, m->n_requests);
	json_t *j = m->requests[i];
	pthread_mutex_unlock(&m->lock);
	ck_assert_ptr_nonnull(j);
	return j;
}

/* The names of the tools of a request: "nod,light". */
const char *
orch_model_tools(json_t *request, char *dst, size_t size)
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
json_t *
orch_model_message(json_t *request, int i)
{
	json_t *list = json_object_get(request, "messages");
	size_t n = json_array_size(list);
	json_t *j = json_array_get(list, i < 0 ? n - (size_t)-i : (size_t)i);

	ck_assert_ptr_nonnull(j);
	return j;
}

const char *
orch_model_text(json_t *request, int i)
{
	const char *s = json_string_value(
	    json_object_get(orch_model_message(request, i), "content"));

	return s != NULL ? s : "";
}

/* The roles of a request's messages: "suat". */
const char *
orch_model_roles(json_t *request, char *dst, size_t size)
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
