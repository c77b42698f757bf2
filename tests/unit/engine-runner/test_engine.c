/* Commands of engines: nothing of a caller is an option. */
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "core/arena.h"
#include "core/mem.h"
#include "engine.h"
#include "fcmp/done_marker.h"
#include "testkit/testkit.h"

#define COMMAND_ARENA (1024UL * 1024)

static const struct engine_start start = { .command = "engine",
	.prompt = STR_INIT("--version\n%HOME% \"x\""),
	.model = STR_INIT("m"),
	.url = STR_INIT("http://127.0.0.1:9081/r"),
	.key = STR_INIT("soul"),
	.home = "/h",
	.work = "/w" };

/* The arguments, with "|" between them. */
static void
command_join(const char *const *argv, struct buf *b)
{
	for (size_t i = 0; argv[i] != NULL; i++)
		buf_printf(b, "%s%s", i > 0 ? "|" : "", argv[i]);
}

static const struct {
	const char *engine, *handle, *argv;
	bool own_sandbox;
} commands[] = {
	{ "codex", NULL,
	    "engine|exec|--json|--skip-git-repo-check|-m|m|-c|sandbox_mode="
	    "\"danger-full-access\"|-",
	    false },
	{ "codex", "019c-1",
	    "engine|exec|resume|--json|--skip-git-repo-check|-m|m|-c|"
	    "sandbox_mode=\"workspace-write\"|019c-1|-",
	    true },
	{ "gemini", "a-1",
	    "engine|--skip-trust|--approval-mode=yolo|--output-format="
	    "stream-json|--model=m|--resume=a-1|--prompt=--version\n%HOME% "
	    "\"x\"",
	    false },
	{ "opencode", NULL,
	    "engine|run|--format=json|--model=soul/m|--|--version\n%HOME% "
	    "\"x\"",
	    false },
	{ "iflow", "session-1",
	    "engine|--resume=session-1|--yolo|--model=m|--prompt=--version\n"
	    "%HOME% \"x\"",
	    false },
};

TEST(commands_start_and_resume)
{
	struct arena *a = arena_new(COMMAND_ARENA);

	for (size_t i = 0; i < NELEM(commands); i++) {
		const struct engine *e =
		    engine_find(str_of(commands[i].engine));
		struct engine_start s = start;
		struct engine_command c;
		struct buf b = BUF_INIT(65536);

		s.handle = str_of(commands[i].handle);
		s.own_sandbox = commands[i].own_sandbox;
		ck_assert_int_eq(engine_command(e, &s, a, &c), RC_OK);
		command_join(c.argv, &b);
		ck_assert_str_eq(b.p, commands[i].argv);
		buf_reset(&b);
		command_join(c.env, &b);
		ck_assert_ptr_nonnull(strstr(b.p, "HOME=/h|"));
		ck_assert_ptr_nonnull(strstr(b.p, "TMPDIR=/h|"));
		ck_assert_ptr_nonnull(strstr(b.p, "=soul|"));
		buf_free(&b);
	}
	arena_free(a);
}

TEST(temporary_files_have_a_folder_of_their_own)
{
	struct arena *a = arena_new(COMMAND_ARENA);
	struct engine_start s = start;
	struct engine_command c;
	struct buf b = BUF_INIT(65536);

	s.tmp = "/t";
	ck_assert_int_eq(
	    engine_command(engine_find(STR("codex")), &s, a, &c), RC_OK);
	command_join(c.env, &b);
	ck_assert_ptr_nonnull(strstr(b.p, "TMPDIR=/t|"));
	buf_free(&b);
	arena_free(a);
}

TEST(handles_that_could_be_options_are_rejected)
{
	static const char *const handles[] = { "", "-x", "a b", "a/b", "a;b",
		"a\n", "$(x)" };
	struct arena *a = arena_new(COMMAND_ARENA);
	struct engine_command c;

	for (size_t i = 0; engine_at(i) != NULL; i++) {
		for (size_t k = 0; k < NELEM(handles); k++) {
			struct engine_start s = start;

			s.handle = str_of(handles[k]);
			ck_assert_int_eq(
			    engine_command(engine_at(i), &s, a, &c),
			    RC_INVALID);
		}
	}
	arena_free(a);
}

TEST(prompts_have_limits)
{
	struct arena *a = arena_new(COMMAND_ARENA);
	char *text = mem_zalloc(ENGINE_ARG_PROMPT_MAX + 1);
	struct engine_start s = start;
	struct engine_command c;

	s.prompt = (struct str){ text, 2 };
	ck_assert_int_eq(
	    engine_command(engine_find(STR("gemini")), &s, a, &c), RC_INVALID);
	memset(text, 'x', ENGINE_ARG_PROMPT_MAX + 1);
	s.prompt.n = ENGINE_ARG_PROMPT_MAX + 1;
	ck_assert_int_eq(
	    engine_command(engine_find(STR("gemini")), &s, a, &c), RC_TOOBIG);
	/* Of stdin there is no limit here. */
	ck_assert_int_eq(
	    engine_command(engine_find(STR("codex")), &s, a, &c), RC_OK);
	free(text);
	arena_free(a);
}

TEST(files_of_home_have_the_proxys_url)
{
	struct arena *a = arena_new(COMMAND_ARENA);
	const struct engine *e = engine_find(STR("codex"));
	struct str text = engine_file_text(&e->files[0], &start, a);

	ck_assert_int_ge(
	    str_find(text, STR("base_url = \"http://127.0.0.1:9081/r\"")), 0);
	ck_assert_int_lt(str_find(text, STR("%")), 0);
	arena_free(a);
}

/* An engine that quotes its instructions is not done. */
TEST(the_contract_is_no_marker)
{
	static const char *const modes[] = { "interactive", "auto" };

	for (size_t i = 0; i < NELEM(modes); i++) {
		struct done_marker *m = done_marker_new(65536);
		struct buf b = BUF_INIT(65536);
		struct done_result r;

		contract_prompt(STR("Do it."), str_of(modes[i]),
		    STR("{\"type\":\"object\"}"), &b);
		ck_assert(str_starts(buf_str(&b), STR("Do it.\n")));
		ck_assert_int_ge(
		    str_find(buf_str(&b), STR("__SKILL_DONE__")), 0);
		done_marker_put(m, buf_str(&b));
		done_marker_finish(m, &r);
		ck_assert_uint_eq(r.markers, 0);
		done_marker_free(m);
		buf_free(&b);
	}
}
