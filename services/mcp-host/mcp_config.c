#include "mcp_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/url.h"
#include "jsonc.h"
#include "tool/own_tool_names.h"
#include "tool/tool_digest.h"
#include "wire/out.h"
#include "wire/tree.h"

#define CONFIG_PATH_MAX 512
/* Longest string of the file, with its variables. */
#define STRING_MAX  (64UL * 1024)
#define TIMEOUT_MAX 3600000

struct mcp_config {
	size_t refs;
	struct arena *arena;
	struct mcp_server *servers;
	size_t n;
	char revision[MCP_KEY_MAX];
};

struct config_reader {
	struct mcp_config *c;
	const struct mcp_variables *vars;
	struct buf *errors;
	char path[CONFIG_PATH_MAX]; /* of the server that is being read */
	bool catalogue;
	bool failed;
};

static void config_error(struct config_reader *r, const char *member,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void
config_error(struct config_reader *r, const char *member, const char *fmt, ...)
{
	va_list ap;

	r->failed = true;
	buf_printf(r->errors, "%s%s%s: ", r->path, member[0] != '\0' ? "/" : "",
	    member);
	va_start(ap, fmt);
	buf_vprintf(r->errors, fmt, ap);
	va_end(ap);
	buf_putc(r->errors, '\n');
}

static const struct wire_tree *
config_get(const struct wire_tree *v, const char *member)
{
	const struct wire_tree *m = wire_tree_get(v, str_of(member));

	return wire_tree_kind(m) == WIRE_TREE_NULL ? NULL : m;
}

/* ---- variables ---- */

/* "env:NAME", "NAME:-default" or "NAME"; false: as it is. */
static bool
config_put_variable(
    const struct mcp_variables *vars, struct str inner, struct buf *out)
{
	char name[128];
	ptrdiff_t at = str_find(inner, STR(":-"));
	struct str dflt = { NULL, 0 };
	const char *value;

	if (at >= 0) {
		dflt =
		    (struct str){ inner.p + at + 2, inner.n - (size_t)at - 2 };
		inner.n = (size_t)at;
	} else if (str_starts(inner, STR("env:"))) {
		inner = (struct str){ inner.p + 4, inner.n - 4 };
	}
	if (inner.n == 0 || inner.n >= sizeof(name))
		return false;
	str_copy(inner, name, sizeof(name));
	if (name[strspn(name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_")] != '\0')
		return false;
	value = vars->get(vars->arg, name);
	if ((value == NULL || value[0] == '\0') && dflt.p != NULL) {
		buf_put_str(out, dflt);
		return true;
	}
	if (value == NULL)
		return false;
	buf_puts(out, value);
	return true;
}

static void
config_expand(const struct mcp_variables *vars, struct str s, struct buf *out)
{
	size_t i = 0;
	const char *end;
	struct str inner;

	while (i < s.n) {
		if (s.p[i] != '$' || i + 1 >= s.n || s.p[i + 1] != '{') {
			buf_putc(out, s.p[i++]);
			continue;
		}
		end = memchr(s.p + i, '}', s.n - i);
		if (end == NULL) {
			buf_putc(out, s.p[i++]);
			continue;
		}
		inner =
		    (struct str){ s.p + i + 2, (size_t)(end - s.p) - i - 2 };
		if (!config_put_variable(vars, inner, out))
			buf_put(out, s.p + i, (size_t)(end - s.p) + 1 - i);
		i = (size_t)(end - s.p) + 1;
	}
}

/* ---- values ---- */

static const char *
config_string(struct config_reader *r, const char *member, struct str s)
{
	struct buf text = BUF_INIT(STRING_MAX);
	const char *p = NULL;

	config_expand(r->vars, s, &text);
	if (text.over || memchr(s.p, '\0', s.n) != NULL)
		config_error(
		    r, member, "must be of at most %lu bytes", STRING_MAX);
	else
		p = arena_str(r->c->arena, buf_str(&text)).p;
	buf_free(&text);
	if (p == NULL && !r->failed)
		config_error(r, member, "the file is too big");
	return p;
}

static const char *
config_text(
    struct config_reader *r, const struct wire_tree *v, const char *member)
{
	const struct wire_tree *m = config_get(v, member);

	if (m == NULL)
		return NULL;
	if (wire_tree_kind(m) != WIRE_TREE_TEXT) {
		config_error(r, member, "must be a string");
		return NULL;
	}
	return config_string(r, member, wire_tree_text(m));
}

static bool
config_flag(struct config_reader *r, const struct wire_tree *v,
    const char *member, bool dflt)
{
	const struct wire_tree *m = config_get(v, member);

	if (m == NULL)
		return dflt;
	if (wire_tree_kind(m) != WIRE_TREE_BOOL)
		config_error(r, member, "must be true or false");
	return wire_tree_bool(m);
}

static const char **
config_list(struct config_reader *r, const struct wire_tree *v,
    const char *member, size_t *n)
{
	const struct wire_tree *m = config_get(v, member), *e;
	const char **list;
	size_t i;

	*n = 0;
	if (m == NULL)
		return NULL;
	if (wire_tree_kind(m) != WIRE_TREE_ARRAY ||
	    wire_tree_len(m) > MCP_LIST_MAX) {
		config_error(r, member, "must be a list of at most %d strings",
		    MCP_LIST_MAX);
		return NULL;
	}
	list = arena_alloc(r->c->arena, (wire_tree_len(m) + 1) * sizeof(*list));
	for (i = 0; list != NULL && i < wire_tree_len(m); i++) {
		char element[80];

		e = wire_tree_at(m, i);
		(void)snprintf(element, sizeof(element), "%s/%zu", member, i);
		if (wire_tree_kind(e) != WIRE_TREE_TEXT) {
			config_error(r, element, "must be a string");
			return NULL;
		}
		list[i] = config_string(r, element, wire_tree_text(e));
	}
	*n = list != NULL ? i : 0;
	return list;
}

/* The string, number or bool that an environment has. */
static const char *
config_scalar(
    struct config_reader *r, const struct wire_tree *v, const char *member)
{
	struct buf text = BUF_INIT(64);
	struct wire_out o = { &text, false };
	const char *p = NULL;

	switch (wire_tree_kind(v)) {
	case WIRE_TREE_TEXT:
		p = config_string(r, member, wire_tree_text(v));
		break;
	case WIRE_TREE_NUMBER:
	case WIRE_TREE_BOOL:
		wire_tree_put(v, &o);
		p = arena_str(r->c->arena, buf_str(&text)).p;
		break;
	default:
		config_error(r, member, "must be a string or a number");
	}
	buf_free(&text);
	return p;
}

static bool
config_pair_name_valid(struct str name)
{
	if (name.n == 0 || name.n > 256)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' || name.p[i] == '=' ||
		    name.p[i] == ':')
			return false;
	return true;
}

static struct mcp_pair *
config_pairs(struct config_reader *r, const struct wire_tree *v,
    const char *member, size_t *n)
{
	const struct wire_tree *m = config_get(v, member);
	struct wire_tree_member e;
	struct mcp_pair *list;
	char path[400];
	bool more;

	*n = 0;
	if (m == NULL)
		return NULL;
	if (wire_tree_kind(m) != WIRE_TREE_OBJECT ||
	    wire_tree_len(m) > MCP_LIST_MAX) {
		config_error(r, member,
		    "must be an object of at most %d members", MCP_LIST_MAX);
		return NULL;
	}
	list = arena_alloc(r->c->arena, (wire_tree_len(m) + 1) * sizeof(*list));
	for (more = wire_tree_first(m, &e); more && list != NULL;
	     more = wire_tree_next(m, &e)) {
		(void)snprintf(path, sizeof(path), "%s/%.*s", member,
		    (int)(e.key.n < 256 ? e.key.n : 256), e.key.p);
		if (!config_pair_name_valid(e.key)) {
			config_error(r, path, "is no valid name");
			return NULL;
		}
		/* As if it were not in the file. */
		if (wire_tree_kind(e.value) == WIRE_TREE_NULL)
			continue;
		list[*n].name = arena_str(r->c->arena, e.key).p;
		list[*n].value = config_scalar(r, e.value, path);
		++*n;
	}
	return list;
}

/* The index of a text in names; dflt if the member is absent. */
static int
config_choice(struct config_reader *r, const struct wire_tree *v,
    const char *member, const char *const *names, int dflt)
{
	const struct wire_tree *m = config_get(v, member);

	if (m == NULL)
		return dflt;
	for (int i = 0; names[i] != NULL; i++)
		if (str_eq(wire_tree_text(m), str_of(names[i])))
			return i;
	config_error(r, member, "is not known");
	return dflt;
}

/* ---- a server ---- */

static bool
config_kind(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	static const char *const names[] = { "stdio", "http", "streamable-http",
		"streamableHttp", "streamable_http", "sse", NULL };
	static const enum mcp_kind kinds[] = { MCP_STDIO, MCP_HTTP, MCP_HTTP,
		MCP_HTTP, MCP_HTTP, MCP_SSE };
	const char *member =
	    config_get(v, "type") != NULL ? "type" : "transportType";
	int i = config_choice(r, v, member, names, -1);
	bool http = config_get(v, "httpUrl") != NULL;

	s->command = config_text(r, v, "command");
	s->url = config_text(r, v, http ? "httpUrl" : "url");
	if (i >= 0)
		s->kind = kinds[i];
	else if (s->command != NULL)
		s->kind = MCP_STDIO;
	else
		s->kind = http ? MCP_HTTP : MCP_HTTP_OR_SSE;
	if (r->failed)
		return false;
	if (s->kind == MCP_STDIO &&
	    (s->command == NULL || s->command[0] == '\0')) {
		config_error(r, "command", "is missing");
		return false;
	}
	if (s->kind != MCP_STDIO && s->url == NULL) {
		config_error(r, "", "needs a command or a url");
		return false;
	}
	return true;
}

static void
config_read_timeout(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	const struct wire_tree *ms = config_get(v, "timeoutMs");
	const struct wire_tree *any = config_get(v, "timeout");
	double t = wire_tree_number(ms != NULL ? ms : any);

	if (ms == NULL && any == NULL)
		return;
	/* Some products count in seconds, others in milliseconds. */
	if (ms == NULL && t < 1000)
		t *= 1000;
	if (!(t >= 1 && t <= TIMEOUT_MAX))
		config_error(r, ms != NULL ? "timeoutMs" : "timeout",
		    "must be a time of at most %d ms", TIMEOUT_MAX);
	else
		s->timeout_ms = (int64_t)t;
}

static void
config_read_paths(struct config_reader *r, const struct wire_tree *v,
    const char *member, const char *out[16])
{
	size_t n, i;
	const char **list = config_list(r, v, member, &n);

	if (n > 15)
		config_error(r, member, "must have at most 15 paths");
	for (i = 0; i < n && i < 15; i++) {
		if (list[i] != NULL && list[i][0] != '/')
			config_error(r, member, "must be paths from the root");
		out[i] = list[i];
	}
}

static void
config_read_sandbox(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	const struct wire_tree *box = config_get(v, "sandbox");

	if (box == NULL)
		return;
	if (wire_tree_kind(box) != WIRE_TREE_OBJECT) {
		config_error(r, "sandbox", "must be an object");
		return;
	}
	s->sandbox.on = true;
	s->sandbox.net = config_flag(r, box, "net", false);
	config_read_paths(r, box, "read", s->sandbox.read);
	config_read_paths(r, box, "write", s->sandbox.write);
}

static void
config_read_process(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	s->args = config_list(r, v, "args", &s->n_args);
	s->env = config_pairs(r, v, "env", &s->n_env);
	s->cwd = config_text(r, v, "cwd");
	if (s->cwd != NULL && s->cwd[0] != '/')
		config_error(r, "cwd", "must be a path from the root");
	config_read_sandbox(r, v, s);
}

static void
config_read_http(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	const char *why = "";
	struct url u;

	s->headers = config_pairs(r, v, "headers", &s->n_headers);
	if (url_parse(str_of(s->url), &u, &why) != RC_OK)
		config_error(r, "url", "%s", why);
	else if (strcmp(u.scheme, "http") != 0 &&
	    strcmp(u.scheme, "https") != 0)
		config_error(r, "url", "must be http:// or https://");
	for (size_t i = 0; i < s->n_headers; i++)
		if (s->headers[i].value != NULL &&
		    strpbrk(s->headers[i].value, "\r\n") != NULL)
			config_error(r, "headers", "must be of one line each");
}

static void
config_put_uri(struct buf *b, const char *path)
{
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789-._~/";

	buf_puts(b, "file://");
	for (; *path != '\0'; path++)
		if (strchr(plain, *path) != NULL)
			buf_putc(b, *path);
		else
			buf_printf(b, "%%%02X", (unsigned char)*path);
}

static void
config_read_roots(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	struct buf uri = BUF_INIT(STRING_MAX), b = BUF_INIT(STRING_MAX);
	struct wire_out o = { &b, false };

	s->roots = config_list(r, v, "roots", &s->n_roots);
	wire_out_object(&o);
	wire_out_key(&o, STR("roots"));
	wire_out_array(&o);
	for (size_t i = 0; i < s->n_roots && s->roots[i] != NULL; i++) {
		if (s->roots[i][0] != '/')
			config_error(r, "roots", "must be paths from the root");
		buf_reset(&uri);
		config_put_uri(&uri, s->roots[i]);
		wire_out_object(&o);
		wire_out_key(&o, STR("uri"));
		wire_out_str(&o, buf_str(&uri));
		wire_out_object_end(&o);
	}
	wire_out_array_end(&o);
	wire_out_object_end(&o);
	if (s->n_roots > 0)
		s->roots_json = arena_str(r->c->arena, buf_str(&b)).p;
	buf_free(&uri);
	buf_free(&b);
}

static void
config_read_rules(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	static const char *const protocols[] = { "auto", "legacy", "modern",
		NULL };
	static const char *const policies[] = { "", "auto", "ask", "never",
		NULL };
	bool always = config_get(v, "alwaysAllow") != NULL;
	bool tools = config_get(v, "includeTools") == NULL;

	s->protocol = (enum mcp_protocol)config_choice(
	    r, v, "protocol", protocols, MCP_PROTOCOL_AUTO);
	s->policy = (enum mcp_policy)config_choice(
	    r, v, "policy", policies, MCP_POLICY_UNSET);
	s->trust_hints = config_flag(r, v, "trust_hints", false);
	s->stateless = config_flag(r, v, "stateless", false);
	s->auto_tools = config_list(
	    r, v, always ? "alwaysAllow" : "autoApprove", &s->n_auto_tools);
	s->include =
	    config_list(r, v, tools ? "tools" : "includeTools", &s->n_include);
	s->exclude = config_list(r, v, "excludeTools", &s->n_exclude);
	s->tenants = config_list(r, v, "tenants", &s->n_tenants);
	s->all_tenants = config_get(v, "tenants") == NULL;
	config_read_roots(r, v, s);
	config_read_timeout(r, v, s);
}

/* A text that users read. */
static const char *
config_label(struct config_reader *r, const struct wire_tree *v,
    const char *member, size_t max)
{
	const char *text = config_text(r, v, member);

	if (text == NULL || strlen(text) <= max)
		return text;
	config_error(r, member, "must be of at most %zu bytes", max);
	return NULL;
}

/* What an entry of a catalogue has, and may not have. */
static void
config_read_entry(
    struct config_reader *r, const struct wire_tree *v, struct mcp_server *s)
{
	static const char *const denied[] = { "alwaysAllow", "autoApprove",
		"trust_hints" };

	s->title = config_label(r, v, "title", MCP_ENTRY_TITLE_MAX);
	s->description =
	    config_label(r, v, "description", MCP_ENTRY_DESCRIPTION_MAX);
	if (!r->failed && (s->description == NULL || s->description[0] == '\0'))
		config_error(
		    r, "description", "is missing: users decide by it");
	for (size_t i = 0; i < NELEM(denied); i++)
		if (config_get(v, denied[i]) != NULL)
			config_error(r, denied[i],
			    "must not be in a catalogue: its tools are asked "
			    "for");
	if (s->policy != MCP_POLICY_UNSET && s->policy != MCP_POLICY_CONFIRM)
		config_error(r, "policy", "must be ask in a catalogue");
	s->policy = MCP_POLICY_CONFIRM;
}

/* ---- digests ---- */

static void
config_put(struct buf *b, const char *text)
{
	buf_puts(b, text != NULL ? text : "");
	buf_putc(b, '\0');
}

static void
config_put_list(struct buf *b, const char *const *list, size_t n)
{
	buf_printf(b, "%zu", n);
	buf_putc(b, '\0');
	for (size_t i = 0; i < n; i++)
		config_put(b, list[i]);
}

static void
config_put_pairs(struct buf *b, const struct mcp_pair *list, size_t n)
{
	buf_printf(b, "%zu", n);
	buf_putc(b, '\0');
	for (size_t i = 0; i < n; i++) {
		config_put(b, list[i].name);
		config_put(b, list[i].value);
	}
}

/* What a process or a connection depends on. */
static void
config_put_identity(const struct mcp_server *s, struct buf *b)
{
	buf_printf(b, "%d %d %d %d %d", (int)s->kind, (int)s->protocol,
	    s->stateless, s->sandbox.on, s->sandbox.net);
	buf_putc(b, '\0');
	config_put(b, s->name);
	config_put(b, s->command);
	config_put(b, s->cwd);
	config_put(b, s->url);
	config_put_list(b, s->args, s->n_args);
	config_put_pairs(b, s->env, s->n_env);
	config_put_pairs(b, s->headers, s->n_headers);
	config_put_list(b, s->roots, s->n_roots);
	for (int i = 0; s->sandbox.read[i] != NULL; i++)
		config_put(b, s->sandbox.read[i]);
	config_put(b, "");
	for (int i = 0; s->sandbox.write[i] != NULL; i++)
		config_put(b, s->sandbox.write[i]);
}

static void
config_put_rules(const struct mcp_server *s, struct buf *b)
{
	config_put(b, s->key);
	buf_printf(b, "%lld %d %d %d", (long long)s->timeout_ms, (int)s->policy,
	    s->trust_hints, s->all_tenants);
	buf_putc(b, '\0');
	config_put_list(b, s->auto_tools, s->n_auto_tools);
	config_put_list(b, s->include, s->n_include);
	config_put_list(b, s->exclude, s->n_exclude);
	config_put_list(b, s->tenants, s->n_tenants);
}

static void
config_digest(const struct buf *b, char dst[MCP_KEY_MAX])
{
	const struct str s = buf_str(b);

	tool_digest(&s, 1, dst);
}

/* ---- the file ---- */

static bool
config_name_valid(struct str name)
{
	if (name.n == 0 || name.n > MCP_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwx"
			   "yz0123456789_.-",
			name.p[i]) == NULL ||
		    name.p[i] == '\0')
			return false;
	return true;
}

static void
config_read_server(struct config_reader *r, struct str name,
    const struct wire_tree *v, struct buf *scratch)
{
	struct mcp_server *s = &r->c->servers[r->c->n];

	r->failed = false;
	if (!config_name_valid(name)) {
		config_error(r, "",
		    "a server's name has 1 to %d of A-Z a-z 0-9 _ . -",
		    MCP_NAME_MAX);
		return;
	}
	if (own_tool_provider_is(name)) {
		config_error(r, "",
		    "a service with tools of its own has that name: take "
		    "another one");
		return;
	}
	if (wire_tree_kind(v) != WIRE_TREE_OBJECT) {
		config_error(r, "", "must be an object");
		return;
	}
	if (config_flag(r, v, "disabled", false) ||
	    !config_flag(r, v, "enabled", true))
		return;
	*s = (struct mcp_server){ .name = arena_str(r->c->arena, name).p };
	if (s->name == NULL || !config_kind(r, v, s))
		return;
	if (s->kind == MCP_STDIO)
		config_read_process(r, v, s);
	else
		config_read_http(r, v, s);
	config_read_rules(r, v, s);
	if (r->catalogue)
		config_read_entry(r, v, s);
	if (r->failed)
		return;
	buf_reset(scratch);
	config_put_identity(s, scratch);
	config_digest(scratch, s->key);
	r->c->n++;
}

static int
config_compare(const void *a, const void *b)
{
	const struct mcp_server *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void
config_seal(struct mcp_config *c, struct buf *scratch)
{
	if (c->n > 0)
		qsort(c->servers, c->n, sizeof(*c->servers), config_compare);
	buf_reset(scratch);
	for (size_t i = 0; i < c->n; i++)
		config_put_rules(&c->servers[i], scratch);
	config_digest(scratch, c->revision);
}

static enum rc
config_read_servers(struct config_reader *r, const struct wire_tree *top)
{
	const char *key =
	    config_get(top, "mcpServers") != NULL ? "mcpServers" : "servers";
	const struct wire_tree *list = config_get(top, key);
	struct buf scratch = BUF_INIT(16 * MCP_CONFIG_MAX);
	struct wire_tree_member m;
	size_t before = r->errors->n;
	bool more;

	(void)snprintf(r->path, sizeof(r->path), "/%s", key);
	if (wire_tree_kind(list) != WIRE_TREE_OBJECT)
		config_error(r, "", "must be an object of servers");
	else if (wire_tree_len(list) > MCP_SERVERS_MAX)
		config_error(
		    r, "", "must have at most %d servers", MCP_SERVERS_MAX);
	if (r->failed)
		return RC_INVALID;
	r->c->servers =
	    mem_calloc(wire_tree_len(list) + 1, sizeof(*r->c->servers));
	for (more = wire_tree_first(list, &m); more;
	     more = wire_tree_next(list, &m)) {
		(void)snprintf(r->path, sizeof(r->path), "/%s/%.*s", key,
		    (int)(m.key.n < MCP_NAME_MAX ? m.key.n : MCP_NAME_MAX),
		    m.key.p);
		config_read_server(r, m.key, m.value, &scratch);
	}
	config_seal(r->c, &scratch);
	buf_free(&scratch);
	return r->errors->n > before ? RC_INVALID : RC_OK;
}

static enum rc
config_read(struct str text, const struct mcp_variables *vars, bool catalogue,
    struct mcp_config **out, struct buf *errors)
{
	struct config_reader r = {
		.vars = vars, .errors = errors, .catalogue = catalogue
	};
	struct buf json = BUF_INIT(MCP_CONFIG_MAX);
	struct wire_tree *top = NULL;
	enum rc rc = RC_TOOBIG;

	*out = NULL;
	if (text.n > MCP_CONFIG_MAX) {
		buf_printf(
		    errors, "must be of at most %lu bytes\n", MCP_CONFIG_MAX);
		return RC_TOOBIG;
	}
	r.c = mem_zalloc(sizeof(*r.c));
	r.c->refs = 1;
	r.c->arena = arena_new(16 * MCP_CONFIG_MAX);
	jsonc_strip(text, &json);
	rc = wire_tree_parse(buf_str(&json), &top);
	if (rc != RC_OK)
		buf_puts(errors, "is no valid JSON\n");
	else
		rc = config_read_servers(&r, top);
	wire_tree_free(top);
	buf_free(&json);
	if (rc != RC_OK) {
		mcp_config_unref(r.c);
		return RC_INVALID;
	}
	*out = r.c;
	return RC_OK;
}

enum rc
mcp_config_read(struct str text, const struct mcp_variables *vars,
    struct mcp_config **out, struct buf *errors)
{
	return config_read(text, vars, false, out, errors);
}

enum rc
mcp_config_read_catalogue(struct str text, const struct mcp_variables *vars,
    struct mcp_config **out, struct buf *errors)
{
	return config_read(text, vars, true, out, errors);
}

struct mcp_config *
mcp_config_ref(struct mcp_config *c)
{
	if (c != NULL)
		c->refs++;
	return c;
}

void
mcp_config_unref(struct mcp_config *c)
{
	if (c == NULL || --c->refs > 0)
		return;
	arena_free(c->arena);
	free(c->servers);
	free(c);
}

size_t
mcp_config_n(const struct mcp_config *c)
{
	return c != NULL ? c->n : 0;
}

const struct mcp_server *
mcp_config_at(const struct mcp_config *c, size_t i)
{
	return &c->servers[i];
}

const struct mcp_server *
mcp_config_find(const struct mcp_config *c, struct str name)
{
	for (size_t i = 0; i < mcp_config_n(c); i++)
		if (str_eq(name, str_of(c->servers[i].name)))
			return &c->servers[i];
	return NULL;
}

const char *
mcp_config_revision(const struct mcp_config *c)
{
	return c != NULL ? c->revision : "";
}

bool
mcp_server_for(const struct mcp_server *s, struct str tenant)
{
	if (s->all_tenants)
		return true;
	for (size_t i = 0; i < s->n_tenants; i++)
		if (str_eq(tenant, str_of(s->tenants[i])))
			return true;
	return false;
}
