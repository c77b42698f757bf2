/*
 * With the password of any one service: other services' subjects are denied.
 */
#include "testkit/rights_fixture.h"

/* An attacker: a service's user, and its permissions in the tables. */
struct user {
	const char *name;
	const json_t *all;
	struct rights_fixture raw;
	int allowed, refused;
};

static const char *
log_in(struct rights_fixture *r, const struct tk_server *s, const char *name,
    const char *password)
{
	rights_fixture_open(r, s->port);
	return rights_fixture_request(r, "\r\n",
	    "CONNECT {\"verbose\":false,\"headers\":true,"
	    "\"user\":\"%s\",\"pass\":\"%s\"}\r\n",
	    name, password);
}

static void
try_it(struct user *u, bool may, const char *verb, const char *subject,
    const char *rest)
{
	/* After a PONG the server has processed it. */
	const char *reply = rights_fixture_request(
	    &u->raw, "PONG\r\n", "%s %s %s\r\nPING\r\n", verb, subject, rest);
	bool refused = strstr(reply, "-ERR 'Permissions Violation") != NULL;

	ck_assert_msg(refused == !may, "%s: %s %s: %s", u->name, verb, subject,
	    refused ? "refused, but it is its own"
		    : "permitted, but it is not its own");
	if (refused)
		u->refused++;
	else
		u->allowed++;
}

static void
publish(struct user *u, bool may, const char *subject)
{
	try_it(u, may, "PUB", subject, "0\r\n");
}

static void
subscribe(struct user *u, bool may, const char *subject)
{
	try_it(u, may, "SUB", subject, "1\r\nUNSUB 1");
}

static bool
is_provider(const struct user *u)
{
	size_t i;
	json_t *e;

	json_array_foreach (json_object_get(u->all, "peers"), i, e)
		if (strcmp(rights_fixture_member(e, "name"), u->name) == 0)
			return json_is_true(json_object_get(e, "provider"));
	return false;
}

/* A provider of tools has subjects with its own name only. */
static const char *
own_subject(struct user *u, const char *subject, char dst[128])
{
	static const char mark[] = "{provider}";
	const char *at = strstr(subject, mark);
	const char *other;

	if (at == NULL || !is_provider(u))
		return subject;
	other = rights_fixture_fill(subject, '{', '}', "x1");
	publish(u, false, other);
	subscribe(u, false, other);
	snprintf(dst, 128, "%.*s%s%s", (int)(at - subject), subject, u->name,
	    at + strlen(mark));
	return dst;
}

static void
try_rows(struct user *u)
{
	size_t i;
	json_t *e;

	json_array_foreach (json_object_get(u->all, "nats"), i, e) {
		char own[128];
		const char *subject = own_subject(
			       u, rights_fixture_member(e, "subject"), own),
			   *kind = rights_fixture_member(e, "kind");
		const char *one = rights_fixture_fill(subject, '{', '}', "x1");
		const char *all = rights_fixture_fill(subject, '{', '}', "*");
		bool stored =
		    strcmp(kind, "event") == 0 || strcmp(kind, "job") == 0;
		bool mine = !stored &&
		    (strcmp(rights_fixture_member(e, "owner"), u->name) == 0 ||
			rights_fixture_lists(e, "also", u->name));

		publish(u, rights_fixture_lists(e, "from", u->name), one);
		/* The owner may subscribe to all of it, and so to each. */
		if (rights_fixture_member(e, "listens")[0] == '\0')
			subscribe(u, mine, all);
		subscribe(u, mine, one);
	}
	json_array_foreach (json_object_get(u->all, "events"), i, e) {
		char subject[128];

		snprintf(subject, sizeof(subject), "soul.event.%s.x1",
		    rights_fixture_member(e, "type"));
		publish(u, rights_fixture_lists(e, "from", u->name), subject);
		subscribe(u, false, subject);
	}
}

/* Whether one of the rows or events that a stream holds is from u. */
static bool
fills(const struct user *u, const json_t *stream)
{
	const char *holds = rights_fixture_member(stream, "holds");
	const json_t *list = json_object_get(
	    u->all, strcmp(holds, "event") == 0 ? "events" : "nats");
	size_t i;
	json_t *e;

	json_array_foreach ((json_t *)(uintptr_t)list, i, e)
		if ((strcmp(holds, "event") == 0 ||
			strcmp(rights_fixture_member(e, "name"), holds) == 0) &&
		    rights_fixture_lists(e, "from", u->name))
			return true;
	return false;
}

/* $JS.API.<verb>.<stream><tail> */
static void
try_api(struct user *u, bool may, const char *verb, const char *stream,
    const char *tail)
{
	char subject[200];

	snprintf(subject, sizeof(subject), "$JS.API.%s.%s%s%s", verb, stream,
	    tail[0] != '\0' ? "." : "", tail);
	publish(u, may, subject);
}

