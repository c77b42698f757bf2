/*
 * orch: what an orchestrator writes of a turn, as the tests want it written:
 * its place, its record, its events in the log and on NATS.
 */
#ifndef ORCH_H
#define ORCH_H

#include "core/mem.h"
#include "peer.h"
#include "state/session.h"
#include "state/turn.h"
#include "testkit/sse.h"

/* A turn that runs in a session of a user. */
struct run {
	struct bed *b;
	struct turn_slot p;
	char id[64], session[32], user[32], instance[32];
	int64_t seq; /* of its newest event */
	bool mute;   /* nothing is published: whoever reads has the log only */
};

static inline void
run_event(const struct run *r, char *dst, size_t size, const char *type,
    const char *data)
{
	int n = snprintf(dst, size,
	    "{\"protocol_version\":\"fcmp/1.0\",\"run_id\":\"%s\","
	    "\"ts\":\"2026-02-22T10:20:30Z\",\"engine\":\"soul\","
	    "\"session_id\":\"%s\",\"type\":\"%s\",\"data\":%s}",
	    r->id, r->session, type, data);

	ck_assert_int_lt(n, (int)size);
}

/* The message that goes with the event seq, which stands in json. */
static inline void
run_publish(struct run *r, int64_t seq, const char *json)
{
	size_t size = strlen(json) + 64;
	char *text = mem_alloc(size), subject[128];

	snprintf(text, size, "{\"seq\":%lld,%s", (long long)seq, json + 1);
	snprintf(
	    subject, sizeof(subject), "soul.stream.%s.%s", r->user, r->session);
	tk_nats_send(r->b->nc, subject, text);
	free(text);
}

/* The turn takes its place, and has not begun. */
static inline enum rc
run_enter(struct run *r, struct bed *b, const char *session, const char *id,
    const char *said)
{
	struct turn_entry e = { .fingerprint = str_of(said),
		.trace_id = STR("0123456789abcdef0123456789abcdef") };
	struct turn_entered in;

	*r = (struct run){ .b = b };
	snprintf(r->id, sizeof(r->id), "%s", id);
	snprintf(r->session, sizeof(r->session), "%s", session);
	snprintf(r->user, sizeof(r->user), "demo-user");
	snprintf(r->instance, sizeof(r->instance), "o_%.28s", id);
	r->p = (struct turn_slot){ { str_of(r->user), str_of(r->session) },
		str_of(r->instance), str_of(r->id) };
	ck_assert_int_eq(turn_alive(b->db.s, r->p.instance, 60000), RC_OK);
	return turn_enter(b->db.s, &r->p, &e, b->db.arena, &in);
}

/* It has begun: its first event is told. */
static inline void
run_start(struct run *r)
{
	struct str said = STR("{\"role\":\"user\",\"content\":\"hi\"}"), event;
	struct turn_events told = { &event, 1, 0 };
	char json[1024];

	run_event(r, json, sizeof(json), STARTED, "{\"title\":\"x\"}");
	event = str_of(json);
	ck_assert_int_eq(
	    turn_append_input(r->b->db.s, &r->p,
		&(struct session_new){ .json = &said, .n = 1 },
		&(struct turn_input){ STR("soul_x"), STR("t1"), 180000 },
		&told),
	    RC_OK);
	r->seq = told.seq;
	if (!r->mute)
		run_publish(r, r->seq, json);
}

static inline void
run_begin(struct run *r, struct bed *b, const char *session, const char *id)
{
	enum rc rc = run_enter(r, b, session, id, NULL);

	ck_assert_msg(rc == RC_OK, "%s", rc_name(rc));
	run_start(r);
}

/* Events that stand in the log; n of them from json on. */
static inline void
run_tell(struct run *r, const struct str *json, size_t n)
{
	struct state_pipe *pipe = state_pipe_new(r->b->db.s, 1);

	ck_assert_int_eq(
	    turn_log_events(pipe, &r->p, &(struct turn_events){ json, n, 0 }), RC_OK);
	ck_assert_int_eq(state_pipe_run(pipe), RC_OK);
	ck_assert_int_eq(turn_log_events_reply(pipe, 0, &r->seq), RC_OK);
	state_pipe_free(pipe);
}

