/* Files that list MCP servers. */
#include "mcp_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"

static const char *
variable(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "TOKEN") == 0)
		return "s3cret";
	return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static const struct mcp_variables vars = { variable, NULL };
static struct buf errors;

static struct mcp_config *
config_of(const char *text)
{
	struct mcp_config *c;
	enum rc rc;

	buf_free(&errors);
	buf_init(&errors, 65536);
	rc = mcp_config_read(str_of(text), &vars, &c, &errors);
	ck_assert_int_eq(rc == RC_OK, c != NULL);
	ck_assert_int_eq(rc == RC_OK, errors.n == 0);
	return c;
}

static struct mcp_config *
good(const char *text)
{
	struct mcp_config *c = config_of(text);

	ck_assert_msg(c != NULL, "%s", errors.p);
	return c;
}

TEST(servers_are_read_with_comments_in_both_forms)
{
	struct mcp_config *c =
	    good("// My servers.\n{ /* a list */ \"mcpServers\": {\n"
		 "  \"b\": {\"command\": \"x\", \"args\": "
		 "[\"//no\", \"/*no*/\",],},\n"
		 "  \"a\": {\"url\": \"https://h/mcp\"}, // remote\n"
		 "}}");
	const struct mcp_server *b = mcp_config_find(c, STR("b"));

	ck_assert_uint_eq(mcp_config_n(c), 2);
	ck_assert_str_eq(mcp_config_at(c, 0)->name, "a");
	ck_assert_int_eq(mcp_config_at(c, 0)->kind, MCP_HTTP_OR_SSE);
	ck_assert_int_eq(b->kind, MCP_STDIO);
	ck_assert_uint_eq(b->n_args, 2);
	ck_assert_str_eq(b->args[0], "//no");
	ck_assert_str_eq(b->args[1], "/*no*/");
	ck_assert(b->all_tenants);
	mcp_config_unref(c);
	c = good("{\"servers\":{\"x\":{\"httpUrl\":\"http://h/\"}},"
		 "\"inputs\":[]}");
	ck_assert_int_eq(mcp_config_at(c, 0)->kind, MCP_HTTP);
	mcp_config_unref(c);
}

static const struct {
	const char *member;
	enum mcp_kind kind;
} kinds[] = {
	{ "\"type\":\"http\"", MCP_HTTP },
	{ "\"type\":\"streamable-http\"", MCP_HTTP },
	{ "\"type\":\"streamableHttp\"", MCP_HTTP },
	{ "\"type\":\"streamable_http\"", MCP_HTTP },
	{ "\"transportType\":\"http\"", MCP_HTTP },
	{ "\"type\":\"sse\"", MCP_SSE },
	{ "\"disabled\":false", MCP_HTTP_OR_SSE },
};

TEST(the_transport_is_that_of_the_type)
{
	char text[256];
	struct mcp_config *c;

	for (size_t i = 0; i < NELEM(kinds); i++) {
		snprintf(text, sizeof(text),
		    "{\"mcpServers\":{\"x\":{%s,\"url\":\"http://h/\"}}}",
		    kinds[i].member);
		c = good(text);
		ck_assert_int_eq(mcp_config_at(c, 0)->kind, kinds[i].kind);
		mcp_config_unref(c);
	}
}

TEST(variables_are_expanded_in_these_forms_alone)
{
	struct mcp_config *c = good(
	    "{\"mcpServers\":{\"x\":{\"command\":\"c\",\"args\":["
	    "\"${TOKEN}\",\"a${env:TOKEN}b\",\"${NONE:-d:-e}\",\"${NONE}\","
	    "\"$TOKEN\",\"${EMPTY:-d}\",\"${a b}\",\"${\",\"${}\"],"
	    "\"env\":{\"A\":1,\"B\":true,\"C\":null,\"D\":\"${TOKEN}\"}}}}");
	static const char *const args[] = { "s3cret", "as3cretb", "d:-e",
		"${NONE}", "$TOKEN", "d", "${a b}", "${", "${}" };
	const struct mcp_server *s = mcp_config_at(c, 0);

	for (size_t i = 0; i < NELEM(args); i++)
		ck_assert_str_eq(s->args[i], args[i]);
	ck_assert_uint_eq(s->n_env, 3);
	ck_assert_str_eq(s->env[0].value, "1");
	ck_assert_str_eq(s->env[1].value, "true");
	ck_assert_str_eq(s->env[2].value, "s3cret");
	mcp_config_unref(c);
}

