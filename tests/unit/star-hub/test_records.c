/* Identities and rooms as Redis has them. */
#include <stdio.h>
#include <string.h>

#include "core/id.h"
#include "core/mem.h"
#include "records.h"
#include "testkit/testkit.h"

#define HAN "\346\261\211"
#define T64 "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"

/* The longest id: 50 characters of 4 bytes; and others. */
static char long_id[STAR_ID_BYTES + 1], long_env[STAR_ID_BYTES + 1];
static char medium_id[STAR_ID_BYTES + 1];

static void
ids_make(void)
{
	size_t i;

	for (i = 0; i < STAR_ID_MAX; i++) {
		memcpy(long_id + 4 * i, "\360\237\230\200", 4);
		memcpy(long_env + 4 * i, "\360\237\230\201", 4);
	}
	for (i = 0; i < 45; i++)
		memcpy(medium_id + 3 * i, HAN, 3);
	medium_id[3 * 45] = '\0';
}

static const struct identity_row {
	enum client_class class;
	const char *tenant, *env, *id;
} identity_rows[] = {
	{ CLASS_AGENT, "", "demo_world", "agent_001" },
	{ CLASS_AGENT, "one", "demo_world", "agent_001" },
	{ CLASS_AGENT, "one", "demo_world", "agent_002" },
	{ CLASS_AGENT, "one", "demo", "agent_001" },
	{ CLASS_AGENT, "two", HAN HAN HAN, HAN HAN HAN HAN },
	{ CLASS_ENVIRONMENT, "one", "demo_world", "demo_world" },
	{ CLASS_ENVIRONMENT, "", "agent_001", "agent_001" },
	{ CLASS_HUMAN, "one", NULL, "bob" },
	{ CLASS_HUMAN, "", NULL, "agent_001" },
	{ CLASS_HUMAN, "", NULL, "a b~c:d{e}" },
	{ CLASS_AGENT, T64, long_env, long_id },
	{ CLASS_AGENT, T64, long_id, long_env },
	{ CLASS_AGENT, "one", "demo_world", long_id },
	{ CLASS_ENVIRONMENT, T64, long_env, long_env },
	{ CLASS_HUMAN, T64, NULL, long_id },
	{ CLASS_HUMAN, "one", NULL, medium_id },
};

static struct identity
identity_at(size_t n)
{
	const struct identity_row *row = &identity_rows[n];

	return (struct identity){ .class = row->class,
		.tenant = str_of(row->tenant),
		.env = row->env != NULL ? str_of(row->env)
					: (struct str){ NULL, 0 },
		.id = str_of(row->id) };
}

TEST(a_key_is_parsed_as_its_identity)
{
	char text[IDENTITY_KEY_MAX], parsed_text[IDENTITY_KEY_MAX];
	struct identity i, is;
	struct str key;
	size_t k, n;

	ids_make();
	for (k = 0; k < NELEM(identity_rows); k++) {
		i = identity_at(k);
		key = identity_key(&i, text);
		ck_assert_ptr_nonnull(key.p);
		ck_assert_int_eq(identity_parse(key, &is), RC_OK);
		ck_assert(identity_equal(&i, &is));
		ck_assert(str_eq(is.env, i.env));
		ck_assert(str_eq(identity_key(&is, parsed_text), key));
		/* No part of it is one of an identity of that class, but for
		 * shorter ids. */
		for (n = 0; n < key.n; n++) {
			const struct str part = { key.p, n };

			if (identity_parse(part, &is) != RC_OK)
				continue;
			ck_assert(str_starts(i.id, is.id) && is.id.n < i.id.n);
			ck_assert(str_eq(is.tenant, i.tenant));
		}
	}
}

TEST(random_identities_are_parsed_as_they_are)
{
	static const char *const parts[] = { "a", "z", "0", "_", "-", " ", "~",
		":", "{", HAN, "\303\251", "\360\237\230\200", "a/", "//", "e",
		"" };
	static const char *const classes[] = { "a", "e", "h", "x" };
	char text[IDENTITY_KEY_MAX], parsed_text[IDENTITY_KEY_MAX];
	struct buf b = BUF_INIT(4096);
	struct identity i;
	size_t k, n, valid = 0;
	unsigned char r[24];

	/* Whatever is parsed is the key of what it is parsed as. */
	for (k = 0; k < 200000; k++) {
		id_random(r, sizeof(r));
		buf_reset(&b);
		buf_printf(&b, "%s/%s/%s/", r[0] % 2 ? "one" : "",
		    classes[r[1] % NELEM(classes)], r[2] % 2 ? "demo" : "");
		for (n = 3; n < (size_t)(3 + r[2] % 20); n++)
			buf_puts(&b, parts[r[n] % NELEM(parts)]);
		if (identity_parse(buf_str(&b), &i) != RC_OK)
			continue;
		valid++;
		memcpy(text, b.p, b.n);
		ck_assert_msg(
		    str_eq(identity_key(&i, parsed_text), buf_str(&b)), "%.*s",
		    STR_ARG(buf_str(&b)));
		ck_assert_ptr_null(identity_id_error(i.id));
	}
	ck_assert_uint_gt(valid, 1000);
	buf_free(&b);
}

