#include "testkit/run_fixture.h"

#include <stdio.h>

#include "testkit/testkit.h"

#define EVENT_MAX 1024
#define REPLY_MS  60000
#define TTL_MS    600000

struct run_new
run_fixture_new(void)
{
	return (struct run_new){ .user_id = STR("ann"),
		.engine = STR("codex"),
		.mode = STR("interactive"),
		.title = STR("demo"),
		.spec = STR("{\"engine\":\"codex\",\"prompt\":\"x\"}"),
		.runner = STR("r1"),
		.per_user = 100,
		.at = { 1771665172000 } };
}

void
run_fixture_create(struct state *s, char id[RUN_ID_MAX])
{
	struct run_new n = run_fixture_new();

	ck_assert_int_eq(run_create(s, &n), RC_OK);
	str_copy(str_of(n.run_id), id, RUN_ID_MAX);
}

struct run_record
run_fixture_claim(struct state *s, const char *id, struct arena *a)
{
	struct run_record rec;

	ck_assert_int_eq(run_claim(s, str_of(id), STR("r1"), a, &rec), RC_OK);
	return rec;
}

/* What tests and schemas need of an event. */
static struct str
run_fixture_event(char text[EVENT_MAX], const struct run_record *rec,
    const char *type, int64_t seq)
{
	int n = snprintf(text, EVENT_MAX,
	    "{\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"%.*s\","
	    "\"seq\":%lld,\"ts\":\"2026-02-21T12:34:56.789Z\","
	    "\"engine\":\"codex\",\"type\":\"%s\",\"data\":{%s},"
	    "\"meta\":{\"confidence\":1.0,\"attempt\":%lld}}",
	    STR_ARG(rec->run_id), (long long)seq, type,
	    seq == 1 ? "\"title\":\"demo\",\"mode\":\"interactive\"" : "",
	    (long long)rec->attempt);

	return (struct str){ text, (size_t)n };
}

static const char *
run_fixture_type(enum run_status status, int64_t seq, bool last)
{
	if (last && status == RUN_IS_WAITING)
		return "user.input.required";
	if (last && status == RUN_IS_SUCCEEDED)
		return "conversation.completed";
	if (last && run_status_is_end(status))
		return "conversation.failed";
	return seq == 1 ? "conversation.started" : "assistant.message.delta";
}

enum rc
run_fixture_publish(struct state *s, struct run_record *rec,
    enum run_status status, size_t fcmp, size_t rasp)
{
	char text[2 * RUN_FIXTURE_EVENTS_MAX][EVENT_MAX], question[32];
	char note[256];
	struct str json[2 * RUN_FIXTURE_EVENTS_MAX];
	struct run_publish p = { .run_id = rec->run_id,
		.user_id = rec->user_id,
		.workspace = rec->workspace,
		.epoch = rec->epoch,
		.fcmp = rec->fcmp,
		.rasp = rec->rasp,
		.fcmp_json = json,
		.n_fcmp = fcmp,
		.rasp_json = json + RUN_FIXTURE_EVENTS_MAX,
		.n_rasp = rasp,
		.status = status,
		.handle = STR("session-1"),
		.facts = STR("{\"engine_version\":\"1.2\"}"),
		.ttl_ms = TTL_MS };
	enum rc rc;
	size_t i;

	ck_assert_uint_le(fcmp, RUN_FIXTURE_EVENTS_MAX);
	ck_assert_uint_le(rasp, RUN_FIXTURE_EVENTS_MAX);
	for (i = 0; i < fcmp; i++)
		json[i] = run_fixture_event(text[i], rec,
		    run_fixture_type(
			status, rec->fcmp_last + (int64_t)i + 1, i + 1 == fcmp),
		    rec->fcmp_last + (int64_t)i + 1);
	for (i = 0; i < rasp; i++)
		json[RUN_FIXTURE_EVENTS_MAX + i] =
		    run_fixture_event(text[RUN_FIXTURE_EVENTS_MAX + i], rec,
			"rasp", rec->rasp_last + (int64_t)i + 1);
	if (status == RUN_IS_WAITING) {
		snprintf(question, sizeof(question), "ix_%lld",
		    (long long)rec->attempt);
		p.question_id = str_of(question);
		p.question = STR("{\"interaction_id\":\"ix_1\",\"kind\":"
				 "\"free_text\",\"prompt\":\"Which?\"}");
		p.reply_ms = REPLY_MS;
	}
	if (rec->session_id.n > 0 && status != RUN_IS_RUNNING) {
		snprintf(note, sizeof(note),
		    "{\"run_id\":\"%.*s\",\"engine\":\"codex\",\"title\":"
		    "\"demo\",\"state\":\"%s\"}",
		    STR_ARG(rec->run_id), run_status_name(status));
		p.note = str_of(note);
	}
	rc = run_publish(s, &p);
	if (rc == RC_OK) {
		rec->fcmp += (int64_t)fcmp;
		rec->fcmp_last += (int64_t)fcmp;
		rec->rasp += (int64_t)rasp;
		rec->rasp_last += (int64_t)rasp;
		rec->status = status;
	}
	return rc;
}
