/* An independent parser of event streams. */
#include "testkit/sse.h"

#include <stdio.h>
#include <string.h>

#include "testkit/json.h"
#include "testkit/testkit.h"

void
tk_sse_send(struct tk_sse *s, int port, const char *path, const char *last)
{
	char head[512];

	*s = (struct tk_sse){ 0 };
	tk_http_open(&s->c, port);
	snprintf(head, sizeof(head), "GET %s HTTP/1.0\r\n%s%s%s\r\n", path,
	    last != NULL ? "Last-Event-ID: " : "", last != NULL ? last : "",
	    last != NULL ? "\r\n" : "");
	ck_assert(tk_http_puts(&s->c, head));
}

void
tk_sse_post(struct tk_sse *s, int port, const char *accept, const char *body)
{
	char head[1024];

	*s = (struct tk_sse){ 0 };
	tk_http_open(&s->c, port);
	snprintf(head, sizeof(head),
	    "POST /v1/chat HTTP/1.0\r\n%sContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    accept, strlen(body), body);
	ck_assert(tk_http_puts(&s->c, head));
}

void
tk_sse_begun(struct tk_sse *s)
{
	const char *body;

	ck_assert_msg(tk_http_has(&s->c, "retry: 2000\n\n", TK_SSE_MS), "%s",
	    s->c.in.n > 0 ? s->c.in.p : "nothing");
	ck_assert_msg(strstr(s->c.in.p, "200 OK\r\n") != NULL, "%s", s->c.in.p);
	body = strstr(s->c.in.p, "retry: 2000\n\n");
	s->at = (size_t)(body - s->c.in.p) + strlen("retry: 2000\n\n");
}

void
tk_sse_open(struct tk_sse *s, int port, const char *path)
{
	tk_sse_send(s, port, path, NULL);
	tk_sse_begun(s);
}

void
tk_sse_open_as(struct tk_sse *s, int port, const char *path, const char *token)
{
	char head[512];

	*s = (struct tk_sse){ 0 };
	tk_http_open(&s->c, port);
	snprintf(head, sizeof(head),
	    "GET %s HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n", path, token);
	ck_assert(tk_http_puts(&s->c, head));
	tk_sse_begun(s);
}

void
tk_sse_close(struct tk_sse *s)
{
	tk_http_close(&s->c);
}

/* The value of a field of the event in text, "" if absent. */
static void
sse_field(const char *text, const char *name, char *dst, size_t size)
{
	const char *at = strstr(text, name);

	dst[0] = '\0';
	if (at != NULL)
		snprintf(dst, size, "%.*s",
		    (int)strcspn(at + strlen(name), "\n"), at + strlen(name));
}

bool
tk_sse_next(struct tk_sse *s, int ms, struct tk_sse_event *e)
{
	const char *text, *end, *data;

	for (;;) {
		text = s->c.in.n > 0 ? s->c.in.p + s->at : NULL;
		end = text != NULL ? strstr(text, "\n\n") : NULL;
		if (end == NULL) {
			if (!tk_http_fill(&s->c, ms))
				return false;
			continue;
		}
		s->at = (size_t)(end - s->c.in.p) + 2;
		if (text[0] == ':')
			continue;
		sse_field(text, "id: ", e->id, sizeof(e->id));
		sse_field(text, "event: ", e->name, sizeof(e->name));
		data = strstr(text, "data: ") + strlen("data: ");
		e->j = tk_json(data, (size_t)(end - data));
		return true;
	}
}

json_t *
tk_sse_take(struct tk_sse *s, int64_t seq, const char *type)
{
	struct tk_sse_event e;
	char id[24];

	ck_assert_msg(tk_sse_next(s, TK_SSE_MS, &e),
	    "no event %lld (%s) after %s", (long long)seq, type, s->c.in.p);
	snprintf(id, sizeof(id), "%lld", (long long)seq);
	ck_assert_str_eq(e.id, id);
	ck_assert_str_eq(e.name, "chat_event");
	ck_assert_int_eq(tk_int(e.j, "seq"), seq);
	ck_assert_str_eq(tk_text(e.j, "type"), type);
	return e.j;
}

void
tk_sse_is(struct tk_sse *s, int64_t seq, const char *type)
{
	json_decref(tk_sse_take(s, seq, type));
}

void
tk_sse_warns(struct tk_sse *s, int64_t seq)
{
	json_t *j = tk_sse_take(s, seq, WARNING);

	ck_assert_str_eq(tk_text(j, "data.code"), "EVENTS_GONE");
	json_decref(j);
}

bool
tk_sse_ends(struct tk_sse *s, int ms)
{
	struct tk_sse_event e;

	if (tk_sse_next(s, ms, &e))
		return false;
	return tk_http_closed(&s->c, ms);
}
