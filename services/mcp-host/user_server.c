#include "user_server.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "auth/secret_box.h"
#include "core/arena.h"
#include "core/mem.h"
#include "httpc/http_url.h"
#include "mcp_config.h"
#include "state/mcp.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define ARENA_MAX (1024UL * 1024)
#define HIDDEN    STR("***")

static enum rc
server_fail(struct wire_err *err, const char *path, const char *why)
{
	str_copy(str_of(path), err->path, sizeof(err->path));
	str_copy(str_of(why), err->why, sizeof(err->why));
	return RC_INVALID;
}

/* ---- headers ---- */

/* Those that the transport sets, or that say where a request ends. */
static const char *const server_denied_headers[] = { "Accept", "Connection",
	"Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
	"Keep-Alive", "Last-Event-ID", "Proxy-Authorization",
	"Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade" };

static bool
header_name_is_valid(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 127 ||
		    strchr("()<>@,;:\\\"/[]?={}", s.p[i]) != NULL)
			return false;
	for (i = 0; i < NELEM(server_denied_headers); i++)
		if (str_eq_nocase(s, str_of(server_denied_headers[i])))
			return false;
	return s.n > 0 && s.n <= USER_SERVER_HEADER_NAME_MAX &&
	    (s.n < 4 || strncasecmp(s.p, "Mcp-", 4) != 0);
}

static bool
header_value_is_valid(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] < ' ' || s.p[i] >= 127)
			return false;
	return s.n > 0 && s.n <= USER_SERVER_HEADER_MAX;
}

static enum rc
server_check_headers(const struct wire_tree *v, struct wire_err *err)
{
	struct wire_tree_member m;
	bool more;

	if (wire_tree_len(v) > USER_SERVER_HEADERS_MAX)
		return server_fail(err, "/headers", "has too many members");
	for (more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		if (!header_name_is_valid(m.key))
			return server_fail(err, "/headers",
			    "has a name that is not valid or not allowed");
		if (!header_value_is_valid(wire_tree_text(m.value)))
			return server_fail(err, "/headers",
			    "each value must be a text of one line of ASCII");
	}
	return RC_OK;
}

/* What the encrypted headers belong to. */
static void
server_put_owner(
    const struct user_server_id *id, struct str url, struct buf *out)
{
	const struct str parts[] = { id->user, id->name, url };
	size_t i;

	for (i = 0; i < NELEM(parts); i++) {
		buf_put_str(out, parts[i]);
		buf_putc(out, '\0');
	}
}

static enum rc
server_seal_headers(const struct secret_box *box,
    const struct user_server_id *id, const struct wire_mcp_server_settings *s,
    struct wire_mcp_user_server *out, struct arena *a)
{
	struct buf of = BUF_INIT(HTTP_URL_MAX + 1024),
		   sealed = BUF_INIT(MCP_SERVER_JSON_MAX);
	enum rc rc;

	server_put_owner(id, s->url, &of);
	rc = secret_box_seal(box, buf_str(&of), s->headers, &sealed);
	out->headers = arena_str(a, buf_str(&sealed));
	if (rc == RC_OK && out->headers.p == NULL)
		rc = RC_TOOBIG;
	buf_free(&of);
	buf_free(&sealed);
	return rc;
}

static enum rc
server_write_headers(const struct secret_box *box,
    const struct user_server_id *id, const struct wire_mcp_server_settings *s,
    struct wire_mcp_user_server *out, struct arena *a, struct wire_err *err)
{
	struct wire_tree *v;
	struct wire_tree_member m;
	bool more;
	enum rc rc;

	if (s->headers.n == 0)
		return RC_OK;
	if (wire_tree_parse(s->headers, &v) != RC_OK)
		return server_fail(err, "/headers", "is not JSON");
	rc = server_check_headers(v, err);
	if (rc == RC_OK && wire_tree_len(v) > 0 && box == NULL)
		rc = server_fail(err, "/headers",
		    "cannot be stored: the operator has set no SECRETS_KEY");
	if (rc == RC_OK && wire_tree_len(v) > 0) {
		out->header_names = arena_alloc(
		    a, USER_SERVER_HEADERS_MAX * sizeof(struct str));
		for (more = wire_tree_first(v, &m); more;
		     more = wire_tree_next(v, &m))
			out->header_names[out->n_header_names++] =
			    arena_str(a, m.key);
		out->has_header_names = true;
		rc = server_seal_headers(box, id, s, out, a);
	}
	wire_tree_free(v);
	return rc;
}

enum rc
user_server_write(const struct secret_box *box, const struct user_server_id *id,
    const struct wire_mcp_server_settings *s, bool http, struct buf *out,
    struct wire_err *err)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct wire_mcp_user_server rec = { .url = s->url,
		.policy = (enum wire_mcp_user_server_policy)s->policy,
		.has_policy = s->has_policy,
		.protocol = (enum wire_mcp_user_server_protocol)s->protocol,
		.has_protocol = s->has_protocol };
	const char *why = http_url_check(s->url, !http);
	enum rc rc = RC_OK;

	*err = (struct wire_err){ 0 };
	if (why != NULL)
		rc = server_fail(err, "/url", why);
	if (rc == RC_OK)
		rc = server_write_headers(box, id, s, &rec, a, err);
	if (rc == RC_OK)
		rc = wire_encode(&wire_mcp_user_server_desc, &rec, out, err);
	arena_free(a);
	return rc;
}

