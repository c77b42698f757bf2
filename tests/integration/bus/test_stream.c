/*
 * Streams: created as configured; acknowledged messages are stored.
 */
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"

TEST(a_stream_is_created_as_configured)
{
	struct bus_fixture e;
	json_t *o, *c;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	o = bus_fixture_request_json(&e, "$JS.API.STREAM.INFO.JOBS", "");
	c = json_object_get(o, "config");
	bus_fixture_check_text(c, "name", "JOBS");
	bus_fixture_check_text(c, "storage", "file");
	bus_fixture_check_text(c, "retention", "limits");
	bus_fixture_check_text(c, "discard", "old");
	bus_fixture_check_int(c, "max_age", 7LL * 86400 * 1000000000);
	bus_fixture_check_int(c, "max_bytes", 64 << 20);
	bus_fixture_check_int(c, "duplicate_window", 120LL * 1000000000);
	ck_assert_str_eq(json_string_value(
			     json_array_get(json_object_get(c, "subjects"), 0)),
	    "job.>");
	json_decref(o);
	bus_fixture_stop(&e);
}

TEST(a_stream_with_other_limits_is_updated)
{
	struct bus_fixture e;
	struct bus_jobs_ready w = { 0 };
	struct bus_stream s;
	struct bus_jobs_ack p;
	json_t *o;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	ck_assert_int_eq(bus_jobs_publish(&e, "job.a", "1", &p), RC_OK);
	s = bus_jobs_stream(&w);
	s.max_bytes = 32 << 20;
	s.max_age_s = 3600;
	ck_assert_int_eq(bus_stream_ensure(e.bus, &s), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_ready, &w);
	ck_assert_int_eq(w.failed, 0);
	o = bus_fixture_request_json(&e, "$JS.API.STREAM.INFO.JOBS", "");
	bus_fixture_check_int(
	    json_object_get(o, "config"), "max_bytes", 32 << 20);
	bus_fixture_check_int(json_object_get(o, "state"), "messages", 1);
	json_decref(o);
	bus_fixture_stop(&e);
}

TEST(a_stream_with_no_update_is_left_unchanged)
{
	struct bus_fixture e;
	struct bus_jobs_ready w = { 0 };
	struct bus_stream s;
	json_t *o;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	s = bus_jobs_stream(&w);
	s.max_bytes = 32 << 20;
	s.no_update = true;
	ck_assert_int_eq(bus_stream_ensure(e.bus, &s), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_ready, &w);
	ck_assert_int_eq(w.failed, 0);
	o = bus_fixture_request_json(&e, "$JS.API.STREAM.INFO.JOBS", "");
	bus_fixture_check_int(
	    json_object_get(o, "config"), "max_bytes", 64 << 20);
	json_decref(o);
	json_decref(
	    bus_fixture_request_json(&e, "$JS.API.STREAM.DELETE.JOBS", ""));
	bus_fixture_stop(&e);
}

TEST(a_rejected_configuration_is_reported_and_retried)
{
	static const char *const overlap[] = { "job.x" };
	struct bus_fixture e;
	struct bus_jobs_ready w = { 0 };
	struct bus_stream s;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	s = bus_jobs_stream(&w);
	s.name = "OTHER";
	s.subjects = overlap;
	ck_assert_int_eq(bus_stream_ensure(e.bus, &s), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_rejected, &w);
	ck_assert_int_eq(w.last, RC_INVALID);
	ck_assert_int_eq(w.ok, 0);
	json_decref(
	    bus_fixture_request_json(&e, "$JS.API.STREAM.DELETE.JOBS", ""));
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_ready, &w);
	bus_fixture_stop(&e);
}

TEST(a_lost_stream_is_recreated)
{
	struct bus_fixture e;
	struct bus_jobs_ack p;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	json_decref(
	    bus_fixture_request_json(&e, "$JS.API.STREAM.DELETE.JOBS", ""));
	ck_assert_int_eq(bus_jobs_publish(&e, "job.a", "1", &p), RC_NOENT);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	/* Requested before this publish, on the same connection. */
	ck_assert_int_eq(bus_jobs_publish(&e, "job.a", "1", &p), RC_OK);
	bus_fixture_stop(&e);
}

TEST(invalid_streams_are_rejected)
{
	static const char *const wrong[] = { "a b" };
	static const char *const many[BUS_STREAM_SUBJECTS_MAX + 1];
	struct bus_fixture e;
	struct bus_jobs_ready w = { 0 };
	const struct bus_stream good = bus_jobs_stream(&w);
	struct bus_stream bad[10];
	size_t i;

	for (i = 0; i < 10; i++)
		bad[i] = good;
	bad[0].name = "A.B";
	bad[1].name = NULL;
	bad[2].n_subjects = 0;
	bad[3].subjects = wrong;
	bad[4].subjects = many;
	bad[4].n_subjects = BUS_STREAM_SUBJECTS_MAX + 1;
	bad[5].max_age_s = -1;
	bad[6].max_bytes = -1;
	bad[7].duplicates_s = 0;
	bad[8].max_age_s = 60;
	bad[9].max_age_s = INT64_MAX;
	bus_fixture_start(&e);
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(bus_stream_ensure(e.bus, &bad[i]), RC_INVALID);
	bus_fixture_stop(&e);
	ck_assert_int_eq(w.ok + w.failed, 0);
}

