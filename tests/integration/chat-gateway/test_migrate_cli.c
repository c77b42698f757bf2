/*
 * "chat-gateway migrate", and services on keys of another format.
 */
#include <signal.h>

#include "migrate/migration.h"
#include "testkit/migration_fixture.h"
#include "testkit/nats.h"
#include "testkit/rights.h"

#define MS 20000

static struct state_fixture f;
static char url[160];
static struct tk_proc proc;

static int
cli_run(const char *arg, const char *value)
{
	const char *const argv[] = { tk_bin("chat-gateway"), "migrate", arg,
		value, NULL };
	const char *const env[] = { url, NULL };

	tk_spawn(&proc, "migrate", argv, env);
	return tk_wait(&proc, MS);
}

static void
cli_begin(void)
{
	state_fixture_start(&f);
	(void)snprintf(url, sizeof(url), "REDIS_URL=%s", f.redis.url);
	migration_fixture_load(&f, migration_format_1, migration_format_1_n);
}

static void
cli_format(const char *want)
{
	state_fixture_expect(
	    &f, want, STATE_ARGS(STR("GET"), STR("soul:format")));
}

TEST(a_check_changes_nothing)
{
	char *before, *after;

	cli_begin();
	before = migration_fixture_text(&f);
	ck_assert_int_eq(cli_run("--check", NULL), 0);
	ck_assert(tk_log_has(&proc, "format 1; --to 2 would move"));
	after = migration_fixture_text(&f);
	ck_assert_str_eq(before, after);
	free(before);
	free(after);
	state_fixture_stop(&f);
}

TEST(a_migration_prints_counts_before_and_after)
{
	cli_begin();
	ck_assert_int_eq(cli_run("--to", "2"), 0);
	ck_assert(tk_log_has(&proc,
	    "sessions                              2          0  |        "
	    "         0          2\n"));
	ck_assert(tk_log_has(&proc, "s: format 2\n"));
	cli_format("2");
	ck_assert_int_eq(cli_run("--to", "2"), 0);
	ck_assert(tk_log_has(&proc, "nothing to do\n"));
	ck_assert_int_eq(cli_run("--back", NULL), 0);
	cli_format(NULL);
	ck_assert_int_eq(cli_run("--back", NULL), 0);
	ck_assert(tk_log_has(&proc, "nothing to do\n"));
	state_fixture_stop(&f);
}

TEST(wrong_arguments_and_formats_are_rejected)
{
	cli_begin();
	ck_assert_int_eq(cli_run("--to", "3"), 64);
	ck_assert_int_eq(cli_run("--to", NULL), 64);
	ck_assert_int_eq(cli_run("--forth", NULL), 64);
	DO(&f, STR("SET"), STR("soul:format"), STR("3"));
	ck_assert_int_eq(cli_run("--to", "2"), 78);
	ck_assert_int_eq(cli_run("--back", NULL), 78);
	ck_assert(tk_log_has(&proc, "format 3"));
	(void)snprintf(url, sizeof(url),
	    "REDIS_URL=redis+cluster://127.0.0.1:%d", f.redis.port);
	ck_assert_int_eq(cli_run("--to", "2"), 78);
	(void)snprintf(
	    url, sizeof(url), "REDIS_URL=redis://127.0.0.1:%d", tk_port());
	ck_assert_int_eq(cli_run("--to", "2"), 69);
	state_fixture_stop(&f);
}

TEST(a_migration_does_not_begin_while_services_run)
{
	cli_begin();
	DO(&f, STR("CLIENT"), STR("SETNAME"), STR("memory-worker"));
	ck_assert_int_eq(cli_run("--to", "2"), 75);
	ck_assert(tk_log_has(&proc, "connected to Redis: memory-worker\n"));
	DO(&f, STR("CLIENT"), STR("SETNAME"), STR("me"));
	DO(&f, STR("SET"), STR("soul:instance:{i1}:1"), STR("1"));
	ck_assert_int_eq(cli_run("--to", "2"), 75);
	DO(&f, STR("DEL"), STR("soul:instance:{i1}:1"));
	DO(&f, STR("SET"), STR("soul:lease:{reports_main}:1"), STR("me"));
	ck_assert_int_eq(cli_run("--to", "2"), 75);
	cli_format(NULL);
	DO(&f, STR("DEL"), STR("soul:lease:{reports_main}:1"));
	ck_assert_int_eq(cli_run("--to", "2"), 0);
	state_fixture_stop(&f);
}

/* ---- services ---- */

static const char *const services[] = { "chat-gateway", "emotion-engine",
	"intent-filter", "llm-orchestrator", "memory-worker", "mqtt-bridge" };

/* Its exit code; on -1 it still runs. */
static int
service_run(const char *name, const char *redis, int ms)
{
	const char *const argv[] = { tk_bin(name), NULL };
	char nats[64], mqtt[64];
	const char *const env[] = { redis, nats, mqtt, "HTTP_ADDR=127.0.0.1:0",
		"ADMIN_ADDR=127.0.0.1:0", "INTENT_CATALOG_SOURCE=redis", NULL };

	(void)snprintf(
	    nats, sizeof(nats), "NATS_URL=nats://127.0.0.1:%d", tk_port());
	(void)snprintf(mqtt, sizeof(mqtt),
	    "MQTT_BROKER_URL=mqtt://127.0.0.1:%d", tk_port());
	tk_spawn(&proc, name, argv, env);
	return tk_wait(&proc, ms);
}

