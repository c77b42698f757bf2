#include "testkit/mcp-sim/sim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "testkit/mcp-sim/sim_attempt.h"

#define MODERN       "2026-07-28"
#define META         "io.modelcontextprotocol/"
#define STEP_MS      20
#define PAGE_DEFAULT 1000
#define DESCRIBE_MAX 8192

static int64_t
sim_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- switches ---- */

static const struct {
	const char *name;
	size_t at;
	enum { FLAG, NUMBER, TEXT } kind;
} sim_switches[] = {
#define SWITCH(name, member, kind)                       \
	{                                                \
		name, offsetof(struct sim, member), kind \
	}
	SWITCH("modern", modern, FLAG),
	SWITCH("version", version, TEXT),
	SWITCH("mute", mute, TEXT),
	SWITCH("noise", noise, FLAG),
	SWITCH("huge", huge, NUMBER),
	SWITCH("twice", twice, FLAG),
	SWITCH("wrong-id", wrong_id, FLAG),
	SWITCH("batch", batch, FLAG),
	SWITCH("change", change, NUMBER),
	SWITCH("pages", pages, NUMBER),
	SWITCH("more", more, NUMBER),
	SWITCH("cursor-loop", cursor_loop, FLAG),
	SWITCH("die-at", die_at, NUMBER),
	SWITCH("die-on-discover", die_on_discover, FLAG),
	SWITCH("demand", demand, TEXT),
	SWITCH("attempts", attempts, FLAG),
	SWITCH("log", log, TEXT),
	SWITCH("describe", describe, TEXT),
	SWITCH("files", files, TEXT),
};

bool
sim_option(struct sim *s, const char *text)
{
	const char *value = strchr(text, '=');
	size_t n = value != NULL ? (size_t)(value - text) : strlen(text);

	if (strcmp(text, "modern-only") == 0) {
		s->modern = true;
		s->legacy = false;
		return true;
	}
	for (size_t i = 0; i < sizeof(sim_switches) / sizeof(*sim_switches);
	     i++) {
		char *at = (char *)s + sim_switches[i].at;

		if (strlen(sim_switches[i].name) != n ||
		    strncmp(sim_switches[i].name, text, n) != 0)
			continue;
		value = value != NULL ? value + 1 : "1";
		if (sim_switches[i].kind == FLAG)
			*(bool *)at = true;
		else if (sim_switches[i].kind == NUMBER)
			*(long *)at = strtol(value, NULL, 10);
		else
			*(const char **)at = value;
		return true;
	}
	return false;
}

/* ---- messages ---- */

static void
sim_send(struct sim *s, json_t *m)
{
	s->send(s->arg, m);
	json_decref(m);
}

static bool
sim_is_mute(const struct sim *s, const char *method)
{
	return s->mute != NULL && strcmp(s->mute, method) == 0;
}

static void
sim_notify(struct sim *s, const char *method, json_t *params)
{
	sim_send(s,
	    json_pack("{s:s, s:s, s:o*}", "jsonrpc", "2.0", "method", method,
		"params", params));
}

