/*
 * A soul thinks that it misses a capability; a human decides; and a chat uses
 * the tool, or there is none.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "testkit/service.h"
#include "testkit/stack/client.h"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=2" } } })

#define READ    "把 a.txt 里的内容读给我听"
#define CONTENT "The sea is calm."
#define CYCLES  8
#define NEED                                       \
	"{\"evolution_request\":{\"need\":\"%s\"," \
	"\"why\":\"主人要我读文件\",\"example\":\"读 a.txt\"}}"

static struct stack_proc host, llm, nav;
static struct client me;

static void
begin(const char *user, const char *terminal)
{
	char entries[2048];

	(void)mkdir(tk_path("files"), 0700);
	tk_write_file(tk_path("files/a.txt"), CONTENT "\n");
	snprintf(entries, sizeof(entries),
	    "\"files\":{\"command\":\"%s\",\"args\":[\"files=%s\"],"
	    "\"title\":\"文件\",\"description\":\"读写文件夹里的文件\"}",
	    tk_bin("mcp-sim"), tk_path("files"));
	stack_spawn_catalogue(&stack, entries, &host);
	stack_spawn_navigator(&stack, &llm, &nav);
	stack_wait_ready(&host);
	stack_wait_ready(&llm);
	stack_wait_ready(&nav);
	me = client_bound(&stack, user, terminal);
}

static void
finish(void)
{
	struct stack_proc *const all[] = { &host, &nav, &llm };

	for (size_t i = 0; i < NELEM(all); i++) {
		tk_signal(&all[i]->proc, SIGTERM);
		ck_assert_int_eq(tk_wait(&all[i]->proc, STACK_MS), 0);
	}
}

/*
 * What souls think after their next turns: also the one of the test before,
 * whose last turn may have a cycle left.
 */
static void
thinks(const char *need)
{
	json_t *list = json_array(), *rep;
	char text[512];
	int status;

	snprintf(text, sizeof(text), NEED, need);
	for (int i = 0; i < CYCLES; i++)
		json_array_append_new(list,
		    json_pack("{s:s,s:s}", "kind", "answer", "text", text));
	rep = client_call(llm.http, "POST", "/sim/script",
	    json_pack("{s:o}", "faults", list), &status);
	ck_assert_int_eq(status, 200);
	json_decref(rep);
}

static json_t *
evolutions(const char *state)
{
	char path[256];

	snprintf(path, sizeof(path), "/v1/evolutions?user_id=%s&state=%s",
	    me.user, state);
	return client_ok(&stack, "GET", path, NULL);
}

static char evolution[80];

/* Whether there is one in that state; its id is stored. */
static bool
is_in_state(void *state)
{
	json_t *j = evolutions(state);
	bool is = json_array_size(tk_at(j, "evolutions")) == 1;

	if (is)
		snprintf(evolution, sizeof(evolution), "%s",
		    tk_text(j, "evolutions.0.evolution_id"));
	json_decref(j);
	return is;
}

static void
await_state(const char *state)
{
	char text[32];

	snprintf(text, sizeof(text), "%s", state);
	ck_assert_msg(tk_until(is_in_state, text, STACK_MS), "not %s", state);
}

static void
decide(const char *action)
{
	char path[256];

	snprintf(path, sizeof(path), "/v1/evolutions/%s/%s?user_id=%s",
	    evolution, action, me.user);
	json_decref(client_ok(&stack, "POST", path, NULL));
}

static size_t
events(const char *code)
{
	char path[256];
	json_t *j, *e;
	size_t i, n = 0;

	snprintf(path, sizeof(path),
	    "/v1/events?types=system_notification&limit=500");
	j = client_ok(&stack, "GET", path, NULL);
	json_array_foreach (tk_at(j, "items"), i, e)
		n += strcmp(tk_find_text(e, "event.payload.code"), code) == 0 &&
		    strcmp(tk_find_text(e, "event.payload.user_id"), me.user) ==
			0;
	json_decref(j);
	return n;
}

static bool
has_tool(void *arg)
{
	char path[128], *text;
	json_t *j;
	bool has;

	(void)arg;
	snprintf(
	    path, sizeof(path), "/v1/mcp/tools?q=read&user_id=%s", me.user);
	j = client_ok(&stack, "GET", path, NULL);
	text = json_dumps(j, JSON_COMPACT);
	has = strstr(text, "files__read_text_file") != NULL;
	free(text);
	json_decref(j);
	return has;
}

TEST_T(what_is_approved_is_a_tool_that_a_chat_uses, 120)
{
	json_t *r;

	begin("u-evolves", "terminal-001");
	thinks("读文件");
	/* Nothing is there yet. */
	r = client_chat(&me, READ);
	ck_assert_ptr_null(strstr(tk_text(r, "reply"), CONTENT));
	json_decref(r);
	await_state("proposed");
	ck_assert(!has_tool(NULL));
	decide("approve");
	await_state("enabled");
	ck_assert(tk_until(has_tool, NULL, STACK_MS));
	/* It is asked for, then used. */
	client_await_reply(&me, READ, "要用 files 的工具「read_text_file」");
	client_ck_reply(&me, "这次可以", CONTENT);
	ck_assert_uint_eq(events("EVOLUTION_REQUESTED"), 1);
	ck_assert_uint_eq(events("EVOLUTION_PROPOSED"), 1);
	ck_assert_uint_eq(events("EVOLUTION_APPROVED"), 1);
	ck_assert_uint_eq(events("EVOLUTION_ENABLED"), 1);
	finish();
}

/* Cycles of the navigator that have come to their end. */
static long long
cycles(void)
{
	const struct tk_service s = { .admin = nav.admin };

	return tk_service_metric(
	    &s, "soul_nav_cycles_total{trigger=\"count\",end=\"done\"}");
}

static bool
has_ended(void *before)
{
	return cycles() > *(long long *)before;
}

TEST_T(what_is_rejected_is_no_tool_and_not_requested_anew, 120)
{
	long long before;
	json_t *r;

	begin("u-refuses", "terminal-002");
	thinks("读文件");
	json_decref(client_chat(&me, READ));
	await_state("proposed");
	decide("refuse");
	await_state("refused");
	before = cycles();
	thinks("帮主人打开文件夹里的文件");
	for (int i = 0; i < 3; i++) {
		json_decref(client_chat(&me, READ));
		ck_assert(tk_until(has_ended, &before, STACK_MS));
		before = cycles();
	}
	await_state("refused");
	ck_assert_uint_eq(events("EVOLUTION_REQUESTED"), 1);
	ck_assert_uint_eq(events("EVOLUTION_PROPOSED"), 1);
	ck_assert_uint_eq(events("EVOLUTION_ENABLED"), 0);
	ck_assert(!has_tool(NULL));
	r = client_chat(&me, READ);
	ck_assert_ptr_null(strstr(tk_text(r, "reply"), CONTENT));
	json_decref(r);
	finish();
}
