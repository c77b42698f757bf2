/* The JSON of requests, byte by byte. */
#include <string.h>

#include "core/mem.h"
#include "otlp/otlp_internal.h"
#include "testkit/testkit.h"
#include "wire/tree.h"

static struct buf out = BUF_INIT(OTLP_SPAN_MAX);

static const struct trace trace = { "0af7651916cd43dd8448eb211c80319c",
	"b7ad6b7169203331", TRACE_SAMPLED };

static const char *
encoded(const struct otlp_span *s)
{
	buf_reset(&out);
	otlp_encode_span(s, &out);
	ck_assert_int_eq(buf_rc(&out), RC_OK);
	return out.p;
}

TEST(the_head_has_all_of_the_resource)
{
	struct otlp_resource r = { STR("mind"), STR("1.0"), STR("a\"b") };

	otlp_encode_head(&r, &out);
	ck_assert_str_eq(out.p,
	    "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
	    "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"mind\"}},"
	    "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.0\"}},"
	    "{\"key\":\"service.instance.id\","
	    "\"value\":{\"stringValue\":\"a\\\"b\"}}]},"
	    "\"scopeSpans\":[{\"scope\":{\"name\":\"soul\"},\"spans\":[");
}

TEST(absent_resource_attributes_are_left_out)
{
	struct otlp_resource r = { .service = STR("mind") };

	otlp_encode_head(&r, &out);
	ck_assert_str_eq(out.p,
	    "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
	    "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"mind\"}}"
	    "]},\"scopeSpans\":[{\"scope\":{\"name\":\"soul\"},\"spans\":[");
}

TEST(a_minimal_span)
{
	ck_assert_str_eq(encoded(&(struct otlp_span){ .trace = &trace,
			     .name = STR("turn"),
			     .kind = OTLP_SERVER,
			     .start_ns = 1795174689000000001,
			     .end_ns = 1795174689012000000 }),
	    "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
	    "\"spanId\":\"b7ad6b7169203331\",\"name\":\"turn\",\"kind\":2,"
	    "\"startTimeUnixNano\":\"1795174689000000001\","
	    "\"endTimeUnixNano\":\"1795174689012000000\"}");
}

TEST(a_span_with_all_members)
{
	const struct otlp_attr attrs[] = {
		OTLP_S("messaging.system", STR("nats")),
		OTLP_S("absent", ((struct str){ NULL, 0 })),
		OTLP_S("empty", STR("")),
		OTLP_I("n", INT64_MIN),
		OTLP_S("zh", STR("灯\n\xff")),
	};

	ck_assert_str_eq(encoded(&(struct otlp_span){ .trace = &trace,
			     .parent = "00f067aa0ba902b7",
			     .name = STR("in\"voke"),
			     .kind = OTLP_CONSUMER,
			     .start_ns = 1,
			     .end_ns = INT64_MAX,
			     .status = OTLP_ERROR,
			     .error = STR("timeout"),
			     .attrs = attrs,
			     .nattrs = NELEM(attrs) }),
	    "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\","
	    "\"spanId\":\"b7ad6b7169203331\","
	    "\"parentSpanId\":\"00f067aa0ba902b7\","
	    "\"name\":\"in\\\"voke\",\"kind\":5,"
	    "\"startTimeUnixNano\":\"1\","
	    "\"endTimeUnixNano\":\"9223372036854775807\",\"attributes\":["
	    "{\"key\":\"messaging.system\",\"value\":{\"stringValue\":"
	    "\"nats\"}},"
	    "{\"key\":\"empty\",\"value\":{\"stringValue\":\"\"}},"
	    "{\"key\":\"n\",\"value\":{\"intValue\":"
	    "\"-9223372036854775808\"}},"
	    "{\"key\":\"zh\",\"value\":{\"stringValue\":"
	    "\"灯\\n\xef\xbf\xbd\"}}],"
	    "\"status\":{\"code\":2,\"message\":\"timeout\"}}");
}

static void
has(const char *text, bool wanted)
{
	ck_assert_msg(
	    (strstr(out.p, text) != NULL) == wanted, "%s: %s", text, out.p);
}

