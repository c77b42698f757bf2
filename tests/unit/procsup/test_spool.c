/*
 * The write side and the tail side of a spool.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/loop.h"
#include "core/mem.h"
#include "procsup/spool.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define WAIT_MS 10000

/* What a tail has given. */
struct reader {
	struct loop *loop;
	struct spool_watch *watch;
	struct spool_tail *tail;
	struct buf out[SPOOL_STREAMS_N];
	size_t chunks, records;
	size_t pause_after, free_after; /* chunks; 0: never */
	int64_t last_ns;
	bool any_time; /* times are damaged, too */
	bool ended, damaged;
	struct spool_exit exit;
};
static struct reader reader;
static struct spool_writer *writer;
static char spool_dir[256];

static void
reader_on_chunk(void *arg, const struct spool_chunk *c)
{
	struct reader *r = arg;

	ck_assert_uint_eq(c->from, r->out[c->stream].n);
	if (!r->any_time)
		ck_assert_int_ge(c->ns, r->last_ns);
	r->last_ns = c->ns;
	buf_put_str(&r->out[c->stream], c->data);
	r->records += c->last;
	r->chunks++;
	if (r->chunks == r->pause_after)
		spool_tail_pause(r->tail, true);
	if (r->chunks == r->free_after) {
		spool_tail_free(r->tail);
		r->tail = NULL;
	}
}

static void
reader_on_end(void *arg, const struct spool_exit *e)
{
	struct reader *r = arg;

	r->ended = true;
	r->damaged = e == NULL;
	if (e != NULL)
		r->exit = *e;
}

static void
spool_make(void)
{
	snprintf(spool_dir, sizeof(spool_dir), "%s/spool", tk_dir());
	ck_assert_int_eq(mkdir(spool_dir, 0700), 0);
	ck_assert_int_eq(spool_writer_open(spool_dir, &writer), RC_OK);
}

static void
reader_begin(void)
{
	const struct spool_tail_handler h = { reader_on_chunk, reader_on_end,
		&reader };

	reader = (struct reader){ .loop = loop_new(8) };
	buf_init(&reader.out[0], 1UL << 26);
	buf_init(&reader.out[1], 1UL << 26);
	ck_assert_int_eq(spool_watch_new(reader.loop, &reader.watch), RC_OK);
	ck_assert_int_eq(
	    spool_tail_open(reader.watch, spool_dir, &h, &reader.tail), RC_OK);
}

static void
reader_end(void)
{
	spool_tail_free(reader.tail);
	spool_watch_free(reader.watch);
	loop_free(reader.loop);
	buf_free(&reader.out[0]);
	buf_free(&reader.out[1]);
}

static void
put(enum spool_stream stream, const char *text)
{
	ck_assert_int_eq(spool_writer_put(writer, stream, str_of(text)), RC_OK);
}

static void
end(struct spool_exit e)
{
	ck_assert_int_eq(spool_writer_end(writer, &e), RC_OK);
}

static bool
reader_has_ended(void *arg)
{
	(void)arg;
	return reader.ended;
}

static void
await_end(void)
{
	ck_assert(tk_loop_until(reader.loop, reader_has_ended, NULL, WAIT_MS));
}

static bool
reader_has_records(void *arg)
{
	return reader.records == *(const size_t *)arg;
}

static void
await_records(size_t n)
{
	ck_assert(tk_loop_until(reader.loop, reader_has_records, &n, WAIT_MS));
}

TEST(what_is_written_before_and_after_the_opening_is_read)
{
	spool_make();
	put(SPOOL_OUT, "one\n");
	put(SPOOL_ERR, "two\n");
	reader_begin();
	await_records(2);
	put(SPOOL_OUT, "three\n");
	await_records(3);
	ck_assert(!reader.ended);
	end((struct spool_exit){ .code = 5, .stop = SPOOL_STOP_BUDGET });
	await_end();
	ck_assert(!reader.damaged);
	ck_assert_str_eq(reader.out[SPOOL_OUT].p, "one\nthree\n");
	ck_assert_str_eq(reader.out[SPOOL_ERR].p, "two\n");
	ck_assert_int_eq(reader.exit.code, 5);
	ck_assert_int_eq(reader.exit.stop, SPOOL_STOP_BUDGET);
	ck_assert_int_ge(reader.exit.ns, reader.last_ns);
	reader_end();
}

