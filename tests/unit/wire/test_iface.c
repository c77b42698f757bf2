/* The table of channels: invalid rows, and the generated code. */
#include "gen.h"
#include "wire/iface.h"
#include "wire/subjects.h"

struct entry {
	const char *section;
	const char *text; /* content of the array */
	const char *where;
	const char *why;
};

#define HTTP                                                          \
	"\"method\":\"GET\",\"owner\":\"o\",\"request\":null,"        \
	"\"roles\":[\"owner\"],"                                      \
	"\"response\":\"x\",\"description\":\"d\",\"section\":\"1\"," \
	"\"errors\":[]"
#define NATS                                                       \
	"\"owner\":\"o\",\"request\":\"x\",\"description\":\"d\"," \
	"\"section\":\"1\""
#define MQTT                                                         \
	"\"message\":\"x\",\"description\":\"d\",\"section\":\"1\"," \
	"\"from\":\"body\",\"qos\":1,\"retain\":true"
#define REDIS(key, read, write)                                            \
	"{\"name\":\"a\",\"key\":\"" key "\",\"kind\":\"hash\",\"of\":[]," \
	"\"read\":" read ",\"write\":" write ",\"reads\":[],"              \
	"\"writes\":[],\"user_data\":\"none\",\"description\":\"d\""
#define PREFIX "{prefix}/terminal/{terminal}/"

