#include "state/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* A field or member: a token, or '*', a server, and a tool. */
#define MCP_FIELD_MAX \
	(ID_TOKEN_MAX + 1 + MCP_SERVER_NAME_MAX + 1 + MCP_TOOL_NAME_MAX)

_Static_assert(SCRIPT_ARGS_MAX > 3, "the arguments of a put");

static bool
mcp_name_is_valid(struct str name)
{
	return name.n > 0 && name.n <= MCP_SERVER_NAME_MAX &&
	    memchr(name.p, ' ', name.n) == NULL;
}

/* "<owner> <server> <tool>"; owner is an id, or absent. */
static enum rc
mcp_field(struct str owner, struct str server, struct str tool, struct buf *out)
{
	char token[ID_TOKEN_MAX] = "*";

	if (!mcp_name_is_valid(server) || tool.n == 0 ||
	    tool.n > MCP_TOOL_NAME_MAX)
		return RC_INVALID;
	if (owner.n > 0 && id_token(owner, token) != RC_OK)
		return RC_INVALID;
	buf_puts(out, token);
	buf_putc(out, ' ');
	buf_put_str(out, server);
	buf_putc(out, ' ');
	buf_put_str(out, tool);
	return buf_rc(out);
}

/* The parts of such a text; the owner absent for '*'. */
static void
mcp_read_field(struct record_reader *rd, struct str text, struct str *owner,
    struct str *server, struct str *tool)
{
	char id[ID_MAX + 1];
	struct str token = str_split(&text, ' ');

	*owner = STR_NONE;
	*server = str_split(&text, ' ');
	*tool = text;
	if (!mcp_name_is_valid(*server) || tool->n == 0)
		rd->rc = RC_INVALID;
	if (str_eq(token, STR("*")))
		return;
	if (id_untoken(token, id) != RC_OK) {
		rd->rc = RC_INVALID;
		return;
	}
	*owner = arena_str(rd->a, str_of(id));
	if (owner->p == NULL)
		rd->rc = RC_TOOBIG;
}

static enum rc
mcp_put(struct state *s, const char *key, struct str user,
    const struct str entry[2], int64_t max)
{
	struct script_call c;

	call_begin(&c, &script_user_entry_put);
	call_key(&c, key, user, STR_NONE);
	call_text(&c, entry[0], MCP_FIELD_MAX);
	call_text(&c, entry[1], MCP_SERVER_JSON_MAX);
	call_num(&c, max);
	return call_run(s, &c, 1, NULL);
}

static enum rc
mcp_delete(struct state *s, const char *pattern, struct str user, struct str f)
{
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc = state_key(text, pattern, &user, 1, &key);

	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("HDEL"), key, f), &r);
	if (rc == RC_OK && state_reply_int(r) == 0)
		rc = RC_NOENT;
	state_reply_free(r);
	return rc;
}

/* A hash: fields and values, in turn. */
static enum rc
mcp_read_all(struct state *s, const char *pattern, struct str user,
    struct arena *a, struct str **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	size_t i, len;
	enum rc rc = state_key(text, pattern, &user, 1, &key);

	*n = 0;
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("HGETALL"), key), &r);
	len = rc == RC_OK ? state_reply_len(r) : 0;
	*list = arena_alloc(a, (len + 1) * sizeof(**list));
	if (rc == RC_OK && *list == NULL)
		rc = RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < len; i++)
		(*list)[i] = record_text(&rd, state_reply_at(r, i));
	state_reply_free(r);
	if (rc == RC_OK)
		rc = record_end(&rd, key);
	if (rc == RC_OK)
		*n = len;
	return rc;
}

/* ---- servers ---- */

enum rc
mcp_server_put(
    struct state *s, struct str user, const struct mcp_user_server *server)
{
	const struct str entry[] = { server->name, server->json };

	if (!mcp_name_is_valid(server->name))
		return RC_INVALID;
	return mcp_put(s, KEY_MCP_USER, user, entry, MCP_USER_SERVERS_MAX);
}

