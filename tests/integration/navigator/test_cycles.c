/*
 * Cycles with a simulated model: what it completions, and what becomes of that.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/navigator_fixture.h"

#define GOOD                                                       \
	"{\"suggestion\":\"少说多听\",\"intent\":\"comfort\"," \
	"\"psyche_delta\":{\"intimacy\":0.1,\"hope\":1},"          \
	"\"memory_archival\":true,"                                \
	"\"evolution_request\":{\"need\":\"查天气\"},"          \
	"\"memories\":[{\"text\":\"用户对花生过敏\","       \
	"\"type\":\"fact\"},\"用户住在火星\"],"              \
	"\"proactive\":{\"text\":\"问问睡得好吗\","          \
	"\"urgency\":\"low\"}}"

static const char *
text(const json_t *j, const char *member)
{
	const char *s = json_string_value(json_object_get(j, member));

	return s != NULL ? s : "";
}

static void
five_turns(struct navigator_fixture *f)
{
	for (int i = 0; i < 5; i++)
		navigator_fixture_turn(f, "s1", NULL);
}

static void
check_suggestion(struct navigator_fixture *f)
{
	json_t *j = navigator_fixture_next(f->suggestions);
	json_t *link = navigator_fixture_link(f, "s1");

	ck_assert_str_eq(text(j, "suggestion"), "少说多听");
	ck_assert_str_eq(text(j, "intent"), "comfort");
	ck_assert_str_eq(text(j, "trigger"), "count");
	ck_assert_str_eq(text(j, "user_id"), "u1");
	ck_assert_str_eq(text(j, "soul_id"), "s1");
	ck_assert_str_eq(text(j, "session_id"), "c1");
	ck_assert_str_ne(text(j, "expires_at"), "");
	ck_assert_str_eq(text(link, "suggestion"), "少说多听");
	ck_assert_str_eq(text(link, "cycle_id"), text(j, "cycle_id"));
	json_decref(link);
	json_decref(j);
}

TEST_T(a_cycle_has_all_of_its_effects, 60)
{
	struct navigator_fixture f;
	json_t *j;

	navigator_fixture_start(&f, 1);
	navigator_fixture_converse(&f, "我对花生过敏，今天好难过");
	navigator_fixture_script(&f, GOOD);
	five_turns(&f);
	check_suggestion(&f);
	j = navigator_fixture_next(f.psyche);
	ck_assert_str_eq(text(j, "reason"), "navigator_comfort");
	ck_assert_uint_eq(json_object_size(json_object_get(j, "delta")), 1);
	json_decref(j);
	j = navigator_fixture_next(f.jobs);
	ck_assert_str_eq(text(j, "text"), "用户对花生过敏");
	ck_assert_str_eq(text(j, "trigger_source"), "navigator");
	json_decref(j);
	j = navigator_fixture_next(f.speak);
	ck_assert_str_eq(text(j, "text"), "问问睡得好吗");
	ck_assert_str_eq(text(j, "reason"), "navigator");
	ck_assert(json_is_false(json_object_get(j, "verbatim")));
	json_decref(j);
	j = navigator_fixture_next(f.evolutions);
	ck_assert_str_eq(text(j, "need"), "查天气");
	ck_assert_str_eq(text(j, "user_id"), "u1");
	ck_assert_str_ne(text(j, "cycle_id"), "");
	json_decref(j);
	navigator_fixture_wait_ended(&f, "trigger=\"count\",end=\"done\"");
	/* What the user has not stated is not remembered. */
	ck_assert_int_eq(
	    tk_service_metric(&f.nav[0], "soul_nav_not_admitted_total"), 1);
	ck_assert_ptr_null(tk_nats_next(f.jobs, 0, NULL));
	ck_assert_int_eq(navigator_fixture_calls(&f), 1);
	navigator_fixture_stop(&f);
}

/* It is neither tried again nor given up. */
TEST_T(without_an_mcp_host_a_request_is_left_out, 60)
{
	struct navigator_fixture f;

	navigator_fixture_start(&f, 1);
	navigator_fixture_end_evolutions(&f);
	navigator_fixture_script(&f,
	    "{\"suggestion\":\"少说多听\",\"intent\":\"comfort\","
	    "\"evolution_request\":{\"need\":\"查天气\"}}");
	five_turns(&f);
	check_suggestion(&f);
	navigator_fixture_wait_ended(&f, "trigger=\"count\",end=\"done\"");
	ck_assert_int_eq(navigator_fixture_ended(
			     &f, 0, "trigger=\"count\",end=\"abandoned\""),
	    0);
	navigator_fixture_stop(&f);
}

