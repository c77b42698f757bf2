/*
 * The recogniser on hostile texts: results are in range, and evidence lies in
 * the text.
 */
#include <math.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/mem.h"
#include "must.h"
#include "persona/emotion.h"
#include "recognition/recognizer.h"

static void
check_emotion(const struct wire_user_emotion *u)
{
	must(u->emotion < EMOTION_N && u->second < EMOTION_N);
	must(!u->has_second || u->second != u->emotion);
	must(u->p >= -1 && u->p <= 1 && u->a >= -1 && u->a <= 1);
	must(u->d >= -1 && u->d <= 1);
	must(u->confidence >= 1. / EMOTION_N - 1e-9 && u->confidence <= 1);
	must(u->intensity >= 0 && u->intensity <= 1);
	must((u->emotion == WIRE_EMOTION_NEUTRAL) == (u->intensity == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct recognizer *f;
	static struct arena *a;
	struct wire_emotion_analyze_response_evidence why[EVIDENCE_MAX];
	struct wire_user_emotion u;
	char *copy, reason[128];
	size_t i, m;

	if (f == NULL) {
		must(recognizer_new("", &f, reason, sizeof(reason)) == RC_OK);
		a = arena_new(1 << 20);
	}
	/* An exact copy, so that reads past its end are detected. */
	copy = mem_alloc(n + 1);
	memcpy(copy, data, n);
	recognizer_read(f, (struct str){ copy, n }, &u);
	check_emotion(&u);
	m = recognizer_evidence(f, a, why);
	must(m <= EVIDENCE_MAX);
	for (i = 0; i < m; i++) {
		must(str_utf8_count(why[i].text) > 0);
		must(str_utf8_count(why[i].text) <= 64);
		must(isfinite(why[i].weight) && why[i].emotion < EMOTION_N);
		must(i == 0 || fabs(why[i].weight) <= fabs(why[i - 1].weight));
	}
	arena_reset(a);
	free(copy);
	return 0;
}