static void
try_consumer(struct user *u, bool may, const char *stream, const char *consumer)
{
	char subject[128];

	try_api(u, may, "CONSUMER.DURABLE.CREATE", stream, consumer);
	snprintf(subject, sizeof(subject), "$JS.ACK.%s.%s.1.1.1.1.0", stream,
	    consumer);
	publish(u, may, subject);
	snprintf(
	    subject, sizeof(subject), "soul.deliver.%s.%s", stream, consumer);
	subscribe(u, may, subject);
	publish(u, false, subject);
}

static bool
is_durable_of(const struct user *u, const char *durable)
{
	size_t n = strlen(u->name);

	return strncmp(durable, u->name, n) == 0 && durable[n] == '-';
}

/* A consumer has its service's name, unless the stream names several. */
static void
try_consumers(struct user *u, const json_t *e)
{
	bool may = rights_fixture_lists(e, "consumers", u->name);
	const char *name = rights_fixture_member(e, "name");
	json_t *list = json_object_get(e, "durables"), *one;
	size_t i;

	try_consumer(u, may && list == NULL, name, u->name);
	json_array_foreach (list, i, one)
		try_consumer(u, may && is_durable_of(u, json_string_value(one)),
		    name, json_string_value(one));
}

static void
try_stream(struct user *u, const json_t *e)
{
	static const struct {
		const char *verb, *tail;
	} never[] = { { "STREAM.DELETE", "" }, { "STREAM.PURGE", "" },
		{ "STREAM.SNAPSHOT", "" }, { "STREAM.RESTORE", "" },
		{ "STREAM.LEADER.STEPDOWN", "" }, { "CONSUMER.CREATE", "" },
		{ "CONSUMER.CREATE", "x1" }, { "CONSUMER.CREATE", "x1.soul" },
		{ "CONSUMER.DURABLE.CREATE", "x1" },
		{ "CONSUMER.DELETE", "memory-worker" }, { "CONSUMER.LIST", "" },
		{ "CONSUMER.MSG.NEXT", "x1" } };
	const char *name = rights_fixture_member(e, "name");
	bool keeps = strcmp(rights_fixture_member(e, "manager"), u->name) == 0;
	bool reads = rights_fixture_lists(e, "readers", u->name);
	bool views = rights_fixture_lists(e, "viewers", u->name);
	size_t i;

	try_api(u, keeps || fills(u, e), "STREAM.CREATE", name, "");
	try_api(u, keeps, "STREAM.UPDATE", name, "");
	try_api(u, keeps || reads || views, "STREAM.INFO", name, "");
	try_api(u, reads || views, "STREAM.MSG.GET", name, "");
	try_api(u, reads, "STREAM.MSG.DELETE", name, "");
	try_consumers(u, e);
	for (i = 0; i < sizeof(never) / sizeof(*never); i++)
		try_api(u, false, never[i].verb, name, never[i].tail);
}

static void
try_peers(struct user *u)
{
	size_t i;
	json_t *e;
	char subject[128];

	json_array_foreach (json_object_get(u->all, "peers"), i, e) {
		bool self =
		    strcmp(rights_fixture_member(e, "name"), u->name) == 0;

		snprintf(subject, sizeof(subject), "_INBOX.%s.>",
		    rights_fixture_member(e, "name"));
		subscribe(u, self, subject);
		snprintf(subject, sizeof(subject), "_INBOX.%s.*.*",
		    rights_fixture_member(e, "name"));
		subscribe(u, self, subject);
		snprintf(subject, sizeof(subject), "$SRV.PING.%s",
		    rights_fixture_member(e, "name"));
		subscribe(u, self, subject);
		publish(u, false, subject);
	}
}

