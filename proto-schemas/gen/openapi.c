/*
 * openapi.yaml: the HTTP routes.
 */
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "gen.h"

static json_t *
openapi_content_of(const char *message)
{
	return json_pack(
	    "{s:{s:o}}", "application/json", "schema", gen_schema_ref(message));
}

/* Answers that are many messages. */
static const struct {
	const char *member, *type;
} many[] = {
	{ "stream", "text/event-stream" },
	{ "lines", "application/x-ndjson" },
};

/* What a route answers: a message, many messages, or either. */
static json_t *
openapi_response_of(const struct gen *g, json_t *components, const json_t *e)
{
	const char *response = gen_of(e, "response");
	json_t *content = json_object();
	bool one = response != NULL;
	const char *name;
	size_t i;

	for (i = 0; i < NELEM(many) && one; i++) {
		name = gen_of(e, many[i].member);
		one = name == NULL || strcmp(response, name) != 0;
	}
	if (one) {
		gen_component(g, components, response);
		(void)json_object_update_new(
		    content, openapi_content_of(response));
	}
	for (i = 0; i < NELEM(many); i++) {
		name = gen_of(e, many[i].member);
		if (name == NULL)
			continue;
		gen_component(g, components, name);
		(void)json_object_set_new(content, many[i].type,
		    json_pack("{s:o}", "schema", gen_schema_ref(name)));
	}
	return content;
}

/* The parameters of a route: "{…}" of its path, then its query. */
static json_t *
openapi_parameters_of(const json_t *e)
{
	json_t *list = json_array();
	const char *s = gen_of(e, "path");
	while ((s = strchr(s, '{')) != NULL) {
		size_t n = strcspn(s, "}");
		(void)json_array_append_new(list,
		    json_pack("{s:o, s:s, s:b, s:{s:s}}", "name",
			json_stringn(s + 1, n - 1), "in", "path", "required", 1,
			"schema", "type", "string"));
		s += n;
	}
	size_t i;
	json_t *q;
	json_array_foreach (json_object_get(e, "query"), i, q)
		(void)json_array_append_new(list,
		    json_pack("{s:O, s:s, s:O, s:O, s:{s:s}}", "name",
			json_object_get(q, "name"), "in", "query",
			"description", json_object_get(q, "description"),
			"required", json_object_get(q, "required"), "schema",
			"type", "string"));
	return list;
}

/* One response per status, with all of its texts. */
static void
openapi_add_error(json_t *responses, const char *status, const char *text)
{
	json_t *r = json_object_get(responses, status);
	if (r == NULL) {
		r = json_pack("{s:s, s:o}", "description", "", "content",
		    openapi_content_of("error"));
		(void)json_object_set_new(responses, status, r);
	}
	const char *before = gen_of(r, "description");
	(void)json_object_set_new(r, "description",
	    json_string(gen_printf(
		"%s%s%s", before, before[0] != '\0' ? " | " : "", text)));
}

static void
openapi_add_errors(json_t *responses, const json_t *e)
{
	size_t i;
	json_t *error;
	json_array_foreach (json_object_get(e, "errors"), i, error) {
		char *status = gen_printf("%d",
		    (int)json_integer_value(json_object_get(error, "status")));
		openapi_add_error(responses, status, gen_of(error, "text"));
	}
}

/* What every route answers where callers are known. */
static const struct {
	const char *status, *text;
} guarded[] = {
	{ "401", "no access token, or an invalid one" },
	{ "403",
	    "the token's role does not permit this, or the user or terminal "
	    "is not the caller's" },
	{ "429", "the access token is used too often" },
};

static void
openapi_add_guarded(json_t *responses)
{
	for (size_t i = 0; i < NELEM(guarded); i++)
		openapi_add_error(
		    responses, guarded[i].status, guarded[i].text);
}

static json_t *
openapi_responses_of(const struct gen *g, json_t *components, const json_t *e)
{
	json_t *responses = json_object();
	json_t *ok = json_pack("{s:s}", "description", "Done.");
	json_t *content = openapi_response_of(g, components, e);
	if (json_object_size(content) > 0)
		(void)json_object_set(ok, "content", content);
	const json_t *status = json_object_get(e, "status");
	(void)json_object_set_new(responses,
	    status == NULL ? "200"
			   : gen_printf("%" JSON_INTEGER_FORMAT,
				 json_integer_value(status)),
	    ok);
	openapi_add_errors(responses, e);
	openapi_add_guarded(responses);
	(void)json_object_set_new(responses, "default",
	    json_pack("{s:s, s:o}", "description", "Any other error.",
		"content", openapi_content_of("error")));
	return responses;
}

