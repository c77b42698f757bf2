/* Markers of messages: what counts, what is removed, what is held back. */
#include "core/buf.h"
#include "core/mem.h"
#include "fcmp/done_marker.h"
#include "testkit/testkit.h"

#define MARK "{\"__SKILL_DONE__\": true}"

static const struct {
	const char *message, *text, *payload;
	size_t markers;
} messages[] = {
	{ "", "", NULL, 0 },
	{ "Hello.\n", "Hello.\n", NULL, 0 },
	{ MARK, "", NULL, 1 },
	{ "Done.\n\n" MARK "\n", "Done.", NULL, 1 },
	{ "Done.\n  {\"__skill_done__\":true}  \n", "Done.", NULL, 1 },
	{ "{\"x\": [1, 2],\n \"__SKILL_DONE__\": true}", "", "{\"x\":[1,2]}",
	    1 },
	{ "{\"__SKILL_DONE__\":true,\"a b\":\"c d\"}", "", "{\"a b\":\"c d\"}",
	    1 },
	{ "R:\n```json\n{\"a\":1,\"__SKILL_DONE__\":true}\n```\n",
	    "R:", "{\"a\":1}", 1 },
	/* Text may follow a fence of its own. */
	{ "R:\n```json\n" MARK "\n```\n\n**S**", "R:\n\n\n**S**", NULL, 1 },
	/* The object ends the message, though it does not begin its line. */
	{ "Writing{\"p\":\"a\",\"__SKILL_DONE__\":true}\n", "Writing",
	    "{\"p\":\"a\"}", 1 },
	/* Quoted in a sentence it is text. */
	{ "Print " MARK " at the end.", "Print " MARK " at the end.", NULL, 0 },
	{ MARK " and more", MARK " and more", NULL, 0 },
	/* The last object has none. */
	{ MARK "\nor\n{\"a\": 1}\n", MARK "\nor\n{\"a\": 1}\n", "{\"a\":1}",
	    0 },
	/* It is a member of the object itself, and true. */
	{ "{\"a\":" MARK "}", "{\"a\":" MARK "}",
	    "{\"a\":{\"__SKILL_DONE__\":true}}", 0 },
	{ "{\"__SKILL_DONE__\":false}", "{\"__SKILL_DONE__\":false}",
	    "{\"__SKILL_DONE__\":false}", 0 },
	{ "{\"__SKILL_DONE__\":\"true\"}", "{\"__SKILL_DONE__\":\"true\"}",
	    "{\"__SKILL_DONE__\":\"true\"}", 0 },
	{ "\"__SKILL_DONE__\": true", "\"__SKILL_DONE__\": true", NULL, 0 },
	{ "{\"__SKILL_DONE__\": true", "{\"__SKILL_DONE__\": true", NULL, 0 },
	{ "{\"__SKILL_DONE__\": true,}", "{\"__SKILL_DONE__\": true,}", NULL,
	    0 },
	{ "{{\"__SKILL_DONE__\": true}", "{", NULL, 1 },
	{ "{\"n\":1,\"__SKILL_DONE__\":true}\n" MARK "\n", "", "{\"n\":1}", 2 },
	{ "int f(void) { return 1; }\n{\n", "int f(void) { return 1; }\n{\n",
	    NULL, 0 },
	{ "a\n{\"b\": \"}{\\\"\"}\n", "a\n{\"b\": \"}{\\\"\"}\n",
	    "{\"b\":\"}{\\\"\"}", 0 },
	{ "{\"b\": 1} c", "{\"b\": 1} c", NULL, 0 },
};

static void
marker_check(size_t i, const struct done_result *r)
{
	ck_assert_msg(str_eq(r->text, str_of(messages[i].text)),
	    "%zu: text %.*s", i, STR_ARG(r->text));
	ck_assert_msg(str_eq(r->payload, str_of(messages[i].payload)) &&
		(r->payload.p == NULL) == (messages[i].payload == NULL),
	    "%zu: payload %.*s", i, STR_ARG(r->payload));
	ck_assert_uint_eq(r->markers, messages[i].markers);
}