static inline void
run_delta(struct run *r, const char *text)
{
	char data[512], json[1024];
	struct str event;

	snprintf(data, sizeof(data),
	    "{\"message_id\":\"m\",\"text_delta\":\"%s\"}", text);
	run_event(r, json, sizeof(json), DELTA, data);
	event = str_of(json);
	run_tell(r, &event, 1);
	if (!r->mute)
		run_publish(r, r->seq, json);
}

/* n more events, each with its number; nothing of them is published. */
static inline void
run_deltas(struct run *r, int n)
{
	static char json[TURN_EVENTS_MAX][512];
	struct str events[TURN_EVENTS_MAX];
	char data[128];
	int i, k;

	for (i = 0; i < n; i += k) {
		for (k = 0; k < TURN_EVENTS_MAX && i + k < n; k++) {
			snprintf(data, sizeof(data),
			    "{\"message_id\":\"m\",\"text_delta\":\"%d\"}",
			    i + k);
			run_event(r, json[k], sizeof(json[k]), DELTA, data);
			events[k] = str_of(json[k]);
		}
		run_tell(r, events, (size_t)k);
	}
}

#define REPLY_COMPLETED "\"state\":\"completed\",\"response\":" RESPONSE
#define REPLY_FAILED                                                      \
	"\"state\":\"failed\",\"status\":502,\"error\":{\"error\":\"the " \
	"language model is unavailable\",\"code\":\"llm_unavailable\"}"
#define REPLY_CANCELED "\"state\":\"canceled\""

/*
 * It ends with this reply, and with two events (one if it failed) unless it
 * never began.
 */
static inline void
run_end_as(struct run *r, const char *reply, const char *timeline)
{
	bool ok = strstr(reply, "completed") != NULL;
	char json[2][1024], last[2048];
	struct str events[2];
	struct turn_ending end = { .timeline = str_of(timeline) };

	snprintf(last, sizeof(last), "{\"turn_id\":\"%s\",%s}", r->id, reply);
	end.reply = str_of(last);
	run_event(r, json[0], sizeof(json[0]), ok ? FINAL : FAILED,
	    ok ? "{\"message_id\":\"m\",\"text\":\"好的。\"}"
	       : "{\"error\":{\"category\":\"engine\",\"code\":\"X\"}}");
	run_event(r, json[1], sizeof(json[1]), COMPLETED,
	    "{\"state\":\"completed\",\"reason_code\":\"R\","
	    "\"skill_done\":true}");
	events[0] = str_of(json[0]);
	events[1] = str_of(json[1]);
	end.events.json = events;
	end.events.n = r->seq == 0 ? 0 : ok ? 2 : 1;
	ck_assert_int_eq(
	    turn_leave(r->b->db.s, &r->p, &end, r->b->db.arena), RC_OK);
	if (r->seq != 0)
		r->seq = end.events.seq;
	if (r->mute || r->seq == 0)
		return;
	run_publish(r, ok ? r->seq - 1 : r->seq, json[0]);
	if (ok)
		run_publish(r, r->seq, json[1]);
}

static inline void
run_end(struct run *r)
{
	run_end_as(r, REPLY_COMPLETED, NULL);
}

static inline bool
run_is_lost(void *arg)
{
	struct run *r = arg;
	struct turn_record rec;

	ck_assert_int_eq(
	    turn_record_read(r->b->db.s, r->p.turn_id, r->b->db.arena, &rec),
	    RC_OK);
	return rec.state == TURN_STATE_LOST;
}

/* Its process dies. */
static inline void
run_die(struct run *r)
{
	ck_assert_int_eq(turn_alive(r->b->db.s, r->p.instance, 1), RC_OK);
	ck_assert(tk_until(run_is_lost, r, BED_MS));
}

#endif /* !ORCH_H */