TEST(a_status_is_encoded_unless_unset)
{
	struct otlp_span s = { .trace = &trace, .error = STR("x") };

	encoded(&s);
	has("status", false);
	s.status = OTLP_OK;
	encoded(&s);
	has(",\"status\":{\"code\":1}}", true);
	s.status = OTLP_ERROR;
	s.error = (struct str){ NULL, 0 };
	encoded(&s);
	has(",\"status\":{\"code\":2}}", true);
}

TEST(invalid_times_are_corrected)
{
	encoded(&(struct otlp_span){
	    .trace = &trace, .start_ns = -5, .end_ns = -9 });
	has("\"startTimeUnixNano\":\"0\",\"endTimeUnixNano\":\"0\"", true);
	encoded(
	    &(struct otlp_span){ .trace = &trace, .start_ns = 7, .end_ns = 6 });
	has("\"startTimeUnixNano\":\"7\",\"endTimeUnixNano\":\"7\"", true);
}

TEST(an_invalid_parent_is_left_out)
{
	static const char *const bad[] = { "", "0000000000000000",
		"00f067aa0ba902b", "00f067aa0ba902b77", "00F067aa0ba902b7",
		"00f067aa0ba902bx" };

	for (size_t i = 0; i < NELEM(bad); i++) {
		encoded(
		    &(struct otlp_span){ .trace = &trace, .parent = bad[i] });
		has("parentSpanId", false);
	}
}

TEST(long_texts_and_attributes_are_truncated)
{
	char text[OTLP_TEXT_MAX + 2], name[OTLP_NAME_MAX + 1];
	struct otlp_attr attrs[OTLP_ATTRS_MAX + 3];
	struct wire_tree *tree;
	struct str cut;

	memset(text, 'a', sizeof(text));
	memset(name, 'b', sizeof(name));
	/* Its last byte is the first beyond the limit. */
	memcpy(text + OTLP_TEXT_MAX - 2, "灯", 3);
	for (size_t i = 0; i < NELEM(attrs); i++)
		attrs[i] = OTLP_I("n", i);
	attrs[0] = OTLP_S("t", ((struct str){ text, sizeof(text) }));
	encoded(&(struct otlp_span){ .trace = &trace,
	    .name = { name, sizeof(name) },
	    .attrs = attrs,
	    .nattrs = NELEM(attrs) });
	ck_assert_int_eq(wire_tree_parse(buf_str(&out), &tree), RC_OK);
	ck_assert_uint_eq(
	    wire_tree_text(wire_tree_get(tree, STR("name"))).n, OTLP_NAME_MAX);
	const struct wire_tree *list = wire_tree_get(tree, STR("attributes"));
	ck_assert_uint_eq(wire_tree_len(list), OTLP_ATTRS_MAX);
	cut = wire_tree_text(
	    wire_tree_get(wire_tree_get(wire_tree_at(list, 0), STR("value")),
		STR("stringValue")));
	ck_assert_uint_eq(cut.n, OTLP_TEXT_MAX - 2);
	ck_assert(wire_tree_number(
		      wire_tree_get(tree, STR("droppedAttributesCount"))) == 3);
	wire_tree_free(tree);
}

/* Each byte is escaped to six. */
TEST(the_longest_span_is_within_the_limit)
{
	char text[OTLP_TEXT_MAX + 1], name[OTLP_NAME_MAX + 1];
	struct otlp_attr attrs[OTLP_ATTRS_MAX + 1];
	struct str all = { text, sizeof(text) };
	struct otlp_resource r = { all, all, all };

	memset(text, 1, sizeof(text));
	memset(name, 1, sizeof(name));
	name[OTLP_NAME_MAX] = '\0';
	for (size_t i = 0; i < NELEM(attrs); i++)
		attrs[i] = OTLP_S(name, all);
	encoded(&(struct otlp_span){ .trace = &trace,
	    .parent = trace.span_id,
	    .name = { name, sizeof(name) },
	    .kind = OTLP_CLIENT,
	    .start_ns = INT64_MAX,
	    .end_ns = INT64_MAX,
	    .status = OTLP_ERROR,
	    .error = all,
	    .attrs = attrs,
	    .nattrs = NELEM(attrs) });
	ck_assert_uint_gt(out.n, OTLP_ATTRS_MAX * OTLP_TEXT_MAX * 6);
	struct buf head = BUF_INIT(OTLP_HEAD_MAX);
	otlp_encode_head(&r, &head);
	ck_assert_int_eq(buf_rc(&head), RC_OK);
	buf_free(&head);
}