TEST(markers_and_results_of_messages)
{
	struct done_marker *m = done_marker_new(65536);

	for (size_t i = 0; i < NELEM(messages); i++) {
		struct done_result r;

		done_marker_reset(m);
		done_marker_put(m, str_of(messages[i].message));
		done_marker_finish(m, &r);
		marker_check(i, &r);
	}
	done_marker_free(m);
}

TEST(what_is_released_is_a_beginning_of_the_text)
{
	struct done_marker *m = done_marker_new(65536);

	for (size_t i = 0; i < NELEM(messages); i++) {
		struct str all = str_of(messages[i].message);
		struct buf released = BUF_INIT(65536);
		struct done_result r;

		done_marker_reset(m);
		for (size_t at = 0; at < all.n; at++) {
			done_marker_put(m, (struct str){ all.p + at, 1 });
			buf_put_str(&released, done_marker_release(m));
		}
		done_marker_finish(m, &r);
		marker_check(i, &r);
		ck_assert(str_starts(r.text, buf_str(&released)));
		buf_free(&released);
	}
	done_marker_free(m);
}

TEST(text_is_released_as_soon_as_it_is_known)
{
	static const struct {
		const char *part, *released;
	} steps[] = {
		{ "Hello ", "Hello" },
		{ "world.\n", " world." },
		{ "{ int", "\n{ int" },
		{ " x; } {\"a", " x; }" },
		{ "\": 1} b", " {\"a\": 1} b" },
		{ "\n```js", "" },
		{ "on\n{\"__SK", "" },
		{ "ILL_DONE__\": true}\n```\n", "" },
	};
	struct done_marker *m = done_marker_new(65536);
	struct done_result r;

	for (size_t i = 0; i < NELEM(steps); i++) {
		struct str s;

		done_marker_put(m, str_of(steps[i].part));
		s = done_marker_release(m);
		ck_assert_msg(str_eq(s, str_of(steps[i].released)), "%zu: %.*s",
		    i, STR_ARG(s));
	}
	done_marker_finish(m, &r);
	ck_assert(str_ends(r.text, STR(" b")));
	ck_assert_uint_eq(r.markers, 1);
	done_marker_free(m);
}

TEST(large_objects_are_text)
{
	struct buf b = BUF_INIT(1024UL * 1024);
	struct done_marker *m = done_marker_new(1024UL * 1024);
	struct done_result r;

	buf_puts(&b, "{\"__SKILL_DONE__\":true,\"a\":\"");
	while (b.n < DONE_OBJECT_MAX)
		buf_putc(&b, 'x');
	buf_puts(&b, "\"}");
	done_marker_put(m, buf_str(&b));
	done_marker_finish(m, &r);
	ck_assert_uint_eq(r.markers, 0);
	ck_assert(str_eq(r.text, buf_str(&b)));
	/* So are those that are nested deeper than an event may be. */
	done_marker_reset(m);
	buf_reset(&b);
	for (size_t i = 0; i <= DONE_DEPTH_MAX; i++)
		buf_puts(&b, "{\"a\":");
	buf_puts(&b, "1");
	for (size_t i = 0; i <= DONE_DEPTH_MAX; i++)
		buf_putc(&b, '}');
	done_marker_put(m, buf_str(&b));
	done_marker_finish(m, &r);
	ck_assert(r.payload.p == NULL || r.payload.n < b.n);
	done_marker_free(m);
	buf_free(&b);
}

TEST(more_than_the_limit_is_dropped)
{
	struct done_marker *m = done_marker_new(4);
	struct done_result r;

	done_marker_put(m, STR("ab\xe4\xbd\xa0"));
	done_marker_finish(m, &r);
	ck_assert(str_eq(r.text, STR("ab")) && r.truncated);
	done_marker_free(m);
}
