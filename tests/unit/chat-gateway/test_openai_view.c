/*
 * Requests and replies in the form of OpenAI's API.
 */
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "openai/openai_view.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

TEST(the_newest_text_of_the_user_counts)
{
	static const struct {
		const char *messages, *text; /* NULL: none */
	} rows[] = {
		{ "{\"role\":\"user\",\"content\":\"a\"}", "a" },
		{ "{\"role\":\"user\",\"content\":\"a\"},"
		  "{\"role\":\"assistant\",\"content\":\"b\"}",
		    "a" },
		{ "{\"role\":\"user\",\"content\":\"a\"},"
		  "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
		  "\"b\"},{\"type\":\"image_url\",\"text\":\"x\"},{\"type\":"
		  "\"text\",\"text\":\"c\"},7,{\"type\":\"text\"}]}",
		    "b\nc" },
		{ "{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\"}",
		    NULL },
		{ "{\"role\":\"user\",\"content\":null}", NULL },
		{ "{\"role\":\"user\",\"content\":{}}", NULL },
		{ "{\"role\":\"system\",\"content\":\"a\"}", NULL },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct arena *a = arena_new(WIRE_ARENA_MAX);
		struct wire_openai_chat_request req;
		struct str json = arena_printf(a,
			       "{\"model\":\"m\",\"messages\":[%s]}",
			       rows[i].messages),
			   text;

		ck_assert_int_eq(wire_decode(&wire_openai_chat_request_desc,
				     json, a, &req, NULL),
		    RC_OK);
		enum rc rc = openai_newest_text(&req, a, &text);
		ck_assert_int_eq(rc, rows[i].text != NULL ? RC_OK : RC_NOENT);
		if (rc == RC_OK)
			ck_assert(str_eq(text, str_of(rows[i].text)));
		arena_free(a);
	}
}

TEST(a_model_names_a_soul)
{
	ck_assert(str_eq(openai_soul(STR("soul/Nova")), STR("Nova")));
	ck_assert(str_eq(openai_soul(STR("gpt")), STR("gpt")));
	ck_assert_uint_eq(openai_soul(STR("soul/")).n, 0);
}

TEST(an_error_has_the_type_of_its_status)
{
	static const struct {
		int status;
		const char *type;
	} rows[] = { { 400, "invalid_request_error" },
		{ 401, "authentication_error" }, { 403, "permission_error" },
		{ 404, "not_found_error" }, { 409, "conflict_error" },
		{ 413, "invalid_request_error" }, { 429, "rate_limit_error" },
		{ 502, "server_error" }, { 504, "server_error" } };
	const struct wire_error e = {
		.error = STR("no"), .code = STR("x"), .reason = STR("why")
	};
	struct buf b = BUF_INIT(1024);

	for (size_t i = 0; i < NELEM(rows); i++) {
		buf_reset(&b);
		ck_assert_int_eq(
		    openai_write_error(&e, rows[i].status, &b), RC_OK);
		ck_assert_ptr_nonnull(strstr(b.p, rows[i].type));
		ck_assert_ptr_nonnull(strstr(b.p, "\"no: why\""));
	}
	buf_free(&b);
}
