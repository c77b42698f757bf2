/* Topics and filters. */
#include <stdlib.h>

#include "core/mem.h"
#include "mqtt/mqtt.h"
#include "testkit/testkit.h"

TEST(topics_and_filters_are_validated)
{
	static const struct {
		struct str t;
		bool topic, filter;
	} t[] = {
		{ STR_INIT("a"), true, true }, { STR_INIT("/"), true, true },
		{ STR_INIT("a//b/"), true, true },
		{ STR_INIT("soul/terminal/机器人/skills"), true, true },
		{ STR_INIT("$SYS/x"), true, true },
		{ STR_INIT("+"), false, true }, { STR_INIT("#"), false, true },
		{ STR_INIT("a/+/b/#"), false, true },
		{ STR_INIT("+/+"), false, true },
		{ STR_INIT("$share/g/a/#"), false, true },
		{ STR_INIT("a+"), false, false },
		{ STR_INIT("+a"), false, false },
		{ STR_INIT("a/b+/c"), false, false },
		{ STR_INIT("a#"), false, false },
		{ STR_INIT("#/a"), false, false },
		{ STR_INIT("a/#/b"), false, false },
		{ STR_INIT("##"), false, false },
		{ STR_INIT(""), false, false }, { { NULL, 0 }, false, false },
		{ STR_INIT("a\0b"), false, false },
		{ STR_INIT("a\0"), false, false },
		{ STR_INIT("a\tb"), false, false },
		{ STR_INIT("\x7f"), false, false },
		{ STR_INIT("\xff"), false, false },
		{ STR_INIT("a\xe5\xb0"), false, false }, /* cut short */
		{ STR_INIT("a\xf0\x9f"), false, false },
		{ STR_INIT("\xc0\xaf"), false, false },     /* overlong */
		{ STR_INIT("\xed\xa0\x80"), false, false }, /* surrogate */
	};

	for (size_t i = 0; i < NELEM(t); i++) {
		ck_assert_msg(mqtt_topic_valid(t[i].t) == t[i].topic,
		    "topic %zu: %.*s", i, STR_ARG(t[i].t));
		ck_assert_msg(mqtt_filter_valid(t[i].t) == t[i].filter,
		    "filter %zu: %.*s", i, STR_ARG(t[i].t));
	}
}

/* The buffer is exactly as long as the bytes, for the address sanitizer. */
TEST(no_byte_beyond_the_length_is_read)
{
	static const char *const t[] = { "a", "a/\xe5\xb0", "\xf0",
		"b/\xf0\x9f", "\xe5", "a/+", "#" };

	for (size_t i = 0; i < NELEM(t); i++) {
		size_t n = strlen(t[i]);
		char *exact = mem_alloc(n);
		struct str s = { exact, n };

		memcpy(exact, t[i], n);
		ck_assert(
		    mqtt_topic_valid(s) == mqtt_topic_valid(str_of(t[i])));
		ck_assert(
		    mqtt_filter_valid(s) == mqtt_filter_valid(str_of(t[i])));
		ck_assert(mqtt_topic_matches(s, s) ==
		    mqtt_topic_matches(str_of(t[i]), str_of(t[i])));
		free(exact);
	}
}

TEST(the_longest_topic_is_valid)
{
	char text[MQTT_TOPIC_MAX + 1];
	struct str s = { text, MQTT_TOPIC_MAX };

	memset(text, 'x', sizeof(text));
	ck_assert(mqtt_topic_valid(s));
	ck_assert(mqtt_filter_valid(s));
	ck_assert(mqtt_topic_matches(s, s));
	s.n++;
	ck_assert(!mqtt_topic_valid(s));
	ck_assert(!mqtt_filter_valid(s));
	ck_assert(!mqtt_topic_matches(s, s));
}

TEST(filters_match_topics)
{
	static const struct {
		const char *filter, *topic;
		bool yes;
	} t[] = {
		{ "a/b", "a/b", true },
		{ "a/b", "a/c", false },
		{ "a/b", "a/b/c", false },
		{ "a/b", "a", false },
		{ "+", "a", true },
		{ "+", "a/b", false },
		{ "+/b", "a/b", true },
		{ "+/b", "/b", true },
		{ "a/+", "a/", true },
		{ "a/+/c", "a/b/c", true },
		{ "a/+/c", "a/b/b/c", false },
		{ "#", "a/b/c", true },
		{ "a/#", "a", true },
		{ "a/#", "a/", true },
		{ "a/#", "a/b/c", true },
		{ "a/#", "ab", false },
		{ "a/+/#", "a/b", true },
		{ "soul/terminal/+/skills", "soul/terminal/机器人/skills",
		    true },
		{ "soul/terminal/+/result/+", "soul/terminal/t1/result/r1",
		    true },
		{ "soul/terminal/+/result/+", "soul/terminal/t1/result",
		    false },
		{ "#", "$SYS/x", false },
		{ "+/x", "$SYS/x", false },
		{ "$SYS/#", "$SYS/x", true },
		/* Neither a filter nor a topic. */
		{ "a/#/b", "a/x/b", false },
		{ "a/+", "a/+", false },
		{ "", "", false },
	};

	for (size_t i = 0; i < NELEM(t); i++)
		ck_assert_msg(mqtt_topic_matches(str_of(t[i].filter),
				  str_of(t[i].topic)) == t[i].yes,
		    "%s  %s", t[i].filter, t[i].topic);
}
