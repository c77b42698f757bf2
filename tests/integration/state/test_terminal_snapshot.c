/* Terminals: snapshots and their versions, rejections, results. */
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

static const struct str id = STR_INIT("t1");

typedef enum rc (*put_fn)(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_snapshot *snap, int64_t *current);

/* The rule of protocol 3.3, for skills and catalogs alike. */
static const struct {
	int64_t cur, new;
	enum rc rc;
	int64_t known;
} rules[] = {
	{ 0, 0, RC_OK, 0 },
	{ 0, 3, RC_OK, 3 },
	{ 3, 3, RC_OK, 3 },
	{ 3, 4, RC_OK, 4 },
	{ 3, 2, RC_CONFLICT, 3 },
	{ 3, 0, RC_CONFLICT, 3 },
	{ 1, 9007199254740991, RC_OK, 9007199254740991 },
	{ 9007199254740991, 9007199254740990, RC_CONFLICT, 9007199254740991 },
};

static void
check_rules(put_fn put, bool catalog)
{
	struct terminal_snapshot old = { .json = STR("[\"old\"]"),
		.hash = STR("h1") };
	struct terminal_snapshot new = { .json = STR("[\"new\"]"),
		.hash = STR("h2") };
	struct terminal t;
	int64_t current;
	char name[24];
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(rules); i++) {
		snprintf(name, sizeof(name), "r%zu", i);
		old.version = rules[i].cur;
		new.version = rules[i].new;
		OK(put(b.s, &b.w, str_of(name), &old, &current));
		ck_assert_int_eq(current, rules[i].cur);
		OK(terminal_fixture_put_online(
		    b.s, &b.w, str_of(name), false, NULL));
		IS(rules[i].rc, put(b.s, &b.w, str_of(name), &new, &current));
		ck_assert_int_eq(current, rules[i].known);
		OK(terminal_read(
		    b.s, str_of(name), STATE_FIXTURE_TTL_MS, b.a, &t));
		ck_assert(t.present); /* an old report is a sign of life, too */
		ck_assert_int_eq(catalog ? t.catalog_version : t.skill_version,
		    rules[i].known);
		ck_text(catalog ? t.catalog : t.skills,
		    rules[i].rc == RC_OK ? "[\"new\"]" : "[\"old\"]");
		ck_text(t.catalog_hash,
		    !catalog                   ? NULL
			: rules[i].rc == RC_OK ? "h2"
					       : "h1");
		ck_text(catalog ? t.skills : t.catalog, NULL);
	}
	new.version = -1;
	IS(RC_INVALID, put(b.s, &b.w, id, &new, &current));
	new.version = INT64_C(9007199254740992);
	IS(RC_INVALID, put(b.s, &b.w, id, &new, &current));
	state_fixture_stop(&b);
}

TEST(versions_of_skills)
{
	check_rules(terminal_fixture_put_skills, false);
}

TEST(versions_of_catalogs)
{
	check_rules(terminal_fixture_put_catalog, true);
}

TEST(versions_outlive_absence)
{
	struct terminal_snapshot snap = { .version = 7, .json = STR("[7]") };
	struct terminal t;
	int64_t current;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(terminal_fixture_put_skills(b.s, &b.w, id, &snap, &current));
	OK(terminal_fixture_put_online(b.s, &b.w, id, false, NULL));
	snap.version = 6;
	b.w.replayed = true;
	IS(RC_CONFLICT,
	    terminal_fixture_put_skills(b.s, &b.w, id, &snap, &current));
	ck_assert_int_eq(current, 7);
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(!t.present);
	ck_text(t.skills, "[7]");
	state_fixture_stop(&b);
}

