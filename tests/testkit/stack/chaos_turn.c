/* Turns of a client of the load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/json.h"
#include "testkit/stack/chaos_client.h"
#include "testkit/stack/verdict.h"
#include "testkit/testkit.h"

#define TRIES        6
#define RECONNECT_MS 1000

/* A request of a turn under way. */
struct client_attempt {
	struct chaos_client *c;
	int number;
	enum client_way way;
	bool canceled; /* it was tried */
};

void
client_verify(struct chaos_client *c, const struct chaos_http *r, int status)
{
	char text[900], bare[256];
	struct verdict v = { 0 };
	struct verdict_http x = { r->method, bare, status, buf_str(&c->out) };

	if (status == 0)
		return;
	snprintf(
	    bare, sizeof(bare), "%.*s", (int)strcspn(r->path, "?"), r->path);
	verdict_http(c->arena, &x, &v);
	if (!v.wrong)
		return;
	snprintf(text, sizeof(text), "%s %s: %d %.*s: %s", r->method, r->path,
	    status, (int)(x.body.n < 200 ? x.body.n : 200), x.body.p, v.why);
	chaos_wrong(c->h, chaos_now(), text);
}

/* ---- cancellation ---- */

static void
client_cancel(struct client_attempt *a, const char *turn_id)
{
	char path[256];
	struct buf out = BUF_INIT(65536);
	json_t *body = json_pack("{ss}", "user_id", a->c->user), *j;
	struct chaos_http r = { .method = "POST",
		.path = path,
		.body = body,
		.timeout_ms = CHAOS_CALL_MS };

	snprintf(path, sizeof(path), "/v1/turns/%s/cancel", turn_id);
	if (chaos_http(a->c->port, &r, &out) == 200) {
		j = json_loadb(out.p, out.n, 0, NULL);
		if (json_is_true(json_object_get(j, "canceled")))
			chaos_canceled(a->c->h, chaos_now(), a->number);
		json_decref(j);
	}
	json_decref(body);
	buf_free(&out);
}

/* With the turn's first event, it is canceled. */
static bool
on_more(void *arg, struct str so_far)
{
	struct client_attempt *a = arg;
	char id[80];
	json_t *e;

	if (a->way != CLIENT_CANCEL || a->canceled)
		return true;
	e = chaos_http_next(&so_far);
	if (e != NULL) {
		a->canceled = true;
		snprintf(id, sizeof(id), "%s", tk_find_text(e, "run_id"));
		json_decref(e);
		client_cancel(a, id);
	}
	return true;
}

/* ---- results ---- */

/* The skills of a body that were executed. */
static json_t *
client_skills(json_t *response)
{
	json_t *list = json_array(), *v;
	size_t i;

	json_array_foreach (json_object_get(response, "executed_skills"), i, v)
		if (strstr(json_string_value(v), "_memory") == NULL)
			json_array_append(list, v);
	return list;
}

static enum chaos_end
client_error(const char *code, const char *text)
{
	if (strcasecmp(code, "turn_lost") == 0)
		return strstr(text, "an action may") != NULL ? CHAOS_LOST_ACTED
							     : CHAOS_LOST;
	return strcasecmp(code, "canceled") == 0 ? CHAOS_CANCELED
						 : CHAOS_FAILED;
}

static enum chaos_end
client_error_of(struct client_attempt *a, int status, json_t *j)
{
	const char *code = tk_find_text(j, "code");
	char text[400];

	switch (status) {
	case 0:
	case 429:
	case 503:
	case 504:
		return CHAOS_OPEN;
	case 409:
		return CHAOS_CANCELED;
	case 502:
		return client_error(code, tk_find_text(j, "error"));
	default:
		snprintf(text, sizeof(text), "attempt %d: %d %s: %s", a->number,
		    status, code, tk_find_text(j, "error"));
		chaos_wrong(a->c->h, chaos_now(), text);
		return CHAOS_FAILED;
	}
}

static void
client_record(
    struct client_attempt *a, int status, enum chaos_end end, json_t *response)
{
	json_t *skills = client_skills(response);
	struct chaos_result r = { .end = end,
		.status = status,
		.turn_id = tk_find_text(response, "turn_id"),
		.reply = tk_find_text(response, "reply"),
		.executed = skills };

	if (r.turn_id[0] == '\0')
		r.turn_id = NULL;
	chaos_result(a->c->h, chaos_now(), a->number, &r);
	if (end == CHAOS_DONE && r.turn_id != NULL)
		snprintf(a->c->last, sizeof(a->c->last), "%s", r.turn_id);
	json_decref(skills);
}

