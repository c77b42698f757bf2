/*
 * Processor time of the pure parts of the engine: recognition, evolution, gate,
 * record and update message; beside exp(), of which the formulas are made, in
 * the same run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "dynamics/pad.h"
#include "emotion_event.h"
#include "persona/emotion.h"
#include "recognition/recognizer.h"
#include "soul_record.h"
#include "testkit/figures.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define ROUNDS   25
#define ROUND_NS 4000000
#define T0       INT64_C(1771754400000000000)

struct bench_state {
	struct recognizer *recognizer;
	struct str text;
	struct stored_soul soul;
	struct pad_input in;
	int64_t now;
	struct wire_emotion_update update;
	struct emotion_event_texts texts;
	struct buf out;
	double sum; /* prevents the compiler from dropping calls */
};

static void
run_recognizer(struct bench_state *s)
{
	struct wire_user_emotion u;

	recognizer_read(s->recognizer, s->text, &u);
	s->sum += u.intensity;
}

static void
run_update(struct bench_state *s)
{
	struct record *r = &s->soul.record;

	s->now += 3000000000;
	pad_update(&r->state, &r->base, &s->in, s->now, PAD_GATE_CONTINUOUS);
	s->sum += r->state.p;
}

static void
run_gate(struct bench_state *s)
{
	const struct record *r = &s->soul.record;

	s->sum += gate_at(PAD_GATE_CONTINUOUS, &r->base, &r->state, s->now)
		      .probability;
}

static void
run_record(struct bench_state *s)
{
	char bytes[RECORD_SIZE];
	struct record back;

	if (record_unpack(record_pack(&s->soul.record, bytes), &back) == RC_OK)
		s->sum += back.state.p;
}

static void
run_message(struct bench_state *s)
{
	struct gate g = { .5, WIRE_EXEC_MODE_AUTO_EXECUTE };

	emotion_event_fill(&s->soul, &g, &s->texts, &s->update);
	s->update.session_id = STR(EMOTION_EVENT_TICK_SESSION);
	s->update.terminal_id = STR("terminal-001");
	buf_reset(&s->out);
	if (wire_encode(&wire_emotion_update_desc, &s->update, &s->out, NULL) !=
	    RC_OK)
		s->sum = NAN;
}

static void
run_exp(struct bench_state *s)
{
	s->sum += exp(-s->sum * 1e-9);
}

static double
now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double
time_batch(struct bench_state *s, void (*op)(struct bench_state *), int n)
{
	double from = now_ns();
	int i;

	for (i = 0; i < n; i++)
		op(s);
	return (now_ns() - from) / n;
}

static void
measure(
    struct bench_state *s, const char *name, void (*op)(struct bench_state *))
{
	double rounds[ROUNDS];
	int batch = (int)(ROUND_NS / time_batch(s, op, 200)) + 1, i;

	for (i = 0; i < ROUNDS; i++)
		rounds[i] = time_batch(s, op, batch);
	tk_sort(rounds, ROUNDS);
	printf("%-42s %8.0f %8.0f\n", name, rounds[ROUNDS / 2],
	    rounds[ROUNDS - 1]);
	(void)fflush(stdout);
}

static const struct {
	const char *name, *text;
} texts[] = {
	{ "recognise, 15 characters, none found",
	    "帮我把客厅的灯变成绿色好不好" },
	{ "recognise, 15 characters, found", "我今天真的很难过，不想说话了呢" },
	{ "recognise, 60 characters",
	    "昨天晚上我和朋友去看了电影，回来的路上下了大雨，虽然有点累但是心情特别好，"
	    "今天又要上班了，谢谢你一直陪着我聊天，真开心" },
	{ "recognise, English, 12 words",
	    "I was really angry at first but now I feel much calmer" },
};

#define COUNTED "SOUL_BENCH_COUNTED"
#define READS   1000

/* Run alone under callgrind. */
TEST_T(counted_recognitions, 120)
{
	struct wire_user_emotion u;
	struct recognizer *f;
	char why[128];
	int i;

	if (getenv(COUNTED) == NULL)
		return;
	ck_assert_int_eq(recognizer_new("", &f, why, sizeof(why)), RC_OK);
	for (i = 0; i < READS; i++)
		recognizer_read(f, str_of(texts[1].text), &u);
	recognizer_free(f);
}

static void
count_instructions(void)
{
	char self[4096] = "", out[300];
	const char *const argv[] = { "valgrind", "--tool=callgrind", out,
		"--toggle-collect=feeling_read", self, "counted_reads", NULL };
	const char *const env[] = { COUNTED "=1", "CK_FORK=no", NULL };
	struct tk_proc p;
	const char *at;
	char *log;
	size_t n;

	ck_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	(void)snprintf(out, sizeof(out), "--callgrind-out-file=%s",
	    tk_path("callgrind.out"));
	tk_spawn(&p, "callgrind", argv, env);
	ck_assert_int_eq(tk_wait(&p, 100000), 0);
	log = tk_read_file(p.log, &n);
	at = strstr(log, "Collected : ");
	ck_assert_ptr_nonnull(at);
	printf("%-42s %8.0f\n", "instructions of the second (callgrind)",
	    strtod(at + 12, NULL) / READS);
	free(log);
}

TEST_T(cost_of_the_emotion_functions, 240)
{
	struct bench_state s = {
		.soul = { .id = STR("soul_0123456789abcdef0123456789abcdef"),
		    .version = 1742 },
		.now = T0,
		.out = BUF_INIT(65536)
	};
	char why[128];
	size_t i;

	ck_assert_msg(
	    recognizer_new("", &s.recognizer, why, sizeof(why)) == RC_OK, "%s",
	    why);
	ck_assert_int_eq(
	    record_new(STR("INFP"), PERSONA_PAD_V3, T0, &s.soul.record), RC_OK);
	printf("%-42s %8s %8s\n", "ns", "median", "max");
	for (i = 0; i < NELEM(texts); i++) {
		s.text = str_of(texts[i].text);
		measure(&s, texts[i].name, run_recognizer);
	}
	count_instructions();
	measure(&s, "evolve, 3 s of silence", run_update);
	s.in = (struct pad_input){ WIRE_EMOTION_JOY, .70, .55, .20, .5, true };
	measure(&s, "evolve, an emotion acts", run_update);
	measure(&s, "gate, continuous", run_gate);
	measure(&s, "record, pack and unpack", run_record);
	measure(&s, "update as JSON", run_message);
	measure(&s, "exp() alone", run_exp);
	printf("an update has %zu bytes\n", s.out.n);
	ck_assert(isfinite(s.sum));
	buf_free(&s.out);
	recognizer_free(s.recognizer);
}
