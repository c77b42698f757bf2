/* A body's life as its broker sees it. */
#include "core/mem.h"
#include "unit/body-sim/judge_case.h"

/* ---- good ---------------------------------------------------------------- */

TEST(a_good_body_passes)
{
	struct buf out = BUF_INIT(64 * 1024);
	struct jcase c;
	int i;

	case_start(&c, false);
	case_announce(&c);
	PASSES(&c, LINE_ORDER);
	UNSEEN(&c, LINE_RECONNECT);
	case_wait(&c, JUDGE_KEPT_MS + 200);
	PASSES(&c, LINE_RETAIN);
	for (i = 0; i < 3; i++) {
		case_wait(&c, 10000);
		case_say(&c, "heartbeat", "1");
	}
	PASSES(&c, LINE_HEARTBEAT);
	UNSEEN(&c, LINE_WILL);
	ck_assert(!judge_done(c.j));

	case_wait(&c, 2000);
	case_say(&c, "online", "offline");
	PASSES(&c, LINE_WILL);
	case_wait(&c, 300000);
	case_announce(&c);
	PASSES(&c, LINE_RECONNECT);
	PASSES(&c, LINE_REPORTS_AGAIN);
	ck_assert(!judge_done(c.j));
	case_wait(&c, JUDGE_KEPT_MS + 200);
	ck_assert(judge_done(c.j));
	judge_end(c.j, c.t);
	ck_assert_uint_eq(verdict_count(judge_verdicts(c.j), VERDICT_FAIL), 0);
	ck_assert_uint_eq(verdict_count(judge_verdicts(c.j), VERDICT_PASS), 14);
	ck_assert_uint_eq(judge_verdicts(c.j)->n_notes, 0);
	verdicts_write(judge_verdicts(c.j), &out);
	ck_assert_ptr_nonnull(strstr(out.p, "14 pass, 0 fail, 6 not seen\n"));
	ck_assert_ptr_nonnull(strstr(out.p, "pass      6.1 "));
	buf_free(&out);
	case_end(&c);
}

/* What is kept says what a body is, not how it came. */
TEST(what_is_kept_counts_for_what_it_can)
{
	struct jcase c;

	case_start(&c, false);
	case_kept(&c, "online");
	PASSES(&c, LINE_SKILLS);
	PASSES(&c, LINE_CATALOG);
	PASSES(&c, LINE_ONLINE);
	PASSES(&c, LINE_TERMINAL_ID);
	PASSES(&c, LINE_OWN_INTENTS);
	PASSES(&c, LINE_MAPPING);
	UNSEEN(&c, LINE_ORDER);
	UNSEEN(&c, LINE_VERSION);
	ck_assert(!judge_calm(c.j, c.t));
	case_wait(&c, JUDGE_KEPT_MS + 200);
	ck_assert(judge_calm(c.j, c.t));
	PASSES(&c, LINE_RETAIN);
	PASSES(&c, LINE_QOS);
	/* The first announcement that is seen is then a reconnect. */
	case_announce(&c);
	PASSES(&c, LINE_ORDER);
	PASSES(&c, LINE_RECONNECT);
	PASSES(&c, LINE_VERSION);
	UNSEEN(&c, LINE_WILL);
	ck_assert(case_advises(&c, "without an offline in between"));
	case_end(&c);
}

TEST(nothing_at_all_is_a_failure)
{
	struct jcase c;

	case_start(&c, false);
	case_wait(&c, 5000);
	UNSEEN(&c, LINE_ONLINE);
	judge_end(c.j, c.t);
	FAILS(&c, LINE_ONLINE, "nothing came from t1");
	case_end(&c);
}

/* ---- order --------------------------------------------------------------- */

static void
announce(struct jcase *c, const char *const *leaves)
{
	for (; *leaves != NULL; leaves++) {
		c->t += 10;
		if (strcmp(*leaves, "online") == 0)
			case_say(c, "online", "1");
		else if (strcmp(*leaves, "heartbeat") == 0)
			case_say(c, "heartbeat", "1");
		else
			case_report(c, *leaves, false);
	}
}

TEST(orders)
{
	static const struct {
		const char *leaves[6];
		int64_t wait_ms;
		const char *why; /* NULL: right */
	} cases[] = {
		{ { "online", "skills", "intent_catalog", "heartbeat" }, 0,
		    NULL },
		{ { "online", "skills", "skills", "intent_catalog",
		      "heartbeat" },
		    0, NULL },
		{ { "online", "intent_catalog", "skills", "heartbeat" }, 0,
		    "it was online -> intent_catalog -> skills -> heartbeat" },
		{ { "online", "heartbeat", "skills", "intent_catalog" }, 0,
		    "it was online -> heartbeat -> skills" },
		{ { "skills", "online", "intent_catalog", "heartbeat" }, 0,
		    "it was skills -> online" },
		{ { "skills", "intent_catalog", "online", "heartbeat" }, 0,
		    "it was skills -> intent_catalog -> online" },
		{ { "online", "skills", "heartbeat" }, 6000,
		    "it was online -> skills -> heartbeat" },
		{ { "online", "skills" }, 6000,
		    "no intent_catalog within 5 s" },
		{ { "online" }, 6000, "no skills within 5 s" },
		{ { "online", "skills", "intent_catalog" }, 16000,
		    "no heartbeat within 15 s" },
	};
	struct jcase c;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		case_start(&c, false);
		case_wait(&c, 3000);
		announce(&c, cases[i].leaves);
		case_wait(&c, cases[i].wait_ms);
		if (cases[i].why == NULL)
			PASSES(&c, LINE_ORDER);
		else
			FAILS(&c, LINE_ORDER, cases[i].why);
		UNSEEN(&c, LINE_RECONNECT);
		case_end(&c);
	}
}