static enum chaos_end
client_end_plain(struct client_attempt *a, int status)
{
	const struct buf *out = &a->c->out;
	json_t *j = out->n > 0 ? json_loadb(out->p, out->n, 0, NULL) : NULL;
	enum chaos_end end = CHAOS_DONE;

	if (status != 200)
		end = client_error_of(a, status, j);
	client_record(a, status, end, end == CHAOS_DONE ? j : NULL);
	json_decref(j);
	return end;
}

/* The last event tells the outcome; without it, it is not known. */
static enum chaos_end
client_end_stream(struct client_attempt *a, int status)
{
	struct str rest = buf_str(&a->c->out);
	json_t *e, *final = NULL;
	enum chaos_end end = CHAOS_OPEN;
	const char *type;

	while ((e = chaos_http_next(&rest)) != NULL) {
		type = tk_find_text(e, "type");
		if (strcmp(type, "assistant.message.final") == 0) {
			json_decref(final);
			final =
			    json_incref(tk_find(e, "data.structured_payload"));
		} else if (strcmp(type, "conversation.completed") == 0 ||
		    strcmp(type, "user.input.required") == 0)
			end = CHAOS_DONE;
		else if (strcmp(type, "conversation.failed") == 0)
			end = client_error(tk_find_text(e, "data.error.code"),
			    tk_find_text(e, "data.error.message"));
		json_decref(e);
	}
	client_record(a, status, end, end == CHAOS_DONE ? final : NULL);
	json_decref(final);
	return end;
}

/* ---- a turn ---- */

static enum chaos_end
client_attempt(
    struct chaos_client *c, int input, json_t *body, enum client_way way)
{
	struct client_attempt a = { c, chaos_send(c->h, chaos_now(), input),
		way, false };
	char trace[CHAOS_TRACE_MAX];
	struct chaos_http r = { .method = "POST",
		.path = "/v1/chat",
		.body = body,
		.trace = trace,
		.timeout_ms = CHAOS_CALL_MS,
		.more = on_more,
		.arg = &a };
	int status;

	chaos_trace(a.number, trace);
	if (way >= CLIENT_GIVE_UP)
		r.timeout_ms = 1 + (long)client_random(c, 150);
	status = chaos_http(c->port, &r, &c->out);
	if (json_is_true(json_object_get(body, "stream")) &&
	    str_starts(buf_str(&c->out), STR("retry:")))
		return client_end_stream(&a, status);
	client_verify(c, &r, status);
	return client_end_plain(&a, status);
}

static bool
gateway_is_open(void *arg)
{
	const struct chaos_client *c = arg;

	return tk_port_open(c->port);
}

static json_t *
client_chat(struct chaos_client *c, const char *session, const char *text,
    enum client_way way)
{
	char id[48];
	json_t *body;

	snprintf(id, sizeof(id), "in-%d-%d", c->number, c->words++);
	body = json_pack("{sssssss[{ssssss}]}", "user_id", c->user,
	    "session_id", session, "terminal_id", c->terminal, "inputs",
	    "input_id", id, "type", "keyboard_text", "text", text);
	if (way == CLIENT_STREAM || way == CLIENT_CANCEL)
		json_object_set_new(body, "stream", json_true());
	if (way == CLIENT_LEAVE)
		json_object_set_new(body, "cancel_on_disconnect", json_true());
	return body;
}

/* Whether to send it again. */
static bool
client_insists(struct chaos_client *c, enum chaos_end end)
{
	if (end == CHAOS_OPEN)
		return client_random(c, 8) > 0;
	return end == CHAOS_LOST && client_random(c, 2) > 0;
}

bool
client_turn(struct chaos_client *c, const char *session, const char *text,
    enum client_way way)
{
	enum chaos_end end = CHAOS_OPEN;
	char full[256];
	json_t *body;
	int input, i;

	if (c->body != NULL)
		chaos_body_heartbeat(c->body);
	input = chaos_input(
	    c->h, chaos_now(), session, c->body != NULL ? c->terminal : NULL);
	chaos_text(input, text, full, sizeof(full));
	body = client_chat(c, session, full, way);
	for (i = 0; i < TRIES; i++) {
		end = client_attempt(c, input, body, way);
		if (way > CLIENT_STREAM)
			way = CLIENT_STREAM;
		if (!client_insists(c, end))
			break;
		(void)tk_until(gateway_is_open, c, RECONNECT_MS);
		client_pause(c, 50);
	}
	json_decref(body);
	c->unknown |= end == CHAOS_OPEN;
	if (end == CHAOS_DONE)
		atomic_fetch_add(&c->done, 1);
	return end == CHAOS_DONE;
}