static const struct entry bad[] = {
	{ "smtp", "", "/smtp", "not supported here" },
	{ "http", "1", "/http/0", "must be an object" },
	{ "http", "{}", "/http/0/name", "is missing" },
	{ "http", "{\"name\":\"a\",\"path\":\"/a\",\"z\":1," HTTP "}",
	    "/http/0/z", "not supported here" },
	{ "http", "{\"name\":1,\"path\":\"/a\"," HTTP "}", "/http/0/name",
	    "another type" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\"," HTTP
	    ",\"query\":[{\"name\":\"q\"}]}",
	    "/http/0/query/0/description", "is missing" },
	{ "http", "{\"name\":\"a\",\"path\":\"/a b\"," HTTP "}", "/http/0/path",
	    "a character" },
	{ "http", "{\"name\":\"a\",\"path\":\"/{a\"," HTTP "}", "/http/0/path",
	    "braces" },
	{ "http", "{\"name\":\"a\",\"path\":\"/a}\"," HTTP "}", "/http/0/path",
	    "braces" },
	{ "http", "{\"name\":\"a\",\"path\":\"/{}\"," HTTP "}", "/http/0/path",
	    "braces" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\"," HTTP "},"
	    "{\"name\":\"a\",\"path\":\"/b\"," HTTP "}",
	    "/http/1/name", "a is listed twice" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\"," HTTP "},"
	    "{\"name\":\"b\",\"path\":\"/a\"," HTTP "}",
	    "/http/1", "method and path" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"TRACE\","
	    "\"owner\":\"o\",\"roles\":[\"owner\"],"
	    "\"request\":null,\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[]}",
	    "/http/0/method", "TRACE is not known" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"GET\","
	    "\"owner\":\"o\",\"roles\":[\"owner\"],"
	    "\"request\":\"y\",\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[]}",
	    "/http/0/request", "there is no message y" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"GET\","
	    "\"owner\":\"o\",\"roles\":[\"owner\"],"
	    "\"request\":null,\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\","
	    "\"errors\":[{\"status\":\"400\",\"text\":\"t\"}]}",
	    "/http/0/errors/0/status", "another type" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"GET\","
	    "\"owner\":\"o\",\"request\":null,\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[]}",
	    "/http/0/roles", "is missing" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"GET\","
	    "\"owner\":\"o\",\"request\":null,\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[],"
	    "\"roles\":[]}",
	    "/http/0/roles", "no caller has permission" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"GET\","
	    "\"owner\":\"o\",\"request\":null,\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[],"
	    "\"roles\":[\"root\"]}",
	    "/http/0/roles/0", "is no role" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"GET\","
	    "\"owner\":\"o\",\"request\":null,\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[],"
	    "\"roles\":[\"owner\",1]}",
	    "/http/0/roles/1", "is no role" },
	{ "http",
	    "{\"name\":\"a\",\"path\":\"/a\",\"method\":\"GET\","
	    "\"owner\":\"o\",\"request\":null,\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[],"
	    "\"roles\":\"owner\"}",
	    "/http/0/roles", "another type" },
	{ "nats", "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"x\"," NATS "}",
	    "/nats/0/kind", "x is not known" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"request\"," NATS "}",
	    "/nats/0", "a request has a reply" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"publish\","
	    "\"reply\":\"x\"," NATS "}",
	    "/nats/0", "a request has a reply" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"request\","
	    "\"reply\":\"x\"," NATS "}",
	    "/nats/0", "has a deadline" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a.{b}\",\"kind\":\"event\"," NATS
	    "}",
	    "/nats/0/subject", "{b} is not known" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a.*\",\"kind\":\"event\"," NATS "}",
	    "/nats/0/subject", "a character" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"event\"," NATS
	    "},{\"name\":\"b\",\"subject\":\"a\",\"kind\":\"event\"," NATS "}",
	    "/nats/1/subject", "a is listed twice" },
	{ "mqtt", "{\"name\":\"a\",\"topic\":\"a\"," MQTT "}", "/mqtt/0/topic",
	    "must begin with {prefix}" },
	{ "mqtt", "{\"name\":\"a\",\"topic\":\"" PREFIX "{user}\"," MQTT "}",
	    "/mqtt/0/topic", "{user} is not known" },
	{ "mqtt",
	    "{\"name\":\"a\",\"topic\":\"" PREFIX "a\",\"message\":\"x\","
	    "\"description\":\"d\",\"section\":\"1\",\"from\":\"body\","
	    "\"qos\":2,\"retain\":true}",
	    "/mqtt/0/qos", "0 or 1" },
	{ "mqtt",
	    "{\"name\":\"a\",\"topic\":\"" PREFIX "a\",\"message\":\"x\","
	    "\"description\":\"d\",\"section\":\"1\",\"from\":\"me\","
	    "\"qos\":1,\"retain\":true}",
	    "/mqtt/0/from", "me is not known" },
	{ "mqtt",
	    "{\"name\":\"a\",\"topic\":\"" PREFIX "a\",\"message\":\"x\","
	    "\"description\":\"d\",\"section\":\"1\",\"from\":\"body\","
	    "\"qos\":1,\"retain\":1}",
	    "/mqtt/0/retain", "another type" },
	{ "events", "{\"type\":\"a\",\"payload\":\"y\",\"description\":\"d\"}",
	    "/events/0/payload", "there is no message y" },
	{ "events",
	    "{\"type\":\"a\",\"payload\":\"x\",\"from\":[],"
	    "\"description\":\"d\"},{\"type\":\"a\",\"payload\":\"x\","
	    "\"from\":[],\"description\":\"d\"}",
	    "/events/1/type", "a is listed twice" },
	{ "events",
	    "{\"type\":\"a\",\"payload\":\"x\",\"from\":[\"p\"],"
	    "\"description\":\"d\"}",
	    "/events/0/from/0", "p is not among the peers" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"publish\"," NATS "}",
	    "/nats/0", "from lists the senders" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"event\","
	    "\"from\":[]," NATS "}",
	    "/nats/0", "for an event, the type does" },
	{ "nats",
	    "{\"name\":\"a\",\"subject\":\"a\",\"kind\":\"publish\","
	    "\"from\":[]," NATS "}",
	    "/nats/0/owner", "o is not among the peers" },
	{ "peers", "{\"name\":\"a b\",\"description\":\"d\"}", "/peers/0/name",
	    "has a character" },
	{ "peers", "{\"name\":\"operator\",\"description\":\"d\"}", "/peers/0",
	    "is predefined" },
	{ "streams",
	    "{\"name\":\"S\",\"holds\":\"x\",\"manager\":\"p\","
	    "\"consumers\":[],\"readers\":[],\"viewers\":[],"
	    "\"description\":\"d\"}",
	    "/streams/0/holds", "x is not a row of nats" },
	{ "redis", REDIS("a:%", "[]", "[]") "}", "/redis/0/of",
	    "a name for each" },
	{ "redis", REDIS("a*", "[]", "[]") "}", "/redis/0/key",
	    "has a character" },
	{ "redis", REDIS("a", "[\"p\"]", "[]") "}", "/redis/0/read/0",
	    "p is not among the peers" },
	{ "redis", REDIS("a", "[]", "[\"p\",\"p\"]") "}", "/redis/0/write/1",
	    "is listed twice" },
	{ "redis", REDIS("a", "[]", "[1]") "}", "/redis/0/write/0",
	    "must be a string" },
};