/* What a description says first, without its full stop. */
static json_t *
openapi_summary_of(const json_t *e)
{
	static const char *const ends[] = { ". ", ": ", "; " };
	const char *s = gen_of(e, "description"), *end;
	size_t n = strlen(s), i;

	if (n > 0 && s[n - 1] == '.')
		n--;
	for (i = 0; i < NELEM(ends); i++) {
		end = strstr(s, ends[i]);
		if (end != NULL && (size_t)(end - s) < n)
			n = (size_t)(end - s);
	}
	return json_stringn(s, n);
}

static json_t *
openapi_operation_of(const struct gen *g, json_t *components, const json_t *e)
{
	json_t *op = json_pack("{s:O, s:[O], s:o, s:O, s:O, s:O}",
	    "operationId", json_object_get(e, "name"), "tags",
	    json_object_get(e, "owner"), "summary", openapi_summary_of(e),
	    "description", json_object_get(e, "description"), "x-section",
	    json_object_get(e, "section"), "x-roles",
	    json_object_get(e, "roles"));
	if (gen_of(e, "also") != NULL)
		(void)json_array_append(
		    json_object_get(op, "tags"), json_object_get(e, "also"));
	json_t *parameters = openapi_parameters_of(e);
	if (json_array_size(parameters) > 0)
		(void)json_object_set(op, "parameters", parameters);
	const char *request = gen_of(e, "request");
	if (request != NULL) {
		gen_component(g, components, request);
		(void)json_object_set_new(op, "requestBody",
		    json_pack("{s:b, s:o}", "required", 1, "content",
			openapi_content_of(request)));
	}
	(void)json_object_set_new(
	    op, "responses", openapi_responses_of(g, components, e));
	return op;
}

/* Every route wants the one kind of token, where callers are known. */
static void
openapi_add_security(json_t *doc)
{
	(void)json_object_set_new(json_object_get(doc, "components"),
	    "securitySchemes",
	    json_pack("{s:{s:s, s:s, s:s}}", "token", "type", "http", "scheme",
		"bearer", "description",
		"An access token: one of the file AUTH_TOKENS, a JWT signed by "
		"a key of AUTH_JWKS, or a body's. x-roles of a route "
		"lists the permitted roles. On loopback without these files "
		"no token is needed."));
	(void)json_object_set_new(
	    doc, "security", json_pack("[{s:[]}]", "token"));
}

/* Where services listen if HTTP_ADDR does not say otherwise. */
static const struct {
	const char *owner, *url;
} servers[] = {
	{ "chat-gateway", "http://127.0.0.1:9010" },
	{ "body-sim", "http://127.0.0.1:9011" },
	{ "emotion-engine", "http://127.0.0.1:9012" },
	{ "intent-filter", "http://127.0.0.1:9013" },
};

static bool
openapi_has_route(const json_t *http, const char *owner)
{
	size_t i;
	json_t *e;

	json_array_foreach ((json_t *)(uintptr_t)http, i, e)
		if (strcmp(gen_of(e, "owner"), owner) == 0)
			return true;
	return false;
}

static void
openapi_add_servers(json_t *doc, const json_t *http)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < NELEM(servers); i++)
		if (openapi_has_route(http, servers[i].owner))
			(void)json_array_append_new(list,
			    json_pack("{s:s, s:s}", "url", servers[i].url,
				"description", servers[i].owner));
	if (json_array_size(list) > 0)
		(void)json_object_set(doc, "servers", list);
	json_decref(list);
}

void
gen_openapi(struct gen *g, struct buf *b)
{
	json_t *paths = json_object();
	json_t *components = json_object();
	size_t i;
	json_t *e;
	const json_t *http = json_object_get(g->iface, "http");
	const struct gen_file *error = gen_file_find(g, "error");
	if (json_array_size(http) > 0 && (error == NULL || !error->message))
		gen_fail((struct where){ g->dir, "" },
		    "HTTP errors use the message error; there is "
		    "none");
	if (json_array_size(http) > 0)
		gen_component(g, components, "error");
	json_array_foreach ((json_t *)(uintptr_t)http, i, e) {
		json_t *path = json_object_get(paths, gen_of(e, "path"));
		if (path == NULL) {
			path = json_object();
			(void)json_object_set_new(
			    paths, gen_of(e, "path"), path);
		}
		char *method = gen_ident(gen_of(e, "method"), false);
		(void)json_object_set_new(
		    path, method, openapi_operation_of(g, components, e));
	}
	json_t *doc = json_pack("{s:s, s:{s:s, s:s, s:s}, s:o, s:{s:o}}",
	    "openapi", "3.1.0", "info", "title", "Soul", "version",
	    GEN_PROTOCOL, "description",
	    "The HTTP interfaces of Soul. Generated from the schemas.", "paths",
	    paths, "components", "schemas", components);
	openapi_add_servers(doc, http);
	if (json_array_size(http) > 0)
		openapi_add_security(doc);
	gen_yaml(b, doc);
}
