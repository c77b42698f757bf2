/*
 * Words of arbitrary bytes as the time of an alarm: a rule that is valid and
 * due later than now, or an error that is words; and both within a second.
 */
#include <stdlib.h>
#include <string.h>

#include "alarm/alarm_moment.h"
#include "alarm/alarm_when.h"
#include "alarm/alarm_wire.h"
#include "core/mem.h"
#include "must.h"

#define LIMIT_S 1
/* Occurrences that are followed. */
#define STEPS 4

static void
alarm_check_rule(const struct alarm_rule *r, const struct alarm_when_input *in)
{
	struct wall at = in->now, next;
	struct arena *a = arena_new(64 * 1024);
	struct wire_alarm_rule wire;
	struct alarm_rule back;
	char why[ALARM_WHY_MAX];
	struct buf b = BUF_INIT(4096);
	int i;

	must(alarm_rule_is_valid(r));
	must(alarm_rule_next(r, in->zone, at, &next) == RC_OK);
	for (i = 0; i < STEPS; i++) {
		if (alarm_rule_next(r, in->zone, at, &next) != RC_OK)
			break;
		must(next.ms > at.ms);
		at = next;
	}
	must(alarm_rule_to_wire(r, in->zone, a, &wire) == RC_OK);
	must(alarm_rule_of_wire(&wire, &back, why, sizeof(why)) == RC_OK);
	alarm_rule_describe(r, in->now, in->zone, true, &b);
	alarm_rule_describe(r, in->now, in->zone, false, &b);
	must(buf_rc(&b) == RC_OK && b.n > 0);
	buf_free(&b);
	arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct zone *zone;
	struct alarm_when_input in = { .now = { INT64_C(1771753200000) },
		.near_s = n % 3 == 0 ? 7 * 3600 : -1 };
	/* A copy, so that the sanitizer sees an overread. */
	char *copy = mem_alloc(n + 1), why[ALARM_WHY_MAX] = "";
	double start = cpu_s();
	struct alarm_range range;
	struct alarm_rule r;
	const char *end;

	if (zone == NULL)
		must(zone_load("America/New_York", &zone) == RC_OK);
	in.zone = zone;
	memcpy(copy, data, n);
	copy = mem_realloc(copy, n > 0 ? n : 1);
	in.when = (struct str){ copy, n };
	/* A line of its own: how it repeats. */
	end = memchr(copy, '\n', n);
	if (end != NULL) {
		in.repeat =
		    (struct str){ end + 1, n - (size_t)(end + 1 - copy) };
		in.when.n = (size_t)(end - copy);
	}
	if (alarm_when_read(&in, &r, why, sizeof(why)) == RC_OK)
		alarm_check_rule(&r, &in);
	else
		must(why[0] != '\0');
	if (alarm_when_range(in.when, in.now, zone, &range) == RC_OK)
		must(range.from.ms <= range.to.ms);
	must(cpu_s() - start < LIMIT_S);
	free(copy);
	return 0;
}
