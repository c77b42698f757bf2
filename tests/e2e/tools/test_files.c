/*
 * The tools of a user's server for files, from a chat to the file: reading,
 * writing once it is approved, and what is reported if neither is known.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "testkit/stack/client.h"

STACK_SHARED({ .env = { [STACK_BODY_SIM] = { "BODY_COUNT=2" } } })

#define READ   "把 a.txt 里的内容读给我听"
#define WRITE  "把「moon」写到 a.txt"
#define PROMPT "要用 files 的工具「write_file」"
#define MEMBER "files__write_file"

static struct stack_proc host;
static struct client me;

/* What the server has executed. */
static size_t
executed(const char *part)
{
	char *text = tk_read_file(tk_path("calls.log"), NULL), *at = text;
	size_t n = 0;

	for (; (at = strstr(at, part)) != NULL; at++)
		n++;
	free(text);
	return n;
}

static void
ck_file(const char *want)
{
	char *text = tk_read_file(tk_path("files/a.txt"), NULL);

	ck_assert_str_eq(text, want);
	free(text);
}

/* The text of the reply, and what failed; NULL: nothing. */
static void
ck_chat(const char *text, const char *part, const char *error)
{
	json_t *r = client_chat(&me, text);

	ck_assert_msg(strstr(tk_text(r, "reply"), part) != NULL,
	    "%s: %s, not %s", text, tk_text(r, "reply"), part);
	if (error == NULL)
		ck_assert_ptr_null(json_object_get(r, "failed_skills"));
	else
		ck_assert_str_eq(tk_text(r, "failed_skills.0.error"), error);
	json_decref(r);
}

/* Whether the tool is listed, described so. */
static bool
is_described(void *arg)
{
	char path[128], *text;
	const char *want = arg;

	snprintf(
	    path, sizeof(path), "/v1/mcp/tools?q=write&user_id=%s", me.user);
	json_t *j = client_ok(&stack, "GET", path, NULL);
	text = json_dumps(j, JSON_COMPACT);
	bool is = strstr(text, MEMBER) != NULL && strstr(text, want) != NULL;
	free(text);
	json_decref(j);
	return is;
}

static void
await_description(const char *text)
{
	char want[128];

	snprintf(want, sizeof(want), "%s", text);
	ck_assert_msg(tk_until(is_described, want, STACK_MS), "not %s", text);
}

static void
begin(const char *user, const char *terminal, const char *switches)
{
	char servers[2048];

	(void)mkdir(tk_path("files"), 0700);
	tk_write_file(tk_path("files/a.txt"), "The sea is calm.\n");
	tk_write_file(tk_path("calls.log"), "");
	tk_write_file(tk_path("about"), "Writes a file.");
	snprintf(servers, sizeof(servers),
	    "\"files\":{\"command\":\"%s\",\"args\":[\"files=%s\",\"log=%s\","
	    "\"describe=%s\"%s],\"trust_hints\":true}",
	    tk_bin("mcp-sim"), tk_path("files"), tk_path("calls.log"),
	    tk_path("about"), switches);
	stack_spawn_mcp_host(&stack, servers, &host);
	stack_wait_ready(&host);
	me = client_bound(&stack, user, terminal);
	await_description("Writes a file.\"");
}

static void
finish(void)
{
	tk_signal(&host.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&host.proc, STACK_MS), 0);
}

TEST_T(a_file_is_read_and_written_if_approved, 90)
{
	begin("u-approves", "terminal-001", "");
	ck_chat(READ, "The sea is calm.", NULL);
	/* Asked, and not approved. */
	ck_chat(WRITE, PROMPT, "approval required");
	ck_chat("不要", "write_file没有做", "not approved");
	ck_file("The sea is calm.\n");
	ck_assert_uint_eq(executed("write_file"), 0);
	ck_chat(WRITE, PROMPT, "approval required");
	ck_chat("这次可以", "wrote a.txt", NULL);
	ck_file("moon");
	/* Once is not always. */
	ck_chat(WRITE, PROMPT, "approval required");
	ck_chat("一直可以", "wrote a.txt", NULL);
	ck_chat(WRITE, "wrote a.txt", NULL);
	ck_assert_uint_eq(executed("write_file"), 3);
	finish();
}

/* The third call of a process is its last. */
TEST_T(a_killed_server_has_no_second_write_and_a_changed_tool_no_grant, 90)
{
	begin("u-grants", "terminal-002", ",\"die-at=3\"");
	ck_chat(READ, "The sea is calm.", NULL);
	ck_chat(WRITE, PROMPT, "approval required");
	ck_chat("一直可以", "wrote a.txt", NULL);
	tk_write_file(tk_path("about"), "Writes a file, and sends it.");
	ck_chat(WRITE, "没有得到确认", "not confirmed");
	ck_assert_uint_eq(executed("write_file"), 2);
	/* The next process has another tool of that name. */
	await_description("Writes a file, and sends it.");
	client_await_reply(&me, WRITE, PROMPT);
	ck_assert_uint_eq(executed("write_file"), 2);
	finish();
}
