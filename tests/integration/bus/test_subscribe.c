/*
 * Subscriptions: wildcards, queue groups, headers, ending, and a foreign peer.
 */
#include <stdio.h>

#include "testkit/bus_fixture.h"
#include "testkit/nats.h"

struct bus_jobs_member {
	int n;
	char subject[64];
	char data[64];
};

static void
on_seen(void *arg, struct bus_msg *m)
{
	struct bus_jobs_member *s = arg;

	s->n++;
	str_copy(bus_msg_subject(m), s->subject, sizeof(s->subject));
	str_copy(bus_msg_data(m), s->data, sizeof(s->data));
	ck_assert(!bus_msg_wants_reply(m));
	bus_msg_free(m);
}

static void
publish(struct bus *b, const char *subject, const char *data)
{
	ck_assert_int_eq(bus_publish(b, subject, str_of(data), NULL), RC_OK);
}

/* Wait until everything this connection has published so far has arrived. */
static void
flush_bus(struct bus_fixture *e, struct bus *b)
{
	struct bus_fixture_reply a;

	ck_assert_int_eq(
	    bus_fixture_call(e, b, "t.unserved", "", &a), RC_NOENT);
}

TEST(wildcards_match_as_documented)
{
	struct bus_fixture e;
	struct bus_jobs_member one = { 0 }, tail = { 0 }, exact = { 0 };

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "w.*.x", on_seen, &one);
	bus_fixture_serve(e.bus, "w.>", on_seen, &tail);
	bus_fixture_serve(e.bus, "w.a.x", on_seen, &exact);
	publish(e.bus, "w.a.x", "1");
	publish(e.bus, "w.b.x", "2");
	publish(e.bus, "w.b.x.y", "3");
	publish(e.bus, "w", "4");
	flush_bus(&e, e.bus);
	ck_assert_int_eq(exact.n, 1);
	ck_assert_int_eq(one.n, 2);
	ck_assert_str_eq(one.subject, "w.b.x");
	ck_assert_str_eq(one.data, "2");
	ck_assert_int_eq(tail.n, 3);
	ck_assert_str_eq(tail.subject, "w.b.x.y");
	bus_fixture_stop(&e);
}

TEST(invalid_subscriptions_are_rejected)
{
	static const char *const bad[] = { "", "a..b", "a b", "a.>.b", "a*",
		"a.b>", ">a", "a\n", "x y z" };
	static const char *const groups[] = { "", "a b", "a\r\n", "q*",
		"a..b" };
	struct bus_fixture e;
	struct bus_sub *s = NULL;
	size_t i;

	bus_fixture_start(&e);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(
		    bus_subscribe(e.bus, bad[i], NULL, on_seen, NULL, &s),
		    RC_INVALID);
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		ck_assert_int_eq(
		    bus_subscribe(e.bus, "t.x", groups[i], on_seen, NULL, &s),
		    RC_INVALID);
	ck_assert_ptr_null(s);
	flush_bus(&e, e.bus);
	bus_fixture_stop(&e);
}

TEST(no_message_is_delivered_after_unsubscribe)
{
	struct bus_fixture e;
	struct bus_jobs_member seen = { 0 };
	struct bus_sub *s;
	int i;

	bus_fixture_start(&e);
	ck_assert_int_eq(
	    bus_subscribe(e.bus, "t.u", NULL, on_seen, &seen, &s), RC_OK);
	publish(e.bus, "t.u", "1");
	flush_bus(&e, e.bus);
	ck_assert_int_eq(seen.n, 1);
	/* These are in flight when the subscription ends. */
	for (i = 0; i < 100; i++)
		publish(e.bus, "t.u", "2");
	bus_unsubscribe(s);
	publish(e.bus, "t.u", "3");
	flush_bus(&e, e.bus);
	flush_bus(&e, e.bus);
	ck_assert_int_eq(seen.n, 1);
	bus_unsubscribe(NULL);
	/* Repeatedly: nothing accumulates or is freed twice. */
	for (i = 0; i < 300; i++) {
		ck_assert_int_eq(
		    bus_subscribe(e.bus, "t.u", NULL, on_seen, &seen, &s),
		    RC_OK);
		publish(e.bus, "t.u", "4");
		if (i % 3 == 0)
			flush_bus(&e, e.bus);
		bus_unsubscribe(s);
	}
	bus_fixture_stop(&e);
}

struct self {
	struct bus_sub *s;
	int n;
};

static void
on_unsubscribe_self(void *arg, struct bus_msg *m)
{
	struct self *self = arg;

	self->n++;
	bus_unsubscribe(self->s);
	/* The message outlives its subscription. */
	ck_assert(str_eq(bus_msg_subject(m), STR("t.once")));
	ck_assert_int_eq(bus_reply(m, STR("bye")), RC_OK);
}