TEST(what_is_no_key_is_rejected)
{
	static const char *const wrong[] = { "", "/", "//", "///", "bob",
		"/h/bob", "/h//", "/h//ab", "/h//all", "/h//a/b", "/h//bob/",
		"/h/env/bob", "/e/env/env", "/a//agent_001", "/x//bob",
		"/hu//bob", "/H//bob", "one/h//b*b", "one//h//bob",
		T64 "t/h//bob", "/h//bo\377b", "/h//bo\tb" };
	struct identity i;
	size_t k;

	for (k = 0; k < NELEM(wrong); k++)
		ck_assert_msg(
		    identity_parse(str_of(wrong[k]), &i) == RC_INVALID, "%s",
		    wrong[k]);
}

TEST(every_identity_has_a_record_of_its_own)
{
	static struct record_identity out[NELEM(identity_rows)];
	char text[IDENTITY_KEY_MAX];
	struct record_identity same;
	struct identity i;
	size_t k, n;

	ids_make();
	for (k = 0; k < NELEM(identity_rows); k++) {
		i = identity_at(k);
		record_identity(&i, &out[k]);
		ck_assert_uint_le(out[k].star.name.n, ID_MAX);
		ck_assert(
		    str_eq(out[k].star.class, client_class_names[i.class]));
		ck_assert(str_eq(
		    out[k].star.tenant, i.tenant.n > 0 ? i.tenant : STR("-")));
		ck_assert_int_eq(
		    record_identity_of(identity_key(&i, text), &same), RC_OK);
		ck_assert(str_eq(same.star.name, out[k].star.name));
		for (n = 0; n < k; n++)
			ck_assert(!str_eq(out[n].star.name, out[k].star.name) ||
			    !str_eq(out[n].star.tenant, out[k].star.tenant) ||
			    !str_eq(out[n].star.class, out[k].star.class));
	}
	ck_assert_int_eq(record_identity_of(STR("bob"), &same), RC_INVALID);
}

TEST(long_ids_are_hashed)
{
	struct identity i = { .class = CLASS_HUMAN };
	struct record_identity out;
	struct record_room room;
	char id[ID_MAX + 2];

	memset(id, 'x', sizeof(id));
	i.id = (struct str){ id, ID_MAX };
	record_identity(&i, &out);
	ck_assert(str_eq(out.star.name, i.id));
	i.id.n++;
	record_identity(&i, &out);
	ck_assert_uint_eq(out.star.name.n, 65);
	/* No id of the protocol begins so. */
	ck_assert_int_eq(out.star.name.p[0], '#');
	record_room(STR("one"), (struct str){ id, ID_MAX }, &room);
	ck_assert(str_eq(room.star.name, (struct str){ id, ID_MAX }));
	record_room(STR("one"), i.id, &room);
	ck_assert(str_eq(room.star.name, out.star.name));
	ck_assert(str_eq(room.star.tenant, STR("one")));
}

TEST(a_member_of_a_room_has_its_key)
{
	char text[IDENTITY_KEY_MAX], env[IDENTITY_KEY_MAX];
	char parsed_text[IDENTITY_KEY_MAX];
	struct star_member m;
	struct record_room room;
	struct identity i;
	struct str key, env_key;
	size_t k;

	ids_make();
	for (k = 0; k < NELEM(identity_rows); k++) {
		i = identity_at(k);
		if (i.class == CLASS_ENVIRONMENT)
			continue;
		key = identity_key(&i, text);
		/* A human may be a member of any. */
		env_key = identity_env_key(i.tenant,
		    i.class == CLASS_AGENT ? i.env : STR("demo_world"), env);
		m = record_member(&i, STR("hub-1"), 7);
		ck_assert_int_eq(m.holder.gen, 7);
		ck_assert(str_eq(m.holder.hub, STR("hub-1")));
		ck_assert(
		    str_eq(record_member_key(env_key, &m, parsed_text), key));
		ck_assert_int_eq(record_room_of(env_key, &room), RC_OK);
		ck_assert_uint_le(room.star.name.n, ID_MAX);
	}
	m = (struct star_member){ STR("hub"), STR("bob"), { STR("h"), 1 } };
	ck_assert_ptr_null(record_member_key(env_key, &m, parsed_text).p);
	m.class = STR("nobody");
	ck_assert_ptr_null(record_member_key(env_key, &m, parsed_text).p);
	m.class = STR("human");
	ck_assert_ptr_null(
	    record_member_key(STR("nothing"), &m, parsed_text).p);
	ck_assert_int_eq(record_room_of(STR("nothing"), &room), RC_INVALID);
}

TEST(nobody_is_a_user)
{
	ck_assert(str_eq(record_user((struct str){ NULL, 0 }), STR("-")));
	ck_assert(str_eq(record_user(STR("alice")), STR("alice")));
}
