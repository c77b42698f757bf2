/*
 * asyncapi.yaml: NATS and MQTT, as the server sees them.
 */
#include <string.h>

#include "gen.h"

struct doc {
	const struct gen *g;
	json_t *channels;
	json_t *operations;
	json_t *messages;
	json_t *schemas;
};

static json_t *
asyncapi_ref(const char *fmt, const char *name)
{
	return json_pack(
	    "{s:o}", "$ref", json_string(gen_printf("#/%s/%s", fmt, name)));
}

/* The message among the components. */
static void
asyncapi_add_message(struct doc *d, const char *name)
{
	const struct gen_file *f = gen_file_find(d->g, name);
	if (json_object_get(d->messages, name) != NULL)
		return;
	gen_component(d->g, d->schemas, name);
	bool text = (f->record->flags & WIRE_TEXT) != 0;
	(void)json_object_set_new(d->messages, name,
	    json_pack("{s:s, s:s, s:o}", "name", name, "contentType",
		text ? "text/plain" : "application/json", "payload",
		gen_schema_ref(name)));
}

/* An event: the envelope, with its type and payload. */
static void
asyncapi_add_event(struct doc *d, const json_t *e, json_t *messages)
{
	const char *payload = gen_of(e, "payload");
	char *name = gen_printf("event_%s", gen_of(e, "type"));
	gen_component(d->g, d->schemas, payload);
	(void)json_object_set_new(d->messages, name,
	    json_pack("{s:s, s:O, s:s, s:{s:[o, {s:s, s:{s:{s:O}, s:o}}]}}",
		"name", name, "description", json_object_get(e, "description"),
		"contentType", "application/json", "payload", "allOf",
		gen_schema_ref("event_envelope"), "type", "object",
		"properties", "type", "const", json_object_get(e, "type"),
		"payload", gen_schema_ref(payload)));
	(void)json_object_set_new(
	    messages, name, asyncapi_ref("components/messages", name));
}

static void
asyncapi_add_events(struct doc *d, json_t *messages)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(d->g->iface, "events"), i, e)
		asyncapi_add_event(d, e, messages);
}

/* {"broker": {}, …} of an address. */
static json_t *
asyncapi_parameters_of(const char *s)
{
	json_t *out = json_object();
	while ((s = strchr(s, '{')) != NULL) {
		size_t n = strcspn(s, "}");
		(void)json_object_set_new(
		    out, gen_printf("%.*s", (int)n - 1, s + 1), json_object());
		s += n;
	}
	return out;
}

static json_t *
asyncapi_new_channel(const char *server, const json_t *e, const char *address)
{
	json_t *c = json_pack("{s:s, s:O, s:[o], s:{}}", "address", address,
	    "description", json_object_get(e, "description"), "servers",
	    asyncapi_ref("servers", server), "messages");
	json_t *parameters = asyncapi_parameters_of(address);
	if (json_object_size(parameters) > 0)
		(void)json_object_set(c, "parameters", parameters);
	return c;
}

static void
asyncapi_link_message(struct doc *d, const json_t *channel, const char *message)
{
	asyncapi_add_message(d, message);
	(void)json_object_set_new(json_object_get(channel, "messages"), message,
	    asyncapi_ref("components/messages", message));
}

static void
asyncapi_add_reply(struct doc *d, const char *name, const json_t *e, json_t *op)
{
	const char *message = gen_of(e, "reply");
	char *reply = gen_printf("%s_reply", name);
	asyncapi_add_message(d, message);
	(void)json_object_set_new(d->channels, reply,
	    json_pack("{s:n, s:s, s:[o], s:{s:o}}", "address", "description",
		"The reply subject of the request.", "servers",
		asyncapi_ref("servers", "nats"), "messages", message,
		asyncapi_ref("components/messages", message)));
	(void)json_object_set_new(op, "reply",
	    json_pack("{s:o, s:[o]}", "channel",
		asyncapi_ref("channels", reply), "messages",
		asyncapi_ref(
		    "channels", gen_printf("%s/messages/%s", reply, message))));
	(void)json_object_set(
	    op, "x-deadline-ms", json_object_get(e, "deadline_ms"));
}

