/*
 * Streams: made as wished, and what they acknowledged is there.
 */
#include "jobs.h"

TEST(a_stream_is_made_as_wished)
{
	struct bed e;
	json_t *o, *c;

	bed_start(&e);
	jobs_make(&e);
	o = get(&e, "$JS.API.STREAM.INFO.JOBS", "");
	c = json_object_get(o, "config");
	check_text(c, "name", "JOBS");
	check_text(c, "storage", "file");
	check_text(c, "retention", "limits");
	check_text(c, "discard", "old");
	check_number(c, "max_age", 7LL * 86400 * 1000000000);
	check_number(c, "max_bytes", 64 << 20);
	check_number(c, "duplicate_window", 120LL * 1000000000);
	ck_assert_str_eq(json_string_value(
			     json_array_get(json_object_get(c, "subjects"), 0)),
	    "job.>");
	json_decref(o);
	bed_stop(&e);
}

TEST(one_with_other_limits_is_changed)
{
	struct bed e;
	struct wish w = { 0 };
	struct bus_stream s;
	struct put p;
	json_t *o;

	bed_start(&e);
	jobs_make(&e);
	ck_assert_int_eq(put(&e, "job.a", "1", &p), RC_OK);
	s = jobs_stream(&w);
	s.max_bytes = 32 << 20;
	s.max_age_s = 3600;
	ck_assert_int_eq(bus_stream_ensure(e.bus, &s), RC_OK);
	ck_assert(bed_until(&e, is_granted, &w, BED_MS));
	ck_assert_int_eq(w.failed, 0);
	o = get(&e, "$JS.API.STREAM.INFO.JOBS", "");
	check_number(json_object_get(o, "config"), "max_bytes", 32 << 20);
	check_number(json_object_get(o, "state"), "messages", 1);
	json_decref(o);
	bed_stop(&e);
}

TEST(one_that_is_good_as_it_is_is_left_alone)
{
	struct bed e;
	struct wish w = { 0 };
	struct bus_stream s;
	json_t *o;

	bed_start(&e);
	jobs_make(&e);
	s = jobs_stream(&w);
	s.max_bytes = 32 << 20;
	s.no_update = true;
	ck_assert_int_eq(bus_stream_ensure(e.bus, &s), RC_OK);
	ck_assert(bed_until(&e, is_granted, &w, BED_MS));
	ck_assert_int_eq(w.failed, 0);
	o = get(&e, "$JS.API.STREAM.INFO.JOBS", "");
	check_number(json_object_get(o, "config"), "max_bytes", 64 << 20);
	json_decref(o);
	json_decref(get(&e, "$JS.API.STREAM.DELETE.JOBS", ""));
	bed_stop(&e);
}

TEST(a_refused_wish_is_told_and_tried_again)
{
	static const char *const overlap[] = { "job.x" };
	struct bed e;
	struct wish w = { 0 };
	struct bus_stream s;

	bed_start(&e);
	jobs_make(&e);
	s = jobs_stream(&w);
	s.name = "OTHER";
	s.subjects = overlap;
	ck_assert_int_eq(bus_stream_ensure(e.bus, &s), RC_OK);
	ck_assert(bed_until(&e, is_refused, &w, BED_MS));
	ck_assert_int_eq(w.last, RC_INVALID);
	ck_assert_int_eq(w.ok, 0);
	json_decref(get(&e, "$JS.API.STREAM.DELETE.JOBS", ""));
	ck_assert(bed_until(&e, is_granted, &w, BED_MS));
	bed_stop(&e);
}

TEST(a_stream_that_was_lost_is_made_again)
{
	struct bed e;
	struct put p;

	bed_start(&e);
	jobs_make(&e);
	json_decref(get(&e, "$JS.API.STREAM.DELETE.JOBS", ""));
	ck_assert_int_eq(put(&e, "job.a", "1", &p), RC_NOENT);
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bed_until(&e, bed_is_down, e.bus, BED_MS));
	tk_server_restart(&e.nats);
	ck_assert(bed_until(&e, bed_is_up, e.bus, BED_MS));
	/* It was asked for before this publish, on the same connection. */
	ck_assert_int_eq(put(&e, "job.a", "1", &p), RC_OK);
	bed_stop(&e);
}

TEST(bad_streams_are_refused)
{
	static const char *const wrong[] = { "a b" };
	static const char *const many[BUS_STREAM_SUBJECTS_MAX + 1];
	struct bed e;
	struct wish w = { 0 };
	const struct bus_stream good = jobs_stream(&w);
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
	bed_start(&e);
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(bus_stream_ensure(e.bus, &bad[i]), RC_INVALID);
	bed_stop(&e);
	ck_assert_int_eq(w.ok + w.failed, 0);
}

