/*
 * Events in the form of AG-UI.
 */
#include <stdio.h>
#include <string.h>

#include "agui/agui_view.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

/* One event: its type, its data. */
struct agui_step {
	const char *type, *data;
};

/* What the steps become: types, with text, message, or code. */
static void
agui_run_steps(const struct agui_step *steps, size_t n, struct buf *out)
{
	struct agui g = { .open = false };

	for (size_t i = 0; i < n; i++) {
		struct arena *a = arena_new(2 * (size_t)WIRE_ARENA_MAX);
		struct str json = arena_printf(a,
		    "{\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"r1\","
		    "\"seq\":%zu,\"ts\":\"2026-01-01T00:00:00Z\","
		    "\"engine\":\"soul\",\"session_id\":\"s1\","
		    "\"type\":\"%s\",\"data\":%s,"
		    "\"meta\":{\"confidence\":1,\"attempt\":1},"
		    "\"raw_ref\":{\"stdout_from\":0,\"stdout_to\":0,"
		    "\"stderr_from\":0,\"stderr_to\":0}}",
		    i + 1, steps[i].type, steps[i].data);
		struct wire_chat_event e;
		struct agui_events events;
		struct wire_err err = { "", "" };

		ck_assert_msg(wire_decode(&wire_chat_event_desc, json, a, &e,
				  &err) == RC_OK,
		    "%s: %s", err.path, err.why);
		ck_assert_int_eq(agui_convert(&g, &e, a, &events), RC_OK);
		for (size_t k = 0; k < events.n; k++) {
			json_t *j = json_loadb(
			    events.json[k].p, events.json[k].n, 0, NULL);
			static const char *const shown[] = { "runId",
				"messageId", "delta", "code", "name" };

			buf_puts(out, tk_text(j, "type"));
			for (size_t m = 0; m < NELEM(shown); m++)
				if (json_object_get(j, shown[m]) != NULL)
					buf_printf(
					    out, ":%s", tk_text(j, shown[m]));
			if (json_object_get(j, "outcome") != NULL)
				buf_printf(
				    out, ":%s", tk_text(j, "outcome.type"));
			buf_puts(out, " ");
			json_decref(j);
		}
		arena_free(a);
	}
}

#define STARTED                                             \
	{                                                   \
		"conversation.started", "{\"title\":\"t\"}" \
	}
#define DELTA(m, t)                                                       \
	{                                                                 \
		"assistant.message.delta",                                \
		    "{\"message_id\":\"" m "\",\"text_delta\":\"" t "\"}" \
	}
#define FINAL(m, t)                                                 \
	{                                                           \
		"assistant.message.final",                          \
		    "{\"message_id\":\"" m "\",\"text\":\"" t "\"," \
		    "\"structured_payload\":{\"reply\":\"x\"}}"     \
	}
#define COMPLETED                                                     \
	{                                                             \
		"conversation.completed", "{\"state\":\"completed\"}" \
	}
#define FAILED                                                             \
	{                                                                  \
		"conversation.failed",                                     \
		    "{\"error\":{\"category\":\"engine\",\"code\":\"X\"}}" \
	}
#define QUESTION                                                         \
	{                                                                \
		"user.input.required",                                   \
		    "{\"interaction_id\":\"ix\",\"kind\":\"free_text\"," \
		    "\"prompt\":\"?\",\"options\":[]}"                   \
	}
#define WARNING                                          \
	{                                                \
		"diagnostic.warning", "{\"code\":\"W\"}" \
	}

static const struct {
	struct agui_step steps[6];
	const char *events;
} rows[] = {
	{ { STARTED, DELTA("m", "a"), DELTA("m", "b"), FINAL("m", "abc"),
	      COMPLETED },
	    "RUN_STARTED:r1 TEXT_MESSAGE_START:m TEXT_MESSAGE_CONTENT:m:a "
	    "TEXT_MESSAGE_CONTENT:m:b TEXT_MESSAGE_CONTENT:m:c "
	    "TEXT_MESSAGE_END:m CUSTOM:soul.reply RUN_FINISHED:r1:success " },
	/* Text that is withdrawn. */
	{ { STARTED, DELTA("m", "a"), DELTA("n", "b"), FINAL("n", "b"),
	      COMPLETED },
	    "RUN_STARTED:r1 TEXT_MESSAGE_START:m TEXT_MESSAGE_CONTENT:m:a "
	    "TEXT_MESSAGE_END:m TEXT_MESSAGE_START:n TEXT_MESSAGE_CONTENT:n:b "
	    "TEXT_MESSAGE_END:n CUSTOM:soul.reply RUN_FINISHED:r1:success " },
	/* From the middle of a run. */
	{ { WARNING, DELTA("m", "b"), FAILED },
	    "RUN_STARTED:r1 TEXT_MESSAGE_START:m TEXT_MESSAGE_CONTENT:m:b "
	    "TEXT_MESSAGE_END:m RUN_ERROR:X " },
	/* A question, and what follows the reply. */
	{ { STARTED, WARNING, QUESTION,
	      { "user.input.replied", "{\"interaction_id\":\"ix\"}" },
	      DELTA("m", "b"), COMPLETED },
	    "RUN_STARTED:r1 CUSTOM:soul.warning RUN_FINISHED:r1:interrupt "
	    "RUN_STARTED:r1 TEXT_MESSAGE_START:m TEXT_MESSAGE_CONTENT:m:b "
	    "TEXT_MESSAGE_END:m RUN_FINISHED:r1:success " },
	/* No reply. */
	{ { STARTED, FINAL("m", ""), COMPLETED },
	    "RUN_STARTED:r1 CUSTOM:soul.reply RUN_FINISHED:r1:success " },
};

TEST(events_open_and_close_what_they_should)
{
	struct buf out = BUF_INIT(8192);

	for (size_t i = 0; i < NELEM(rows); i++) {
		size_t n = 0;

		while (
		    n < NELEM(rows[i].steps) && rows[i].steps[n].type != NULL)
			n++;
		buf_reset(&out);
		agui_run_steps(rows[i].steps, n, &out);
		ck_assert_str_eq(out.p, rows[i].events);
	}
	buf_free(&out);
}

TEST(an_error_ends_the_message_and_the_run)
{
	struct arena *a = arena_new(2 * (size_t)WIRE_ARENA_MAX);
	struct agui g = { .open = true, .message = "m" };
	struct agui_events out;

	ck_assert_int_eq(
	    agui_convert_error(&g,
		&(struct wire_error){ .error = STR("lost"), .code = STR("x") },
		a, &out),
	    RC_OK);
	ck_assert_uint_eq(out.n, 2);
	ck_assert_ptr_nonnull(strstr(out.json[1].p,
	    "{\"type\":\"RUN_ERROR\",\"message\":\"lost\",\"code\":\"x\"}"));
	ck_assert(!g.open);
	arena_free(a);
}