/* One message, x, and interfaces.json with one section. */
static void
put_section(const char *section, const char *content)
{
	char text[4096];
	static const char *const all[] = { "http", "nats", "mqtt", "events",
		"streams", "peers", "redis" };
	size_t n = (size_t)snprintf(
	    text, sizeof(text), "{\"%s\":[%s]", section, content);
	for (size_t i = 0; i < NELEM(all); i++)
		if (strcmp(all[i], section) != 0)
			n += (size_t)snprintf(
			    text + n, sizeof(text) - n, ",\"%s\":[]", all[i]);
	(void)snprintf(text + n, sizeof(text) - n, "}");
	put_file("interfaces.json", text);
	put_file("x.schema.json",
	    "{\"title\":\"x\",\"description\":\"d\",\"x-section\":\"1\","
	    "\"type\":\"object\",\"properties\":{\"a\":"
	    "{\"description\":\"d\"}}}");
}

TEST_T(invalid_tables_are_rejected, 120)
{
	for (size_t i = 0; i < NELEM(bad); i++) {
		put_section(bad[i].section, bad[i].text);
		gen_rejects(
		    "interfaces.json", bad[i].where, bad[i].why, bad[i].text);
	}
}

TEST(a_missing_section_is_rejected)
{
	put_section("http", "");
	put_file("interfaces.json", "{\"http\":[]}");
	gen_rejects("interfaces.json", "/nats", "must be an array", "nats");
	put_file("interfaces.json", "[]");
	gen_rejects("interfaces.json", "", "must be an object", "[]");
	put_file("interfaces.json", "{");
	gen_rejects("interfaces.json", "", "line 1", "{");
}

TEST(macros_match_the_tables)
{
	ck_assert_str_eq(WIRE_SUBJECT_INTENT_FILTER, "soul.rpc.intent.filter");
	ck_assert_str_eq(
	    WIRE_SUBJECT_FMT_BODY_INVOKE, "soul.body.%s.%s.invoke");
	ck_assert_str_eq(WIRE_SUBJECT_ALL_BODY_INVOKE, "soul.body.*.*.invoke");
	ck_assert_str_eq(WIRE_HTTP_INTENTS_FILTER, "/v1/intents/filter");
	ck_assert_str_eq(WIRE_TOPIC_FMT_INVOKE, "%s/terminal/%s/invoke/%s");
	ck_assert_str_eq(WIRE_EVENT_TERMINAL_ONLINE, "terminal_online");

	const struct wire_topic *t = &wire_topics[WIRE_TOPIC_INVOKE];
	ck_assert_str_eq(t->name, "invoke");
	ck_assert_str_eq(t->leaf, "invoke/+");
	ck_assert_ptr_eq(t->message, wire_desc_find(STR("invoke")));
	ck_assert(t->qos == 1 && !t->retain && !t->from_body);
	t = &wire_topics[WIRE_TOPIC_SKILLS];
	ck_assert_str_eq(t->leaf, "skills");
	ck_assert(t->qos == 1 && t->retain && t->from_body);
	ck_assert_uint_eq(wire_topics_n, 9);
	ck_assert_ptr_null(wire_topics[wire_topics_n].name);
}

TEST(subjects_have_what_their_kind_needs)
{
	ck_assert_uint_gt(wire_subjects_n, 0);
	for (size_t i = 0; i < wire_subjects_n; i++) {
		const struct wire_subject *s = &wire_subjects[i];
		bool request = s->kind == WIRE_SUBJECT_KIND_REQUEST;
		ck_assert_ptr_nonnull(s->request);
		ck_assert_int_eq(s->reply != NULL, request);
		ck_assert_int_eq(s->deadline_ms > 0, request);
		ck_assert_ptr_null(strchr(s->subject, '{'));
		if (strcmp(s->name, "intent_filter") == 0) {
			ck_assert_str_eq(
			    s->subject, WIRE_SUBJECT_INTENT_FILTER);
			ck_assert_int_eq(
			    s->deadline_ms, WIRE_DEADLINE_MS_INTENT_FILTER);
			ck_assert_str_eq(s->queue, "intent-filter");
		}
	}
	ck_assert_uint_gt(wire_routes_n, 0);
	for (size_t i = 0; i < wire_routes_n; i++)
		ck_assert_int_eq(wire_routes[i].path[0], '/');
}

TEST(events_are_found_by_type)
{
	ck_assert_uint_gt(wire_events_n, 0);
	for (size_t i = 0; i < wire_events_n; i++)
		ck_assert_ptr_eq(wire_event_find(str_of(wire_events[i].type)),
		    &wire_events[i]);
	ck_assert_ptr_null(wire_event_find(STR("nothing")));
	ck_assert_ptr_null(wire_event_find(STR("")));
	ck_assert_ptr_eq(wire_event_find(STR("invoke"))->payload,
	    wire_desc_find(STR("invoke_event")));
}