TEST(an_empty_spool_has_an_end)
{
	spool_make();
	end((struct spool_exit){ .signal = 9 });
	reader_begin();
	await_end();
	ck_assert_uint_eq(reader.chunks, 0);
	ck_assert_int_eq(reader.exit.signal, 9);
	reader_end();
}

TEST(a_large_record_comes_in_parts)
{
	const size_t n = 5 * SPOOL_CHUNK_MAX + 7;
	char *bytes = mem_alloc(n);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(i * 7);
	spool_make();
	ck_assert_int_eq(
	    spool_writer_put(writer, SPOOL_OUT, (struct str){ bytes, n }),
	    RC_OK);
	ck_assert_uint_eq(spool_writer_bytes(writer), n + SPOOL_RECORD_N);
	reader_begin();
	await_records(1);
	ck_assert_uint_eq(reader.chunks, 6);
	ck_assert_uint_eq(reader.out[SPOOL_OUT].n, n);
	ck_assert_int_eq(memcmp(reader.out[SPOOL_OUT].p, bytes, n), 0);
	spool_writer_free(writer);
	reader_end();
	free(bytes);
}

TEST(thousands_of_records_are_read_in_order)
{
	size_t n = 5000;

	spool_make();
	for (size_t i = 0; i < n; i++)
		put(i % 3 == 0 ? SPOOL_ERR : SPOOL_OUT, "0123456789\n");
	reader_begin();
	await_records(n);
	ck_assert_uint_eq(
	    reader.out[0].n + reader.out[1].n, n * strlen("0123456789\n"));
	spool_writer_free(writer);
	reader_end();
}

static bool
turns_are_over(void *arg)
{
	size_t *left = arg;

	return (*left)-- == 0;
}

/* So many polls of the loop, each of which lets deferred work run. */
static void
take_turns(size_t n)
{
	ck_assert(tk_loop_until(reader.loop, turns_are_over, &n, WAIT_MS));
}

static bool
reader_has_paused(void *arg)
{
	(void)arg;
	return reader.chunks == reader.pause_after;
}

TEST(a_paused_tail_gives_nothing_and_loses_nothing)
{
	spool_make();
	put(SPOOL_OUT, "one\n");
	put(SPOOL_OUT, "two\n");
	reader_begin();
	reader.pause_after = 1;
	ck_assert(tk_loop_until(reader.loop, reader_has_paused, NULL, WAIT_MS));
	put(SPOOL_OUT, "three\n");
	end((struct spool_exit){ 0 });
	take_turns(10);
	ck_assert_uint_eq(reader.chunks, 1);
	ck_assert(!reader.ended);
	spool_tail_pause(reader.tail, false);
	await_end();
	ck_assert_str_eq(reader.out[SPOOL_OUT].p, "one\ntwo\nthree\n");
	reader_end();
}

static bool
reader_is_free(void *arg)
{
	(void)arg;
	return reader.tail == NULL;
}

TEST(a_tail_may_be_freed_in_its_callback)
{
	spool_make();
	put(SPOOL_OUT, "one\n");
	put(SPOOL_OUT, "two\n");
	reader_begin();
	reader.free_after = 1;
	ck_assert(tk_loop_until(reader.loop, reader_is_free, NULL, WAIT_MS));
	put(SPOOL_OUT, "three\n");
	take_turns(10);
	ck_assert_uint_eq(reader.chunks, 1);
	spool_writer_free(writer);
	reader_end();
}

