/*
 * Permissions: denied subjects are reported, permitted ones work.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"

static const char users[] =
    "authorization { users: [\n"
    "{ user: \"all\", password: \"a\" }\n"
    "{ user: \"few\", password: \"f\", permissions: {\n"
    "  publish: { allow: [\"t.echo\", \"_INBOX.few.>\"] }\n"
    "  subscribe: { allow: [\"_INBOX.few.>\", \"t.mine\"] } } } ] }\n";

static struct bus *
bus_of_user(struct bus_fixture *e, const char *name, struct metric_set *metrics)
{
	const char password[] = { name[0], '\0' };
	struct bus_opts o = { .loop = e->loop,
		.url = e->nats.url,
		.name = name,
		.user = name,
		.password = password,
		.metrics = metrics };
	struct bus *b = NULL;

	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	BUS_FIXTURE_WAIT(e, bus_fixture_is_up, b);
	return b;
}

struct wanted {
	struct bus_fixture *e;
	int64_t n;
};

static bool
is_counted(void *arg)
{
	struct wanted *w = arg;

	return bus_fixture_counter(w->e, "soul_bus_denied_total") == w->n;
}

TEST(denials_are_counted_and_other_subjects_work)
{
	struct bus_fixture_reply a;
	struct bus_fixture e = { 0 };
	struct bus *few;
	int served = 0;

	tk_server_start_with(&e.nats, TK_NATS, users);
	e.loop = loop_new(64);
	e.metrics = metric_set_new();
	e.bus = bus_of_user(&e, "all", NULL);
	bus_fixture_serve(e.bus, "t.echo", bus_fixture_on_echo, &served);
	few = bus_of_user(&e, "few", e.metrics);
	/* The reply comes to an inbox that it may read. */
	ck_assert_int_eq(bus_fixture_call(&e, few, "t.echo", "1", &a), RC_OK);
	ck_assert_int_eq(bus_fixture_counter(&e, "soul_bus_denied_total"), 0);
	ck_assert_int_eq(bus_publish(few, "t.secret", STR("1"), NULL), RC_OK);
	ck_assert(bus_fixture_until(
	    &e, is_counted, &(struct wanted){ &e, 1 }, BUS_FIXTURE_MS));
	ck_assert_int_eq(bus_subscribe(few, "t.secret", NULL,
			     bus_fixture_on_echo, &served, NULL),
	    RC_OK);
	ck_assert(bus_fixture_until(
	    &e, is_counted, &(struct wanted){ &e, 2 }, BUS_FIXTURE_MS));
	ck_assert(bus_up(few));
	ck_assert_int_eq(bus_fixture_call(&e, few, "t.echo", "2", &a), RC_OK);
	bus_free(few);
	bus_fixture_stop(&e);
}

TEST(a_wrong_password_prevents_the_connection)
{
	struct bus_fixture e = { 0 };
	struct bus_opts o = { .user = "few", .password = "x", .name = "few" };
	struct bus *b = NULL;

	tk_server_start_with(&e.nats, TK_NATS, users);
	e.loop = o.loop = loop_new(64);
	e.metrics = metric_set_new();
	e.bus = bus_of_user(&e, "all", NULL);
	o.url = e.nats.url;
	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	ck_assert(!bus_fixture_until(&e, bus_fixture_is_up, b, 300));
	bus_free(b);
	bus_fixture_stop(&e);
}

/* Records the reply subject of a request. */
static void
on_sniffed_inbox(void *arg, struct bus_msg *m)
{
	struct str s = bus_msg_subject(m);

	str_copy(s, arg, 256);
	bus_msg_free(m);
}

static bool
subject_is_known(void *arg)
{
	return ((const char *)arg)[0] != '\0';
}

TEST(replies_come_to_inboxes_with_the_bus_name)
{
	static const struct {
		const char *name, *prefix;
	} t[] = {
		{ "chat-gateway", "_INBOX.chat-gateway." },
		{ "two words", "_INBOX." },
	};
	char subject[256];
	struct bus_fixture_reply a;
	struct bus_fixture e;
	struct bus *b;
	int served = 0;
	size_t i;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.echo", bus_fixture_on_echo, &served);
	for (i = 0; i < NELEM(t); i++) {
		struct bus_sub *sub;

		b = bus_fixture_bus(&e, t[i].name);
		ck_assert_int_eq(bus_subscribe(e.bus, "_INBOX.>", NULL,
				     on_sniffed_inbox, subject, &sub),
		    RC_OK);
		json_decref(bus_fixture_request_json(&e, "$JS.API.INFO", ""));
		subject[0] = '\0';
		ck_assert_int_eq(
		    bus_fixture_call(&e, b, "t.echo", "1", &a), RC_OK);
		BUS_FIXTURE_WAIT(&e, subject_is_known, subject);
		ck_assert_msg(str_starts(str_of(subject), str_of(t[i].prefix)),
		    "%s", subject);
		/* Followed by the connection's hexadecimal digits. */
		ck_assert_uint_gt(strlen(subject), strlen(t[i].prefix) + 32);
		bus_unsubscribe(sub);
		bus_free(b);
	}
	bus_fixture_stop(&e);
}
