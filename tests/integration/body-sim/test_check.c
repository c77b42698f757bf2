/* body-sim check: good bodies pass, each flaw is found, and nothing else. */
#include "integration/body-sim/bed.h"
#include "integration/body-sim/flawed.h"

#define RETAIN   "3.2   online, skills"
#define QOS      "3.2   QoS 1"
#define SKILLS   "3.3   skills is valid"
#define ONLINE   "3.4   online is spelled"
#define WILL     "3.4   the will"
#define BEAT     "3.5   heartbeat"
#define IN_TIME  "3.6   a result"
#define CATALOG  "3.10  intent_catalog"
#define ORDER    "6.1   announces"
#define SAME_ID  "6.2   the terminal_id"
#define VERSION  "6.3   skill_version"
#define RESULT   "6.4   every invoke"
#define AGAIN    "6.7   does so"
#define OWN      "6.8   intents"
#define EMOTION  "6.11  is subscribed"
#define ACTION   "6.12  is subscribed"
#define REPORTS  "7.4   skills and"
#define MAPPING  "7.4   the skill of"
#define COMPLETE "7.4   results have"

/* ---- flawed bodies ------------------------------------------------------- */

static bool
line_fails(struct tk_proc *p, const char *line)
{
	char text[128];

	snprintf(text, sizeof(text), "\nFAIL      %s", line);
	return tk_log_has(p, text);
}

static void
judge(struct flawed *f)
{
	char *log = tk_read_file(f->check.log, NULL), sum[32];
	int i, n = 0;

	for (i = 0; i < FLAWED_FAILS_MAX && f->c->fails[i] != NULL; i++) {
		ck_assert_msg(line_fails(&f->check, f->c->fails[i]),
		    "%s: %s did not fail\n%s", f->c->id, f->c->fails[i], log);
		n++;
	}
	snprintf(sum, sizeof(sum), " pass, %d fail, ", n);
	ck_assert_msg(
	    strstr(log, sum) != NULL, "%s: not %s\n%s", f->c->id, sum, log);
	ck_assert_msg(f->code == (n > 0), "%s: %d\n%s", f->c->id, f->code, log);
	free(log);
}

static bool
all_ended(struct flawed *f, size_t n)
{
	bool all = true;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!f[i].ended) {
			f[i].code = tk_wait(&f[i].check, 0);
			f[i].ended = f[i].code != -1;
		}
		all = all && f[i].ended;
	}
	return all;
}

