/* The files of a spool are read as they were written. */
#include "core/mem.h"
#include "procsup/spool_format.h"
#include "testkit/testkit.h"

#define TEXT_ARENA 65536

TEST(records_of_the_journal)
{
	const struct spool_record r = { SPOOL_ERR, 0x0102030405, 99 };
	unsigned char bytes[SPOOL_RECORD_N];
	struct spool_record back;

	spool_record_write(&r, bytes);
	ck_assert_int_eq(bytes[0], 1);
	ck_assert_int_eq(bytes[1], 5);
	ck_assert_int_eq(spool_record_read(bytes, &back), RC_OK);
	ck_assert_uint_eq(back.end, r.end);
	ck_assert_int_eq(back.ns, 99);
	ck_assert_int_eq(back.stream, SPOOL_ERR);
	bytes[0] = SPOOL_STREAMS_N;
	ck_assert_int_eq(spool_record_read(bytes, &back), RC_INVALID);
	bytes[0] = 0;
	bytes[8] = 0x80;
	ck_assert_int_eq(spool_record_read(bytes, &back), RC_INVALID);
}

TEST(what_an_attempt_was_started_with)
{
	const struct spool_meta m = { .run_id = STR_INIT("r-1"),
		.engine = STR_INIT("codex"),
		.attempt = 2,
		.title = STR_INIT("a\nb\\n c"),
		.started_ns = 5,
		.rasp_seq = 6,
		.fcmp_seq = 7,
		.reply = STR_INIT(""),
		.auto_reply = true };
	struct arena *a = arena_new(TEXT_ARENA);
	struct buf b = BUF_INIT(TEXT_ARENA);
	struct spool_meta back;

	spool_meta_write(&m, &b);
	ck_assert_int_eq(spool_meta_read(buf_str(&b), a, &back), RC_OK);
	ck_assert(str_eq(back.run_id, m.run_id));
	ck_assert(str_eq(back.title, m.title));
	ck_assert_int_eq(back.attempt, 2);
	ck_assert_int_eq(back.fcmp_seq, 7);
	ck_assert(back.reply.p != NULL && back.handle.p == NULL);
	ck_assert(back.auto_reply);
	/* Keys of a newer version are ignored. */
	buf_puts(&b, "newer 1\n");
	ck_assert_int_eq(spool_meta_read(buf_str(&b), a, &back), RC_OK);
	buf_free(&b);
	arena_free(a);
}

static const char *const bad_metas[] = { "", "attempt 1\n", "engine\n",
	"engine x\nattempt y\n", "engine x\nattempt -1\n",
	"engine x\ntitle \\t\n", "engine x\ntitle a\\", "\n" };

TEST(metas_that_are_none_are_rejected)
{
	struct arena *a = arena_new(TEXT_ARENA);
	struct spool_meta m;

	for (size_t i = 0; i < NELEM(bad_metas); i++)
		ck_assert_msg(
		    spool_meta_read(str_of(bad_metas[i]), a, &m) == RC_INVALID,
		    "%zu", i);
	arena_free(a);
}

TEST(how_an_engine_ended)
{
	for (unsigned i = 0; i < SPOOL_STOPS_N; i++) {
		const struct spool_exit x = { .code = 3,
			.signal = 15,
			.stop = (enum spool_stop)i,
			.not_started = true,
			.ns = 77,
			.orphans = 2 };
		struct buf b = BUF_INIT(TEXT_ARENA);
		struct spool_exit back;

		spool_exit_write(&x, &b);
		ck_assert_int_eq(spool_exit_read(buf_str(&b), &back), RC_OK);
		ck_assert_int_eq(back.stop, i);
		ck_assert_int_eq(back.code, 3);
		ck_assert_int_eq(back.signal, 15);
		ck_assert_int_eq(back.ns, 77);
		ck_assert(back.not_started && back.orphans == 2);
		buf_free(&b);
	}
	struct spool_exit x;
	ck_assert_int_eq(spool_exit_read(STR(""), &x), RC_INVALID);
	ck_assert_int_eq(spool_exit_read(STR("stop what\n"), &x), RC_INVALID);
	ck_assert_int_eq(spool_exit_read(STR("code 256\n"), &x), RC_INVALID);
}

TEST(files_that_changed)
{
	const struct spool_file one = { STR_INIT("created"), 3,
		STR_INIT("00112233445566778899aabbccddeeff"
			 "00112233445566778899aabbccddeeff"),
		STR_INIT("a b\nc") };
	const struct spool_file two = { STR_INIT("deleted"), 0, { NULL, 0 },
		STR_INIT("d") };
	struct arena *a = arena_new(TEXT_ARENA);
	struct buf b = BUF_INIT(TEXT_ARENA);
	struct spool_file f;
	struct str rest;

	spool_file_write(&one, &b);
	buf_puts(&b, "newer thing\n");
	spool_file_write(&two, &b);
	rest = buf_str(&b);
	ck_assert_int_eq(spool_file_next(&rest, a, &f), RC_OK);
	ck_assert(str_eq(f.path, one.path) && str_eq(f.sha256, one.sha256));
	ck_assert_int_eq(f.bytes, 3);
	ck_assert_int_eq(spool_file_next(&rest, a, &f), RC_OK);
	ck_assert(str_eq(f.path, two.path) && f.sha256.p == NULL);
	ck_assert_int_eq(spool_file_next(&rest, a, &f), RC_NOENT);
	rest = STR("file created x - p\n");
	ck_assert_int_eq(spool_file_next(&rest, a, &f), RC_INVALID);
	buf_free(&b);
	arena_free(a);
}
