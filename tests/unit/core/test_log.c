/*
 * Log lines on standard error: one per event, whatever the values contain.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "testkit/testkit.h"

/* Output since stderr was replaced by a pipe, which shows every write(). */
struct capture {
	int fd;
	char text[16384];
	size_t n;
};

static void
capture_start(struct capture *c)
{
	int p[2];

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ck_assert_int_eq(fcntl(p[0], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(dup2(p[1], STDERR_FILENO), STDERR_FILENO);
	(void)close(p[1]);
	c->fd = p[0];
}

static const char *
captured(struct capture *c)
{
	ssize_t n;

	c->n = 0;
	while (
	    (n = read(c->fd, c->text + c->n, sizeof(c->text) - 1 - c->n)) > 0)
		c->n += (size_t)n;
	c->text[c->n] = '\0';
	return c->text;
}

/* The pairs after "ts=… lvl=… svc=… ", checked, without the newline. */
static char *
pairs(struct capture *c, const char *lvl, const char *svc)
{
	char head[100];
	struct wall t;
	const char *text = captured(c);

	ck_assert_msg(strncmp(text, "ts=", 3) == 0, "%s", text);
	ck_assert_int_eq(wall_parse((struct str){ text + 3, 24 }, &t), RC_OK);
	ck_assert_int_le(clock_wall().ms - t.ms, 60000);
	(void)snprintf(head, sizeof(head), " lvl=%s svc=%s ", lvl, svc);
	ck_assert_msg(strncmp(text + 27, head, strlen(head)) == 0, "%s", text);
	ck_assert_ptr_eq(strchr(text, '\n'), text + c->n - 1);
	c->text[c->n - 1] = '\0';
	return c->text + 27 + strlen(head);
}

TEST(a_line_has_all_pairs)
{
	struct capture c;

	capture_start(&c);
	log_info("bus.up");
	ck_assert_str_eq(pairs(&c, "info", "-"), "ev=bus.up");
	log_init("intent-filter", LOG_INFO);
	log_warn("bus.down", LOG_S("url", "nats://x:4222"), LOG_I("tries", 3),
	    LOG_I("min", INT64_MIN), LOG_F("load", 0.25), LOG_F("nan", NAN),
	    LOG_RC(RC_TIMEOUT));
	ck_assert_str_eq(pairs(&c, "warn", "intent-filter"),
	    "ev=bus.down url=nats://x:4222 tries=3 min=-9223372036854775808 "
	    "load=0.25 nan=nan rc=deadline_exceeded");
}

TEST(the_time_always_has_milliseconds)
{
	struct capture c;

	capture_start(&c);
	/* Many lines, so that some fall on a millisecond below 100. */
	for (int i = 0; i < 2000; i++) {
		log_info("tick");
		ck_assert_str_eq(pairs(&c, "info", "-"), "ev=tick");
	}
}

TEST(events_below_the_level_are_dropped)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };
	struct capture c;
	enum log_level l = LOG_WARN;

	capture_start(&c);
	log_debug("hidden");
	ck_assert_str_eq(captured(&c), "");
	for (int min = LOG_DEBUG; min <= LOG_ERROR; min++) {
		ck_assert_int_eq(
		    log_level_parse(str_of(names[min]), &l), RC_OK);
		ck_assert_int_eq((int)l, min);
		log_init("x", l);
		for (int i = LOG_DEBUG; i <= LOG_ERROR; i++) {
			LOG_EVENT((enum log_level)i, "e", { 0 });
			if (i < min)
				ck_assert_str_eq(captured(&c), "");
			else
				ck_assert_str_eq(
				    pairs(&c, names[i], "x"), "ev=e");
		}
	}
	ck_assert_int_eq(log_level_parse(STR("INFO"), &l), RC_INVALID);
	ck_assert_int_eq(log_level_parse(STR(""), &l), RC_INVALID);
	ck_assert_int_eq(log_level_parse(STR("warning"), &l), RC_INVALID);
	ck_assert_int_eq((int)l, LOG_ERROR);
}