/* A catalog can be read by its hash, and left out of the record. */
TEST(a_catalog_is_read_by_its_hash)
{
	struct terminal_snapshot snap = {
		.version = 1, .json = STR("[\"灯\"]"), .hash = STR("h1")
	};
	struct terminal t;
	struct str json;
	int64_t current;
	struct state_fixture b;

	state_fixture_start(&b);
	IS(RC_NOENT, terminal_read_catalog(b.s, id, STR("h1"), b.a, &json));
	OK(terminal_fixture_put_online(b.s, &b.w, id, true, NULL));
	IS(RC_NOENT, terminal_read_catalog(b.s, id, STR("h1"), b.a, &json));
	OK(terminal_read_brief(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert_uint_eq(t.catalog_bytes, 0);
	ck_text(t.catalog_hash, NULL);

	OK(terminal_fixture_put_catalog(b.s, &b.w, id, &snap, &current));
	OK(terminal_read_catalog(b.s, id, STR("h1"), b.a, &json));
	ck_text(json, "[\"灯\"]");
	IS(RC_CONFLICT, terminal_read_catalog(b.s, id, STR("h"), b.a, &json));
	ck_text(json, NULL);
	IS(RC_CONFLICT,
	    terminal_read_catalog(b.s, id, (struct str){ 0 }, b.a, &json));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert_uint_eq(t.catalog_bytes, snap.json.n);
	ck_text(t.catalog, "[\"灯\"]");
	OK(terminal_read_brief(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.present);
	ck_assert_uint_eq(t.catalog_bytes, snap.json.n);
	ck_text(t.catalog, NULL);
	ck_text(t.catalog_hash, "h1");
	ck_assert_int_eq(t.catalog_version, 1);

	snap.version = 2;
	snap.hash = STR("h2");
	OK(terminal_fixture_put_catalog(b.s, &b.w, id, &snap, &current));
	IS(RC_CONFLICT, terminal_read_catalog(b.s, id, STR("h1"), b.a, &json));
	OK(terminal_read_catalog(b.s, id, STR("h2"), b.a, &json));
	state_fixture_stop(&b);
}

TEST(the_hint_is_of_the_newest_report)
{
	struct terminal_snapshot snap = {
		.version = 1, .json = STR("[]"), .soul_hint = STR("友好")
	};
	struct terminal t;
	int64_t current;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(terminal_fixture_put_skills(b.s, &b.w, id, &snap, &current));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_text(t.soul_hint, "友好");
	snap.soul_hint = (struct str){ 0 };
	OK(terminal_fixture_put_skills(b.s, &b.w, id, &snap, &current));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_text(t.soul_hint, NULL);
	state_fixture_stop(&b);
}

static char large[TERMINAL_JSON_MAX + 1];

TEST(snapshots_are_limited)
{
	struct terminal_snapshot snap = { .version = 1 };
	struct arena *small = arena_new(1000);
	struct terminal t;
	int64_t current;
	struct state_fixture b;
	bool first;

	state_fixture_start(&b);
	memset(large, 'x', sizeof(large));
	snap.json = (struct str){ large, sizeof(large) };
	IS(RC_TOOBIG,
	    terminal_fixture_put_skills(b.s, &b.w, id, &snap, &current));
	IS(RC_TOOBIG,
	    terminal_fixture_put_rejection(b.s, &b.w, id,
		&(struct terminal_rejection){
		    TERMINAL_REJECTED_SKILLS, snap.json }));
	IS(RC_TOOBIG,
	    terminal_fixture_put_result(b.s, id, STR("r"), snap.json, &first));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(!t.known);
	snap.json.n--;
	OK(terminal_fixture_put_skills(b.s, &b.w, id, &snap, &current));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(str_eq(t.skills, snap.json));
	IS(RC_TOOBIG, terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, small, &t));
	ck_assert(!t.known);
	arena_free(small);
	state_fixture_stop(&b);
}

TEST(the_last_rejection_is_stored)
{
	struct terminal t;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(terminal_fixture_put_rejection(b.s, &b.w, id,
	    &(struct terminal_rejection){
		TERMINAL_REJECTED_SKILLS, STR("{\"path\":\"/1\"}") }));
	OK(terminal_fixture_put_rejection(b.s, &b.w, id,
	    &(struct terminal_rejection){
		TERMINAL_REJECTED_SKILLS, STR("{\"path\":\"/2\"}") }));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.known && !t.present);
	ck_text(t.rejected[TERMINAL_REJECTED_SKILLS], "{\"path\":\"/2\"}");
	state_fixture_stop(&b);
}

TEST(only_the_first_result_is_stored)
{
	struct str json;
	struct state_fixture b;
	int64_t ttl;
	bool first;

	state_fixture_start(&b);
	IS(RC_NOENT, terminal_get_result(b.s, id, STR("r 1"), b.a, &json));
	ck_text(json, NULL);
	OK(terminal_fixture_put_result(
	    b.s, id, STR("r 1"), STR("{\"ok\":true}"), &first));
	ck_assert(first);
	OK(terminal_fixture_put_result(
	    b.s, id, STR("r 1"), STR("{\"ok\":false}"), &first));
	ck_assert(!first);
	OK(terminal_get_result(b.s, id, STR("r 1"), b.a, &json));
	ck_text(json, "{\"ok\":true}");
	/* Neither another terminal's result nor another request's. */
	IS(RC_NOENT,
	    terminal_get_result(b.s, STR("t2"), STR("r 1"), b.a, &json));
	IS(RC_NOENT, terminal_get_result(b.s, id, STR("r"), b.a, &json));
	ttl = INT_OF(&b, STR("PTTL"), STR("soul:result:{t1}:~ciAx"));
	ck_assert_int_gt(ttl, 590000);
	ck_assert_int_le(ttl, 600000);

	IS(RC_INVALID,
	    terminal_fixture_put_result(b.s, id, STR(""), STR("1"), &first));
	IS(RC_INVALID, terminal_get_result(b.s, STR(""), STR("r"), b.a, &json));
	DO(&b, STR("SET"), STR("soul:result:{t1}:r2"), STR("{}"));
	IS(RC_INVALID, terminal_get_result(b.s, id, STR("r2"), b.a, &json));
	DO(&b, STR("SET"), STR("soul:result:{t1}:r3"), STR(""));
	IS(RC_INVALID, terminal_get_result(b.s, id, STR("r3"), b.a, &json));
	DO(&b, STR("LPUSH"), STR("soul:result:{t1}:r4"), STR("x"));
	IS(RC_INVALID, terminal_get_result(b.s, id, STR("r4"), b.a, &json));
	state_fixture_stop(&b);
}