TEST(the_same_id_is_stored_once)
{
	struct bed e;
	struct put first, again, other;

	bed_start(&e);
	jobs_make(&e);
	ck_assert_int_eq(put(&e, "job.a", "id-1", &first), RC_OK);
	ck_assert(!first.stored.duplicate);
	ck_assert_int_eq(first.stored.seq, 1);
	ck_assert_int_eq(put(&e, "job.a", "id-1", &again), RC_OK);
	ck_assert(again.stored.duplicate);
	ck_assert_int_eq(again.stored.seq, 1);
	ck_assert_int_eq(put(&e, "job.a", "id-2", &other), RC_OK);
	ck_assert(!other.stored.duplicate);
	ck_assert_int_eq(other.stored.seq, 2);
	bed_stop(&e);
}

static void
never_stored(void *arg, enum rc rc, const struct bus_pub_ack *s)
{
	(void)arg;
	(void)rc;
	(void)s;
	ck_abort_msg("the waiter of a refused publish was called");
}

TEST(every_end_of_a_publish)
{
	struct bed e;
	struct put p;
	struct bus_pub_ack_handler w = { never_stored, NULL };
	struct bus_meta meta = { .deadline = in_ms(1000) };

	bed_start(&e);
	jobs_make(&e);
	ck_assert_int_eq(put(&e, "elsewhere", "1", &p), RC_NOENT);
	serve(e.bus, "no.stream", on_echo, NULL);
	ck_assert_int_eq(put(&e, "no.stream", "{\"a\":1}", &p), RC_INVALID);
	ck_assert_int_eq(put(&e, "no.stream", "nonsense", &p), RC_INVALID);
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_INVALID);
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), NULL, w), RC_INVALID);
	meta = (struct bus_meta){ .msg_id = "x" };
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_INVALID);
	meta = (struct bus_meta){ .msg_id = "x\r\n", .deadline = in_ms(1000) };
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_INVALID);
	meta = (struct bus_meta){ .msg_id = "x", .deadline = in_ms(-1) };
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_TIMEOUT);
	/* A server that says nothing. */
	bed_freeze(&e);
	meta = (struct bus_meta){ .msg_id = "x", .deadline = in_ms(200) };
	memset(&p, 0, sizeof(p));
	ck_assert_int_eq(bus_stream_publish(e.bus, "job.a", STR(""), &meta,
			     (struct bus_pub_ack_handler){ on_put, &p }),
	    RC_OK);
	ck_assert(bed_until(&e, is_put, &p, BED_MS));
	ck_assert_int_eq(p.rc, RC_TIMEOUT);
	tk_signal(&e.nats.proc, SIGCONT);
	/* And one that is gone. */
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bed_until(&e, bed_is_down, e.bus, BED_MS));
	meta.deadline = in_ms(1000);
	ck_assert_int_eq(
	    bus_stream_publish(e.bus, "job.a", STR(""), &meta, w), RC_DOWN);
	bed_stop(&e);
}

/* ---- kill -9 of the server while it stores ------------------------------ */

#define STORES 4000
#define WINDOW 256

struct store {
	struct storm *of;
	int64_t seq; /* 0: not acknowledged */
};

struct storm {
	struct bed *e;
	int sent, acked, unknown;
	bool stop;
	struct store all[STORES];
};

static void on_store(void *arg, enum rc rc, const struct bus_pub_ack *s);

static void
storm_on(struct storm *t)
{
	struct bus_meta meta = { .deadline = in_ms(10000) };
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
	struct storm *t = one->of;

	if (rc == RC_OK) {
		one->seq = s->seq;
		t->acked++;
	} else {
		ck_assert_int_eq(rc, RC_DOWN);
		t->unknown++;
	}
	storm_on(t);
}

static bool
half_way(void *arg)
{
	return ((struct storm *)arg)->acked >= STORES / 2;
}

static bool
storm_over(void *arg)
{
	struct storm *t = arg;

	return t->acked + t->unknown == t->sent;
}

TEST_T(what_was_acknowledged_survives_a_kill, 90)
{
	static struct storm t;
	struct bed e;
	struct put p;
	char id[32];
	int i;

	bed_start(&e);
	jobs_make(&e);
	t.e = &e;
	storm_on(&t);
	ck_assert(bed_until(&e, half_way, &t, 30000));
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bed_until(&e, storm_over, &t, BED_MS));
	ck_assert(bed_until(&e, bed_is_down, e.bus, BED_MS));
	ck_assert_int_ge(t.acked, STORES / 2);
	tk_server_restart(&e.nats);
	ck_assert(bed_until(&e, bed_is_up, e.bus, BED_MS));
	/* Publishing all of it again: what was acknowledged is there, in its
	 * place; what was not known is stored now if it was not then. */
	for (i = 0; i < t.sent; i++) {
		snprintf(id, sizeof(id), "storm-%d", i);
		ck_assert_int_eq(put(&e, "job.s", id, &p), RC_OK);
		if (t.all[i].seq == 0)
			continue;
		ck_assert(p.stored.duplicate);
		ck_assert_int_eq(p.stored.seq, t.all[i].seq);
	}
	bed_stop(&e);
}