/* All at one time: most of a check is waiting. */
TEST_T(each_flaw_is_found_and_no_other, 120)
{
	static const struct flaw_case cases[] = {
		{ FLAW_NONE, "good", NULL, NULL, { NULL } },
		{ FLAW_CATALOG_FIRST, "catalog-first", NULL, NULL,
		    { ORDER, AGAIN } },
		{ FLAW_BEAT_FIRST, "beat-first", NULL, NULL, { ORDER, AGAIN } },
		{ FLAW_NO_CATALOG, "no-catalog", "16", NULL,
		    { ORDER, AGAIN, REPORTS } },
		{ FLAW_NOT_AGAIN, "not-again", "30", NULL,
		    { ORDER, AGAIN, REPORTS } },
		{ FLAW_NOT_RETAINED, "not-retained", "16", NULL, { RETAIN } },
		{ FLAW_BEAT_RETAINED, "beat-retained", NULL, NULL, { RETAIN } },
		{ FLAW_RESULT_RETAINED, "result-retained", NULL, NULL,
		    { RETAIN } },
		{ FLAW_QOS_0, "qos-0", NULL, NULL, { QOS } },
		{ FLAW_WRONG_ID, "wrong-id", "12", NULL, { SAME_ID, SKILLS } },
		{ FLAW_ROLL_BACK, "roll-back", NULL, NULL, { VERSION } },
		{ FLAW_NO_WILL, "no-will", NULL, NULL, { WILL } },
		{ FLAW_OLD_WILL, "old-will", "12", NULL, { WILL } },
		{ FLAW_ODD_ONLINE, "odd-online", "8", NULL, { ONLINE } },
		{ FLAW_NO_BEAT, "no-beat", "10", "2", { BEAT } },
		{ FLAW_SLOW_BEAT, "slow-beat", "20", "2", { BEAT } },
		{ FLAW_SILENT, "silent", "20", NULL, { RESULT, IN_TIME } },
		{ FLAW_LATE, "late", NULL, NULL, { IN_TIME } },
		{ FLAW_WRONG_REQUEST, "wrong-request", NULL, NULL,
		    { RESULT, COMPLETE } },
		{ FLAW_NO_ERROR, "no-error", NULL, NULL, { COMPLETE } },
		{ FLAW_NO_OK, "no-ok", NULL, NULL, { RESULT, COMPLETE } },
		{ FLAW_BAD_REGEX, "bad-regex", NULL, NULL, { CATALOG } },
		{ FLAW_ALIEN_INTENT, "alien-intent", NULL, NULL,
		    { OWN, MAPPING } },
		{ FLAW_BAD_SCHEMA, "bad-schema", NULL, NULL, { SKILLS } },
		{ FLAW_NO_EMOTION, "no-emotion", NULL, NULL, { EMOTION } },
		{ FLAW_NO_ACTION, "no-action", NULL, NULL, { ACTION } },
	};
	static struct flawed f[NELEM(cases)];
	struct mono until = mono_add_ms(clock_mono(), 100000);
	struct tk_server broker;
	size_t i;

	tk_server_start(&broker, TK_MOSQUITTO);
	for (i = 0; i < NELEM(f); i++) {
		flawed_start(&f[i], &cases[i], broker.port);
		flawed_watch(&f[i], broker.url);
	}
	while (!all_ended(f, NELEM(f))) {
		ck_assert_int_lt(mono_diff_ms(clock_mono(), until), 0);
		for (i = 0; i < NELEM(f); i++)
			flawed_live(&f[i], broker.port);
		/* The rhythm of them all. */
		peer_once(&f[0].peer, 10);
	}
	for (i = 0; i < NELEM(f); i++) {
		judge(&f[i]);
		peer_free(&f[i].peer);
	}
}

/* ---- body-sim itself ----------------------------------------------------- */

static void
watch(struct bed *b, struct tk_proc *p, const char *name,
    const char *const more[4])
{
	const char *argv[] = { tk_bin("body-sim"), "check", "--broker",
		b->broker.url, "--seconds", "60", more[0], more[1], more[2],
		more[3], NULL };

	tk_spawn(p, name, argv, NULL);
}

static const char *const quick[] = { "TERMINAL_HEARTBEAT_INTERVAL_SECONDS=0.5",
	NULL };

TEST_T(body_sim_passes, 90)
{
	const char *const invoke[4] = { "--invoke", "set_head_motion",
		"{\"action\":\"点头\"}", "--kick=no" };
	const char *argv[] = { tk_bin("body-sim"), "check", "--broker", NULL,
		"--invoke", "set_head_motion", "{\"action\":\"点头\"}",
		"--probe", "--kick", "body-sim-terminal-001", NULL };
	struct tk_proc p;
	struct bed b;

	bed_start(&b, quick);
	argv[3] = b.broker.url;
	tk_spawn(&p, "check", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 60000), 0);
	ck_assert(tk_log_has(&p, "\n19 pass, 0 fail, 1 not seen\n"));
	ck_assert(!tk_log_has(&p, "advice"));
	/* The probe has done nothing to it. */
	bed_expect(&b, "color", "\"off\"");
	bed_expect(&b, "expression", "微笑");
	bed_expect(&b, "head_motion", "点头");
	bed_expect(&b, "conversation_turns", "0");

	watch(&b, &p, "refused", invoke);
	ck_assert_int_eq(tk_wait(&p, PEER_MS), 64);
	ck_assert(tk_log_has(&p, "unknown argument --kick=no"));
	bed_stop(&b);
}

