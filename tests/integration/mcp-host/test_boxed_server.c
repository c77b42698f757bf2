/*
 * Servers in a sandbox: what it forbids is denied, or the report has that this
 * kernel does not enforce it.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "procsup/sandbox.h"
#include "testkit/json.h"
#include "testkit/mcp_fixture.h"

#define BOX_TOOLS 7

static struct mcp_fixture f;
static struct sandbox_report report;

/* False, and said so: this machine has no sandbox. */
static bool
box_is_here(void)
{
	const char *why = "";

	if (sandbox_probe(SANDBOX_AUTO, &report, &why) == RC_OK)
		return true;
	printf("# skipped: %s\n", why);
	return false;
}

/* The folder of a user, which the box lets be written. */
static const char *
box_folder(const char *user)
{
	char name[64];

	snprintf(name, sizeof(name), "files/%s", user);
	return tk_path(name);
}

static void
box_start(const char *net)
{
	static const char *const more[] = {
		"SECRETS_KEY="
		"k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		NULL
	};
	char bin[300];

	snprintf(bin, sizeof(bin), "%s", tk_bin("mcp-sim"));
	*strrchr(bin, '/') = '\0';
	ck_assert_int_eq(mkdir(tk_path("files"), 0755), 0);
	ck_assert_int_eq(mkdir(box_folder("ann"), 0755), 0);
	ck_assert_int_eq(mkdir(box_folder("bob"), 0755), 0);
	tk_write_file(tk_path("files/bob/secret"), "of bob");
	mh_config("\"box\":{\"command\":\"%s\",\"args\":[\"attempts\"],"
		  "\"policy\":\"auto\",\"sandbox\":{\"read\":[\"%s\"],"
		  "\"write\":[\"%s/${SOUL_USER}\"],\"net\":%s}}",
	    tk_bin("mcp-sim"), bin, tk_path("files"), net);
	mh_start_with(&f, more);
	mh_await_tools(&f, BOX_TOOLS);
}

/* Whether the server could do it. */
static bool
box_can(const char *what, const char *arg)
{
	char arguments[600];
	json_t *j;
	bool can;

	snprintf(
	    arguments, sizeof(arguments), "{\"text\":\"%s%s\"}", what, arg);
	j = mh_call(&f, "box__attempt", arguments);
	ck_assert_msg(json_is_true(tk_at(j, "ok")), "%s%s: %s", what, arg,
	    tk_find_text(j, "error.message"));
	can = strcmp(tk_text(j, "text"), "done") == 0;
	json_decref(j);
	return can;
}

static void
box_denies(enum sandbox_rule rule, const char *what, const char *arg)
{
	if (!box_can(what, arg))
		return;
	ck_assert_msg(
	    !sandbox_enforces(&report, rule), "%s%s is done", what, arg);
	printf("# not enforced here: %s%s\n", what, arg);
}

TEST(a_server_in_a_box_has_its_users_folder_and_no_other)
{
	if (!box_is_here())
		return;
	box_start("false");
	ck_assert(box_can("write=", tk_path("files/ann/mine")));
	ck_assert(box_can("read=", tk_path("files/ann/mine")));
	ck_assert(box_can("read=", tk_bin("mcp-sim")));
	box_denies(SANDBOX_FILES, "write=", tk_path("files/bob/not-mine"));
	box_denies(SANDBOX_FILES, "read=", tk_path("files/bob/secret"));
	box_denies(SANDBOX_FILES, "read=", tk_path("mcp.json"));
	box_denies(SANDBOX_FILES, "write=", tk_path("files/not-mine"));
	box_denies(SANDBOX_FILES, "write=", tk_bin("mcp-sim"));
	box_denies(SANDBOX_FILES, "read=", "/etc/shadow");
	if (sandbox_enforces(&report, SANDBOX_FILES))
		ck_assert_int_ne(access(tk_path("files/not-mine"), F_OK), 0);
	f.user = "bob";
	ck_assert(box_can("read=", tk_path("files/bob/secret")));
	box_denies(SANDBOX_FILES, "read=", tk_path("files/ann/mine"));
	mh_stop(&f);
}

TEST(a_server_in_a_box_has_neither_the_host_nor_the_network)
{
	char host[32], redis[32];
	int64_t limit;
	json_t *j;

	if (!box_is_here())
		return;
	box_start("false");
	snprintf(host, sizeof(host), "%d", (int)f.host[0].proc.pid);
	snprintf(redis, sizeof(redis), "%d", f.redis.port);
	/* With the key of users' secrets, and the password of Redis. */
	box_denies(SANDBOX_MEMORY, "environment=", host);
	mh_ok(&f, "box__variable", "{\"name\":\"SECRETS_KEY\"}", "(unset)");
	box_denies(SANDBOX_SIGNALS, "signal=", host);
	box_denies(SANDBOX_TCP, "connect=", redis);
	j = mh_call(&f, "box__attempt", "{\"text\":\"descriptors\"}");
	ck_assert_int_eq(
	    str_to_i64(str_of(tk_text(j, "text")), 1, 4096, &limit), RC_OK);
	json_decref(j);
	mh_stop(&f);
}

TEST(a_box_may_have_the_network)
{
	char redis[32];

	if (!box_is_here())
		return;
	box_start("true");
	snprintf(redis, sizeof(redis), "%d", f.redis.port);
	ck_assert(box_can("connect=", redis));
	mh_stop(&f);
}
