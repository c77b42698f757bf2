/*
 * A command and a catalog of arbitrary bytes, separated by a line feed: the
 * response satisfies its contract, within a second.
 *
 * Without a catalog: one that has every kind of rule; then no trigger is before
 * now.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/zone.h"
#include "filter.h"
#include "must.h"
#include "rx/rx.h"
#include "slots/skill_cache.h"
#include "system/alarm_phrase.h"
#include "text/utterance.h"
#include "text/vocabulary.h"
#include "wire/tree.h"

/* Sanitized code is slower. */
#define LIMIT_S     1
#define ARENA_BYTES (64UL * 1024 * 1024)
#define COMMAND_MAX 16384
#define EVERY_OPTION                                                           \
	{                                                                      \
		.allow_multi_intent = true, .max_intents = 32,                 \
		.max_intents_per_segment = 8, .enable_time_parser = true,      \
		.emit_system_intent_when_empty = true,                         \
		.enable_alarm_intents = true, .return_debug_candidates = true, \
		.return_debug_entities = true                                  \
	}

static const char filter_own_catalog[] =
    "[{\"id\":\"light\",\"priority\":3,\"hint_score\":0.5,\"match\":{"
    "\"keywords_any\":[\"灯\",\"开灯\",\"light\"],\"negative_keywords\":"
    "[\"灯泡\"],\"regex_any\":[\"(?:开|关).{0,6}灯\",\"灯.*红\"],"
    "\"entity_types_any\":[\"device\"],\"examples\":[\"把灯打开\"]},"
    "\"slots\":[{\"name\":\"skill\",\"default\":\"l\"},{\"name\":\"mode\","
    "\"regex\":\"(开|关)\"},{\"name\":\"color\",\"values\":{\"红\":\"red\","
    "\"绿\":2}},{\"name\":\"delay_seconds\"}]},{\"id\":\"alarm\",\"match\":{"
    "\"keywords_all\":[\"提醒\"],\"regex_all\":[\"我|me\"],"
    "\"entity_types_all\":[\"time_duration\"]},\"slots\":[{\"name\":\"at\","
    "\"required\":true,\"from_time_key\":\"trigger_at\"},{\"name\":\"d\","
    "\"from_entity_types\":[\"time_duration\",\"room\"]}]}]";

static void
filter_check_span(struct str whole, const struct wire_span *s)
{
	struct str before = { whole.p, (size_t)(s->text.p - whole.p) };

	must(s->start == str_utf8_count(before));
	must(s->end == s->start + str_utf8_count(s->text));
}

/* The trigger of an alarm of our own catalog. */
static void
filter_check_trigger(
    const struct wire_intent_filter_response_intents *in, struct wall now)
{
	struct wire_tree *normalized;
	struct wall at;
	struct str text;

	must(wire_tree_parse(in->normalized, &normalized) == RC_OK);
	text = wire_tree_text(wire_tree_get(normalized, STR("at")));
	if (text.p != NULL) {
		must(wall_parse(text, &at) == RC_OK);
		must(at.ms >= now.ms);
	}
	wire_tree_free(normalized);
}

static void
filter_check_response(
    struct str command, const struct wire_intent_filter_response *rep)
{
	size_t i;

	must(rep->n_intents >= 1 && rep->n_intents <= 32);
	for (i = 0; i < rep->n_intents; i++) {
		must(rep->intents[i].confidence > 0 &&
		    rep->intents[i].confidence <= 1);
		must(rep->intents[i].span.end >= rep->intents[i].span.start);
		filter_check_span(command, &rep->intents[i].source_span);
	}
	must(rep->meta.n_unmatched <=
	    (size_t)rep->meta.segment_count + UTTERANCE_TIMES_MAX);
}

static void
filter_check_triggers(
    const struct wire_intent_filter_response *rep, const struct filter_env *env)
{
	size_t i;

	for (i = 0; i < rep->n_intents; i++) {
		if (rep->intents[i].status != WIRE_INTENT_STATUS_SYSTEM)
			filter_check_trigger(&rep->intents[i], env->now);
	}
}

/* A reference time within twenty years, by the command. */
static struct wall
filter_now_of(struct str command)
{
	uint64_t h = 1771753200000U;
	size_t i;

	for (i = 0; i < command.n; i++)
		h = h * 31 + (unsigned char)command.p[i];
	return (struct wall){ (int64_t)(1471753200000U + h % 600000000000U) };
}

static void
filter_fuzz_run(const struct catalog *cat, struct str command,
    const struct filter_env *env, bool own)
{
	struct wire_intent_filter_request req = { .command = command,
		.options = EVERY_OPTION };
	struct wire_intent_filter_response rep;
	struct rx_scratch *rx = rx_scratch_new();
	struct arena *a = arena_new(ARENA_BYTES);
	double start = cpu_s();
	enum rc rc = filter_run(&req, cat, env, rx, a, &rep);

	must(cpu_s() - start < LIMIT_S);
	must(rc == RC_OK || rc == RC_TOOBIG ||
	    (rc == RC_INVALID && str_utf8_count(command) < 0));
	if (rc == RC_OK)
		filter_check_response(command, &rep);
	if (rc == RC_OK && own)
		filter_check_triggers(&rep, env);
	arena_free(a);
	rx_scratch_free(rx);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct vocabulary *vocabulary;
	static struct alarm_patterns *alarms;
	static struct skill_cache *skills;
	static struct zone *zone;
	struct buf catalog = BUF_INIT(WIRE_MESSAGE_MAX);
	struct str json = { (const char *)data, n }, command;
	struct catalog *cat = NULL;
	struct wire_err err;
	char *copy;
	enum rc rc;

	if (vocabulary == NULL) {
		must(zone_load("Asia/Shanghai", &zone) == RC_OK);
		vocabulary = vocabulary_new();
		skills = skill_cache_new(1 << 20);
		alarms = alarm_patterns_new();
	}
	command = str_split(&json, '\n');
	if (command.n > COMMAND_MAX)
		command.n = COMMAND_MAX;
	/* A copy, so that the sanitizer sees an overread. */
	copy = mem_alloc(command.n + 1);
	if (command.n > 0)
		memcpy(copy, command.p, command.n);
	buf_puts(&catalog, "{\"intent_catalog\":");
	if (json.n > 0)
		buf_put_str(&catalog, json);
	else
		buf_puts(&catalog, filter_own_catalog);
	buf_putc(&catalog, '}');
	rc = catalog_new(buf_str(&catalog), &cat, &err);
	must(rc == RC_OK || rc == RC_INVALID || rc == RC_TOOBIG);
	must(json.n > 0 || rc == RC_OK);
	if (rc == RC_OK && command.n > 0)
		filter_fuzz_run(cat, (struct str){ copy, command.n },
		    &(struct filter_env){ .now = filter_now_of(command),
			.zone = zone,
			.vocabulary = vocabulary,
			.locale = "zh-CN",
			.skills = skills,
			.alarms = alarms },
		    json.n == 0);
	catalog_free(cat);
	buf_free(&catalog);
	free(copy);
	return 0;
}