TEST_T(completions_are_read_as_models_write_them, 60)
{
	static const char *const completions[] = {
		"```json\n{\"suggestion\":\"少说多听\"}\n```",
		"好的，我想：{\"suggestion\":\"少说多听\"} 就这样。",
		"suggestion: 少说多听\nintent: comfort",
		"<think>嗯</think>{\"suggestion\":\"少说多听\"}",
		/* Repaired. */
		"我觉得主人很难过。|{\"suggestion\":\"少说多听\"}",
		"{\"suggestion\":7}|{\"suggestion\":\"少说多听\"}",
	};
	struct navigator_fixture f;
	json_t *j;

	navigator_fixture_start(&f, 1);
	navigator_fixture_converse(&f, "我好难过");
	for (size_t i = 0; i < sizeof(completions) / sizeof(*completions);
	     i++) {
		navigator_fixture_script(&f, completions[i]);
		navigator_fixture_turn(&f, "s1", "sadness");
		j = navigator_fixture_next(f.suggestions);
		ck_assert_str_eq(text(j, "suggestion"), "少说多听");
		ck_assert_str_eq(text(j, "trigger"), "emotion");
		json_decref(j);
	}
	ck_assert_int_eq(navigator_fixture_calls(&f), 8);
	navigator_fixture_stop(&f);
}

TEST_T(what_is_not_readable_has_no_effect, 60)
{
	struct navigator_fixture f;

	navigator_fixture_start(&f, 1);
	navigator_fixture_converse(&f, "我好难过");
	navigator_fixture_script(&f, "我觉得主人很难过。|还是说不好。");
	navigator_fixture_turn(&f, "s1", "sadness");
	navigator_fixture_wait_ended(
	    &f, "trigger=\"emotion\",end=\"unreadable\"");
	ck_assert_int_eq(
	    tk_service_metric(&f.nav[0], "soul_nav_unreadable_total"), 2);
	ck_assert_ptr_null(navigator_fixture_link(&f, "s1"));
	ck_assert_ptr_null(tk_nats_next(f.suggestions, 0, NULL));
	navigator_fixture_stop(&f);
}

TEST_T(without_a_model_nothing_is_suggested, 60)
{
	struct navigator_fixture f;
	json_t *j;

	navigator_fixture_servers(&f);
	f.env[0] = "NAV_TIMEOUT_SECONDS=1";
	navigator_fixture_spawn(&f, 0);
	navigator_fixture_turn(&f, "s1", "anger");
	navigator_fixture_wait_ended(&f, "trigger=\"emotion\",end=\"model\"");
	ck_assert_ptr_null(navigator_fixture_link(&f, "s1"));
	ck_assert_ptr_null(tk_nats_next(f.suggestions, 0, NULL));
	/* It thinks when there is one, and is tried again. */
	navigator_fixture_llm(&f);
	do {
		navigator_fixture_turn(&f, "s1", "anger");
		j = tk_nats_next(f.suggestions, 1000, NULL);
	} while (j == NULL);
	json_decref(j);
	navigator_fixture_stop(&f);
}

/* The body of a soul is present for a minute. */
static void
put_body(struct navigator_fixture *f)
{
	const struct str ids[] = { STR("u1"), STR("s1") };
	char key[STATE_KEY_MAX], value[64];
	struct str k;

	snprintf(value, sizeof(value), "%lld 1 main",
	    (long long)clock_wall().ms + 60000);
	ck_assert_int_eq(
	    state_key(key, "soul:bodies:{#}:%:%:1", ids, 2, &k), RC_OK);
	ck_assert_int_eq(
	    state_cmd(f->db.s,
		STATE_ARGS(STR("HSET"), k, STR("t1"), str_of(value)), NULL),
	    RC_OK);
}

TEST_T(an_idle_soul_follows_its_drives, 90)
{
	struct navigator_fixture f;
	json_t *j;

	navigator_fixture_servers(&f);
	navigator_fixture_llm(&f);
	put_body(&f);
	f.env[0] = "CYCLE_IDLE_SECONDS=1";
	f.laziness = .9;
	navigator_fixture_spawn(&f, 0);
	navigator_fixture_turn(&f, "s1", NULL);
	navigator_fixture_wait_ended(&f, "trigger=\"idle\",end=\"rested\"");
	ck_assert_int_le(navigator_fixture_calls(&f), 0);
	f.laziness = .1;
	f.curiosity = .8;
	navigator_fixture_turn(&f, "s1", NULL);
	j = navigator_fixture_next(f.suggestions);
	ck_assert_str_eq(text(j, "trigger"), "idle");
	json_decref(j);
	navigator_fixture_stop(&f);
}
