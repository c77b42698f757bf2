/*
 * Events as their readers see them, and who those are.
 */
#include "core/mem.h"
#include "live/event_view.h"
#include "testkit/testkit.h"
#include "wire/iface.h"

#define ENVELOPE(type, payload)                                       \
	"{\"trace_id\":\"x\",\"type\":\"" type "\",\"source\":\"s\"," \
	"\"payload\":" payload ",\"meta\":{\"timestamp\":1}}"

static struct event_view
view_of(struct arena *a, const char *json, enum rc want)
{
	struct event_view e;

	ck_assert_int_eq(event_view_read(str_of(json), a, &e), want);
	return e;
}

TEST(an_event_names_whom_it_concerns)
{
	struct arena *a = arena_new(1 << 20);
	struct event_view e;

	e = view_of(a,
	    ENVELOPE("turn_completed",
		"{\"user_id\":\"u\",\"soul_id\":\"s\",\"terminal_id\":\"t\"}"),
	    RC_OK);
	ck_assert_str_eq(wire_events[e.type].type, "turn_completed");
	ck_assert(str_eq(e.user_id, STR("u")));
	ck_assert(str_eq(e.soul_id, STR("s")));
	ck_assert(str_eq(e.terminal_id, STR("t")));
	ck_assert_ptr_null(e.tenant.p);
	e = view_of(
	    a, ENVELOPE("audit", "{\"tenant\":\"acme\",\"user_id\":1}"), RC_OK);
	ck_assert(str_eq(e.tenant, STR("acme")));
	ck_assert_ptr_null(e.user_id.p);
	e = view_of(a, ENVELOPE("audit", "[]"), RC_OK);
	ck_assert_ptr_null(e.tenant.p);
	arena_free(a);
}

TEST(what_is_no_event_is_rejected)
{
	static const char *const rows[] = { "", "x", "[]", "{}",
		"{\"type\":\"no_such\"}", "{\"type\":1}" };
	struct arena *a = arena_new(1 << 20), *small = arena_new(8);
	struct event_view e;
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		(void)view_of(a, rows[i], RC_INVALID);
	ck_assert_int_eq(event_view_read(STR(ENVELOPE("audit",
					     "{\"user_id\":\"123456789\"}")),
			     small, &e),
	    RC_TOOBIG);
	arena_free(a);
	arena_free(small);
}

static const struct str none = { NULL, 0 };

static int
count_types(enum event_scope scope)
{
	struct event_filter f = { .scope = scope };
	struct str bad;
	int n = 0;
	size_t i;

	ck_assert_int_eq(event_filter_types(&f, none, &bad), RC_OK);
	for (i = 0; i < EVENT_TYPES_MAX; i++)
		n += (f.types >> i & 1) != 0;
	return n;
}

/* Each name of the lists is a type. */
TEST(a_scope_has_all_of_its_types)
{
	ck_assert_uint_le(wire_events_n, EVENT_TYPES_MAX);
	ck_assert_int_eq(count_types(EVENT_SCOPE_USER), 19);
	ck_assert_int_eq(count_types(EVENT_SCOPE_TENANT), 2);
	ck_assert_int_eq(count_types(EVENT_SCOPE_ALL), EVENT_TYPES_MAX);
}

TEST(types_are_those_of_the_scope)
{
	static const struct {
		enum event_scope scope;
		const char *list; /* NULL: absent */
		enum rc rc;
		const char *bad;
	} rows[] = {
		{ EVENT_SCOPE_ALL, NULL, RC_OK, "" },
		{ EVENT_SCOPE_ALL, "audit,user_input", RC_OK, "" },
		{ EVENT_SCOPE_ALL, "audit,", RC_INVALID, "" },
		{ EVENT_SCOPE_ALL, "audit, invoke", RC_INVALID, " invoke" },
		{ EVENT_SCOPE_USER, "invoke,emotion_update", RC_OK, "" },
		{ EVENT_SCOPE_USER, "invoke,audit", RC_INVALID, "audit" },
		{ EVENT_SCOPE_USER, "driver_response", RC_INVALID,
		    "driver_response" },
		{ EVENT_SCOPE_TENANT, "terminal_online,report_refused", RC_OK,
		    "" },
		{ EVENT_SCOPE_TENANT, "terminal_skills", RC_INVALID,
		    "terminal_skills" },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		struct event_filter f = { .scope = rows[i].scope };
		struct str bad = none;

		ck_assert_int_eq(
		    event_filter_types(&f, str_of(rows[i].list), &bad),
		    rows[i].rc);
		if (rows[i].rc != RC_OK)
			ck_assert(str_eq(bad, str_of(rows[i].bad)));
	}
}

