/* Paths, ids and keys of clients. */
#include <stdio.h>
#include <string.h>

#include "client_identity.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

TEST(ids_have_rules)
{
	static const struct {
		const char *id;
		bool valid;
	} rows[] = {
		{ "abc", true },
		{ A50, true },
		{ A50 "a", false },
		{ "ab", false },
		{ "", false },
		{ "\344\270\255\346\226\207\347\216\257", true },
		{ "\344\270\255\346\226\207", false },
		{ "a b c", true },
		{ "a\tb", false },
		{ "ab\177", false },
		{ "ab\302\205", false },
		{ "ab\377", false },
		{ "a/b", false },
		{ "a?b", false },
		{ "a#b", false },
		{ "a*b", false },
		{ "all", false },
		{ "All", true },
		{ "hub", false },
		{ "server", false },
		{ "broadcast", false },
		{ "x_all", false },
		{ "_all", false },
		{ "all_x", true },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		ck_assert_msg((identity_id_error(str_of(rows[i].id)) == NULL) ==
			rows[i].valid,
		    "%s", rows[i].id);
}

/* "class env id", or the status. */
static void
target_describe(const char *target, char *dst, size_t size)
{
	char work[512];
	struct identity i;
	const char *why = NULL;
	int status;

	(void)snprintf(work, sizeof(work), "%s", target);
	status = identity_of_target(work, strlen(work), &i, &why);
	if (status != 0) {
		ck_assert_ptr_nonnull(why);
		(void)snprintf(dst, size, "%d", status);
		return;
	}
	(void)snprintf(dst, size, "%s %.*s %.*s", client_class_names[i.class].p,
	    STR_ARG(i.env), STR_ARG(i.id));
}

TEST(paths_name_clients)
{
	static const char *const rows[][2] = {
		{ "/env/abc", "environment abc abc" },
		{ "/env/abc?x=/y", "environment abc abc" },
		{ "/env/abc/agent/def", "agent abc def" },
		{ "/human/bob", "human  bob" },
		{ "/env/a%20b", "environment a b a b" },
		{ "/env/a+b", "environment a+b a+b" },
		{ "/env/a%2525b", "environment a%25b a%25b" },
		{ "/env/a%2fb", "400" },
		{ "/env/abc/agent/x", "400" },
		{ "/env/x/agent/abc", "400" },
		{ "/env/%", "400" },
		{ "/env/abc/", "404" },
		{ "/env//abc", "404" },
		{ "//env/abc", "404" },
		{ "/env", "404" },
		{ "/human/bob/x", "404" },
		{ "/env/abc/human/bob", "404" },
		{ "/Env/abc", "404" },
		{ "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r", "404" },
	};
	char is[600];
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		target_describe(rows[i][0], is, sizeof(is));
		ck_assert_str_eq(is, rows[i][1]);
	}
}

#define ID(c, t, e, i)                                                 \
	{                                                              \
		.class = c, .tenant = STR_INIT(t), .env = STR_INIT(e), \
		.id = STR_INIT(i)                                      \
	}

TEST(a_key_is_an_identitys_alone)
{
	static const struct identity rows[] = {
		ID(CLASS_AGENT, "", "abc", "def"),
		ID(CLASS_AGENT, "", "abd", "def"),
		ID(CLASS_AGENT, "t", "abc", "def"),
		ID(CLASS_ENVIRONMENT, "", "def", "def"),
		ID(CLASS_HUMAN, "", "", "def"),
		ID(CLASS_HUMAN, "t", "", "def"),
	};
	char a[IDENTITY_KEY_MAX], b[IDENTITY_KEY_MAX];
	size_t i, k;

	for (i = 0; i < NELEM(rows); i++)
		for (k = 0; k < NELEM(rows); k++) {
			ck_assert_int_eq(str_eq(identity_key(&rows[i], a),
					     identity_key(&rows[k], b)),
			    i == k);
			ck_assert_int_eq(
			    identity_equal(&rows[i], &rows[k]), i == k);
		}
	/* Of a human it does not matter where the hub says it is. */
	struct identity human = rows[4];
	human.env = STR("abc");
	ck_assert(str_eq(identity_key(&human, a), identity_key(&rows[4], b)));
	ck_assert(identity_equal(&human, &rows[4]));
}

TEST(no_client_has_a_longer_id)
{
	char text[IDENTITY_KEY_MAX], id[STAR_ID_BYTES + 1];
	struct identity i = { .class = CLASS_HUMAN,
		.id = { id, STAR_ID_BYTES } };

	memset(id, 'x', sizeof(id));
	ck_assert_ptr_nonnull(identity_key(&i, text).p);
	i.id.n++;
	ck_assert_ptr_null(identity_key(&i, text).p);
}