struct watched {
	struct tk_proc *p;
	const char *text;
};

static bool
says(void *arg)
{
	struct watched *w = arg;

	return tk_log_has(w->p, w->text);
}

/* As a user does it: start the check, pull the plug, plug it in again. */
TEST_T(a_restart_is_detected, 90)
{
	const char *const nothing[4] = { NULL };
	struct tk_proc p;
	struct watched w = { &p, "heartbeat" };
	struct bed b;

	bed_start(&b, quick);
	watch(&b, &p, "check", nothing);
	ck_assert(tk_until(says, &w, PEER_MS));
	tk_service_kill(&b.sim);
	bed_sim(&b, quick);
	ck_assert_int_eq(tk_wait(&p, 60000), 0);
	ck_assert(tk_log_has(&p, "\n14 pass, 0 fail, 6 not seen\n"));
	ck_assert(tk_log_has(&p, "pass      6.7 "));
	ck_assert(tk_log_has(&p, "pass      3.4   the will"));
	bed_stop(&b);
}

TEST_T(nobody_there_is_a_failure, 90)
{
	const char *const nobody[4] = { "--terminal", "x", "--seconds", "2" };
	const char *const lost[4] = { "--seconds", "60" };
	struct tk_proc p;
	struct watched w = { &p, "watching" };
	struct bed b;

	bed_start(&b, NULL);
	watch(&b, &p, "nobody", nobody);
	ck_assert_int_eq(tk_wait(&p, PEER_MS), 1);
	ck_assert(tk_log_has(&p, "nothing came from x"));
	/* An interrupt ends the watch with what is known. */
	watch(&b, &p, "interrupted", lost);
	ck_assert(tk_until(says, &w, PEER_MS));
	w.text = "intent_catalog (kept)";
	ck_assert(tk_until(says, &w, PEER_MS));
	tk_signal(&p, SIGINT);
	ck_assert_int_eq(tk_wait(&p, PEER_MS), 0);
	ck_assert(tk_log_has(&p, "pass      3.3 "));
	/* Without the broker nothing can be said. */
	watch(&b, &p, "lost", lost);
	w.text = "watching";
	ck_assert(tk_until(says, &w, PEER_MS));
	tk_server_stop(&b.broker, SIGKILL);
	ck_assert_int_eq(tk_wait(&p, PEER_MS), 69);
	ck_assert(tk_log_has(&p, "the broker went away"));
	watch(&b, &p, "unreached", lost);
	ck_assert_int_eq(tk_wait(&p, PEER_MS), 69);
	ck_assert(tk_log_has(&p, "the broker is not there"));
	bed_stop(&b);
}

static int
exit_of(const char *a, const char *b, const char *c)
{
	const char *const argv[] = { tk_bin("body-sim"), "check", a, b, c,
		NULL };
	struct tk_proc p;

	tk_spawn(&p, "refused", argv, NULL);
	return tk_wait(&p, PEER_MS);
}

TEST(wrong_arguments_are_refused)
{
	ck_assert_int_eq(exit_of("--help", NULL, NULL), 0);
	ck_assert_int_eq(exit_of("--fast", NULL, NULL), 64);
	ck_assert_int_eq(exit_of("--terminal", NULL, NULL), 64);
	ck_assert_int_eq(exit_of("--invoke", "beep", NULL), 64);
	ck_assert_int_eq(exit_of("--invoke", "beep", "[]"), 78);
	ck_assert_int_eq(exit_of("--invoke", "beep", "{"), 78);
	ck_assert_int_eq(exit_of("--terminal", "a/b", NULL), 78);
	ck_assert_int_eq(exit_of("--seconds", "0", NULL), 78);
	ck_assert_int_eq(exit_of("--broker", "http://x", NULL), 78);
	ck_assert_int_eq(exit_of("--prefix", "a/#", NULL), 78);
}
