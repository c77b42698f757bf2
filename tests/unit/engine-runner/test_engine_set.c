/* The file ENGINES, and versions of engines. */
#include <stdlib.h>

#include "core/mem.h"
#include "engine_set.h"
#include "testkit/testkit.h"

static const struct {
	const char *output, *version;
} outputs[] = {
	{ "codex-cli 0.56.1\n", "0.56.1" },
	{ "v1.2.3", "1.2.3" },
	{ "1.0.2\n", "1.0.2" },
	{ "gemini\nversion: 0.9.0-beta\n", "0.9.0-beta" },
	{ "no number", "" },
	{ "", "" },
	{ "v", "" },
};

TEST(a_version_is_found_in_a_programs_output)
{
	char version[ENGINE_VERSION_MAX + 1];

	for (size_t i = 0; i < NELEM(outputs); i++) {
		engine_version_of(str_of(outputs[i].output), version);
		ck_assert_str_eq(version, outputs[i].version);
	}
}

TEST(versions_are_compared_by_their_numbers)
{
	struct engine_entry e = { .version_min = STR("0.9.2"),
		.version_below = STR("1") };

	ck_assert(engine_version_suits(&e, STR("0.9.2")));
	ck_assert(engine_version_suits(&e, STR("0.10.0-beta")));
	ck_assert(engine_version_suits(&e, STR("0.9.2.1")));
	ck_assert(!engine_version_suits(&e, STR("0.9.1")));
	ck_assert(!engine_version_suits(&e, STR("1.0")));
	ck_assert(!engine_version_suits(&e, STR("")));
	e = (struct engine_entry){ 0 };
	ck_assert(engine_version_suits(&e, STR("")));
}

static struct engine_set *
set_of(const char *json, const char *why)
{
	struct buf text = BUF_INIT(4096);
	struct engine_set *set;
	enum rc rc;

	tk_write_file(tk_path("engines.json"), json);
	rc = engine_set_load(tk_path("engines.json"), &set, &text);
	ck_assert_int_eq(rc, why == NULL ? RC_OK : RC_INVALID);
	if (why != NULL)
		ck_assert_msg(strstr(text.p, why) != NULL, "%s", text.p);
	buf_free(&text);
	return set;
}

TEST(a_file_of_engines_is_read)
{
	struct engine_set *set = set_of(
	    "{\"engines\":[{\"engine\":\"codex\",\"command\":[\"sh\",\"-c\"],"
	    "\"tenants\":[\"acme\"],\"models\":[\"m\"]}]}",
	    NULL);
	const struct engine_entry *e = engine_set_find(set, STR("codex"));

	ck_assert_ptr_nonnull(e);
	ck_assert_ptr_null(engine_set_find(set, STR("gemini")));
	ck_assert_uint_eq(e->n_command, 2);
	ck_assert_int_eq(e->command[0][0], '/');
	ck_assert_uint_eq(e->n_tenants, 1);
	ck_assert(!e->all_tenants);
	ck_assert(str_eq(e->models[0], STR("m")));
	engine_set_free(set);
}

TEST(what_is_wrong_with_a_file_of_engines_is_named)
{
	set_of("{\"engines\":[{\"engine\":\"vim\",\"command\":[\"sh\"]}]}",
	    "/engines/0/engine");
	set_of("{\"engines\":[{\"engine\":\"codex\",\"command\":[]}]}",
	    "codex: command");
	set_of("{\"engines\":[{\"engine\":\"codex\",\"command\":"
	       "[\"no-such-program\"]}]}",
	    "no-such-program");
	set_of("{\"engines\":[{\"engine\":\"codex\",\"command\":[\"sh\"]},"
	       "{\"engine\":\"codex\",\"command\":[\"sh\"]}]}",
	    "twice");
	set_of("{", "engines.json");
}
