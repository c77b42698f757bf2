/*
 * on_command: messages to the hub itself, the only payloads that it reads.
 */
#include <stdio.h>

#include "body/body.h"
#include "command.h"
#include "core/fiber.h"
#include "core/mem.h"
#include "envelope.h"
#include "handlers.h"
#include "wire/slice.h"

#define VERSION "1.0"

bool
command_fail(struct command_run *r, enum hub_error error, const char *message)
{
	r->f->error = error;
	r->f->message = message;
	return false;
}

bool
command_invalid(struct command_run *r, const char *error)
{
	r->f->validation_error = error;
	return command_fail(r, HUB_ERROR_VALIDATION, NULL);
}

struct str
command_text(struct command_run *r, const char *key)
{
	return payload_text(
	    payload_member(r->p.data, str_of(key)), r->h->arena);
}

/* ---- the reply ---- */

/* That of the request, or its message's, or a new one. */
static void
command_set_reply_id(struct command_run *r)
{
	char text[40];

	if (r->p.id.p != NULL && r->p.id.n <= ENVELOPE_MESSAGE_ID_MAX) {
		r->reply_id = r->p.id;
	} else if (r->f->message_id.p != NULL) {
		r->reply_id = r->f->message_id;
	} else {
		(void)snprintf(text, sizeof(text), "\"hub-%llu\"",
		    (unsigned long long)++r->h->events);
		r->reply_id = arena_str(r->h->arena, str_of(text));
	}
}

void
command_begin(struct command_run *r)
{
	buf_reset(&r->h->out);
	r->o = (struct wire_out){ .b = &r->h->out };
	hub_message_begin(&r->o, "message", &r->c->identity);
	wire_out_object(&r->o);
	wire_out_key(&r->o, STR("type"));
	wire_out_str(&r->o, STR("outcome"));
	wire_out_key(&r->o, STR("id"));
	wire_out_raw(&r->o, r->reply_id);
	wire_out_key(&r->o, STR("outcome"));
	wire_out_object(&r->o);
}

bool
command_end(struct command_run *r)
{
	wire_out_object_end(&r->o);
	wire_out_key(&r->o, STR("outcome_type"));
	wire_out_str(&r->o, STR("dict"));
	wire_out_object_end(&r->o);
	hub_message_end(&r->o, hub_now(r->h));
	if (!client_send_text(r->h, r->c) && !r->c->closing)
		client_drop(r->h, r->c);
	return true;
}

void
command_put(struct command_run *r, const char *key, struct str value)
{
	hub_put(&r->o, key, value);
}

void
command_put_count(struct command_run *r, const char *key, size_t n)
{
	wire_out_key(&r->o, str_of(key));
	wire_out_i64(&r->o, (int64_t)n);
}

void
command_put_flag(struct command_run *r, const char *key, bool is)
{
	wire_out_key(&r->o, str_of(key));
	wire_out_bool(&r->o, is);
}

/* ---- requests that wait ---- */

static void
command_in_fiber(void *arg)
{
	struct command_run *r = arg;
	struct hub *h = r->h;
	struct client *c = r->c;
	struct arena *a = r->arena;

	if (!r->fn(r))
		client_fail(h, c, r->f);
	c->commands--;
	client_unref(h, c);
	arena_free(a);
}

bool
command_later(struct command_run *r, command_fn fn)
{
	struct arena *a;
	struct command_run *later;

	if (r->c->commands == COMMAND_WAITING_MAX) {
		r->f->retry_after_ms = 100;
		return command_fail(r, HUB_ERROR_RATE, NULL);
	}
	r->c->commands++;
	a = arena_new(8192);
	later = arena_alloc(a, sizeof(*later));
	*later = *r;
	later->arena = a;
	later->fn = fn;
	later->c = client_ref(r->c);
	later->e = NULL;
	later->p = (struct payload){ 0 };
	later->reply_id = arena_str(a, r->reply_id);
	later->env = arena_str(a, r->env);
	later->key = arena_str(a, r->key);
	later->failure = *r->f;
	later->failure.message_id = arena_str(a, r->f->message_id);
	later->f = &later->failure;
	fiber_start(command_in_fiber, later);
	return true;
}