TEST(a_handler_may_end_its_own_subscription)
{
	struct bus_fixture e;
	struct self self = { NULL, 0 };
	struct bus_fixture_reply a;

	bus_fixture_start(&e);
	ck_assert_int_eq(bus_subscribe(e.bus, "t.once", NULL,
			     on_unsubscribe_self, &self, &self.s),
	    RC_OK);
	ck_assert_int_eq(bus_fixture_call(&e, e.bus, "t.once", "", &a), RC_OK);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.once", "", &a), RC_NOENT);
	ck_assert_int_eq(self.n, 1);
	bus_fixture_stop(&e);
}

#define GROUP_N 3000

struct tally {
	int served[3], every, left;
};

static void
on_count_bytes(void *arg, struct bus_msg *m)
{
	++*(int *)arg;
	ck_assert_int_eq(bus_reply(m, STR("")), RC_OK);
}

static void
on_every(void *arg, struct bus_msg *m)
{
	++*(int *)arg;
	bus_msg_free(m);
}

static void
on_counted(void *arg, enum rc rc, struct str data)
{
	(void)data;
	ck_assert_int_eq(rc, RC_OK);
	--*(int *)arg;
}

static bool
is_zero(void *arg)
{
	return *(int *)arg == 0;
}

TEST(a_queue_group_shares_the_load)
{
	struct bus_fixture e;
	struct bus *more[3];
	struct tally t = { .left = GROUP_N };
	struct bus_meta meta;
	int i;

	bus_fixture_start(&e);
	for (i = 0; i < 3; i++) {
		more[i] = bus_fixture_bus(&e, "member");
		ck_assert_int_eq(bus_subscribe(more[i], "t.q", "group",
				     on_count_bytes, &t.served[i], NULL),
		    RC_OK);
		flush_bus(&e, more[i]);
	}
	bus_fixture_serve(e.bus, "t.q", on_every, &t.every);
	flush_bus(&e, e.bus);
	meta = (struct bus_meta){ .deadline = bus_fixture_in_ms(20000) };
	for (i = 0; i < GROUP_N; i++)
		ck_assert_int_eq(bus_request(e.bus, "t.q", STR("x"), &meta,
				     (struct bus_reply_handler){
					 .fn = on_counted, .arg = &t.left },
				     NULL),
		    RC_OK);
	ck_assert(bus_fixture_until(&e, is_zero, &t.left, 20000));
	/* Each request reaches one member of the group and each plain
	 * subscriber. */
	ck_assert_int_eq(t.served[0] + t.served[1] + t.served[2], GROUP_N);
	for (i = 0; i < 3; i++)
		ck_assert_int_gt(t.served[i], GROUP_N / 10);
	flush_bus(&e, e.bus);
	ck_assert_int_eq(t.every, GROUP_N);
	for (i = 0; i < 3; i++)
		bus_free(more[i]);
	bus_fixture_stop(&e);
}

struct heads {
	int n;
	struct wall deadline;
	bool traced;
	struct trace trace;
};

static void
on_headers(void *arg, struct bus_msg *m)
{
	struct heads *h = arg;

	h->n++;
	h->deadline = bus_msg_deadline(m);
	h->traced = bus_msg_trace(m, &h->trace);
	bus_msg_free(m);
}

TEST(deadline_and_trace_are_headers)
{
	struct bus_fixture e;
	struct heads h = { 0 };
	struct trace t;
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(60000),
		.trace = &t };

	bus_fixture_start(&e);
	trace_new(&t);
	bus_fixture_serve(e.bus, "t.h", on_headers, &h);
	ck_assert_int_eq(bus_publish(e.bus, "t.h", STR("x"), &meta), RC_OK);
	flush_bus(&e, e.bus);
	ck_assert_int_eq(h.n, 1);
	ck_assert_int_eq(h.deadline.ms, meta.deadline.ms);
	ck_assert(h.traced);
	ck_assert_str_eq(h.trace.trace_id, t.trace_id);
	ck_assert_str_eq(h.trace.span_id, t.span_id);
	publish(e.bus, "t.h", "");
	flush_bus(&e, e.bus);
	ck_assert_int_eq(h.n, 2);
	ck_assert_int_eq(h.deadline.ms, 0);
	ck_assert(!h.traced);
	bus_fixture_stop(&e);
}

/* ---- a plain cnats program as the peer ---- */