/* The response, with the faults that responses have. */
static void
sim_respond(struct sim *s, json_t *id, const char *member, json_t *value)
{
	json_t *m = json_pack(
	    "{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, member, value);

	if (s->wrong_id)
		sim_send(s,
		    json_pack("{s:s, s:i, s:{}}", "jsonrpc", "2.0", "id",
			999999, "result"));
	if (s->batch && s->lists > 0 && s->version != NULL &&
	    strcmp(s->version, "2025-03-26") == 0) {
		sim_send(s, json_pack("[o]", m));
		return;
	}
	if (s->twice)
		sim_send(s, json_incref(m));
	sim_send(s, m);
}

static void
sim_error(struct sim *s, json_t *id, int code, const char *text)
{
	sim_respond(s, id, "error",
	    json_pack("{s:i, s:s}", "code", code, "message", text));
}

/* ---- tools ---- */

static json_t *
sim_tool(const char *name, const char *description, const char *property,
    bool read_only)
{
	return json_pack("{s:s, s:s, s:{s:s, s:{s:{s:s}}, s:[s]}, s:{s:b}}",
	    "name", name, "description", description, "inputSchema", "type",
	    "object", "properties", property, "type",
	    strcmp(property, "ms") == 0 ? "integer" : "string", "required",
	    property, "annotations", "readOnlyHint", read_only);
}

/* Of the file, if there is one. */
static const char *
sim_description(const struct sim *s, char text[DESCRIBE_MAX])
{
	FILE *f = s->describe != NULL ? fopen(s->describe, "r") : NULL;

	if (f != NULL) {
		size_t n = fread(text, 1, DESCRIBE_MAX - 1, f);

		text[n] = '\0';
		fclose(f);
	}
	return text;
}

static json_t *
sim_echo(const struct sim *s)
{
	char text[DESCRIBE_MAX] = "Returns its text.";

	return sim_tool("echo", sim_description(s, text), "text", true);
}

/* As those of the server for files. */
static json_t *
sim_file_tools(const struct sim *s)
{
	char text[DESCRIBE_MAX] = "Writes a file.";
	json_t *write =
	    sim_tool("write_file", sim_description(s, text), "path", false);
	json_t *schema = json_object_get(write, "inputSchema");

	json_object_set_new(json_object_get(schema, "properties"), "content",
	    json_pack("{s:s}", "type", "string"));
	json_array_append_new(
	    json_object_get(schema, "required"), json_string("content"));
	return json_pack("[o,o]",
	    sim_tool("read_text_file", "Reads a file.", "path", true), write);
}

static json_t *
sim_tools(const struct sim *s)
{
	if (s->files != NULL)
		return sim_file_tools(s);
	json_t *list = json_pack("[o,o,o,o,o,o]", sim_echo(s),
	    sim_tool("write_note", "Stores a note.", "text", false),
	    sim_tool("fail", "Always fails.", "text", true),
	    sim_tool("image", "Returns an image.", "text", true),
	    sim_tool("wait", "Waits, with progress.", "ms", true),
	    sim_tool(
		"variable", "A variable of the environment.", "name", true));
	char name[32];

	if (s->attempts)
		json_array_append_new(list,
		    sim_tool("attempt", "Tries something.", "text", true));
	for (long i = 0; i < s->more + s->lists - 1; i++) {
		(void)snprintf(name, sizeof(name), "more_%ld", i);
		if (i < s->more || i - s->more < s->change)
			json_array_append_new(
			    list, sim_tool(name, "One more.", "text", true));
	}
	return list;
}

static void
sim_list(struct sim *s, json_t *id, json_t *params)
{
	const char *cursor =
	    json_string_value(json_object_get(params, "cursor"));
	size_t from = cursor != NULL ? strtoul(cursor, NULL, 10) : 0;
	size_t page = s->pages > 0 ? (size_t)s->pages : PAGE_DEFAULT, i;
	json_t *all, *part = json_array();
	json_t *result;
	char next[32];

	if (from == 0)
		s->lists++;
	all = sim_tools(s);
	for (i = from; i < from + page && i < json_array_size(all); i++)
		json_array_append(part, json_array_get(all, i));
	result = json_pack("{s:o}", "tools", part);
	(void)snprintf(next, sizeof(next), "%zu", s->cursor_loop ? 1 : i);
	if (i < json_array_size(all) || s->cursor_loop)
		json_object_set_new(result, "nextCursor", json_string(next));
	if (s->modern)
		json_object_set_new(
		    result, "resultType", json_string("complete"));
	json_decref(all);
	sim_respond(s, id, "result", result);
}

/* ---- calls ---- */

static void
sim_log(const struct sim *s, const char *tool, json_t *arguments)
{
	char *text = json_dumps(arguments, JSON_COMPACT | JSON_SORT_KEYS);
	char line[4096];
	int n = snprintf(line, sizeof(line), "%s %.3000s\n", tool,
	    text != NULL ? text : "{}");
	int fd = s->log != NULL
	    ? open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
	    : -1;

	if (fd != -1) {
		(void)!write(fd, line, (size_t)n);
		close(fd);
	}
	free(text);
}

static json_t *
sim_text(const char *text, bool error)
{
	return json_pack("{s:[{s:s, s:s}], s:b}", "content", "type", "text",
	    "text", text, "isError", error);
}

/* A name in the folder. */
static json_t *
sim_use_file(const struct sim *s, const char *tool, json_t *arguments)
{
	const char *name =
	    json_string_value(json_object_get(arguments, "path"));
	const char *content =
	    json_string_value(json_object_get(arguments, "content"));
	bool writes = strcmp(tool, "write_file") == 0;
	char path[512], text[DESCRIBE_MAX];
	FILE *f = NULL;

	if (name != NULL && strchr(name, '/') == NULL) {
		(void)snprintf(path, sizeof(path), "%s/%s", s->files, name);
		f = fopen(path, writes ? "w" : "r");
	}
	if (f == NULL)
		return sim_text("no such file", true);
	if (writes) {
		(void)fputs(content != NULL ? content : "", f);
		(void)snprintf(text, sizeof(text), "wrote %s", name);
	} else {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	}
	fclose(f);
	return sim_text(text, false);
}

static json_t *
sim_result(const char *tool, json_t *arguments)
{
	const char *text =
	    json_string_value(json_object_get(arguments, "text"));
	const char *name =
	    json_string_value(json_object_get(arguments, "name"));
	char done[256];

	if (strcmp(tool, "attempt") == 0 && text != NULL) {
		sim_attempt(text, done, sizeof(done));
		return sim_text(done, false);
	}
	if (strcmp(tool, "echo") == 0 || strcmp(tool, "write_note") == 0 ||
	    strncmp(tool, "more_", 5) == 0)
		return sim_text(text != NULL ? text : "", false);
	if (strcmp(tool, "fail") == 0)
		return sim_text("this tool always fails", true);
	if (strcmp(tool, "image") == 0)
		return json_pack("{s:[{s:s, s:s, s:s}]}", "content", "type",
		    "image", "data", "iVBORw0KGgo=", "mimeType", "image/png");
	if (strcmp(tool, "variable") == 0 && name != NULL)
		return sim_text(
		    getenv(name) != NULL ? getenv(name) : "(unset)", false);
	return sim_text("unknown tool", true);
}

static void
sim_wait(struct sim *s, json_t *id, json_t *params, json_t *arguments)
{
	for (size_t i = 0; i < SIM_PENDING_MAX; i++) {
		struct sim_pending *p = &s->pending[i];

		if (p->id != NULL)
			continue;
		p->id = json_incref(id);
		p->token = json_incref(json_object_get(
		    json_object_get(params, "_meta"), "progressToken"));
		p->end_ms = sim_now_ms() +
		    json_integer_value(json_object_get(arguments, "ms"));
		p->step_ms = sim_now_ms();
		p->done = 0;
		return;
	}
}

static void
sim_call(struct sim *s, json_t *id, json_t *params)
{
	const char *tool = json_string_value(json_object_get(params, "name"));
	json_t *arguments = json_object_get(params, "arguments");
	json_t *result;

	if (tool == NULL) {
		sim_error(s, id, -32602, "name is missing");
		return;
	}
	s->calls++;
	sim_log(s, tool, arguments);
	if (s->calls == s->die_at)
		exit(3);
	if (strcmp(tool, "wait") == 0) {
		sim_wait(s, id, params, arguments);
		return;
	}
	result = s->files != NULL ? sim_use_file(s, tool, arguments)
				  : sim_result(tool, arguments);
	if (s->demand != NULL && s->held == NULL) {
		s->held = json_pack("{s:O, s:o}", "id", id, "result", result);
		sim_send(s,
		    json_pack("{s:s, s:s, s:s, s:{}}", "jsonrpc", "2.0", "id",
			"demand", "method", s->demand, "params"));
		return;
	}
	sim_respond(s, id, "result", result);
}

/* The client's response to a demand: its text is the result's. */
static void
sim_on_response(struct sim *s, json_t *m)
{
	json_t *held = s->held;
	char *text;

	if (held == NULL)
		return;
	s->held = NULL;
	text = json_dumps(m, JSON_COMPACT | JSON_SORT_KEYS);
	sim_respond(
	    s, json_object_get(held, "id"), "result", sim_text(text, false));
	free(text);
	json_decref(held);
}

int
sim_next_ms(const struct sim *s)
{
	for (size_t i = 0; i < SIM_PENDING_MAX; i++)
		if (s->pending[i].id != NULL)
			return STEP_MS;
	return -1;
}

static void
sim_free_pending(struct sim_pending *p)
{
	json_decref(p->id);
	json_decref(p->token);
	p->id = p->token = NULL;
}

void
sim_on_time(struct sim *s)
{
	int64_t now = sim_now_ms();

	for (size_t i = 0; i < SIM_PENDING_MAX; i++) {
		struct sim_pending *p = &s->pending[i];

		if (p->id == NULL)
			continue;
		if (now >= p->end_ms) {
			sim_respond(
			    s, p->id, "result", sim_text("done", false));
			sim_free_pending(p);
		} else if (p->token != NULL && now >= p->step_ms) {
			p->step_ms = now + STEP_MS * 5;
			sim_notify(s, "notifications/progress",
			    json_pack("{s:O, s:i, s:i, s:s}", "progressToken",
				p->token, "progress", (int)++p->done, "total",
				1000, "message", "still waiting"));
		}
	}
}

/* ---- sessions ---- */

static void
sim_initialize(struct sim *s, json_t *id, json_t *params)
{
	const char *version = s->version != NULL
	    ? s->version
	    : json_string_value(json_object_get(params, "protocolVersion"));

	sim_respond(s, id, "result",
	    json_pack("{s:s, s:{s:{s:b}}, s:{s:s, s:s}}", "protocolVersion",
		version != NULL ? version : "2025-11-25", "capabilities",
		"tools", "listChanged", true, "serverInfo", "name", "mcp-sim",
		"version", "1"));
}

static void
sim_discover(struct sim *s, json_t *id)
{
	if (s->die_on_discover)
		exit(4);
	if (!s->modern) {
		sim_error(s, id, -32601, "unknown method");
		return;
	}
	sim_respond(s, id, "result",
	    json_pack("{s:s, s:[s], s:{s:{s:b}}, s:{s:{s:s, s:s}}}",
		"resultType", "complete", "supportedVersions", MODERN,
		"capabilities", "tools", "listChanged", s->change > 0, "_meta",
		META "serverInfo", "name", "mcp-sim", "version", "1"));
}

static void
sim_on_request(struct sim *s, const char *method, json_t *id, json_t *params)
{
	json_t *meta = json_object_get(params, "_meta");
	bool modern = json_object_get(meta, META "protocolVersion") != NULL;

	if (sim_is_mute(s, method))
		return;
	if (strcmp(method, "server/discover") == 0)
		sim_discover(s, id);
	else if (strcmp(method, "initialize") == 0 && s->legacy)
		sim_initialize(s, id, params);
	else if (!s->legacy && !modern)
		sim_error(s, id, -32602, "no protocol version");
	else if (strcmp(method, "tools/list") == 0)
		sim_list(s, id, params);
	else if (strcmp(method, "tools/call") == 0)
		sim_call(s, id, params);
	else if (strcmp(method, "ping") == 0)
		sim_respond(s, id, "result", json_object());
	else if (strcmp(method, "subscriptions/listen") == 0 && s->modern)
		sim_notify(s, "notifications/tools/list_changed", NULL);
	else
		sim_error(s, id, -32601, "unknown method");
}

static void
sim_on_cancelled(struct sim *s, json_t *params)
{
	json_t *id = json_object_get(params, "requestId");

	for (size_t i = 0; i < SIM_PENDING_MAX; i++)
		if (s->pending[i].id != NULL &&
		    json_equal(s->pending[i].id, id)) {
			sim_log(s, "cancelled", params);
			sim_free_pending(&s->pending[i]);
		}
}

void
sim_on_message(struct sim *s, json_t *m)
{
	const char *method = json_string_value(json_object_get(m, "method"));
	json_t *id = json_object_get(m, "id");
	json_t *params = json_object_get(m, "params");

	if (method == NULL)
		sim_on_response(s, m);
	else if (id != NULL)
		sim_on_request(s, method, id, params);
	else if (strcmp(method, "notifications/initialized") == 0 &&
	    s->change > 0)
		sim_notify(s, "notifications/tools/list_changed", NULL);
	else if (strcmp(method, "notifications/cancelled") == 0)
		sim_on_cancelled(s, params);
}