/* What an event says, whose its body is, and who may read it. */
struct view_case {
	const char *user, *tenant, *terminal; /* of the event; NULL: none */
	const char *owner, *owner_tenant;     /* of its body; NULL: none */
	int64_t since;                        /* the event is of 1000 */
	bool ann, acme_ann, acme, all;
};

static bool
allows(const struct event_filter *f, const struct view_case *r)
{
	const struct event_view e = { .stored = { 1000 },
		.user_id = str_of(r->user),
		.tenant = str_of(r->tenant),
		.terminal_id = str_of(r->terminal) };
	const struct event_owner o = { .user_id = str_of(r->owner),
		.tenant = str_of(r->owner_tenant),
		.since = { r->since } };

	return event_filter_allows(
	    f, &e, event_filter_needs_owner(f, &e) ? &o : NULL);
}

TEST(readers_are_allowed_what_is_theirs)
{
	static const struct view_case rows[] = {
		{ "ann", 0, 0, 0, 0, 0, true, false, false, true },
		{ "acme/ann", 0, 0, 0, 0, 0, false, true, true, true },
		{ "bob", 0, "t", "ann", 0, 0, false, false, false, true },
		{ 0, 0, "t", "ann", 0, 900, true, false, false, true },
		{ 0, 0, "t", "ann", 0, 1000, true, false, false, true },
		{ 0, 0, "t", "ann", 0, 1001, false, false, false, true },
		{ 0, 0, "t", 0, 0, 0, false, false, false, true },
		{ 0, 0, "t", "acme/ann", "acme", 1, false, true, true, true },
		{ 0, 0, "t", 0, "acme", 0, false, false, true, true },
		{ 0, "acme", 0, 0, 0, 0, false, false, true, true },
		{ 0, "acm", 0, 0, 0, 0, false, false, false, true },
		{ 0, 0, 0, 0, 0, 0, false, false, false, true },
	};
	const struct event_filter ann = { .scope = EVENT_SCOPE_USER,
		.user_id = STR("ann") },
				  acme_ann = { .scope = EVENT_SCOPE_USER,
					  .user_id = STR("acme/ann") },
				  acme = { .scope = EVENT_SCOPE_TENANT,
					  .tenant = STR("acme") },
				  acme_all = { .scope = EVENT_SCOPE_ALL,
					  .tenant = STR("acme") },
				  all = { .scope = EVENT_SCOPE_ALL };
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_msg(
		    allows(&ann, &rows[i]) == rows[i].ann, "ann, row %zu", i);
		ck_assert_msg(allows(&acme_ann, &rows[i]) == rows[i].acme_ann,
		    "acme/ann, row %zu", i);
		ck_assert_msg(allows(&acme, &rows[i]) == rows[i].acme,
		    "acme, row %zu", i);
		ck_assert_msg(allows(&acme_all, &rows[i]) == rows[i].acme,
		    "all of acme, row %zu", i);
		ck_assert_msg(
		    allows(&all, &rows[i]) == rows[i].all, "all, row %zu", i);
	}
}

TEST(a_filter_selects_souls_and_bodies)
{
	struct event_filter f = { .types = UINT64_C(1) << 3 };
	struct event_view e = { .type = 3, .soul_id = STR("s") };

	ck_assert(event_filter_wants(&f, &e));
	e.type = 4;
	ck_assert(!event_filter_wants(&f, &e));
	e.type = 3;
	f.soul_id = STR("s");
	ck_assert(event_filter_wants(&f, &e));
	f.soul_id = STR("t");
	ck_assert(!event_filter_wants(&f, &e));
	f.soul_id = none;
	f.terminal_id = STR("t");
	ck_assert(!event_filter_wants(&f, &e));
	e.terminal_id = STR("t");
	ck_assert(event_filter_wants(&f, &e));
}