enum rc
mcp_server_delete(struct state *s, struct str user, struct str name)
{
	return mcp_delete(s, KEY_MCP_USER, user, name);
}

static int
mcp_compare_servers(const void *a, const void *b)
{
	return str_cmp(((const struct mcp_user_server *)a)->name,
	    ((const struct mcp_user_server *)b)->name);
}

enum rc
mcp_servers_read(struct state *s, struct str user, struct arena *a,
    struct mcp_user_server **list, size_t *n)
{
	struct str *all;
	size_t i, len;
	enum rc rc = mcp_read_all(s, KEY_MCP_USER, user, a, &all, &len);

	*n = 0;
	if (rc != RC_OK)
		return rc;
	*list = arena_alloc(a, (len / 2 + 1) * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; i < len / 2; i++)
		(*list)[i] =
		    (struct mcp_user_server){ all[2 * i], all[2 * i + 1] };
	*n = len / 2;
	qsort(*list, *n, sizeof(**list), mcp_compare_servers);
	return RC_OK;
}

/* ---- grants ---- */

enum rc
mcp_grant_put(struct state *s, struct str user, const struct mcp_grant *g)
{
	struct buf field = BUF_INIT(MCP_FIELD_MAX),
		   value = BUF_INIT(MCP_FIELD_MAX);
	struct str entry[2];
	enum rc rc = mcp_field(g->soul_id, g->server, g->tool, &field);

	if (g->policy.n == 0 || memchr(g->policy.p, ' ', g->policy.n) != NULL)
		rc = RC_INVALID;
	buf_put_str(&value, g->policy);
	buf_putc(&value, ' ');
	buf_put_str(&value, g->pin);
	entry[0] = buf_str(&field);
	entry[1] = buf_str(&value);
	if (rc == RC_OK)
		rc = buf_rc(&value);
	if (rc == RC_OK)
		rc = mcp_put(s, KEY_MCP_GRANTS, user, entry, MCP_GRANTS_MAX);
	buf_free(&field);
	buf_free(&value);
	return rc;
}

enum rc
mcp_grant_delete(struct state *s, struct str user, const struct mcp_grant *g)
{
	struct buf field = BUF_INIT(MCP_FIELD_MAX);
	enum rc rc = mcp_field(g->soul_id, g->server, g->tool, &field);

	if (rc == RC_OK)
		rc = mcp_delete(s, KEY_MCP_GRANTS, user, buf_str(&field));
	buf_free(&field);
	return rc;
}

enum rc
mcp_grants_read(struct state *s, struct str user, struct arena *a,
    struct mcp_grant **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	struct str *all, rest;
	size_t i, len;
	enum rc rc = mcp_read_all(s, KEY_MCP_GRANTS, user, a, &all, &len);

	*n = 0;
	if (rc != RC_OK)
		return rc;
	*list = arena_alloc(a, (len / 2 + 1) * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; i < len / 2; i++) {
		struct mcp_grant *g = &(*list)[i];

		mcp_read_field(
		    &rd, all[2 * i], &g->soul_id, &g->server, &g->tool);
		rest = all[2 * i + 1];
		g->policy = str_split(&rest, ' ');
		g->pin = rest;
	}
	rc = record_end(&rd, STR(KEY_MCP_GRANTS));
	if (rc == RC_OK)
		*n = len / 2;
	return rc;
}

const struct mcp_grant *
mcp_grant_find(const struct mcp_grant *list, size_t n, struct str soul,
    struct str server, struct str tool)
{
	const struct mcp_grant *of_all = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!str_eq(list[i].server, server) ||
		    !str_eq(list[i].tool, tool))
			continue;
		if (list[i].soul_id.n == 0)
			of_all = &list[i];
		else if (str_eq(list[i].soul_id, soul))
			return &list[i];
	}
	return of_all;
}

/* ---- used tools ---- */

