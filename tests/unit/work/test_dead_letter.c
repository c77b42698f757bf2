/* Dead letters: their headers, and their output formats. */
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "work/dead_letter.h"

#define HEAD "NATS/1.0\r\n"

static struct bus_stream_msg
make_message(const char *headers, const char *data)
{
	return (struct bus_stream_msg){ .seq = 7,
		.stored = { 1771755630000 },
		.subject = STR("soul.dead.memory_store"),
		.headers = str_of(headers),
		.data = str_of(data) };
}

static void
ck_written(void (*write)(const struct dead_letter *, struct buf *),
    const struct bus_stream_msg *m, const char *want)
{
	struct arena *a = arena_new(1 << 20);
	struct buf out = BUF_INIT(1 << 20);
	struct dead_letter l;

	dead_letter_read(m, a, &l);
	write(&l, &out);
	ck_assert_str_eq(out.p, want);
	buf_free(&out);
	arena_free(a);
}

TEST(a_job_in_all_formats)
{
	struct bus_stream_msg m = make_message(HEAD
	    "Nats-Msg-Id: SOUL_JOBS.3.memory_store\r\n"
	    "Soul-Dead-Reason: no: luck\r\nSoul-Item-Id: first\r\n"
	    "Soul-Dead-Deliveries: 11\r\n\r\n",
	    "{\"job_id\":\"j1\",\"user_id\":\"u\\u009b1\",\"soul_id\":\"s1\","
	    "\"text\":\"喜\\n欢\\u001b[2J\"}");

	ck_written(dead_letter_write_line, &m,
	    "7  2026-02-22T10:20:30Z  memory_store  job j1  user u?1  soul "
	    "s1\n    11 deliveries: no: luck\n    喜?欢?[2J\n");
	ck_written(dead_letter_write_json, &m,
	    "{\"seq\":7,\"at\":\"2026-02-22T10:20:30Z\",\"kind\":"
	    "\"memory_store\",\"job_id\":\"j1\",\"user_id\":\"u\302\2331\","
	    "\"soul_id\":\"s1\",\"deliveries\":11,\"why\":\"no: luck\","
	    "\"text\":\"喜\\n欢\\u001b[2J\",\"bytes\":78}\n");
	ck_written(dead_letter_write_full, &m,
	    "seq      7\nat       2026-02-22T10:20:30Z\n"
	    "why      11 deliveries: no: luck\n"
	    "subject  soul.dead.memory_store\n"
	    "id       SOUL_JOBS.3.memory_store\nitem     first\n"
	    "bytes    78\n\n"
	    "{\"job_id\":\"j1\",\"user_id\":\"u\\u009b1\",\"soul_id\":\"s1\","
	    "\"text\":\"喜\\n欢\\u001b[2J\"}\n");
}

TEST(any_message_can_be_shown)
{
	static const char *const kinds[] = { "soul.dead.", "other" };
	struct bus_stream_msg m = make_message(
	    HEAD "Soul-Dead-Deliveries: x\r\n\r\n", "a\tb\nc\377\302\200d");
	size_t i;

	for (i = 0; i < NELEM(kinds); i++) {
		m.subject = str_of(kinds[i]);
		ck_written(dead_letter_write_line, &m,
		    "7  2026-02-22T10:20:30Z    job ?  user ?  soul ?\n"
		    "    unknown reason\n    a?b?c??d\n");
	}
	ck_written(dead_letter_write_json, &m,
	    "{\"seq\":7,\"at\":\"2026-02-22T10:20:30Z\",\"kind\":null,"
	    "\"job_id\":null,\"user_id\":null,\"soul_id\":null,"
	    "\"deliveries\":null,\"why\":null,\"text\":null,\"bytes\":9}\n");
	ck_written(dead_letter_write_full, &m,
	    "seq      7\nat       2026-02-22T10:20:30Z\n"
	    "why      unknown reason\nsubject  other\nbytes    9\n\n"
	    "a\tb\nc??d\n");
	m.headers = STR("");
	m.data = STR("[1]");
	ck_written(dead_letter_write_line, &m,
	    "7  2026-02-22T10:20:30Z    job ?  user ?  soul ?\n"
	    "    unknown reason\n    [1]\n");
}

TEST(an_event_has_the_members_of_its_payload)
{
	struct bus_stream_msg m = make_message("",
	    "{\"type\":\"turn_completed\",\"payload\":{\"user_id\":\"u1\","
	    "\"text\":\"tea\"},\"user_id\":1,\"soul_id\":\"s1\"}");

	ck_written(dead_letter_write_line, &m,
	    "7  2026-02-22T10:20:30Z  memory_store  job ?  user u1  soul s1\n"
	    "    unknown reason\n    tea\n");
}

TEST(a_long_text_is_shortened)
{
	struct bus_stream_msg m = make_message("", NULL);
	struct buf data = BUF_INIT(1024), want = BUF_INIT(1024);
	int i;

	buf_puts(&want,
	    "7  2026-02-22T10:20:30Z  memory_store  job ?  user ?  soul ?\n"
	    "    unknown reason\n    ");
	buf_puts(&data, "{\"text\":\"");
	for (i = 0; i < 61; i++) {
		buf_puts(&data, "茶");
		if (i < 60)
			buf_puts(&want, "茶");
	}
	buf_puts(&data, "\"}");
	buf_puts(&want, "…\n");
	m.data = buf_str(&data);
	ck_written(dead_letter_write_line, &m, want.p);
	buf_free(&data);
	buf_free(&want);
}

TEST(a_reason_is_a_valid_header)
{
	static const struct {
		const char *why, *want;
	} rows[] = {
		{ "/kind: is missing", "/kind: is missing" },
		{ "  a\r\nb: \033c ", "a??b: ?c" },
		{ "", "no reason given" },
		{ " \t ", "no reason given" },
	};
	struct dead_letter_headers headers;
	char longer[1024];
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		dead_letter_headers(rows[i].why, 3, STR("m 1"), &headers);
		ck_assert_str_eq(headers.headers[0].key, "Soul-Dead-Reason");
		ck_assert_str_eq(headers.headers[0].value, rows[i].want);
		ck_assert_str_eq(
		    headers.headers[1].key, "Soul-Dead-Deliveries");
		ck_assert_str_eq(headers.headers[1].value, "3");
		ck_assert_str_eq(headers.headers[2].key, "Soul-Item-Id");
		ck_assert_str_eq(headers.headers[2].value, "m 1");
		ck_assert_uint_eq(headers.n, 3);
	}
	/* Truncated between two characters, without a trailing blank. */
	memset(longer, 'x', sizeof(longer));
	memcpy(longer + DEAD_LETTER_REASON_MAX - 2, "  茶", 6);
	longer[sizeof(longer) - 1] = '\0';
	/* Without an id, or with one that is no header, there is none. */
	dead_letter_headers(longer, 1, str_of(longer), &headers);
	ck_assert_uint_eq(headers.n, 2);
	dead_letter_headers(longer, 1, STR(""), &headers);
	ck_assert_uint_eq(headers.n, 2);
	ck_assert_uint_eq(
	    strlen(headers.headers[0].value), DEAD_LETTER_REASON_MAX - 2);
}
