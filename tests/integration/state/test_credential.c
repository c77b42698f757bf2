/* Identities of terminals: minted, rotated, revoked, listed. */
#include "core/id.h"
#include "state/keys.h"
#include "state/soul.h"
#include "state/terminal.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

#define MANY 2500

static struct credential
credential_of(const char *id, const char *tenant, const char *user)
{
	return (struct credential){ .terminal_id = str_of(id),
		.tenant = str_of(tenant),
		.user_id = str_of(user),
		.hash = STR("$7$101$c2FsdA==$aGFzaA=="),
		.created = { 1700000000123 } };
}

static void
mint(struct state_fixture *b, const char *id, const char *tenant,
    const char *user)
{
	struct credential c = credential_of(id, tenant, user);

	OK(credential_mint(b->s, &c, NULL, NULL));
}

static int64_t
version(struct state_fixture *b)
{
	int64_t v;

	OK(credential_version(b->s, &v));
	return v;
}

/* A terminal that its user bound to a soul. */
static void
bind(struct state_fixture *b, const char *id, const char *user)
{
	struct soul soul = { .id = str_of(user),
		.user_id = str_of(user),
		.name = STR("n"),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };
	enum rc rc = soul_create(b->s, &soul, STR("x"));

	ck_assert(rc == RC_OK || rc == RC_CONFLICT);
	OK(terminal_fixture_bind(b->s, str_of(id), str_of(user), str_of(user)));
}

static void
ck_bound(struct state_fixture *b, const char *id, const char *user)
{
	struct terminal t;

	OK(terminal_read(b->s, str_of(id), STATE_FIXTURE_TTL_MS, b->a, &t));
	ck_text(t.user_id, user);
}

TEST(mint_rotate_revoke)
{
	struct credential c = credential_of("desk 桌", "acme", "acme/u1"), out;
	int64_t v0, before;
	struct state_fixture b;
	struct str hash, tenant;

	state_fixture_start(&b);
	before = state_fixture_now(&b);
	ck_assert_int_eq(version(&b), 0);
	IS(RC_NOENT,
	    credential_find_hash(b.s, c.terminal_id, b.a, &hash, &tenant));
	IS(RC_NOENT, credential_read(b.s, c.terminal_id, b.a, &out));
	IS(RC_NOENT, credential_rotate(b.s, c.terminal_id, STR("h")));
	IS(RC_NOENT, credential_revoke(b.s, c.terminal_id, NULL, NULL));
	ck_assert_int_eq(version(&b), 0);

	OK(credential_mint(b.s, &c, NULL, NULL));
	OK(credential_read(b.s, c.terminal_id, b.a, &out));
	ck_text(out.terminal_id, "desk 桌");
	ck_text(out.tenant, "acme");
	ck_text(out.user_id, "acme/u1");
	ck_text(out.hash, "$7$101$c2FsdA==$aGFzaA==");
	ck_assert_int_eq(out.created.ms, 1700000000123);
	ck_assert_int_eq(out.changed.ms, 1700000000123);
	ck_assert(!out.revoked);
	v0 = version(&b);
	ck_assert_int_gt(v0, 0);
	IS(RC_CONFLICT, credential_mint(b.s, &c, NULL, NULL));
	ck_assert_int_eq(version(&b), v0);

	OK(credential_rotate(b.s, c.terminal_id, STR("another")));
	OK(credential_read(b.s, c.terminal_id, b.a, &out));
	ck_text(out.hash, "another");
	ck_text(out.user_id, "acme/u1");
	OK(credential_find_hash(b.s, c.terminal_id, b.a, &hash, &tenant));
	ck_text(hash, "another");
	ck_text(tenant, "acme");
	ck_assert_int_eq(out.created.ms, 1700000000123);
	ck_assert_int_ge(out.changed.ms, before);
	ck_assert_int_gt(version(&b), v0);
	OK(credential_rotate(b.s, c.terminal_id, (struct str){ 0 }));
	IS(RC_NOENT,
	    credential_find_hash(b.s, c.terminal_id, b.a, &hash, &tenant));
	OK(credential_read(b.s, c.terminal_id, b.a, &out));
	ck_text(out.hash, NULL);

	OK(credential_rotate(b.s, c.terminal_id, STR("third")));
	v0 = version(&b);
	OK(credential_revoke(b.s, c.terminal_id, NULL, NULL));
	OK(credential_read(b.s, c.terminal_id, b.a, &out));
	ck_assert(out.revoked);
	ck_text(out.hash, NULL);
	ck_text(out.tenant, "acme");
	ck_assert_int_gt(version(&b), v0);
	IS(RC_NOENT, credential_revoke(b.s, c.terminal_id, NULL, NULL));
	IS(RC_NOENT, credential_rotate(b.s, c.terminal_id, STR("h")));
	state_fixture_stop(&b);
}