enum rc
mcp_used_add(struct state *s, struct str user, struct str session,
    const struct mcp_used *used)
{
	struct buf member = BUF_INIT(MCP_FIELD_MAX);
	struct script_call c;
	enum rc rc = RC_INVALID;

	if (session.n > 0)
		rc = mcp_field(session, used->server, used->tool, &member);
	if (rc == RC_OK) {
		call_begin(&c, &script_mcp_used_add);
		call_key(&c, KEY_MCP_USED, user, STR_NONE);
		call_text(&c, buf_str(&member), MCP_FIELD_MAX);
		call_num(&c, MCP_USED_MAX);
		call_num(&c, MCP_USED_TTL_MS);
		rc = call_run(s, &c, 1, NULL);
	}
	buf_free(&member);
	return rc;
}

static enum rc
mcp_used_select(const struct state_reply *r, struct str session,
    struct arena *a, struct mcp_used **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	size_t i, len = state_reply_len(r);
	struct str owner, text;

	*list = arena_alloc(a, (len + 1) * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; rd.rc == RC_OK && i < len; i++) {
		struct mcp_used *u = &(*list)[*n];

		text = record_text(&rd, state_reply_at(r, i));
		if (rd.rc != RC_OK)
			break;
		mcp_read_field(&rd, text, &owner, &u->server, &u->tool);
		*n += str_eq(owner, session);
	}
	return rd.rc;
}

enum rc
mcp_used_read(struct state *s, struct str user, struct str session,
    struct arena *a, struct mcp_used **list, size_t *n)
{
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc = state_key(text, KEY_MCP_USED, &user, 1, &key);

	*n = 0;
	if (rc == RC_OK)
		rc = state_cmd(s,
		    STATE_ARGS(STR("ZREVRANGE"), key, STR("0"), STR("-1")), &r);
	if (rc == RC_OK)
		rc = mcp_used_select(r, session, a, list, n);
	state_reply_free(r);
	if (rc != RC_OK)
		*n = 0;
	return rc;
}

/* ---- content ---- */

static enum rc
mcp_content_key(
    struct str user, struct str id, char text[STATE_KEY_MAX], struct str *key)
{
	const struct str ids[] = { user, id };

	return state_key(text, KEY_MCP_CONTENT, ids, NELEM(ids), key);
}

enum rc
mcp_content_put(struct state *s, struct str user, const struct mcp_content *c)
{
	struct buf value = BUF_INIT(MCP_CONTENT_MAX + 256);
	char text[STATE_KEY_MAX], ms[STR_NUM_MAX];
	struct str key;
	enum rc rc = mcp_content_key(user, c->id, text, &key);

	if (rc == RC_OK && c->data.n > MCP_CONTENT_MAX)
		rc = RC_TOOBIG;
	buf_put_str(&value, c->mime_type);
	buf_putc(&value, '\n');
	buf_put_str(&value, c->data);
	if (rc == RC_OK)
		rc = buf_rc(&value);
	if (rc == RC_OK)
		rc = state_cmd(s,
		    STATE_ARGS(STR("SET"), key, buf_str(&value), STR("PX"),
			str_num(MCP_CONTENT_TTL_MS, ms)),
		    NULL);
	buf_free(&value);
	return rc;
}

enum rc
mcp_content_read(
    struct state *s, struct str user, struct mcp_content *c, struct arena *a)
{
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key, rest;
	enum rc rc = mcp_content_key(user, c->id, text, &key);

	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("GET"), key), &r);
	if (rc == RC_OK && state_reply_kind(r) == STATE_NIL)
		rc = RC_NOENT;
	if (rc == RC_OK) {
		rest = record_text(&rd, r);
		c->mime_type = str_split(&rest, '\n');
		c->data = rest;
		if (rd.rc == RC_OK && rest.p == NULL)
			rd.rc = RC_INVALID;
		rc = record_end(&rd, key);
	}
	state_reply_free(r);
	return rc;
}
