/* What a soul's agent and its environment send each other. */
#include <stdio.h>
#include <string.h>

#include "body/body_message.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define TERMINAL_ONE "star-a8Iiw22vC5FdKtteLu0pdQ"
#define A            "{\"id\":\"agent_001\",\"type\":\"agent\"}"

static const struct identity world = { .class = CLASS_ENVIRONMENT,
	.env = STR_INIT("demo_world"),
	.id = STR_INIT("demo_world") };

static void
is_text(struct str s, const char *want)
{
	if (want == NULL)
		ck_assert_ptr_null(s.p);
	else
		ck_assert_msg(str_eq(s, str_of(want)), "%.*s is not %s",
		    STR_ARG(s), want);
}

static struct identity
agent_of(const char *tenant, const char *env, const char *id)
{
	return (struct identity){ .class = CLASS_AGENT,
		.tenant =
		    tenant != NULL ? str_of(tenant) : (struct str){ NULL, 0 },
		.env = str_of(env),
		.id = str_of(id) };
}

/* printf 'acme/demo_world/agent_001' | sha256sum, 16 bytes, as base64url */
TEST(a_terminal_is_an_agents)
{
	const struct identity one = agent_of("acme", "demo_world", "agent_001"),
			      none = agent_of(NULL, "demo_world", "agent_001"),
			      other =
				  agent_of("acme", "demo_worl", "dagent_001");
	char a[BODY_TERMINAL_MAX], b[BODY_TERMINAL_MAX];

	is_text(body_terminal_id(&one, a), TERMINAL_ONE);
	ck_assert_uint_eq(strlen(a), 27);
	ck_assert_str_ne(a, body_terminal_id(&none, b).p);
	ck_assert_str_ne(a, body_terminal_id(&other, b).p);
	ck_assert(id_terminal_valid(str_of(a)));
}

TEST(ids_of_keys_are_never_too_long)
{
	char text[201], dst[ID_MAX + 1], other[ID_MAX + 1];

	is_text(body_key_id((struct str){ NULL, 0 }, dst), "-");
	is_text(body_key_id(STR("小世界"), dst), "小世界");
	memset(text, 'x', 200);
	text[200] = '\0';
	ck_assert(id_valid(body_key_id(str_of(text), dst)));
	ck_assert(memcmp(dst, "~~", 2) == 0);
	text[199] = 'y';
	ck_assert_str_ne(dst, body_key_id(str_of(text), other).p);
}

TEST(a_client_is_a_guest_of_its_class_and_id)
{
	char dst[ID_MAX + 1], other[ID_MAX + 1], text[201], tenant[65];
	struct identity i = { .class = CLASS_HUMAN, .id = STR("bob") };
	const struct identity a = agent_of("acme", "mars", "a:b"),
			      b = agent_of("acme", "mars:a", "b");

	is_text(body_guest(&i, dst), "star:human:bob");
	i.tenant = STR("acme");
	is_text(body_guest(&i, dst), "acme/star:human:bob");
	is_text(body_guest(&world, dst), "star:environment:demo_world");
	is_text(body_guest(&a, dst), "acme/star:agent:mars#a:b");
	ck_assert_str_ne(dst, body_guest(&b, other).p);
	/* The longest of all. */
	memset(text, 'x', 200);
	memset(tenant, 't', 64);
	text[200] = tenant[64] = '\0';
	i.id = str_of(text);
	i.tenant = str_of(tenant);
	ck_assert(id_valid(body_guest(&i, dst)));
	text[0] = 'y';
	ck_assert_str_ne(dst, body_guest(&i, other).p);
}

TEST(an_action_is_a_message)
{
	const struct body_action rows[] = {
		{ STR("r1"), STR("move"), STR("{\"x\":1}") },
		{ STR("r1"), STR("mo\"ve"), { NULL, 0 } },
	};
	static const char *const want[] = { "{\"x\":1}", "{}" };
	static const char *const names[] = { "move", "mo\\\"ve" };
	struct buf b = BUF_INIT(4096);
	char text[512];
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		buf_reset(&b);
		body_action_write(STR(A), &world, &rows[i], &b);
		snprintf(text, sizeof(text),
		    "{\"type\":\"message\",\"message_id\":\"r1\",\"sender\":" A
		    ",\"recipient\":{\"id\":\"demo_world\",\"type\":"
		    "\"environment\"},\"payload\":{\"type\":\"action\",\"id\":"
		    "\"r1\",\"action\":\"%s\",\"parameters\":%s}}",
		    names[i], want[i]);
		is_text(buf_str(&b), text);
	}
	buf_free(&b);
}

TEST(an_event_is_a_message)
{
	const struct body_event e = { STR(A), &world, STR("e1"),
		STR("status") };
	struct buf b = BUF_INIT(4096);

	body_event_begin(&e, &b);
	buf_puts(&b, "{\"status\":\"x\"}");
	body_event_end(&b);
	is_text(buf_str(&b),
	    "{\"type\":\"message\",\"message_id\":\"e1\",\"sender\":" A
	    ",\"recipient\":{\"id\":\"demo_world\",\"type\":\"environment\"},"
	    "\"payload\":{\"type\":\"event\",\"id\":\"e1\",\"event\":"
	    "\"status\",\"data\":{\"status\":\"x\"}}}");
	buf_free(&b);
}

