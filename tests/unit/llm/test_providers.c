/*
 * Providers from a file and from variables, and their errors.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "llm/providers.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

static char why[LLM_PROVIDERS_WHY_MAX];

static enum rc
read_json(const char *json, struct arena *a, struct llm_opts *o)
{
	*o = (struct llm_opts){ .tries = 0 };
	why[0] = '\0';
	return llm_providers_read(str_of(json), a, o, why);
}

TEST(a_file_is_read)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct llm_opts o;

	ck_assert_int_eq(setenv("SPARE_KEY", "from outside", 1), 0);
	ck_assert_int_eq(
	    read_json("{\"providers\":[{\"name\":\"main\",\"base_url\":"
		      "\"http://a/v1\",\"model\":\"m\",\"api_key\":\"k\","
		      "\"cumulative\":true,\"strip_think\":true,"
		      "\"echo_reasoning\":\"always\",\"max_tokens\":5,"
		      "\"max_tokens_member\":\"max_completion_tokens\","
		      "\"body\":{\"enable_thinking\":false},"
		      "\"first_byte_ms\":100},"
		      "{\"name\":\"spare\",\"kind\":\"anthropic\","
		      "\"base_url\":\"https://b\",\"model\":\"n\","
		      "\"api_key_env\":\"SPARE_KEY\"}]}",
		a, &o),
	    RC_OK);
	ck_assert_uint_eq(o.nproviders, 2);
	const struct llm_provider *p = o.providers;
	ck_assert_str_eq(p[0].name, "main");
	ck_assert_int_eq(p[0].kind, LLM_OPENAI);
	ck_assert_str_eq(p[0].base_url, "http://a/v1");
	ck_assert_str_eq(p[0].api_key, "k");
	ck_assert_str_eq(p[0].model, "m");
	ck_assert(p[0].cumulative && p[0].strip_think);
	ck_assert_int_eq(p[0].echo, LLM_ECHO_ALWAYS);
	ck_assert_int_eq(p[0].max_tokens, 5);
	ck_assert_str_eq(p[0].max_tokens_member, "max_completion_tokens");
	ck_assert(str_eq(p[0].body, STR("{\"enable_thinking\":false}")));
	ck_assert_int_eq(p[0].first_byte_ms, 100);
	ck_assert_int_eq(p[1].kind, LLM_ANTHROPIC);
	ck_assert_str_eq(p[1].api_key, "from outside");
	ck_assert(!p[1].cumulative && !p[1].strip_think);
	ck_assert_int_eq(p[1].echo, LLM_ECHO_OWN);
	arena_free(a);
}

#define ONE(more) \
	"{\"name\":\"a\",\"base_url\":\"http://a\",\"model\":\"m\"" more "}"

TEST(errors_have_their_path)
{
	static const struct {
		const char *json, *why;
	} rows[] = {
		{ "", "" },
		{ "{}", "/providers: " },
		{ "{\"providers\":[]}", "/providers: " },
		{ "{\"providers\":[{\"name\":\"a\",\"model\":\"m\"}]}",
		    "/providers/0/base_url: is missing" },
		{ "{\"providers\":[{\"name\":\"a\",\"base_url\":\"ftp://a\","
		  "\"model\":\"m\"}]}",
		    "/providers/0: base_url" },
		{ "{\"providers\":[" ONE("") "," ONE("") "]}",
		    "/providers/1: name" },
		{ "{\"providers\":[" ONE(",\"body\":{\"model\":1}") "]}",
		    "/providers/0: base_url must be an http or https URL, and "
		    "body" },
		{ "{\"providers\":[" ONE(",\"body\":[]") "]}",
		    "/providers/0/body: " },
		{ "{\"providers\":[" ONE(
		      ",\"api_key_env\":\"NOT_SET_HERE\"") "]}",
		    "/providers/0: api_key_env" },
		{ "{\"providers\":[" ONE(",\"echo_reasoning\":\"x\"") "]}",
		    "/providers/0/echo_reasoning: " },
	};
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct llm_opts o;

	for (size_t i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(read_json(rows[i].json, a, &o), RC_INVALID);
		ck_assert_msg(str_starts(str_of(why), str_of(rows[i].why)) &&
			why[0] != '\0',
		    "row %zu: %s", i, why);
		arena_reset(a);
	}
	arena_free(a);
}

static enum rc
open_with(const struct llm_conf *c)
{
	struct loop *l = loop_new(16);
	struct llm_opts o = { .loop = l };
	struct llm *llm = NULL;

	enum rc rc = llm_open(c, &o, &llm);
	if (rc == RC_OK)
		llm_free(llm);
	loop_free(l);
	return rc;
}

TEST(variables_are_checked)
{
	struct llm_conf c = { .provider = "openai",
		.openai_url = "http://a",
		.openai_key = "",
		.anthropic_url = "http://b",
		.anthropic_key = "k",
		.model = "",
		.file = "" };

	ck_assert_int_eq(open_with(&c), RC_OK);
	c.openai_url = "a";
	ck_assert_int_eq(open_with(&c), RC_INVALID);
	/* Only the chosen provider is checked. */
	c.provider = "claude";
	ck_assert_int_eq(open_with(&c), RC_OK);
	c.anthropic_url = "b";
	ck_assert_int_eq(open_with(&c), RC_INVALID);
	c.provider = "other";
	ck_assert_int_eq(open_with(&c), RC_INVALID);
	/* A file replaces the variables. */
	c.file = tk_path("providers.json");
	ck_assert_int_eq(open_with(&c), RC_INVALID);
	tk_write_file(c.file, "{\"providers\":[" ONE("") "]}");
	ck_assert_int_eq(open_with(&c), RC_OK);
	tk_write_file(c.file, "{\"providers\":[1]}");
	ck_assert_int_eq(open_with(&c), RC_INVALID);
}
