/*
 * A direct turn, which needs no model, with three providers of tools present
 * and with none, in interleaved rounds.
 */
#include <stdio.h>

#include "testkit/figures.h"
#include "testkit/orch_fixture.h"
#include "testkit/tool_provider.h"

#define ROUNDS 5
#define TURNS  500
#define WARMUP 20

static const char *const names[] = { "mcp-host", "alarm-clock",
	"engine-runner" };

static struct orch_fixture f;
static struct tool_provider providers[3];

/* The median of n turns, in ms. */
static double
median_of(int n)
{
	static double took[TURNS];

	for (int i = 0; i < n; i++) {
		struct orch_turn t;
		double began = tk_now_ns();

		orch_turn_start(&t, &f, "把灯变绿");
		orch_ck_completed(
		    &t, .executed = "control_light", .failed = "");
		took[i] = (tk_now_ns() - began) / 1e6;
		orch_turn_close(&t);
	}
	return tk_median(took, (size_t)n);
}

/* A process that has announcements of them, or none. */
static double
round_of(bool present)
{
	orch_fixture_kill(&f, 0);
	orch_fixture_spawn(&f, 0);
	for (size_t i = 0; present && i < 3; i++)
		tool_provider_announce(&providers[i], NULL);
	(void)median_of(WARMUP);
	return median_of(TURNS);
}

TEST_T(providers_cost_a_direct_turn_nothing, 300)
{
	double ratio[ROUNDS];

	orch_fixture_start(&f, 1);
	orch_peers_set(&f.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	for (size_t i = 0; i < 3; i++)
		tool_provider_start(&providers[i], f.nats.url, names[i]);
	for (int i = 0; i < ROUNDS; i++) {
		double without = round_of(false), with = round_of(true);

		ratio[i] = with / without;
		printf("round %d: %.2f ms with three providers, %.2f ms "
		       "without, ratio %.2f\n",
		    i + 1, with, without, ratio[i]);
	}
	double median = tk_median(ratio, ROUNDS);
	printf("p50 of a direct turn: ratio %.3f (median of %d rounds of %d "
	       "turns)\n",
	    median, ROUNDS, TURNS);
	tk_print_load();
	fflush(stdout);
	ck_assert_double_le(median, 1.1);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(tool_provider_lists(&providers[i]), 0);
		tool_provider_stop(&providers[i]);
	}
	orch_fixture_stop(&f);
}