TEST(an_intent_is_a_skill_and_its_parameters)
{
	static const struct {
		const char *in, *action, *parameters;
	} rows[] = {
		{ "{\"skill\":\"light\",\"mode\":\"on\",\"n\":[1, 2]}", "light",
		    "{\"mode\":\"on\",\"n\":[1, 2]}" },
		{ "{\"a\\u0062\":1,\"skill\":\"l\\n\"}", "l\n",
		    "{\"a\\u0062\":1}" },
		{ "{\"skill\":\"nod\"}", "nod", "{}" },
		{ "{\"mode\":\"on\"}", NULL, NULL },
		{ "{\"skill\":1}", NULL, NULL },
		{ "[]", NULL, NULL },
		{ "", NULL, NULL },
	};
	struct arena *a = arena_new(65536);
	struct body_action act;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		enum rc rc = body_intent_read(str_of(rows[i].in), a, &act);

		ck_assert_int_eq(
		    rc, rows[i].action != NULL ? RC_OK : RC_INVALID);
		if (rc != RC_OK)
			continue;
		is_text(act.action, rows[i].action);
		is_text(act.parameters, rows[i].parameters);
	}
	arena_free(a);
}

TEST(the_text_of_a_payload_is_found)
{
	static const struct {
		const char *in, *text;
	} rows[] = {
		{ "{\"data\":{\"text\":\" 你好 \"}}", "你好" },
		{ "{\"data\":{\"message\":\"a\",\"content\":\"b\"}}", "a" },
		{ "{\"data\":{\"content\":\"b\"},\"text\":\"c\"}", "b" },
		{ "{\"data\":\"d\",\"text\":\"c\"}", "d" },
		{ "{\"data\":{},\"text\":\"c\"}", "c" },
		{ "{\"message\":\"m\"}", "m" },
		{ "{\"data\":{\"text\":\"  \"}}", NULL },
		{ "{\"data\":{\"text\":1}}", NULL },
		{ "{}", NULL },
	};
	struct arena *a = arena_new(65536);
	struct body_payload p;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(
		    body_payload_read(str_of(rows[i].in), a, &p), RC_OK);
		is_text(p.user_text, rows[i].text);
	}
	ck_assert_int_eq(body_payload_read(STR("[]"), a, &p), RC_INVALID);
	ck_assert_int_eq(
	    body_payload_read(
		STR("{\"type\":\"event\",\"event\":\"e\",\"id\":7,\"data\":"
		    "{\"attention\":true,\"in_reply_to\":\"x\"}}"),
		a, &p),
	    RC_OK);
	is_text(p.type, "event");
	is_text(p.event, "e");
	is_text(p.id, "7");
	ck_assert(p.attention && p.is_reply);
	arena_free(a);
}

TEST(only_success_is_ok)
{
	static const struct {
		const char *in;
		bool ok;
		const char *output, *error;
	} rows[] = {
		{ "{\"status\":\"success\",\"message\":\"moved\"}", true,
		    "\"moved\"", NULL },
		{ "{\"status\":\"success\",\"message\":\"moved\",\"data\":"
		  "{\"x\":5}}",
		    true, "{\"message\":\"moved\",\"data\":{\"x\":5}}", NULL },
		{ "{\"status\":\"success\"}", true, "null", NULL },
		{ "{\"status\":\"error\",\"message\":\"a wall\"}", false,
		    "\"a wall\"", "a wall" },
		{ "{\"status\":\"pending\"}", false, "null",
		    "the environment's outcome is pending" },
		{ "{\"status\":true}", false, "null",
		    "the environment's outcome has no status" },
		{ "{\"status\":\"Success\"}", false, "null",
		    "the environment's outcome is Success" },
		{ "{}", false, "null",
		    "the environment's outcome has no status" },
		{ "\"success\"", false, "\"success\"",
		    "the environment's outcome has no status" },
		{ "", false, "", "the environment's outcome has no status" },
	};
	struct arena *a = arena_new(262144);
	struct body_outcome o;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		body_outcome_read(str_of(rows[i].in), a, &o);
		ck_assert_msg(o.ok == rows[i].ok, "%s", rows[i].in);
		is_text(o.output, rows[i].output);
		is_text(o.error, rows[i].error);
	}
	arena_free(a);
}

TEST(long_outputs_and_errors_are_shortened)
{
	struct buf b = BUF_INIT(2UL * BODY_OUTPUT_MAX);
	struct arena *a = arena_new(4UL * BODY_OUTPUT_MAX);
	struct body_outcome o;
	size_t i;

	buf_puts(&b, "{\"status\":\"success\",\"message\":\"m\",\"data\":\"");
	for (i = 0; i < BODY_OUTPUT_MAX; i++)
		buf_putc(&b, 'x');
	buf_puts(&b, "\"}");
	body_outcome_read(buf_str(&b), a, &o);
	ck_assert(o.ok);
	is_text(o.output, "\"m\"");
	buf_reset(&b);
	buf_puts(&b, "{\"status\":\"error\",\"message\":\"");
	for (i = 0; i < BODY_ERROR_MAX; i++)
		buf_puts(&b, "墙");
	buf_puts(&b, "\"}");
	body_outcome_read(buf_str(&b), a, &o);
	ck_assert_uint_le(o.error.n, BODY_ERROR_MAX);
	ck_assert_int_gt(str_utf8_count(o.error), 300);
	arena_free(a);
	buf_free(&b);
}