TEST(a_revoked_identity_can_be_minted)
{
	struct credential c = credential_of("t", NULL, NULL), out, *list;
	struct str next;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	mint(&b, "t", "acme", "acme/u1");
	OK(credential_revoke(b.s, STR("t"), NULL, NULL));
	c.hash = (struct str){ 0 };
	OK(credential_mint(b.s, &c, NULL, NULL));
	OK(credential_read(b.s, STR("t"), b.a, &out));
	ck_text(out.tenant, NULL);
	ck_text(out.user_id, NULL);
	ck_text(out.hash, NULL);
	ck_assert(!out.revoked);

	/* The previous tenant does not list it any more. */
	OK(credential_list(
	    b.s, STR("acme"), (struct str){ 0 }, 10, b.a, &list, &n, &next));
	ck_assert_uint_eq(n, 0);
	OK(credential_list(b.s, (struct str){ 0 }, (struct str){ 0 }, 10, b.a,
	    &list, &n, &next));
	ck_assert_uint_eq(n, 1);
	state_fixture_stop(&b);
}

TEST(revoking_unbinds)
{
	struct terminal_listed *ids;
	struct str from = STR("?");
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	mint(&b, "t", NULL, NULL);
	mint(&b, "other", NULL, NULL);
	mint(&b, "free", NULL, NULL);
	bind(&b, "t", "u");
	bind(&b, "other", "u");
	OK(credential_revoke(b.s, STR("free"), b.a, &from));
	ck_text(from, NULL);
	OK(credential_revoke(b.s, STR("t"), b.a, &from));
	ck_text(from, "u");
	ck_bound(&b, "t", NULL);
	ck_bound(&b, "other", "u");
	OK(terminal_list(b.s, STR("u"), b.a, &ids, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(ids[0].id, "other");
	ck_assert_int_eq(
	    INT_OF(&b, STR("HLEN"), terminal_fixture_key(KEY_BODIES, "u", "u")),
	    1);

	/* A damaged record does not prevent the revocation. */
	DO(&b, STR("HSET"), STR("soul:terminal:{other}"), STR("v"), STR("9"));
	OK(credential_revoke(b.s, STR("other"), b.a, &from));
	ck_text(from, NULL);
	IS(RC_NOENT, credential_rotate(b.s, STR("other"), STR("h")));
	state_fixture_stop(&b);
}

TEST(minting_unbinds_from_other_users)
{
	struct credential bound = credential_of("bound", NULL, "v");
	struct str from;
	struct state_fixture b;

	state_fixture_start(&b);
	/* Bound before it had an identity. */
	bind(&b, "any", "u");
	bind(&b, "mine", "u");
	bind(&b, "bound", "u");
	mint(&b, "any", NULL, NULL);
	mint(&b, "mine", NULL, "u");
	OK(credential_mint(b.s, &bound, b.a, &from));
	ck_text(from, "u");
	ck_bound(&b, "any", "u");
	ck_bound(&b, "mine", "u");
	ck_bound(&b, "bound", NULL);

	/* Bound after it was revoked: by whom does not matter. */
	OK(credential_revoke(b.s, STR("any"), NULL, NULL));
	bind(&b, "any", "u");
	mint(&b, "any", NULL, NULL);
	ck_bound(&b, "any", NULL);
	state_fixture_stop(&b);
}

/* Pages of a tenant's identities: how many with the prefix, without repetition.
 */
static size_t
count(struct state_fixture *b, const char *tenant, size_t limit, char prefix)
{
	struct arena *a = arena_new(4UL << 20);
	struct str cursor = { NULL, 0 }, next;
	bool seen[MANY] = { false };
	struct credential *list;
	char text[ID_TOKEN_MAX];
	size_t i, n, all = 0;
	int64_t k;

	do {
		OK(credential_list(
		    b->s, str_of(tenant), cursor, limit, a, &list, &n, &next));
		ck_assert_uint_le(n, limit);
		for (i = 0; i < n; i++) {
			struct str num = list[i].terminal_id;

			if (num.p[0] != prefix)
				continue;
			num.p++;
			num.n--;
			OK(str_to_i64(num, 0, MANY - 1, &k));
			ck_assert(!seen[k]);
			seen[k] = true;
			all++;
		}
		str_copy(next, text, sizeof(text));
		cursor = next.p == NULL ? next : str_of(text);
		arena_reset(a);
	} while (cursor.p != NULL);
	arena_free(a);
	return all;
}

TEST(lists_are_read_in_pages)
{
	struct credential *list;
	struct str next;
	char id[16];
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	for (i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "%c%zu", i % 5 == 0 ? '!' : 'a', i);
		mint(&b, id, i % 5 == 0 ? "acme" : NULL, NULL);
	}
	ck_assert_uint_eq(count(&b, NULL, CREDENTIAL_PAGE_MAX, 'a'), 2000);
	ck_assert_uint_eq(count(&b, NULL, 7, '!'), 500);
	ck_assert_uint_eq(count(&b, "acme", 500, '!'), 500);
	ck_assert_uint_eq(count(&b, "acme", 3, 'a'), 0);
	ck_assert_uint_eq(count(&b, "none", 3, '!'), 0);

	OK(credential_list(
	    b.s, STR("acme"), (struct str){ 0 }, 500, b.a, &list, &n, &next));
	ck_assert_uint_eq(n, 500);
	ck_text(next, NULL);
	ck_text(list[0].tenant, "acme");

	/* An unreadable one does not hide the others. */
	DO(&b, STR("SET"), STR("soul:credential:{a1}"), STR("x"));
	ck_assert_uint_eq(count(&b, NULL, 10, 'a'), 1999);
	state_fixture_stop(&b);
}

TEST(wrong_arguments_and_records_are_rejected)
{
	static char text[CREDENTIAL_HASH_MAX + 1];
	struct credential c = credential_of("t", NULL, NULL), *list;
	const struct str none = { NULL, 0 };
	struct str next;
	int64_t v;
	struct state_fixture b;
	size_t n;

	memset(text, 'x', sizeof(text));
	state_fixture_start(&b);
	c.terminal_id = STR("a/b");
	IS(RC_INVALID, credential_mint(b.s, &c, NULL, NULL));
	c.terminal_id = STR("t");
	c.created.ms = -1;
	IS(RC_INVALID, credential_mint(b.s, &c, NULL, NULL));
	c.created.ms = 0;
	c.tenant = STR("\n");
	IS(RC_INVALID, credential_mint(b.s, &c, NULL, NULL));
	c.tenant = none;
	c.hash = (struct str){ text, sizeof(text) };
	IS(RC_TOOBIG, credential_mint(b.s, &c, NULL, NULL));
	ck_assert_int_eq(INT_OF(&b, STR("DBSIZE")), 0);
	c.hash.n--;
	OK(credential_mint(b.s, &c, NULL, NULL));

	IS(RC_INVALID,
	    credential_list(b.s, none, STR("~"), 1, b.a, &list, &n, &next));
	IS(RC_INVALID,
	    credential_list(b.s, none, STR(""), 1, b.a, &list, &n, &next));
	IS(RC_INVALID,
	    credential_list(b.s, none, none, 0, b.a, &list, &n, &next));
	IS(RC_INVALID,
	    credential_list(b.s, none, none, CREDENTIAL_PAGE_MAX + 1, b.a,
		&list, &n, &next));
	DO(&b, STR("SET"), STR(KEY_CREDENTIALS_VERSION), STR("x"));
	IS(RC_INVALID, credential_version(b.s, &v));
	ck_assert_int_eq(v, 0);
	state_fixture_stop(&b);
}