static void
services_check_rejected(const char *found, const char *remedy)
{
	char text[64];
	size_t i;

	for (i = 0; i < NELEM(services); i++) {
		ck_assert_int_eq(service_run(services[i], url, MS), 78);
		(void)snprintf(text, sizeof(text), "found=%s wanted=2", found);
		ck_assert_msg(
		    tk_log_has(&proc, text) && tk_log_has(&proc, remedy), "%s",
		    services[i]);
	}
}

TEST_T(services_do_not_start_on_another_format, 120)
{
	cli_begin();
	services_check_rejected("1", "chat-gateway migrate --to 2");
	DO(&f, STR("SET"), STR("soul:format"), STR("1>2"));
	services_check_rejected("1>2", "chat-gateway migrate --to 2");
	DO(&f, STR("SET"), STR("soul:format"), STR("2>1"));
	services_check_rejected("2>1", "chat-gateway migrate --back");
	DO(&f, STR("SET"), STR("soul:format"), STR("3"));
	services_check_rejected("3", "use the release");
	state_fixture_stop(&f);
}

static bool
format_is_set(void *arg)
{
	struct state_reply *r;
	bool set;

	(void)arg;
	OK(state_cmd(f.s, STATE_ARGS(STR("GET"), STR("soul:format")), &r));
	set = str_eq(state_reply_str(r), STR("2"));
	state_reply_free(r);
	return set;
}

TEST_T(an_empty_server_gets_the_format, 60)
{
	const char *const argv[] = { tk_bin("memory-worker"), NULL };
	const char *const env[] = { url, "ADMIN_ADDR=127.0.0.1:0", NULL };

	cli_begin();
	DO(&f, STR("FLUSHALL"));
	/* Keys of others do not matter. */
	DO(&f, STR("SET"), STR("other:key"), STR("1"));
	tk_spawn(&proc, "memory-worker", argv, env);
	ck_assert(tk_until(format_is_set, NULL, MS));
	/* It ends when the keys are migrated below it. */
	DO(&f, STR("SET"), STR("soul:format"), STR("1>2"));
	DO(&f, STR("CLIENT"), STR("KILL"), STR("TYPE"), STR("normal"),
	    STR("SKIPME"), STR("yes"));
	ck_assert_int_eq(tk_wait(&proc, MS), 78);
	state_fixture_stop(&f);
}

/* ---- permissions ---- */

static struct tk_server server;

static void
rights_begin(void)
{
	tk_rights_redis(&server);
	state_fixture_join(&f, &server);
}

static void
rights_url(const char *user)
{
	(void)snprintf(url, sizeof(url),
	    "REDIS_URL=redis://%s:" TK_PASSWORD "%s@127.0.0.1:%d", user, user,
	    server.port);
}

TEST_T(the_user_migrate_may_do_all_of_it, 60)
{
	struct tk_server nats;

	tk_rights_nats(&nats);
	rights_begin();
	migration_fixture_load(&f, migration_format_1, migration_format_1_n);
	rights_url("migrate");
	ck_assert_int_eq(cli_run("--check", NULL), 0);
	ck_assert_int_eq(cli_run("--to", "2"), 0);
	ck_assert_int_eq(cli_run("--back", NULL), 0);
	ck_assert_str_eq(tk_rights_denied(&nats, &server), "");
	rights_url("chat-gateway");
	ck_assert_int_eq(cli_run("--to", "2"), 69);
	state_fixture_stop(&f);
}

TEST_T(services_with_their_permissions_check_the_format, 120)
{
	size_t i;

	rights_begin();
	migration_fixture_load(&f, migration_format_1, migration_format_1_n);
	for (i = 0; i < NELEM(services); i++) {
		rights_url(services[i]);
		ck_assert_int_eq(service_run(services[i], url, MS), 78);
		ck_assert(tk_log_has(&proc, "found=1 wanted=2"));
	}
	state_fixture_stop(&f);
}

/* ---- SIGKILL ---- */

#define SESSIONS 3000

/* Killed ever later, it ends as one that was not killed. */
static void
kill_until_done(const char *arg, const char *value)
{
	const char *const argv[] = { tk_bin("chat-gateway"), "migrate", arg,
		value, NULL };
	const char *const env[] = { url, NULL };
	int ms, code = -1, kills = 0;

	for (ms = 20; code == -1; ms += 20) {
		tk_spawn(&proc, "migrate", argv, env);
		code = tk_wait(&proc, ms);
		if (code != -1)
			break;
		tk_signal(&proc, SIGKILL);
		/* It may have ended before the signal. */
		code = tk_wait(&proc, MS);
		if (code == 128 + SIGKILL) {
			code = -1;
			kills++;
		}
	}
	ck_assert_int_eq(code, 0);
	ck_assert_int_gt(kills, 1);
}

TEST_T(a_killed_migration_is_continued, 240)
{
	char *one, *two, *repeated;

	cli_begin();
	migration_fixture_sessions(&f, SESSIONS);
	one = migration_fixture_text(&f);
	ck_assert_int_eq(cli_run("--to", "2"), 0);
	two = migration_fixture_text(&f);
	kill_until_done("--back", NULL);
	repeated = migration_fixture_text(&f);
	ck_assert_msg(strcmp(one, repeated) == 0, "--back differs");
	free(repeated);
	kill_until_done("--to", "2");
	repeated = migration_fixture_text(&f);
	ck_assert_msg(strcmp(two, repeated) == 0, "--to 2 differs");
	free(repeated);
	free(one);
	free(two);
	state_fixture_stop(&f);
}
