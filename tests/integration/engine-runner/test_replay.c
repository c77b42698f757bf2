/* The command replay: spools and captured streams as events. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/spool_format.h"
#include "testkit/testkit.h"

#define REPLAY_MS  10000
#define PATH_SIZE  512
#define ARGS_MAX   16
#define OUTPUT_MAX (1024UL * 1024)

static const char codex[] =
    "{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}\n"
    "{\"type\":\"item.completed\",\"item\":{\"id\":\"a\",\"type\":"
    "\"agent_message\",\"text\":\"{\\\"__SKILL_DONE__\\\":true}\"}}\n"
    "{\"type\":\"turn.completed\"}\n";

static void
replay_write(const char *folder, const char *name, const void *p, size_t n)
{
	char path[PATH_SIZE];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(p, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* Runs replay with arguments up to NULL; its output is in *out. */
static int
replay_run(const char *const *args, struct buf *out)
{
	const char *argv[ARGS_MAX + 3] = { tk_bin("engine-runner"), "replay" };
	static int runs;
	struct tk_proc p;
	char part[4096], name[32];
	size_t n;
	int code;
	FILE *f;

	for (size_t i = 0; args[i] != NULL; i++) {
		ck_assert_uint_lt(i, ARGS_MAX);
		argv[i + 2] = args[i];
	}
	/* Each has a log of its own. */
	snprintf(name, sizeof(name), "replay%d", runs++);
	tk_spawn(&p, name, argv, NULL);
	code = tk_wait(&p, REPLAY_MS);
	f = fopen(p.log, "rb");
	ck_assert_ptr_nonnull(f);
	buf_init(out, OUTPUT_MAX);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buf_put(out, part, n);
	fclose(f);
	return code;
}

static void
replay_has(const struct buf *out, const char *text)
{
	ck_assert_msg(str_find(buf_str(out), str_of(text)) >= 0,
	    "%.*s has no %s", STR_ARG(buf_str(out)), text);
}

/* A spool of one attempt that was canceled behind its marker. */
static void
replay_spool(char folder[PATH_SIZE])
{
	const struct spool_meta meta = { .run_id = STR_INIT("r-7"),
		.engine = STR_INIT("codex"),
		.attempt = 2,
		.rasp_seq = 20,
		.fcmp_seq = 9 };
	const struct spool_exit end = { .signal = 15,
		.stop = SPOOL_STOP_CANCELED,
		.ns = INT64_C(1771665174000000000) };
	const struct spool_record rec = { SPOOL_OUT, sizeof(codex) - 1,
		INT64_C(1771665173789000000) };
	unsigned char bytes[SPOOL_RECORD_N];
	struct buf b = BUF_INIT(OUTPUT_MAX);

	snprintf(folder, PATH_SIZE, "%s/spool", tk_dir());
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	spool_meta_write(&meta, &b);
	replay_write(folder, SPOOL_META, b.p, b.n);
	buf_reset(&b);
	spool_exit_write(&end, &b);
	replay_write(folder, SPOOL_EXIT, b.p, b.n);
	spool_record_write(&rec, bytes);
	replay_write(folder, SPOOL_JOURNAL, bytes, sizeof(bytes));
	replay_write(folder, SPOOL_STDOUT, codex, sizeof(codex) - 1);
	buf_free(&b);
}

TEST(a_spool_is_replayed_as_it_was)
{
	char folder[PATH_SIZE];
	const char *const args[] = { "--spool", folder, NULL };
	const char *const parts[] = { "--spool", folder, "--feed", "1", NULL };
	struct buf out, parted;

	replay_spool(folder);
	ck_assert_int_eq(replay_run(args, &out), 0);
	replay_has(&out,
	    "{\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"r-7\",\"seq\":10,"
	    "\"ts\":\"2026-02-21T09:12:53.789Z\",\"engine\":\"codex\","
	    "\"session_id\":\"t-1\",\"type\":\"assistant.message.final\"");
	replay_has(&out, "\"ts\":\"2026-02-21T09:12:54.000Z\"");
	replay_has(&out, "\"code\":\"CANCELED\"");
	ck_assert_int_eq(replay_run(parts, &parted), 0);
	ck_assert(str_eq(buf_str(&out), buf_str(&parted)));
	buf_free(&out);
	buf_free(&parted);
}

TEST(a_spool_without_an_exit_has_no_end)
{
	char folder[PATH_SIZE], path[PATH_SIZE + 8];
	const char *const args[] = { "--spool", folder, NULL };
	struct buf out;

	replay_spool(folder);
	snprintf(path, sizeof(path), "%s/%s", folder, SPOOL_EXIT);
	ck_assert_int_eq(remove(path), 0);
	ck_assert_int_eq(replay_run(args, &out), 0);
	replay_has(&out, "assistant.message.final");
	ck_assert_int_lt(str_find(buf_str(&out), STR("conversation.")), 0);
	buf_free(&out);
}

TEST(captured_streams_are_replayed)
{
	char path[PATH_SIZE], lost[PATH_SIZE];
	const char *const done[] = { "--engine", "codex", "--stdout", path,
		NULL };
	const char *const failed[] = { "--engine", "codex", "--stdout", path,
		"--exit", "3", "--rasp", NULL };
	const char *const crashed[] = { "--engine", "codex", "--stdout", path,
		"--signal", "11", NULL };
	const char *const canceled[] = { "--engine", "codex", "--stdout", path,
		"--stopped-by-us", NULL };
	const char *const pty[] = { "--engine", "codex", "--stdout", lost,
		"--pty", path, NULL };
	static const char *const wanted[] = { "conversation.completed",
		"\"type\":\"run.failed\",\"level\":\"error\"", "ENGINE_CRASHED",
		"CANCELED", "PTY_STREAM_MISMATCH" };
	const char *const *const runs[] = { done, failed, crashed, canceled,
		pty };

	replay_write(tk_dir(), "all", codex, sizeof(codex) - 1);
	snprintf(path, sizeof(path), "%s/all", tk_dir());
	replay_write(tk_dir(), "lost", codex, 49);
	snprintf(lost, sizeof(lost), "%s/lost", tk_dir());
	for (size_t i = 0; i < NELEM(runs); i++) {
		struct buf out;

		ck_assert_int_eq(replay_run(runs[i], &out), 0);
		replay_has(&out, wanted[i]);
		buf_free(&out);
	}
}

TEST(wrong_arguments_are_rejected)
{
	static const char *const wrong[][8] = {
		{ NULL },
		{ "--engine", NULL },
		{ "--engine", "other", NULL },
		{ "--engine", "codex", "--exit", "256", NULL },
		{ "--engine", "codex", "--mode", "x", NULL },
		{ "--engine", "codex", "--fcmp", "--rasp", NULL },
		{ "--engine", "codex", "--spool", "/", "--stdout", "/", NULL },
		{ "--engine", "codex", "more", NULL },
	};
	const char *const missing[] = { "--engine", "codex", "--stdout",
		"/nonexistent", NULL };
	struct buf out;

	for (size_t i = 0; i < NELEM(wrong); i++) {
		ck_assert_int_eq(replay_run(wrong[i], &out), 64);
		replay_has(&out, "engine-runner replay: ");
		buf_free(&out);
	}
	ck_assert_int_eq(replay_run(missing, &out), 1);
	replay_has(&out, "/nonexistent: No such file or directory");
	buf_free(&out);
}