/* ---- requests that need nothing from elsewhere ---- */

struct version_search {
	size_t n;
	bool found;
};

static void
version_on_element(void *arg, const struct wire_slice *s)
{
	struct version_search *v = arg;

	v->n++;
	/* "1", or "1.x" with anything behind it. */
	if (str_eq(s->value, STR("\"1\"")) || str_starts(s->value, STR("\"1.")))
		v->found = true;
}

static bool
command_version_negotiate(struct command_run *r)
{
	struct str list = payload_member(r->p.data, STR("supported_versions"));
	struct version_search v = { 0 };

	if (list.n == 0 || list.p[0] != '[' ||
	    envelope_members(list, version_on_element, &v) != RC_OK)
		return command_invalid(r,
		    "/payload/data/supported_versions: must be an array of "
		    "versions");
	if (!v.found)
		return command_invalid(
		    r, "/payload/data/supported_versions: has no version 1.x");
	command_begin(r);
	command_put(r, "selected_version", STR(VERSION));
	command_put(r, "server_version", STR(VERSION));
	return command_end(r);
}

/* What can be done in an environment; the outcome follows. */
static bool
command_report(struct command_run *r, bool catalog)
{
	struct body_report report = {
		.id = r->reply_id, .data = r->p.data, .catalog = catalog
	};
	const char *why;

	if (report.data.p == NULL)
		return command_invalid(r, "/payload/data: is missing");
	why = body_report(r->h, r->c, &report);
	return why == NULL || command_fail(r, HUB_ERROR_PERMISSION, why);
}

static bool
command_skills(struct command_run *r)
{
	return command_report(r, false);
}

static bool
command_intents(struct command_run *r)
{
	return command_report(r, true);
}

static bool
command_authentication(struct command_run *r)
{
	return client_auth_handle(r->h, r->c, r->e, r->f);
}

static bool
command_ping(struct command_run *r)
{
	command_begin(r);
	command_put(r, "status", STR("success"));
	command_put(r, "message", STR("pong"));
	wire_out_key(&r->o, STR("data"));
	wire_out_object(&r->o);
	wire_out_object_end(&r->o);
	return command_end(r);
}

struct command_row {
	struct str name;
	bool (*fn)(struct command_run *r);
};
static const struct command_row command_rows[] = {
	{ STR_INIT("get_environments"), command_get_environments },
	{ STR_INIT("get_server_stats"), command_get_server_stats },
	{ STR_INIT("version_negotiate"), command_version_negotiate },
	{ STR_INIT("get_members"), command_get_members },
	{ STR_INIT("join_environment"), command_join },
	{ STR_INIT("leave_environment"), command_leave },
	{ STR_INIT("get_history"), command_get_history },
	{ STR_INIT("skills"), command_skills },
	{ STR_INIT("intent_catalog_report"), command_intents },
	{ STR_INIT("admin_command"), on_admin },
	{ STR_INIT("authentication"), command_authentication },
};

static bool
command_stream(struct command_run *r)
{
	struct str name = payload_stream(&r->p, r->h->arena);
	size_t i;

	if (name.p == NULL)
		return command_invalid(r, "/payload/stream: is missing");
	for (i = 0; i < NELEM(command_rows); i++)
		if (str_eq(name, command_rows[i].name))
			return command_rows[i].fn(r);
	return command_invalid(r, "/payload/stream: is no request to the hub");
}

bool
on_command(struct hub *h, struct client *c, const struct envelope *e,
    struct hub_failure *f)
{
	struct command_run r = { .h = h, .c = c, .e = e, .f = f };
	struct str type;

	if (payload_read(e->payload, &r.p) != RC_OK)
		return command_invalid(&r, "/payload: must be an object");
	command_set_reply_id(&r);
	type = payload_text(r.p.type, h->arena);
	if (str_eq(type, STR("stream")))
		return command_stream(&r);
	if (str_eq(type, STR("action")) &&
	    str_eq(payload_text(r.p.action, h->arena), STR("ping")))
		return command_ping(&r);
	if (str_eq(type, STR("action")))
		return command_invalid(
		    &r, "/payload/action: the hub does ping only");
	return command_invalid(&r,
	    "/payload/type: must be stream, or action for a ping, to the hub");
}