static void
asyncapi_add_subject(struct doc *d, const json_t *e)
{
	char *name = gen_printf("nats_%s", gen_of(e, "name"));
	json_t *channel = asyncapi_new_channel("nats", e, gen_of(e, "subject"));
	(void)json_object_set_new(d->channels, name, channel);
	if (strcmp(gen_of(e, "kind"), "event") == 0) {
		gen_component(d->g, d->schemas, gen_of(e, "request"));
		asyncapi_add_events(d, json_object_get(channel, "messages"));
	} else {
		asyncapi_link_message(d, channel, gen_of(e, "request"));
	}
	json_t *op = json_pack("{s:s, s:o, s:O, s:O, s:O}", "action", "receive",
	    "channel", asyncapi_ref("channels", name), "x-owner",
	    json_object_get(e, "owner"), "x-kind", json_object_get(e, "kind"),
	    "x-section", json_object_get(e, "section"));
	if (gen_of(e, "reply") != NULL)
		asyncapi_add_reply(d, name, e, op);
	if (gen_of(e, "queue") != NULL)
		(void)json_object_set_new(op, "bindings",
		    json_pack("{s:{s:O}}", "nats", "queue",
			json_object_get(e, "queue")));
	(void)json_object_set_new(d->operations, name, op);
}

static void
asyncapi_add_topic(struct doc *d, const json_t *e)
{
	char *name = gen_printf("mqtt_%s", gen_of(e, "name"));
	bool body = strcmp(gen_of(e, "from"), "body") == 0;
	json_t *channel = asyncapi_new_channel("mqtt", e, gen_of(e, "topic"));
	(void)json_object_set_new(d->channels, name, channel);
	asyncapi_link_message(d, channel, gen_of(e, "message"));
	(void)json_object_set_new(d->operations, name,
	    json_pack("{s:s, s:o, s:O, s:{s:{s:O, s:O}}}", "action",
		body ? "receive" : "send", "channel",
		asyncapi_ref("channels", name), "x-section",
		json_object_get(e, "section"), "bindings", "mqtt", "qos",
		json_object_get(e, "qos"), "retain",
		json_object_get(e, "retain")));
}

/* One of the two directions of a path. */
static void
asyncapi_add_frames(struct doc *d, const json_t *e, const char *name,
    const char *member, const char *action)
{
	const json_t *list = json_object_get(e, member);
	const json_t *channel = json_object_get(d->channels, name);
	json_t *messages = json_array();
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *m = json_string_value(json_array_get(list, i));
		asyncapi_link_message(d, channel, m);
		(void)json_array_append_new(messages,
		    asyncapi_ref(
			"channels", gen_printf("%s/messages/%s", name, m)));
	}
	(void)json_object_set_new(d->operations,
	    gen_printf("%s_%s", name, member),
	    json_pack("{s:s, s:o, s:O, s:O, s:o}", "action", action, "channel",
		asyncapi_ref("channels", name), "x-owner",
		json_object_get(e, "owner"), "x-section",
		json_object_get(e, "section"), "messages", messages));
}

static void
asyncapi_add_path(struct doc *d, const json_t *e)
{
	char *name = gen_printf("ws_%s", gen_of(e, "name"));
	(void)json_object_set_new(d->channels, name,
	    asyncapi_new_channel("star", e, gen_of(e, "path")));
	asyncapi_add_frames(d, e, name, "receives", "receive");
	asyncapi_add_frames(d, e, name, "sends", "send");
}

void
gen_asyncapi(struct gen *g, struct buf *b)
{
	struct doc d = { g, json_object(), json_object(), json_object(),
		json_object() };
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(g->iface, "mqtt"), i, e)
		asyncapi_add_topic(&d, e);
	json_array_foreach (json_object_get(g->iface, "ws"), i, e)
		asyncapi_add_path(&d, e);
	json_array_foreach (json_object_get(g->iface, "nats"), i, e)
		asyncapi_add_subject(&d, e);
	json_t *servers = json_pack(
	    "{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "mqtt",
	    "host", "localhost:1883", "protocol", "mqtt", "description",
	    "The broker that terminals connect to.", "nats", "host",
	    "localhost:4222", "protocol", "nats", "description",
	    "The bus between the services.", "star", "host", "localhost:9014",
	    "protocol", "ws", "description", "The hub of the Star Protocol.");
	json_t *doc = json_pack(
	    "{s:s, s:{s:s, s:s, s:s}, s:s, s:o, s:o, s:o, s:{s:o, s:o}}",
	    "asyncapi", "3.0.0", "info", "title", "Soul", "version",
	    GEN_PROTOCOL, "description",
	    "The MQTT topics, NATS subjects and WebSocket paths of Soul, "
	    "as the server sees them. Generated from the schemas.",
	    "defaultContentType", "application/json", "servers", servers,
	    "channels", d.channels, "operations", d.operations, "components",
	    "messages", d.messages, "schemas", d.schemas);
	gen_yaml(b, doc);
}