/* Subjects of no service. */
static void
try_wide(struct user *u)
{
	static const char *const wide[] = { ">", "*", "*.>", "soul.>",
		"soul.*.>", "soul.rpc.>", "soul.body.>", "soul.event.>",
		"_INBOX.>", "_INBOX.*.>", "_INBOX.*", "$SYS.>",
		"$SYS.ACCOUNT.>", "$JS.>", "$JS.API.>", "$JS.ACK.>",
		"$JS.EVENT.>", "$SRV.>", "$SRV.*", "soul.deliver.>" };
	static const char *const one[] = { "_INBOX.x1", "$SYS.REQ.SERVER.PING",
		"$SYS.REQ.ACCOUNT.PING.CONNZ", "$JS.API.INFO",
		"$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES",
		"$JS.API.STREAM.CREATE.MINE", "$JS.API.STREAM.DELETE.MINE",
		"$JS.API.META.LEADER.STEPDOWN", "$SRV.PING", "$SRV.INFO",
		"soul.anything", "x1" };
	size_t i;

	for (i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		subscribe(u, false, wide[i]);
	for (i = 0; i < sizeof(one) / sizeof(*one); i++)
		publish(u, false, one[i]);
}

/* Reply subjects: of services that may request, its own, and the operator's. */
static void
try_inboxes(struct user *u)
{
	size_t i, k;
	json_t *e, *row;
	char subject[128];

	json_array_foreach (json_object_get(u->all, "peers"), i, e) {
		/* chat-gateway asks all services for their state. */
		bool may =
		    strcmp(rights_fixture_member(e, "name"), u->name) == 0 ||
		    strcmp(rights_fixture_member(e, "name"), "chat-gateway") ==
			0;

		json_array_foreach (json_object_get(u->all, "nats"), k, row)
			may = may ||
			    ((strcmp(rights_fixture_member(row, "owner"),
				  u->name) == 0 ||
				 rights_fixture_lists(row, "also", u->name)) &&
				rights_fixture_member(row, "reply")[0] !=
				    '\0' &&
				rights_fixture_lists(row, "from",
				    rights_fixture_member(e, "name")));
		snprintf(subject, sizeof(subject), "_INBOX.%s.x1.1",
		    rights_fixture_member(e, "name"));
		publish(u, may, subject);
	}
	publish(u, true, "_INBOX.operator.x1");
}

TEST_T(a_service_has_what_is_its_own_and_nothing_else, 120)
{
	struct tk_server nats;
	json_t *all = rights_fixture_tables(), *e, *stream;
	size_t i, k;

	tk_rights_nats(&nats);
	json_array_foreach (json_object_get(all, "peers"), i, e) {
		char password[128];
		struct user u = { .name = rights_fixture_member(e, "name"),
			.all = all };

		snprintf(password, sizeof(password), TK_PASSWORD "%s", u.name);
		(void)log_in(&u.raw, &nats, u.name, password);
		try_rows(&u);
		json_array_foreach (json_object_get(all, "streams"), k, stream)
			try_stream(&u, stream);
		try_peers(&u);
		try_inboxes(&u);
		try_wide(&u);
		ck_assert_int_ge(u.allowed, 5);
		ck_assert_int_gt(u.refused, 150);
		printf("%s: %d refused, %d its own\n", u.name, u.refused,
		    u.allowed);
		rights_fixture_close(&u.raw);
	}
	json_decref(all);
}

TEST(the_operator_reads_and_changes_nothing)
{
	static const struct {
		bool may;
		const char *subject;
	} t[] = {
		{ true, "$SRV.PING" },
		{ true, "$SRV.STATS.chat-gateway" },
		{ true, "$JS.API.INFO" },
		{ true, "$JS.API.STREAM.NAMES" },
		{ true, "$JS.API.STREAM.INFO.SOUL_EVENTS" },
		{ true, "$JS.API.STREAM.MSG.GET.SOUL_EVENTS" },
		{ true, "$JS.API.CONSUMER.INFO.SOUL_JOBS.memory-worker" },
		{ false, "$JS.API.STREAM.MSG.DELETE.SOUL_EVENTS" },
		{ false, "$JS.API.STREAM.DELETE.SOUL_EVENTS" },
		{ false, "$JS.API.STREAM.UPDATE.SOUL_EVENTS" },
		{ false, "$JS.API.CONSUMER.CREATE.SOUL_EVENTS" },
		{ false, "soul.rpc.turn.start" },
		{ false, "soul.rpc.memory.list" },
		{ false, "soul.body.main.x1.invoke" },
		{ false, "_INBOX.chat-gateway.x1" },
	};
	struct tk_server nats;
	struct user u = { .name = "operator" };
	size_t i;

	tk_rights_nats(&nats);
	(void)log_in(&u.raw, &nats, u.name, TK_PASSWORD "operator");
	for (i = 0; i < sizeof(t) / sizeof(*t); i++)
		publish(&u, t[i].may, t[i].subject);
	subscribe(&u, true, "_INBOX.operator.>");
	subscribe(&u, false, "_INBOX.>");
	subscribe(&u, false, "soul.>");
	rights_fixture_close(&u.raw);
}

TEST(a_wrong_password_is_denied)
{
	struct tk_server nats;
	json_t *all = rights_fixture_tables(), *e;
	size_t i;

	tk_rights_nats(&nats);
	json_array_foreach (json_object_get(all, "peers"), i, e) {
		struct rights_fixture r;

		rights_fixture_open(&r, nats.port);
		rights_fixture_request(&r, "Authorization Violation",
		    "CONNECT {\"user\":\"%s\",\"pass\":\"" TK_PASSWORD
		    "\"}\r\nPING\r\n",
		    rights_fixture_member(e, "name"));
		rights_fixture_close(&r);
	}
	json_decref(all);
}
