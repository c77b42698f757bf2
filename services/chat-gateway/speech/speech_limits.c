#include "speech/speech_limits.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/mem.h"
#include "core/rate.h"

/* Buckets get a token each second; what is limited takes ten. */
#define COST     10
#define KEYS_MAX 10000

struct speech_limits {
	struct rate *notifiers, *terminals, *types;
};

struct speech_limits *
speech_limits_new(void)
{
	struct speech_limits *l = mem_zalloc(sizeof(*l));

	l->notifiers = rate_new(1, (int64_t)SPEECH_PER_MINUTE * COST, KEYS_MAX);
	l->terminals = rate_new(1, (int64_t)SPEECH_PER_MINUTE * COST, KEYS_MAX);
	l->types = rate_new(1, SPEECH_COOL_DOWN_S, KEYS_MAX);
	return l;
}

void
speech_limits_free(struct speech_limits *l)
{
	if (l == NULL)
		return;
	rate_free(l->notifiers);
	rate_free(l->terminals);
	rate_free(l->types);
	free(l);
}

bool
speech_limits_take(struct speech_limits *l, uint64_t key)
{
	struct str text = { (const char *)&key, sizeof(key) };

	return rate_take_n(l->notifiers, text, COST, clock_mono()) == 0;
}

bool
speech_limits_notice(
    struct speech_limits *l, struct str terminal, struct str type)
{
	char key[2 * ID_MAX];
	struct mono now = clock_mono();
	struct str of_type = { key, 0 };
	int n = snprintf(
	    key, sizeof(key), "%.*s %.*s", STR_ARG(terminal), STR_ARG(type));

	if (n < 0 || (size_t)n >= sizeof(key))
		return false;
	of_type.n = (size_t)n;
	if (rate_take_n(l->types, of_type, SPEECH_COOL_DOWN_S, now) != 0)
		return false;
	if (rate_take_n(l->terminals, terminal, COST, now) == 0)
		return true;
	rate_refund(l->types, of_type, SPEECH_COOL_DOWN_S);
	return false;
}
