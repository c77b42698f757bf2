/*
 * Rows are found by the patterns of the generated tables, so a channel that is
 * not in interfaces.json cannot be used unnoticed.
 */
#include "testkit/stack/verdict.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "wire/msgs.h"
#include "wire/wire.h"

static void __attribute__((format(printf, 2, 3)))
verdict_error(struct verdict *v, const char *fmt, ...)
{
	va_list ap;

	if (v->wrong)
		return;
	v->wrong = true;
	va_start(ap, fmt);
	vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
}

/*
 * Whether text, split at sep, matches the pattern; a part of the pattern equal
 * to wild matches any part.
 */
static bool
verdict_matches(struct str pattern, struct str text, char sep, char wild)
{
	struct str p, t;

	while (pattern.p != NULL && text.p != NULL) {
		p = str_split(&pattern, sep);
		t = str_split(&text, sep);
		if (p.n > 0 && p.p[0] == wild ? t.n == 0 : !str_eq(p, t))
			return false;
	}
	return pattern.p == NULL && text.p == NULL;
}

/* The message decoded, or NULL. */
static void *
verdict_decode(struct arena *a, const struct wire_desc *d, struct str data,
    struct verdict *v)
{
	void *msg = arena_alloc(a, wire_desc_size(d));
	struct wire_err err;
	char text[WIRE_ERR_TEXT_MAX];

	if (wire_decode(d, data, a, msg, &err) == RC_OK)
		return msg;
	wire_err_text(&err, text, sizeof(text));
	verdict_error(v, "no %s: %s", wire_desc_name(d), text);
	return NULL;
}

const struct wire_subject *
verdict_subject_row(struct str subject)
{
	size_t i;

	for (i = 0; i < wire_subjects_n; i++) {
		if (verdict_matches(
			str_of(wire_subjects[i].subject), subject, '.', '*'))
			return &wire_subjects[i];
	}
	return NULL;
}

/* An event's type must match its subject, its payload its type. */
static void
verdict_event(struct arena *a, const struct wire_event_envelope *e,
    struct str subject, struct verdict *v)
{
	const struct wire_event *row = wire_event_find(e->type);
	struct str type;

	(void)str_split(&subject, '.');
	(void)str_split(&subject, '.');
	type = str_split(&subject, '.');
	if (!str_eq(type, e->type))
		verdict_error(v, "is an event of type %.*s", STR_ARG(e->type));
	else if (row == NULL)
		verdict_error(v, "unknown type of event");
	else
		(void)verdict_decode(a, row->payload, e->payload, v);
}

void
verdict_request(struct arena *a, const struct wire_subject *row,
    struct str subject, struct str data, struct verdict *v)
{
	void *msg;

	arena_reset(a);
	msg = verdict_decode(a, row->request, data, v);
	if (msg != NULL && row->kind == WIRE_SUBJECT_KIND_EVENT)
		verdict_event(a, msg, subject, v);
}

void
verdict_reply(struct arena *a, const struct wire_subject *row, struct str data,
    bool error, struct verdict *v)
{
	arena_reset(a);
	if (row->reply == NULL && !error)
		verdict_error(v, "a reply to a message without replies");
	else
		(void)verdict_decode(
		    a, error ? &wire_error_desc : row->reply, data, v);
}

/* Level i of a topic. */
static struct str
topic_level(struct str topic, size_t i)
{
	while (i-- > 0)
		(void)str_split(&topic, '/');
	return topic.p != NULL ? str_split(&topic, '/') : topic;
}

struct str
verdict_topic_terminal(struct str topic)
{
	static const struct str above = STR_INIT("/terminal/");
	ptrdiff_t at = str_find(topic, above);

	if (at < 0)
		return (struct str){ 0 };
	topic.p += (size_t)at + above.n;
	topic.n -= (size_t)at + above.n;
	return str_split(&topic, '/');
}

/* The row for the levels after the terminal, or NULL. */
static const struct wire_topic *
topic_row(struct str leaf)
{
	size_t i;

	for (i = 0; i < wire_topics_n; i++) {
		if (verdict_matches(
			str_of(wire_topics[i].leaf), leaf, '/', '+'))
			return &wire_topics[i];
	}
	return NULL;
}

/* If the payload has the member, it must equal the topic's. */
static void
verdict_check_id(
    json_t *payload, const char *member, struct str id, struct verdict *v)
{
	const char *s = json_string_value(json_object_get(payload, member));

	if (s != NULL && s[0] != '\0' && !str_eq(str_of(s), id))
		verdict_error(v, "its %s is %s", member, s);
}

void
verdict_mqtt(struct arena *a, const struct verdict_mqtt *m,
    const struct wire_topic **row, struct verdict *v)
{
	struct str terminal = verdict_topic_terminal(m->topic);
	struct str leaf;
	json_t *j;

	arena_reset(a);
	*row = NULL;
	if (terminal.p == NULL) {
		verdict_error(v, "unknown topic");
		return;
	}
	leaf.p = terminal.p + terminal.n + 1;
	leaf.n = m->topic.n - (size_t)(leaf.p - m->topic.p);
	*row = terminal.p + terminal.n == m->topic.p + m->topic.n
	    ? NULL
	    : topic_row(leaf);
	if (*row == NULL) {
		verdict_error(v, "unknown topic");
		return;
	}
	if (m->qos != (*row)->qos)
		verdict_error(v, "QoS is %d, not %d", m->qos, (*row)->qos);
	if (m->retain != (*row)->retain)
		verdict_error(
		    v, "%s", m->retain ? "is retained" : "is not retained");
	/* An empty retained message deletes the retained one. */
	if (m->retain && m->payload.n == 0)
		return;
	(void)verdict_decode(a, (*row)->message, m->payload, v);
	j = json_loadb(m->payload.p, m->payload.n, JSON_DECODE_ANY, NULL);
	verdict_check_id(j, "terminal_id", terminal, v);
	if (str_find(leaf, STR("/")) >= 0)
		verdict_check_id(j, "request_id", topic_level(leaf, 1), v);
	json_decref(j);
}

/* NULL: it is of none. */
static const struct wire_route *
verdict_route(const struct verdict_http *h)
{
	size_t i;

	for (i = 0; i < wire_routes_n; i++)
		if (strcmp(wire_routes[i].method, h->method) == 0 &&
		    verdict_matches(
			str_of(wire_routes[i].path), str_of(h->path), '/', '{'))
			return &wire_routes[i];
	return NULL;
}

void
verdict_http(struct arena *a, const struct verdict_http *h, struct verdict *v)
{
	const struct wire_route *r = verdict_route(h);

	arena_reset(a);
	if (h->status >= 400) {
		bool other =
		    r != NULL && str_starts(str_of(r->name), STR("openai_"));
		(void)verdict_decode(a,
		    other ? &wire_openai_error_desc : &wire_error_desc, h->body,
		    v);
		return;
	}
	/*
	 * The simulated model's control routes are not an interface of the
	 * suite.
	 */
	if (strncmp(h->path, "/sim/", 5) == 0)
		return;
	if (r == NULL)
		verdict_error(v, "status %d of an unknown route", h->status);
	else if (h->status != 200 && h->status != 202)
		verdict_error(v, "status %d", h->status);
	else
		(void)verdict_decode(a, r->response, h->body, v);
}
