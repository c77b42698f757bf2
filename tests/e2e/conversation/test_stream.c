/*
 * A turn as it happens, through all services: its events, a retry, its record,
 * and the same events from the session's log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "e2e/rig/owner.h"
#include "kit/kit_http.h"

STACK_SHARED({ .env = { { NULL } } })

static const char *const types[] = {
	"\"type\":\"conversation.started\"",
	"\"type\":\"assistant.message.delta\"",
	"\"type\":\"assistant.message.final\"",
	"\"type\":\"conversation.completed\"",
};

/* One after the other, until the last; of the body of an event stream. */
static void
has_turn(const char *text)
{
	size_t i;

	ck_assert_ptr_nonnull(strstr(text, "text/event-stream"));
	for (i = 0; i < NELEM(types); i++) {
		text = strstr(text, types[i]);
		ck_assert_msg(text != NULL, "no %s", types[i]);
	}
}

/* HTTP/1.0, so that the stream is not in chunks. */
static void
post(struct kit_http *c, json_t *body)
{
	char *text = json_dumps(body, 0), head[256];

	json_decref(body);
	snprintf(head, sizeof(head),
	    "POST /v1/chat HTTP/1.0\r\nContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n",
	    strlen(text));
	kit_http_open(c, stack.service[STACK_CHAT_GATEWAY].http);
	ck_assert(kit_http_puts(c, head));
	ck_assert(kit_http_puts(c, text));
	free(text);
}

/* The run that the stream is of, and the end of the stream. */
static void
run_of(struct kit_http *c, char *id, size_t size)
{
	const char *at = strstr(c->in.p, "\"run_id\":\"");

	ck_assert_ptr_nonnull(at);
	at += strlen("\"run_id\":\"");
	snprintf(id, size, "%.*s", (int)strcspn(at, "\""), at);
	ck_assert(kit_http_gone(c, STACK_MS));
}

KIT_TEST(a_turn_is_told_as_it_happens)
{
	struct owner o = { &stack, "u-stream", "s1", STACK_BODY };
	struct kit_http c = { 0 };
	char first[96], again[96], path[160];
	json_t *said, *r;

	owner_wait_body(&stack, STACK_USER, STACK_BODY, OWNER_KNOWS_INTENTS);
	owner_select(&stack, o.user, STACK_BODY,
	    owner_soul(&stack, o.user, "小元", "ENFP"));
	said = owner_request(&o, "今天上海天气如何？");
	json_object_set_new(said, "stream", json_true());
	post(&c, json_incref(said));
	ck_assert(kit_http_has(&c, types[3], STACK_MS));
	has_turn(c.in.p);
	ck_assert_ptr_nonnull(strstr(c.in.p, "今天上海天气如何？"));
	run_of(&c, first, sizeof(first));
	kit_http_close(&c);

	snprintf(path, sizeof(path), "/v1/turns/%s?user_id=%s", first, o.user);
	r = owner_ok(&stack, "GET", path, NULL);
	ck_assert_str_eq(text_at(r, "state"), "completed");
	ck_assert_uint_gt(json_array_size(at(r, "timeline")), 0);
	json_decref(r);

	/* The session's log has the same. */
	kit_http_open(&c, stack.service[STACK_CHAT_GATEWAY].http);
	ck_assert(kit_http_puts(&c,
	    "GET /v1/sessions/s1/events?cursor=0&user_id=u-stream "
	    "HTTP/1.0\r\n\r\n"));
	ck_assert(kit_http_has(&c, types[3], STACK_MS));
	has_turn(c.in.p);
	ck_assert_ptr_nonnull(strstr(c.in.p, first));
	kit_http_close(&c);

	/* An input with an id is known again. */
	json_object_set_new(json_array_get(json_object_get(said, "inputs"), 0),
	    "input_id", json_string("in-1"));
	post(&c, json_incref(said));
	ck_assert(kit_http_has(&c, types[3], STACK_MS));
	run_of(&c, first, sizeof(first));
	kit_http_close(&c);
	post(&c, said);
	ck_assert(kit_http_has(&c, types[3], STACK_MS));
	has_turn(c.in.p);
	run_of(&c, again, sizeof(again));
	ck_assert_str_eq(again, first);
	kit_http_close(&c);
}