/* ---- as a configuration ---- */

static enum rc
server_open_headers(const struct secret_box *box,
    const struct user_server_id *id, const struct wire_mcp_user_server *rec,
    struct buf *out)
{
	struct buf of = BUF_INIT(HTTP_URL_MAX + 1024);
	enum rc rc;

	if (rec->headers.n == 0) {
		buf_puts(out, "{}");
		return RC_OK;
	}
	server_put_owner(id, rec->url, &of);
	rc = secret_box_open(box, buf_str(&of), rec->headers, out);
	buf_free(&of);
	return rc;
}

static void
server_put_config(struct str name, const struct wire_mcp_user_server *rec,
    struct str headers, struct buf *out)
{
	static const struct str policies[] = { STR_INIT("auto"),
		STR_INIT("ask"), STR_INIT("never") };
	static const struct str protocols[] = { STR_INIT("auto"),
		STR_INIT("legacy"), STR_INIT("modern") };
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	wire_out_key(&o, STR("mcpServers"));
	wire_out_object(&o);
	wire_out_key(&o, name);
	wire_out_object(&o);
	wire_out_key(&o, STR("url"));
	wire_out_str(&o, rec->url);
	wire_out_key(&o, STR("headers"));
	wire_out_raw(&o, headers);
	wire_out_key(&o, STR("policy"));
	wire_out_str(&o, policies[rec->has_policy ? rec->policy : 1]);
	wire_out_key(&o, STR("protocol"));
	wire_out_str(&o, protocols[rec->has_protocol ? rec->protocol : 0]);
	/* One connection, which is the user's. */
	wire_out_key(&o, STR("stateless"));
	wire_out_bool(&o, true);
	wire_out_object_end(&o);
	wire_out_object_end(&o);
	wire_out_object_end(&o);
}

/* A user's texts stand for themselves. */
static const char *
server_no_variable(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return NULL;
}

enum rc
user_server_config(const struct secret_box *box,
    const struct user_server_id *id, struct str stored, struct mcp_config **out)
{
	static const struct mcp_variables none = { server_no_variable, NULL };
	struct arena *a = arena_new(ARENA_MAX);
	struct buf headers = BUF_INIT(MCP_SERVER_JSON_MAX),
		   json = BUF_INIT(4 * MCP_SERVER_JSON_MAX),
		   errors = BUF_INIT(4096);
	struct wire_mcp_user_server rec;
	enum rc rc =
	    wire_decode(&wire_mcp_user_server_desc, stored, a, &rec, NULL);

	*out = NULL;
	if (rc == RC_OK)
		rc = server_open_headers(box, id, &rec, &headers);
	if (rc == RC_OK) {
		server_put_config(id->name, &rec, buf_str(&headers), &json);
		rc = mcp_config_read(buf_str(&json), &none, out, &errors);
	}
	if (rc == RC_OK && mcp_config_n(*out) != 1) {
		mcp_config_unref(*out);
		*out = NULL;
		rc = RC_INVALID;
	}
	buf_free(&headers);
	buf_free(&json);
	buf_free(&errors);
	arena_free(a);
	return rc;
}

/* ---- entries of the catalogue ---- */

enum rc
user_server_entry(
    struct str stored, struct arena *a, struct user_server_entry *out)
{
	struct wire_mcp_user_server rec;
	enum rc rc =
	    wire_decode(&wire_mcp_user_server_desc, stored, a, &rec, NULL);

	*out = (struct user_server_entry){ .name = { NULL, 0 } };
	if (rc == RC_OK)
		*out = (struct user_server_entry){ rec.catalogue,
			rec.evolution_id };
	return rc;
}

enum rc
user_server_write_entry(const struct user_server_entry *e, struct buf *out)
{
	const struct wire_mcp_user_server rec = { .catalogue = e->name,
		.evolution_id = e->evolution_id };

	return wire_encode(&wire_mcp_user_server_desc, &rec, out, NULL);
}

/* ---- for the user ---- */

enum rc
user_server_view(
    struct str stored, struct arena *a, struct wire_mcp_server *out)
{
	struct wire_mcp_user_server rec;
	size_t i;
	enum rc rc =
	    wire_decode(&wire_mcp_user_server_desc, stored, a, &rec, NULL);

	*out = (struct wire_mcp_server){ .owner = WIRE_MCP_SERVER_OWNER_USER };
	if (rc != RC_OK)
		return rc;
	out->url = rec.url;
	out->policy = rec.has_policy ? (enum wire_mcp_server_policy)rec.policy
				     : WIRE_MCP_SERVER_POLICY_ASK;
	out->has_policy = true;
	out->headers =
	    arena_alloc(a, (rec.n_header_names + 1) * sizeof(*out->headers));
	if (out->headers == NULL)
		return RC_TOOBIG;
	for (i = 0; i < rec.n_header_names; i++)
		out->headers[i] =
		    (struct wire_mcp_server_headers){ rec.header_names[i],
			    HIDDEN };
	out->n_headers = rec.n_header_names;
	out->has_headers = true;
	return RC_OK;
}