/* Send a request from the peer; the reply comes to sub. */
static void
peer_request(
    natsConnection *nc, const char *subject, const char *key, const char *value)
{
	natsMsg *m = NULL;

	ck_assert_int_eq(
	    natsMsg_Create(&m, subject, "peer.inbox", "x", 1), NATS_OK);
	if (key != NULL)
		ck_assert_int_eq(natsMsgHeader_Set(m, key, value), NATS_OK);
	ck_assert_int_eq(natsConnection_PublishMsg(nc, m), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	natsMsg_Destroy(m);
}

struct peer {
	natsSubscription *sub;
	natsMsg *got;
};

static bool
peer_has_reply(void *arg)
{
	struct peer *p = arg;

	return natsSubscription_NextMsg(&p->got, p->sub, 0) == NATS_OK;
}

static void
check_header(natsMsg *m, const char *key, const char *want)
{
	const char *got = NULL;

	ck_assert_int_eq(natsMsgHeader_Get(m, key, &got), NATS_OK);
	ck_assert_str_eq(got, want);
}

TEST(an_expired_message_is_rejected_and_counted)
{
	struct bus_fixture e;
	struct peer p = { NULL, NULL };
	struct bus_jobs_member seen = { 0 };
	natsConnection *nc;
	char text[32];

	bus_fixture_start(&e);
	nc = tk_nats_connect(e.nats.url);
	p.sub = tk_nats_listen(nc, "peer.inbox");
	bus_fixture_serve(e.bus, "t.late", on_seen, &seen);
	flush_bus(&e, e.bus);
	snprintf(
	    text, sizeof(text), "%lld", (long long)bus_fixture_in_ms(-5).ms);
	peer_request(nc, "t.late", "Soul-Deadline", text);
	BUS_FIXTURE_WAIT(&e, peer_has_reply, &p);
	check_header(p.got, "Nats-Service-Error", rc_name(RC_TIMEOUT));
	check_header(p.got, "Nats-Service-Error-Code", "504");
	snprintf(text, sizeof(text), "\"code\":\"%s\"", rc_name(RC_TIMEOUT));
	ck_assert_ptr_nonnull(memmem(natsMsg_GetData(p.got),
	    (size_t)natsMsg_GetDataLength(p.got), text, strlen(text)));
	ck_assert_ptr_nonnull(memmem(natsMsg_GetData(p.got),
	    (size_t)natsMsg_GetDataLength(p.got), "{\"error\":", 9));
	natsMsg_Destroy(p.got);
	ck_assert_int_eq(bus_fixture_counter(&e, "soul_bus_stale_total"), 1);
	/* One without a reply subject is dropped, and counted too. */
	snprintf(
	    text, sizeof(text), "%lld", (long long)bus_fixture_in_ms(-5).ms);
	ck_assert_int_eq(
	    bus_publish(e.bus, "t.late", STR("x"),
		&(struct bus_meta){ .deadline = bus_fixture_in_ms(-5) }),
	    RC_OK);
	flush_bus(&e, e.bus);
	ck_assert_int_eq(bus_fixture_counter(&e, "soul_bus_stale_total"), 2);
	ck_assert_int_eq(seen.n, 0);
	natsSubscription_Destroy(p.sub);
	natsConnection_Destroy(nc);
	bus_fixture_stop(&e);
}

TEST(an_unreadable_deadline_is_ignored)
{
	static const char *const odd[] = { "soon", "-1", "0", "1e3",
		"99999999999999999999", " " };
	struct bus_fixture e;
	struct heads h = { 0 };
	natsConnection *nc;
	size_t i;

	bus_fixture_start(&e);
	nc = tk_nats_connect(e.nats.url);
	bus_fixture_serve(e.bus, "t.odd", on_headers, &h);
	flush_bus(&e, e.bus);
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		peer_request(nc, "t.odd", "Soul-Deadline", odd[i]);
	peer_request(nc, "t.odd", "traceparent", "00-zz-yy-01");
	flush_bus(&e, e.bus);
	ck_assert_int_eq(h.n, (int)(sizeof(odd) / sizeof(odd[0])) + 1);
	ck_assert_int_eq(h.deadline.ms, 0);
	ck_assert(!h.traced);
	natsConnection_Destroy(nc);
	bus_fixture_stop(&e);
}

/* A foreign micro service with its own error texts. */
static void
on_peer_request(
    natsConnection *nc, natsSubscription *sub, natsMsg *in, void *arg)
{
	natsMsg *m = NULL;

	(void)sub;
	(void)arg;
	natsMsg_Create(&m, natsMsg_GetReply(in), NULL, "body", 4);
	natsMsgHeader_Set(m, "Nats-Service-Error", "no such thing");
	natsMsgHeader_Set(m, "Nats-Service-Error-Code",
	    strcmp(natsMsg_GetSubject(in), "p.404") == 0 ? "404" : "nonsense");
	natsConnection_PublishMsg(nc, m);
	natsMsg_Destroy(m);
	natsMsg_Destroy(in);
}

TEST(a_foreign_error_maps_to_the_nearest_code)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	natsConnection *nc;
	natsSubscription *sub = NULL;

	bus_fixture_start(&e);
	nc = tk_nats_connect(e.nats.url);
	ck_assert_int_eq(
	    natsConnection_Subscribe(&sub, nc, "p.*", on_peer_request, NULL),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "p.404", "", &a), RC_NOENT);
	ck_assert_str_eq(a.body, "body");
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "p.odd", "", &a), RC_INVALID);
	ck_assert_str_eq(a.body, "body");
	natsSubscription_Destroy(sub);
	natsConnection_Destroy(nc);
	bus_fixture_stop(&e);
}