TEST(a_heartbeat_may_take_its_time)
{
	static const char *const leaves[] = { "online", "skills",
		"intent_catalog", NULL };
	struct jcase c;

	case_start(&c, false);
	announce(&c, leaves);
	case_wait(&c, 10000);
	UNSEEN(&c, LINE_ORDER);
	case_say(&c, "heartbeat", "1");
	PASSES(&c, LINE_ORDER);
	case_end(&c);
}

TEST(a_reconnect_has_to_announce_too)
{
	static const char *const leaves[] = { "online", "heartbeat", NULL };
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	case_say(&c, "online", "offline");
	case_wait(&c, 3000);
	announce(&c, leaves);
	UNSEEN(&c, LINE_RECONNECT);
	case_wait(&c, 6000);
	FAILS(&c, LINE_RECONNECT, "it was online -> heartbeat");
	FAILS(&c, LINE_REPORTS_AGAIN, "no skills came");
	FAILS(&c, LINE_ORDER, "");
	case_end(&c);
}

TEST(one_that_is_cut_short_is_not_judged)
{
	static const char *const half[] = { "online", "skills", NULL };
	struct jcase c;

	case_start(&c, false);
	announce(&c, half);
	case_wait(&c, 3000);
	case_say(&c, "online", "offline");
	case_wait(&c, 20000);
	UNSEEN(&c, LINE_ORDER);
	case_announce(&c);
	case_wait(&c, 20000);
	PASSES(&c, LINE_ORDER);
	case_end(&c);
}

/* The watch may begin in the middle of an announcement. */
TEST(the_end_of_another_announcement_is_not_early)
{
	struct jcase c;
	int kick;

	for (kick = 0; kick < 2; kick++) {
		case_start(&c, false);
		case_put(&c, "online", STR("online"), 1, true);
		case_report(&c, "skills", true);
		case_report(&c, "intent_catalog", false);
		case_say(&c, "heartbeat", "1");
		case_wait(&c, 1600);
		if (kick)
			judge_kicked(c.j, c.t);
		else
			case_say(&c, "online", "offline");
		case_announce(&c);
		PASSES(&c, LINE_ORDER);
		PASSES(&c, LINE_RECONNECT);
		case_end(&c);
	}
}

/* New skills while it is there are no announcement. */
TEST(an_update_needs_no_announcement)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	c.version++;
	case_report(&c, "skills", false);
	case_wait(&c, 30000);
	PASSES(&c, LINE_ORDER);
	PASSES(&c, LINE_VERSION);
	/* Long before the next online it was not early. */
	case_say(&c, "online", "offline");
	case_announce(&c);
	PASSES(&c, LINE_ORDER);
	PASSES(&c, LINE_RECONNECT);
	case_end(&c);
}

/* ---- will ---------------------------------------------------------------- */

TEST(an_old_will_is_found)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 1000);
	case_say(&c, "online", "offline");
	PASSES(&c, LINE_WILL);
	/* One may have been on its way. */
	case_say(&c, "heartbeat", "1");
	PASSES(&c, LINE_WILL);
	case_wait(&c, 10000);
	case_say(&c, "heartbeat", "1");
	FAILS(&c, LINE_WILL, "heartbeats go on after an offline");
	case_end(&c);
}

TEST(a_body_without_a_will_is_found)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	judge_kicked(c.j, c.t);
	case_wait(&c, 1000);
	case_announce(&c);
	FAILS(&c, LINE_WILL, "no offline came");
	PASSES(&c, LINE_RECONNECT);
	case_end(&c);
}

TEST(a_body_that_stays_away_is_found)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	judge_kicked(c.j, c.t);
	case_say(&c, "online", "offline");
	PASSES(&c, LINE_WILL);
	case_wait(&c, JUDGE_BACK_MS);
	UNSEEN(&c, LINE_RECONNECT);
	ck_assert(!judge_done(c.j));
	case_wait(&c, 200);
	FAILS(&c, LINE_RECONNECT, "did not come back within 30 s");
	case_end(&c);
}

TEST(a_kick_that_failed_says_nothing)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	judge_kicked(c.j, c.t);
	judge_kicked(c.j, -1);
	case_wait(&c, 2 * JUDGE_BACK_MS);
	UNSEEN(&c, LINE_RECONNECT);
	UNSEEN(&c, LINE_WILL);
	case_end(&c);
}

TEST(online_has_its_spellings)
{
	static const char *const right[] = { "online", "ONLINE", "true", "1",
		" 1\n" };
	struct jcase c;
	size_t i;

	for (i = 0; i < NELEM(right); i++) {
		case_start(&c, false);
		case_say(&c, "online", right[i]);
		PASSES(&c, LINE_ONLINE);
		ck_assert_str_eq(c.said, "online");
		case_end(&c);
	}
	case_start(&c, false);
	case_say(&c, "online", "yes");
	FAILS(&c, LINE_ONLINE, "one of online, offline");
	case_end(&c);
	case_start(&c, false);
	case_say(&c, "online", "false");
	PASSES(&c, LINE_ONLINE);
	PASSES(&c, LINE_WILL);
	case_end(&c);
}
