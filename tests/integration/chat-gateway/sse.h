/*
 * sse: a reader of event streams.  It speaks HTTP/1.0, so that what comes is
 * the stream and nothing else.
 */
#ifndef SSE_H
#define SSE_H

#include "bed.h"

struct sse {
	struct kit_http c;
	size_t at; /* of c.in: what has been read */
};

struct sse_event {
	char id[24], name[32]; /* "": none */
	json_t *j;
};

/* Send a request; last is a Last-Event-ID, NULL: none. */
static inline void
sse_send(struct sse *s, int port, const char *path, const char *last)
{
	char head[512];

	*s = (struct sse){ 0 };
	kit_http_open(&s->c, port);
	snprintf(head, sizeof(head), "GET %s HTTP/1.0\r\n%s%s%s\r\n", path,
	    last != NULL ? "Last-Event-ID: " : "", last != NULL ? last : "",
	    last != NULL ? "\r\n" : "");
	ck_assert(kit_http_puts(&s->c, head));
}

/* The same of a POST; accept is a line with its end, or "". */
static inline void
sse_post(struct sse *s, int port, const char *accept, const char *body)
{
	char head[1024];

	*s = (struct sse){ 0 };
	kit_http_open(&s->c, port);
	snprintf(head, sizeof(head),
	    "POST /v1/chat HTTP/1.0\r\n%sContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    accept, strlen(body), body);
	ck_assert(kit_http_puts(&s->c, head));
}

/* What has come is an event stream. */
static inline void
sse_begun(struct sse *s)
{
	const char *body;

	ck_assert_msg(kit_http_has(&s->c, "retry: 2000\n\n", BED_MS), "%s",
	    s->c.in.n > 0 ? s->c.in.p : "nothing");
	ck_assert_msg(strstr(s->c.in.p, "200 OK\r\n") != NULL, "%s", s->c.in.p);
	body = strstr(s->c.in.p, "retry: 2000\n\n");
	s->at = (size_t)(body - s->c.in.p) + strlen("retry: 2000\n\n");
}

static inline void
sse_open(struct sse *s, int port, const char *path)
{
	sse_send(s, port, path, NULL);
	sse_begun(s);
}

static inline void
sse_close(struct sse *s)
{
	kit_http_close(&s->c);
}

/* The value of a field of the event in text, "" if it has none. */
static inline void
sse_field(const char *text, const char *name, char *dst, size_t size)
{
	const char *at = strstr(text, name);

	dst[0] = '\0';
	if (at != NULL)
		snprintf(dst, size, "%.*s",
		    (int)strcspn(at + strlen(name), "\n"), at + strlen(name));
}

/* The next event within ms; false if none comes.  Comments are skipped. */
static inline bool
sse_next(struct sse *s, int ms, struct sse_event *e)
{
	const char *text, *end, *data;

	for (;;) {
		text = s->c.in.n > 0 ? s->c.in.p + s->at : NULL;
		end = text != NULL ? strstr(text, "\n\n") : NULL;
		if (end == NULL) {
			if (!kit_http_fill(&s->c, ms))
				return false;
			continue;
		}
		s->at = (size_t)(end - s->c.in.p) + 2;
		if (text[0] == ':')
			continue;
		sse_field(text, "id: ", e->id, sizeof(e->id));
		sse_field(text, "event: ", e->name, sizeof(e->name));
		data = strstr(text, "data: ") + strlen("data: ");
		e->j = kit_json(data, (size_t)(end - data));
		return true;
	}
}

/* The next event, which must be this one; the caller frees what it returns. */
static inline json_t *
sse_take(struct sse *s, int64_t seq, const char *type)
{
	struct sse_event e;
	char id[24];

	ck_assert_msg(sse_next(s, BED_MS, &e), "no event %lld (%s) after %s",
	    (long long)seq, type, s->c.in.p);
	snprintf(id, sizeof(id), "%lld", (long long)seq);
	ck_assert_str_eq(e.id, id);
	ck_assert_str_eq(e.name, "chat_event");
	ck_assert_int_eq(kit_int(e.j, "seq"), seq);
	ck_assert_str_eq(kit_text(e.j, "type"), type);
	return e.j;
}

static inline void
sse_is(struct sse *s, int64_t seq, const char *type)
{
	json_decref(sse_take(s, seq, type));
}

#define STARTED   "conversation.started"
#define DELTA     "assistant.message.delta"
#define FINAL     "assistant.message.final"
#define COMPLETED "conversation.completed"
#define FAILED    "conversation.failed"
#define WARNING   "diagnostic.warning"

/* The next event warns that events up to seq are gone. */
static inline void
sse_warns(struct sse *s, int64_t seq)
{
	json_t *j = sse_take(s, seq, WARNING);

	ck_assert_str_eq(kit_text(j, "data.code"), "EVENTS_GONE");
	json_decref(j);
}

/* Whether the stream ends within ms, with nothing more in it. */
static inline bool
sse_ends(struct sse *s, int ms)
{
	struct sse_event e;

	if (sse_next(s, ms, &e))
		return false;
	return kit_http_gone(&s->c, ms);
}

#endif /* !SSE_H */