TEST(no_value_forges_a_line)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "plain", "plain" },
		{ "", "\"\"" },
		{ "two words", "\"two words\"" },
		{ "a=b", "\"a=b\"" },
		{ "say \"hi\"", "\"say \\\"hi\\\"\"" },
		{ "back\\slash", "\"back\\\\slash\"" },
		{ "x\nlvl=error ev=fake", "\"x\\nlvl=error ev=fake\"" },
		{ "a\r\tb", "\"a\\r\\tb\"" },
		{ "\x1b[31m", "\"\\u001b[31m\"" },
		{ "\x7f", "\"\\u007f\"" },
		/* A C1 control and a line separator. */
		{ "\xc2\x85", "\"\\u0085\"" },
		{ "\xe2\x80\xa8", "\"\\u2028\"" },
		{ "\xe2\x80\xa9", "\"\\u2029\"" },
		/* Overrides of direction. */
		{ "\xe2\x80\xae", "\"\\u202e\"" },
		{ "\xe2\x81\xa6", "\"\\u2066\"" },
		{ "\xd8\x9c", "\"\\u061c\"" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd", "\xe4\xbd\xa0\xe5\xa5\xbd" },
		/* Not UTF-8. */
		{ "\xff\xfe", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xe4\xbd", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	struct capture c;

	capture_start(&c);
	for (size_t i = 0; i < NELEM(rows); i++) {
		char want[100];

		log_error("e", LOG_S("v", rows[i].in));
		(void)snprintf(want, sizeof(want), "ev=e v=%s", rows[i].want);
		ck_assert_str_eq(pairs(&c, "error", "-"), want);
	}
	log_error("e", LOG_S("absent", NULL), LOG_V("nul", STR("a\0b")));
	ck_assert_str_eq(
	    pairs(&c, "error", "-"), "ev=e absent=\"\" nul=\"a\\u0000b\"");
	log_error("e", LOG_S("odd key=1\n", "v"));
	ck_assert_str_eq(pairs(&c, "error", "-"), "ev=e odd_key_1_=v");
}

static void
check_truncated(struct capture *c)
{
	ck_assert_uint_le(c->n, 4096);
	ck_assert_uint_gt(c->n, 4000);
	ck_assert_str_eq(c->text + c->n - 10, " cut=true\n");
	ck_assert_ptr_eq(strchr(c->text, '\n'), c->text + c->n - 1);
}

TEST(long_lines_are_truncated)
{
	static char big[8001];
	struct capture c;

	capture_start(&c);
	memset(big, 'a', 8000);
	log_info("e", LOG_S("v", big), LOG_I("lost", 1));
	(void)captured(&c);
	check_truncated(&c);
	ck_assert_ptr_null(strstr(c.text, "lost"));
	/* A quoted value is closed; a code point or an escape is not split. */
	for (size_t shift = 0; shift < 8; shift++) {
		memset(big, 'a', shift);
		for (size_t i = shift; i + 4 <= 8000; i += 4)
			memcpy(big + i,
			    i % 8 == shift % 8 ? "\xe4\xbd\xa0 "
					       : "\n\"\x01\xff",
			    4);
		log_info("e", LOG_S("v", big));
		(void)captured(&c);
		check_truncated(&c);
		ck_assert_str_eq(c.text + c.n - 11, "\" cut=true\n");
		ck_assert_int_gt(str_utf8_count(str_of(c.text)), 0);
	}
}

TEST(a_line_of_the_maximum_length_is_not_truncated)
{
	static char big[4097];
	struct capture c;
	size_t longest = 0;

	capture_start(&c);
	for (size_t n = 3900; n < 4096; n++) {
		memset(big, 'a', n);
		big[n] = '\0';
		log_info("e", LOG_S("v", big));
		(void)captured(&c);
		ck_assert_uint_le(c.n, 4096);
		if (strstr(c.text, "cut=true") == NULL) {
			ck_assert_uint_eq(longest, n == 3900 ? 0 : n - 1);
			longest = n;
		}
	}
	ck_assert_uint_gt(longest, 4000);
}

enum { BEHIND = 6, BEHIND_MAX = 5 };

/* Possible ends of a line after a value, and their numbers of pairs. */
static size_t
put_behind(struct log_kv *kv, size_t which)
{
	const struct log_kv rows[BEHIND][BEHIND_MAX] = {
		{ { 0 } },
		{ LOG_I("i", 7) },
		{ LOG_I("least", INT64_MIN), LOG_F("f", 0.25) },
		{ LOG_S("s", "plain"), LOG_S("", "") },
		{ LOG_S("q", "a b"), LOG_S("r", "=\"="), LOG_I("missed", 0) },
		{ LOG_RC(RC_NOENT), LOG_S("p", "a b c d e f"),
		    LOG_S("key_of_the_greatest_length_that_is_shown_and_more_"
			  "than_that_too",
			"\n\n"),
		    LOG_I("n", 1) },
	};
	size_t n = 0;

	memcpy(kv, rows[which], sizeof(rows[which]));
	while (kv[n].key != NULL)
		n++;
	return n;
}

/* Values repeat their part. */
static const char *const fillings[] = { "a", "a b", "=", "\"", "\\", "\n",
	"\x01", "\xff", "\xe4\xbd\xa0", "\xe4\xbd\xa0 ", "\xe2\x80\xa8" };

static const char *
end_of_value(const char *p, const char *end)
{
	if (p == end || *p != '"')
		return p + strcspn(p, " \n");
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	ck_assert_msg(p < end, "a quote is not closed");
	return p + 1;
}

/* Checks a line and its pairs, of which the last may be cut=true. */
static void
ck_line(struct capture *c, size_t pairs_n)
{
	const char *end = c->text + c->n - 1, *p = c->text;
	bool cut = false;
	size_t n = 0;

	ck_assert_uint_gt(c->n, 0);
	ck_assert_uint_le(c->n, 4096);
	ck_assert_ptr_eq(strchr(c->text, '\n'), end);
	ck_assert_int_gt(str_utf8_count(str_of(c->text)), 0);
	for (; p < end; p += *p == ' ') {
		ck_assert(!cut);
		cut = strncmp(p, "cut=true", 8) == 0;
		n++;
		p += strcspn(p, "= \n");
		ck_assert_int_eq(*p, '=');
		p = end_of_value(p + 1, end);
		ck_assert(*p == ' ' || p == end);
	}
	if (cut)
		ck_assert_uint_gt(c->n, 4000);
	else
		ck_assert_uint_eq(n, pairs_n);
}

/* Lengths around the end of the line, with values of all kinds. */
TEST_T(no_pairs_exceed_the_line, 120)
{
	static char big[2][4200];
	struct capture c;

	capture_start(&c);
	for (size_t f = 0; f < NELEM(fillings) * 4; f++) {
		const char *one = fillings[f % NELEM(fillings)];
		const char *two = fillings[f / NELEM(fillings)];
		for (size_t k = 0; k < sizeof(big[0]); k++) {
			big[0][k] = one[k % strlen(one)];
			big[1][k] = two[k % strlen(two)];
		}
		for (size_t n = 0; n < 700; n++) {
			struct log_kv kv[2 + BEHIND_MAX];
			size_t more = put_behind(kv + 2, n % BEHIND);

			kv[0] = LOG_V("v", ((struct str){ big[0], 3400 + n }));
			kv[1] = LOG_V("w", ((struct str){ big[1], n % 97 }));
			log_event(LOG_WARN, "e", kv);
			(void)captured(&c);
			ck_line(&c, 6 + more);
		}
	}
}

static void *
log_from_thread(void *arg)
{
	(void)arg;
	log_info("other");
	return NULL;
}

TEST(the_trace_id_is_per_thread)
{
	static const char id[] = "4bf92f3577b34da6a3ce929d0e0e4736";
	struct capture c;
	pthread_t t;

	capture_start(&c);
	log_trace_set(id);
	log_info("e");
	ck_assert_str_eq(pairs(&c, "info", "-"),
	    "trace=4bf92f3577b34da6a3ce929d0e0e4736 ev=e");
	ck_assert_int_eq(pthread_create(&t, NULL, log_from_thread, NULL), 0);
	ck_assert_int_eq(pthread_join(t, NULL), 0);
	ck_assert_str_eq(pairs(&c, "info", "-"), "ev=other");
	log_trace_set("4bf92f3577b34da6a3ce929d0e0e4736and more");
	log_info("e");
	ck_assert_str_eq(pairs(&c, "info", "-"),
	    "trace=4bf92f3577b34da6a3ce929d0e0e4736 ev=e");
	log_trace_set("");
	log_info("e");
	ck_assert_str_eq(pairs(&c, "info", "-"), "ev=e");
	log_trace_set(NULL);
	log_info("e");
	ck_assert_str_eq(pairs(&c, "info", "-"), "ev=e");
}

enum { THREADS = 4, LINES = 50 };

static void *
log_much(void *arg)
{
	const char *name = arg;

	for (int i = 0; i < LINES; i++)
		log_info(
		    "e", LOG_S("who", name), LOG_I("i", i), LOG_S("big", name));
	return NULL;
}

TEST(lines_of_threads_do_not_interleave)
{
	static char names[THREADS][2] = { "a", "b", "c", "d" };
	static char text[THREADS * LINES * 200];
	pthread_t t[THREADS];
	int next[THREADS] = { 0 };
	int fd = open(tk_path("log"), O_RDWR | O_CREAT | O_APPEND, 0600);
	ssize_t n;
	struct str rest;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(
		    pthread_create(&t[i], NULL, log_much, names[i]), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(t[i], NULL), 0);
	n = pread(fd, text, sizeof(text), 0);
	ck_assert_int_gt(n, 0);
	rest = (struct str){ text, (size_t)n };
	for (int i = 0; i < THREADS * LINES; i++) {
		struct str line = str_split(&rest, '\n');
		ptrdiff_t at = str_find(line, STR(" who="));
		char want[40];
		int who;

		ck_assert_int_gt(at, 0);
		who = line.p[at + 5] - 'a';
		ck_assert(who >= 0 && who < THREADS);
		(void)snprintf(want, sizeof(want), " ev=e who=%c i=%d big=%c",
		    'a' + who, next[who]++, 'a' + who);
		ck_assert(str_ends(line, str_of(want)));
	}
	ck_assert_uint_eq(rest.n, 0);
	(void)close(fd);
}

TEST(rate_limited_events_are_counted)
{
	static struct log_rate often, seldom;
	int64_t missed = -1;

	/* With 0 seconds it is not limited. */
	ck_assert(log_every(&often, 0, &missed));
	ck_assert_int_eq(missed, 0);
	ck_assert(log_every(&often, 0, &missed));
	ck_assert(log_every(&seldom, 3600, &missed));
	for (int i = 0; i < 5; i++) {
		ck_assert(!log_every(&seldom, 3600, &missed));
		ck_assert_int_eq(missed, 0);
	}
	/* After the hour. */
	seldom.next_ns = 1;
	ck_assert(log_every(&seldom, 3600, &missed));
	ck_assert_int_eq(missed, 5);
	seldom.next_ns = 1;
	ck_assert(log_every(&seldom, 3600, &missed));
	ck_assert_int_eq(missed, 0);
}