TEST(a_spool_without_a_journal_is_none)
{
	const struct spool_tail_handler h = { reader_on_chunk, reader_on_end,
		&reader };

	spool_make();
	reader_begin();
	spool_tail_free(reader.tail);
	ck_assert_int_eq(
	    spool_tail_open(reader.watch, tk_dir(), &h, &reader.tail),
	    RC_NOENT);
	ck_assert_int_eq(
	    spool_tail_open(reader.watch, tk_path("missing"), &h, &reader.tail),
	    RC_NOENT);
	ck_assert_ptr_null(reader.tail);
	spool_writer_free(writer);
	reader_end();
}

TEST(a_second_writer_goes_on_after_the_first)
{
	const struct str out = STR("lost\n");
	char path[400];
	FILE *f;

	spool_make();
	put(SPOOL_OUT, "one\n");
	put(SPOOL_ERR, "two\n");
	spool_writer_free(writer);
	snprintf(path, sizeof(path), "%s/stdout", spool_dir);
	f = fopen(path, "ae");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(out.p, 1, out.n, f), out.n);
	fclose(f);
	snprintf(path, sizeof(path), "%s/journal", spool_dir);
	f = fopen(path, "ae");
	ck_assert_ptr_nonnull(f);
	fputs("sixteen bytes...", f);
	fclose(f);
	ck_assert_int_eq(spool_writer_open(spool_dir, &writer), RC_OK);
	end((struct spool_exit){ .signal = 9 });
	reader_begin();
	await_end();
	ck_assert(!reader.damaged);
	ck_assert_uint_eq(reader.records, 3);
	ck_assert_str_eq(reader.out[SPOOL_OUT].p, "one\nlost\n");
	ck_assert_str_eq(reader.out[SPOOL_ERR].p, "two\n");
	reader_end();
}

/* ---- damage ---- */

static void
damage(const char *file, off_t at, const char *bytes, size_t n)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", spool_dir, file);
	f = fopen(path, "r+e");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void
check_damaged(const char *file, off_t at, const char *bytes, size_t n)
{
	spool_make();
	put(SPOOL_OUT, "one\n");
	put(SPOOL_OUT, "two\n");
	end((struct spool_exit){ 0 });
	damage(file, at, bytes, n);
	reader_begin();
	await_end();
	ck_assert(reader.damaged);
	reader_end();
}

TEST(an_unknown_stream_is_damage)
{
	check_damaged("journal", 17, "\7", 1);
}

TEST(a_record_that_goes_back_is_damage)
{
	check_damaged("journal", 17 + 1, "\1", 1);
}

TEST(a_record_of_missing_bytes_is_damage)
{
	check_damaged("journal", 17 + 1, "\200", 1);
}

TEST(an_end_that_is_none_is_damage)
{
	check_damaged("exit", 0, "\n", 1);
}

TEST(random_damage_has_one_end)
{
	const struct spool_tail_handler h = { reader_on_chunk, reader_on_end,
		&reader };
	unsigned seed = 1;
	char byte;

	spool_make();
	for (int i = 0; i < 200; i++)
		put(i % 2 == 0 ? SPOOL_OUT : SPOOL_ERR, "line\n");
	end((struct spool_exit){ 0 });
	reader_begin();
	reader.any_time = true;
	await_end();
	for (int i = 0; i < 300; i++) {
		seed = seed * 1103515245 + 12345;
		byte = (char)(seed >> 24);
		damage("journal", (off_t)(seed >> 8) % (200 * 17), &byte, 1);
		spool_tail_free(reader.tail);
		buf_reset(&reader.out[0]);
		buf_reset(&reader.out[1]);
		reader.ended = false;
		ck_assert_int_eq(
		    spool_tail_open(reader.watch, spool_dir, &h, &reader.tail),
		    RC_OK);
		await_end();
		ck_assert_uint_le(reader.out[0].n, 500);
		ck_assert_uint_le(reader.out[1].n, 500);
	}
	reader_end();
}