TEST(duplicate_message_ids_are_stored_one_time)
{
	struct bus_fixture e;
	struct bus_jobs_ack first, retries, other;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	ck_assert_int_eq(bus_jobs_publish(&e, "job.a", "id-1", &first), RC_OK);
	ck_assert(!first.stored.duplicate);
	ck_assert_int_eq(first.stored.seq, 1);
	ck_assert_int_eq(
	    bus_jobs_publish(&e, "job.a", "id-1", &retries), RC_OK);
	ck_assert(retries.stored.duplicate);
	ck_assert_int_eq(retries.stored.seq, 1);
	ck_assert_int_eq(bus_jobs_publish(&e, "job.a", "id-2", &other), RC_OK);
	ck_assert(!other.stored.duplicate);
	ck_assert_int_eq(other.stored.seq, 2);
	bus_fixture_stop(&e);
}

static void
never_stored(void *arg, enum rc rc, const struct bus_pub_ack *s)
{
	(void)arg;
	(void)rc;
	(void)s;
	ck_abort_msg("the waiter of a refused publish was called");
}

TEST(a_publish_ends_with_ack_error_or_timeout)
{
	struct bus_fixture e;
	struct bus_jobs_ack p;
	struct bus_pub_ack_handler w = { never_stored, NULL };
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(1000) };

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	ck_assert_int_eq(bus_jobs_publish(&e, "elsewhere", "1", &p), RC_NOENT);
	bus_fixture_serve(e.bus, "no.stream", bus_fixture_on_echo, NULL);
	ck_assert_int_eq(
	    bus_jobs_publish(&e, "no.stream", "{\"a\":1}", &p), RC_INVALID);
	ck_assert_int_eq(
	    bus_jobs_publish(&e, "no.stream", "nonsense", &p), RC_INVALID);
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_INVALID);
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), NULL, w), RC_INVALID);
	meta = (struct bus_meta){ .msg_id = "x" };
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_INVALID);
	meta = (struct bus_meta){ .msg_id = "x\r\n",
		.deadline = bus_fixture_in_ms(1000) };
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_INVALID);
	meta = (struct bus_meta){ .msg_id = "x",
		.deadline = bus_fixture_in_ms(-1) };
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_TIMEOUT);
	/* A frozen server. */
	bus_fixture_freeze(&e);
	meta = (struct bus_meta){ .msg_id = "x",
		.deadline = bus_fixture_in_ms(200) };
	memset(&p, 0, sizeof(p));
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta,
		(struct bus_pub_ack_handler){ bus_jobs_on_ack, &p }),
	    RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_acked, &p);
	ck_assert_int_eq(p.rc, RC_TIMEOUT);
	tk_signal(&e.nats.proc, SIGCONT);
	/* A killed one. */
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	meta.deadline = bus_fixture_in_ms(1000);
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_DOWN);
	bus_fixture_stop(&e);
}

/* ---- kill -9 of the server while it stores ---- */

#define STORES 4000
#define WINDOW 256

struct store {
	struct publish_storm *of;
	int64_t seq; /* 0: not acknowledged */
};

struct publish_storm {
	struct bus_fixture *e;
	int sent, acked, unknown;
	bool stop;
	struct store all[STORES];
};

static void on_store(void *arg, enum rc rc, const struct bus_pub_ack *s);

static void
storm_publish(struct publish_storm *t)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(10000) };
	char id[32];

	while (!t->stop && t->sent < STORES &&
	    t->sent - t->acked - t->unknown < WINDOW) {
		snprintf(id, sizeof(id), "storm-%d", t->sent);
		meta.msg_id = id;
		t->all[t->sent].of = t;
		if (bus_stream_publish(t->e->bus, "job.s", str_of(id), &meta,
			(struct bus_pub_ack_handler){
			    on_store, &t->all[t->sent] }) != RC_OK) {
			t->stop = true;
			return;
		}
		t->sent++;
	}
}

static void
on_store(void *arg, enum rc rc, const struct bus_pub_ack *s)
{
	struct store *one = arg;
	struct publish_storm *t = one->of;

	if (rc == RC_OK) {
		one->seq = s->seq;
		t->acked++;
	} else {
		ck_assert_int_eq(rc, RC_DOWN);
		t->unknown++;
	}
	storm_publish(t);
}

static bool
storm_is_half_done(void *arg)
{
	return ((struct publish_storm *)arg)->acked >= STORES / 2;
}

static bool
storm_is_over(void *arg)
{
	struct publish_storm *t = arg;

	return t->acked + t->unknown == t->sent;
}

TEST_T(acknowledged_messages_survive_a_kill_of_the_server, 90)
{
	static struct publish_storm t;
	struct bus_fixture e;
	struct bus_jobs_ack p;
	char id[32];
	int i;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	t.e = &e;
	storm_publish(&t);
	ck_assert(bus_fixture_until(&e, storm_is_half_done, &t, 30000));
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, storm_is_over, &t);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	ck_assert_int_ge(t.acked, STORES / 2);
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	/* Publish all of it again: acknowledged messages have their sequence
	 * number; the others are stored now at the latest. */
	for (i = 0; i < t.sent; i++) {
		snprintf(id, sizeof(id), "storm-%d", i);
		ck_assert_int_eq(bus_jobs_publish(&e, "job.s", id, &p), RC_OK);
		if (t.all[i].seq == 0)
			continue;
		ck_assert(p.stored.duplicate);
		ck_assert_int_eq(p.stored.seq, t.all[i].seq);
	}
	bus_fixture_stop(&e);
}
