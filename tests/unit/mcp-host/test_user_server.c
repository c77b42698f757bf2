/* Users' own servers: what is stored, and who can read it. */
#include <string.h>

#include "auth/secret_box.h"
#include "core/arena.h"
#include "core/mem.h"
#include "mcp_config.h"
#include "testkit/testkit.h"
#include "user_server.h"

#define KEY "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

static const struct user_server_id ann = { STR_INIT("ann"), STR_INIT("home") };
static struct buf stored = BUF_INIT(65536);
static struct wire_err err;

static struct secret_box *
box(void)
{
	struct secret_box *b;
	const char *why;

	ck_assert_int_eq(secret_box_new(STR(KEY), &b, &why), RC_OK);
	return b;
}

static enum rc
write_server(const struct secret_box *b, const char *url, const char *headers)
{
	const struct wire_mcp_server_settings s = { .url = str_of(url),
		.headers = str_of(headers) };

	buf_reset(&stored);
	return user_server_write(b, &ann, &s, false, &stored, &err);
}

TEST(headers_are_stored_encrypted_and_read_by_their_owner)
{
	struct secret_box *b = box();
	struct arena *a = arena_new(65536);
	const struct user_server_id bob = { STR("bob"), ann.name };
	const struct mcp_server *s;
	struct wire_mcp_server view;
	struct mcp_config *c;

	ck_assert_int_eq(write_server(b, "https://a/mcp",
			     "{\"Authorization\":\"Bearer ${HOME}\"}"),
	    RC_OK);
	ck_assert_int_lt(str_find(buf_str(&stored), STR("Bearer")), 0);
	ck_assert_int_eq(
	    user_server_config(b, &ann, buf_str(&stored), &c), RC_OK);
	s = mcp_config_at(c, 0);
	ck_assert_str_eq(s->name, "home");
	ck_assert_str_eq(s->url, "https://a/mcp");
	ck_assert_uint_eq(s->n_headers, 1);
	ck_assert_str_eq(s->headers[0].value, "Bearer ${HOME}");
	ck_assert_int_eq(s->policy, MCP_POLICY_CONFIRM);
	ck_assert_int_eq(s->kind, MCP_HTTP_OR_SSE);
	ck_assert(!s->trust_hints);
	mcp_config_unref(c);
	ck_assert_int_eq(
	    user_server_config(b, &bob, buf_str(&stored), &c), RC_INVALID);
	ck_assert_int_eq(
	    user_server_config(NULL, &ann, buf_str(&stored), &c), RC_NOENT);
	ck_assert_int_eq(user_server_view(buf_str(&stored), a, &view), RC_OK);
	ck_assert_uint_eq(view.n_headers, 1);
	ck_assert(str_eq(view.headers[0].name, STR("Authorization")));
	ck_assert(str_eq(view.headers[0].value, STR("***")));
	secret_box_free(b);
	arena_free(a);
}

/* A writer of Redis must not have the headers sent elsewhere. */
TEST(headers_are_not_sent_to_another_url)
{
	struct secret_box *b = box();
	struct mcp_config *c;
	char *url;

	ck_assert_int_eq(
	    write_server(b, "https://a.test/", "{\"X\":\"1\"}"), RC_OK);
	url = strstr(stored.p, "a.test");
	ck_assert_ptr_nonnull(url);
	url[0] = 'b';
	ck_assert_int_eq(
	    user_server_config(b, &ann, buf_str(&stored), &c), RC_INVALID);
	secret_box_free(b);
}

static void
rejects(const char *url, const char *headers, const char *path)
{
	struct secret_box *b = box();

	ck_assert_msg(
	    write_server(b, url, headers) == RC_INVALID, "%s", headers);
	ck_assert_str_eq(err.path, path);
	ck_assert_str_ne(err.why, "");
	secret_box_free(b);
}

TEST(settings_are_checked)
{
	rejects("http://a", "{}", "/url");
	rejects("https://u:p@a", "{}", "/url");
	rejects("https://a", "{\"Host\":\"b\"}", "/headers");
	rejects("https://a", "{\"content-length\":\"1\"}", "/headers");
	rejects("https://a", "{\"mcp-session-id\":\"1\"}", "/headers");
	rejects("https://a", "{\"A b\":\"1\"}", "/headers");
	rejects("https://a", "{\"\":\"1\"}", "/headers");
	rejects("https://a", "{\"A\":1}", "/headers");
	rejects("https://a", "{\"A\":\"b\\r\\nC: d\"}", "/headers");
	ck_assert_int_eq(
	    write_server(NULL, "https://a", "{\"A\":\"1\"}"), RC_INVALID);
	ck_assert_int_eq(write_server(NULL, "https://a", NULL), RC_OK);
	ck_assert_int_eq(write_server(NULL, "https://a", "{}"), RC_OK);
}