static const struct {
	const char *member;
	int64_t ms;
} timeouts[] = {
	{ "\"timeout\":30", 30000 },
	{ "\"timeout\":999", 999000 },
	{ "\"timeout\":1000", 1000 },
	{ "\"timeout\":60000", 60000 },
	{ "\"timeoutMs\":50", 50 },
	{ "\"timeoutMs\":50,\"timeout\":3", 50 },
	{ "\"tools\":[]", 0 },
};

TEST(small_timeouts_are_seconds)
{
	char text[256];
	struct mcp_config *c;

	for (size_t i = 0; i < NELEM(timeouts); i++) {
		snprintf(text, sizeof(text),
		    "{\"mcpServers\":{\"x\":{%s,\"command\":\"c\"}}}",
		    timeouts[i].member);
		c = good(text);
		ck_assert_int_eq(
		    mcp_config_at(c, 0)->timeout_ms, timeouts[i].ms);
		mcp_config_unref(c);
	}
}

static const struct {
	const char *text, *error;
} bad[] = {
	{ "", "is no valid JSON" },
	{ "{\"mcpServers\":{}", "is no valid JSON" },
	{ "{}", "/servers: must be an object" },
	{ "{\"mcpServers\":[]}", "/mcpServers: must be an object" },
	{ "{\"mcpServers\":{\"a b\":{}}}", "/mcpServers/a b: a server's name" },
	{ "{\"mcpServers\":{\"a\":1}}", "/mcpServers/a: must be an object" },
	{ "{\"mcpServers\":{\"a\":{}}}", "/mcpServers/a: needs a command" },
	{ "{\"mcpServers\":{\"a\":{\"type\":\"stdio\",\"url\":\"http://h\"}}}",
	    "/mcpServers/a/command: is missing" },
	{ "{\"mcpServers\":{\"a\":{\"command\":3}}}",
	    "/mcpServers/a/command: must be a string" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"args\":[\"x\",3]}}}",
	    "/mcpServers/a/args/1: must be a string" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"env\":{\"A=B\":1}}}}",
	    "/mcpServers/a/env/A=B: is no valid name" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"cwd\":\"x\"}}}",
	    "/mcpServers/a/cwd: must be a path" },
	{ "{\"mcpServers\":{\"a\":{\"type\":\"carrier\"}}}",
	    "/mcpServers/a/type: is not known" },
	{ "{\"mcpServers\":{\"a\":{\"url\":\"ftp://h\"}}}",
	    "/mcpServers/a/url: " },
	{ "{\"mcpServers\":{\"a\":{\"url\":\"http://h\",\"headers\":{\"A\":"
	  "\"x\\ny\"}}}}",
	    "/mcpServers/a/headers: must be of one line" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"timeout\":-1}}}",
	    "/mcpServers/a/timeout: " },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"policy\":\"yes\"}}}",
	    "/mcpServers/a/policy: is not known" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"sandbox\":{\"read\":"
	  "[\"x\"]}}}}",
	    "/mcpServers/a/read: must be paths" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"roots\":[\"x\"]}}}",
	    "/mcpServers/a/roots: must be paths" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"disabled\":1}}}",
	    "/mcpServers/a/disabled: must be true or false" },
};

TEST(each_error_is_named_with_its_path)
{
	for (size_t i = 0; i < NELEM(bad); i++) {
		ck_assert_ptr_null(config_of(bad[i].text));
		ck_assert_msg(strstr(errors.p, bad[i].error) != NULL, "%s: %s",
		    bad[i].text, errors.p);
	}
	/* All of them. */
	ck_assert_ptr_null(config_of("{\"mcpServers\":{\"a\":{},\"b\":{}}}"));
	ck_assert_ptr_nonnull(strstr(errors.p, "/mcpServers/a"));
	ck_assert_ptr_nonnull(strstr(errors.p, "/mcpServers/b"));
}