/* Learn the reply subject of a request, without a reply. */
static void
spy(struct bus_fixture *e, natsConnection *nc, struct bus_fixture_reply *a,
    char reply[128])
{
	struct peer p = { NULL, NULL };

	p.sub = tk_nats_listen(nc, "t.spy");
	ck_assert_int_eq(
	    bus_fixture_request(e->bus, "t.spy", STR("x"), 1000, a), RC_OK);
	BUS_FIXTURE_WAIT(e, peer_has_reply, &p);
	snprintf(reply, 128, "%s", natsMsg_GetReply(p.got));
	natsMsg_Destroy(p.got);
	natsSubscription_Destroy(p.sub);
}

TEST(forged_replies_are_ignored)
{
	static const char *const ids[] = { "0", "1", "zz", "4001", "FFFF",
		"ffffffffffffffff", "10000000000000000000000" };
	struct bus_fixture e;
	struct bus_fixture_reply a;
	natsConnection *nc;
	char reply[128], forged[192];
	size_t i;

	bus_fixture_start(&e);
	nc = tk_nats_connect(e.nats.url);
	spy(&e, nc, &a, reply);
	ck_assert_ptr_nonnull(strrchr(reply, '.'));
	strrchr(reply, '.')[1] = '\0';
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		snprintf(forged, sizeof(forged), "%s%s", reply, ids[i]);
		ck_assert_int_eq(
		    natsConnection_PublishString(nc, forged, "forged"),
		    NATS_OK);
	}
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	ck_assert_int_eq(a.calls, 1);
	natsConnection_Destroy(nc);
	bus_fixture_stop(&e);
}

struct order {
	char seen[256];
	size_t n;
};

static void
on_ordered(void *arg, struct bus_msg *m)
{
	struct order *o = arg;

	ck_assert_uint_lt(o->n + 1, sizeof(o->seen));
	o->seen[o->n++] = bus_msg_data(m).p[0];
	bus_msg_free(m);
}

TEST(the_order_of_several_subscriptions_is_the_servers)
{
	struct bus_fixture e;
	struct order o = { .n = 0 };
	struct bus *other;
	int i;

	bus_fixture_start(&e);
	other = bus_fixture_bus(&e, "other");
	bus_fixture_serve(e.bus, "o.c", on_ordered, &o);
	bus_fixture_serve(e.bus, "o.a", on_ordered, &o);
	bus_fixture_serve(e.bus, "o.b", on_ordered, &o);
	flush_bus(&e, e.bus);
	for (i = 0; i < 50; i++) {
		publish(other, "o.a", "a");
		publish(other, "o.b", "b");
		publish(other, "o.c", "c");
	}
	flush_bus(&e, other);
	flush_bus(&e, e.bus);
	ck_assert_uint_eq(o.n, 150);
	for (i = 0; i < 150; i++)
		ck_assert_int_eq(o.seen[i], "abc"[i % 3]);
	bus_free(other);
	bus_fixture_stop(&e);
}

#define MANY 3000

/* Their places on the connection are used again. */
TEST(subscriptions_come_and_go)
{
	static struct bus_jobs_member seen[MANY];
	static struct bus_sub *s[MANY];
	struct bus_fixture e;
	char subject[32];
	int i, round;

	bus_fixture_start(&e);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++) {
			snprintf(subject, sizeof(subject), "m.%d.%d", round, i);
			ck_assert_int_eq(bus_subscribe(e.bus, subject, NULL,
					     on_seen, &seen[i], &s[i]),
			    RC_OK);
		}
		for (i = 0; i < MANY; i++) {
			snprintf(subject, sizeof(subject), "m.%d.%d", round, i);
			publish(e.bus, subject, subject);
			if (i % 3 == 0)
				bus_unsubscribe(s[i]);
		}
		flush_bus(&e, e.bus);
		for (i = 0; i < MANY; i++) {
			ck_assert_int_eq(seen[i].n, i % 3 == 0 ? 0 : round + 1);
			if (i % 3 != 0)
				bus_unsubscribe(s[i]);
		}
	}
	bus_fixture_stop(&e);
}