TEST(a_key_is_of_what_a_process_depends_on)
{
	struct mcp_config *a =
	    good("{\"mcpServers\":{\"x\":{\"command\":\"c\"}}}");
	struct mcp_config *b = good(
	    "{\"servers\":{\"x\":{\"policy\":\"auto\",\"command\":\"c\"}}}");
	struct mcp_config *c =
	    good("{\"servers\":{\"x\":{\"args\":[\"\"],\"command\":\"c\"}}}");

	ck_assert_str_eq(mcp_config_at(a, 0)->key, mcp_config_at(b, 0)->key);
	ck_assert_str_ne(mcp_config_at(a, 0)->key, mcp_config_at(c, 0)->key);
	ck_assert_str_ne(mcp_config_revision(a), mcp_config_revision(b));
	mcp_config_unref(a);
	mcp_config_unref(b);
	mcp_config_unref(c);
}

TEST(disabled_servers_are_left_out_and_tenants_named)
{
	struct mcp_config *c =
	    good("{\"mcpServers\":{\"a\":{\"command\":\"c\",\"disabled\":true},"
		 "\"b\":{\"command\":\"c\",\"enabled\":false},"
		 "\"c\":{\"command\":\"c\",\"tenants\":[\"acme\"]}}}");

	ck_assert_uint_eq(mcp_config_n(c), 1);
	ck_assert(mcp_server_for(mcp_config_at(c, 0), STR("acme")));
	ck_assert(!mcp_server_for(mcp_config_at(c, 0), STR("")));
	mcp_config_unref(c);
}

static const struct {
	const char *entry, *error;
} entries[] = {
	{ "\"command\":\"c\"", "/mcpServers/x/description: is missing" },
	{ "\"command\":\"c\",\"description\":\"\"",
	    "/mcpServers/x/description: is missing" },
	{ "\"command\":\"c\",\"description\":7",
	    "/mcpServers/x/description: must be a string" },
	{ "\"command\":\"c\",\"description\":\"d\",\"trust_hints\":true",
	    "/mcpServers/x/trust_hints: must not be in a catalogue" },
	{ "\"command\":\"c\",\"description\":\"d\",\"autoApprove\":[]",
	    "/mcpServers/x/autoApprove: must not be in a catalogue" },
	{ "\"command\":\"c\",\"description\":\"d\",\"alwaysAllow\":[]",
	    "/mcpServers/x/alwaysAllow: must not be in a catalogue" },
	{ "\"command\":\"c\",\"description\":\"d\",\"policy\":\"auto\"",
	    "/mcpServers/x/policy: must be ask" },
	{ "\"description\":\"d\"", "/mcpServers/x: needs a command or a url" },
};

TEST(an_entry_of_a_catalogue_is_described_and_needs_approvals)
{
	struct mcp_config *c;
	char text[512];
	enum rc rc;

	for (size_t i = 0; i < NELEM(entries); i++) {
		snprintf(text, sizeof(text), "{\"mcpServers\":{\"x\":{%s}}}",
		    entries[i].entry);
		buf_free(&errors);
		buf_init(&errors, 65536);
		rc =
		    mcp_config_read_catalogue(str_of(text), &vars, &c, &errors);
		ck_assert_int_eq(rc, RC_INVALID);
		ck_assert_msg(strncmp(errors.p, entries[i].error,
				  strlen(entries[i].error)) == 0,
		    "%s", errors.p);
	}
	buf_free(&errors);
	buf_init(&errors, 65536);
	rc = mcp_config_read_catalogue(
	    STR("{\"mcpServers\":{\"x\":{\"command\":\"c\","
		"\"title\":\"t\",\"description\":\"d\"}}}"),
	    &vars, &c, &errors);
	ck_assert_int_eq(rc, RC_OK);
	ck_assert_int_eq(mcp_config_at(c, 0)->policy, MCP_POLICY_CONFIRM);
	ck_assert_str_eq(mcp_config_at(c, 0)->title, "t");
	ck_assert_str_eq(mcp_config_at(c, 0)->description, "d");
	mcp_config_unref(c);
}
