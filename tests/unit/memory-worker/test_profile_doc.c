/* Profiles: merge patches become leaves, leaves become documents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "profile/profile_store.h"
#include "testkit/testkit.h"

#define DOC_MAX (1024UL * 1024)

static struct arena *arena;

static struct profile_leaves
leaves(const char *patch)
{
	struct profile_leaves l;
	struct wire_err err = { "", "" };
	enum rc rc;

	if (arena == NULL)
		arena = arena_new(4 * DOC_MAX);
	arena_reset(arena);
	rc = profile_doc_patch(str_of(patch), arena, &l, &err);
	ck_assert_msg(rc == RC_OK, "%s: %s: %s", patch, err.path, err.why);
	return l;
}

/* What a patch changes: "path=value path=value". */
static const char *
changes(const char *patch)
{
	static char text[4096];
	struct profile_leaves l = leaves(patch);
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < l.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s=%.*s",
		    i == 0 ? "" : " ", STR_ARG(l.leaf[i].path),
		    STR_ARG(l.leaf[i].value));
	return text;
}

static int
by_path(const void *a, const void *b)
{
	return str_cmp(((const struct profile_leaf *)a)->path,
	    ((const struct profile_leaf *)b)->path);
}

/* The document that a patch of an empty one yields. */
static const char *
made(const char *patch, const char *part)
{
	static char text[DOC_MAX];
	struct profile_leaves l = leaves(patch);
	struct buf out = BUF_INIT(DOC_MAX);

	qsort(l.leaf, l.n, sizeof(*l.leaf), by_path);
	profile_doc_part(&l, part, &out);
	ck_assert_int_eq(buf_rc(&out), RC_OK);
	str_copy(buf_str(&out), text, sizeof(text));
	buf_free(&out);
	return text;
}

static const struct {
	const char *patch, *leaves;
} patches[] = {
	{ "{}", "" },
	{ "{\"user_profile\":{}}", "" },
	{ "{\"user_profile\":{\"a\":{\"b\":{}}}}", "" },
	{ "{\"user_profile\":null}", "/user_profile=" },
	{ "{\"user_profile\":{\"name\":\"安\"},"
	  "\"system_state\":{\"version\":\"1.0\",\"boot_count\":42}}",
	    "/user_profile/name=\"安\" /system_state/version=\"1.0\" "
	    "/system_state/boot_count=42" },
	{ "{\"user_profile\":{\"a\":null,\"b\":{\"c\":null,\"d\":false}}}",
	    "/user_profile/a= /user_profile/b/c= /user_profile/b/d=false" },
	/* Lists are replaced as a whole, and may contain anything. */
	{ "{\"user_profile\":{\"a\":[1, null, {\"b\":null}, []]}}",
	    "/user_profile/a=[1,null,{\"b\":null},[]]" },
	{ "{\"user_profile\":{\"a\":[]}}", "/user_profile/a=[]" },
	{ "{\"user_profile\":{\"x\":1.50,\"y\":-1e3,\"z\":\"\\u0001\"}}",
	    "/user_profile/x=1.5 /user_profile/y=-1000.0 "
	    "/user_profile/z=\"\\u0001\"" },
	/* Names that look like paths. */
	{ "{\"user_profile\":{\"\":1,\"~\":2,\"/\":3,\"~1\":4,\"a/b\":5,"
	  "\"a\":{\"b\":6,\"\":{\"\":7}}}}",
	    "/user_profile/=1 /user_profile/~0=2 /user_profile/~1=3 "
	    "/user_profile/~01=4 /user_profile/a~1b=5 /user_profile/a/b=6 "
	    "/user_profile/a//=7" },
};

TEST(a_patch_becomes_leaves)
{
	size_t i;

	for (i = 0; i < NELEM(patches); i++)
		ck_assert_str_eq(changes(patches[i].patch), patches[i].leaves);
}

static const struct {
	const char *in, *out;
} documents[] = {
	{ "{}", "{}" },
	{ "{\"name\":\"安\"}", "{\"name\":\"安\"}" },
	{ "{\"a\":{\"b\":{\"c\":1}}}", "{\"a\":{\"b\":{\"c\":1}}}" },
	{ "{\"a\":{\"b\":1,\"c\":{\"d\":2,\"e\":3}},\"f\":4}",
	    "{\"a\":{\"b\":1,\"c\":{\"d\":2,\"e\":3}},\"f\":4}" },
	/* One name is a prefix of the other. */
	{ "{\"a\":{\"x\":1},\"a!\":2,\"ab\":{\"x\":3},\"a-b\":{\"x\":4}}",
	    "{\"a!\":2,\"a-b\":{\"x\":4},\"a\":{\"x\":1},\"ab\":{\"x\":3}}" },
	{ "{\"\":1,\"~\":2,\"/\":3,\"~1\":4,\"~01\":5}",
	    "{\"\":1,\"~\":2,\"~01\":5,\"~1\":4,\"/\":3}" },
	{ "{\"\":{\"\":{\"\":1}}}", "{\"\":{\"\":{\"\":1}}}" },
	{ "{\"a\":{\"\":1},\"\":{\"a\":2}}",
	    "{\"\":{\"a\":2},\"a\":{\"\":1}}" },
	{ "{\"a\\\"\\n\":[{\"b\":{}}]}", "{\"a\\\"\\n\":[{\"b\":{}}]}" },
};

TEST(leaves_become_a_document)
{
	char patch[1024];
	size_t i;

	for (i = 0; i < NELEM(documents); i++) {
		snprintf(patch, sizeof(patch), "{\"user_profile\":%s}",
		    documents[i].in);
		ck_assert_str_eq(made(patch, "user_profile"), documents[i].out);
		ck_assert_str_eq(made(patch, "system_state"), "{}");
	}
}

static void
ck_rejected(const char *patch, const char *path, const char *why)
{
	struct arena *a = arena_new(DOC_MAX);
	struct profile_leaves l;
	struct wire_err err = { "?", "?" };

	ck_assert_int_eq(
	    profile_doc_patch(str_of(patch), a, &l, &err), RC_INVALID);
	ck_assert_str_eq(err.path, path);
	ck_assert_msg(strstr(err.why, why) != NULL, "%s", err.why);
	arena_free(a);
}

TEST(malformed_patches_are_rejected)
{
	ck_rejected("", "", "is not JSON");
	ck_rejected("{", "", "is not JSON");
	ck_rejected("null", "", "must be an object");
	ck_rejected("[]", "", "must be an object");
	ck_rejected("{\"user_profile\":1}", "/user_profile", "object or null");
	ck_rejected("{\"system_state\":[]}", "/system_state", "object or null");
	ck_rejected("{\"name\":{}}", "/name", "neither");
	ck_rejected("{\"user_profile/\":{}}", "/user_profile~1", "neither");
	ck_rejected("{\"\":null}", "/", "neither");
	ck_rejected("{\"user_profile\":{\"a\":1,\"a\":2}}", "", "is not JSON");
	ck_rejected("{\"user_profile\":{\"a\\u0000\":1}}", "", "is not JSON");
	/* Numbers that cannot be represented are rejected. */
	ck_rejected("{\"user_profile\":{\"a\":99999999999999999999}}", "",
	    "is not JSON");
}

TEST(limits_are_enforced)
{
	static char text[128 * 1024];
	size_t n;
	int i;

	/* Six names may lead to a value, seven may not. */
	ck_assert_str_eq(
	    changes(
		"{\"user_profile\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}}}}}"),
	    "/user_profile/b/c/d/e/f=1");
	ck_rejected("{\"user_profile\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":"
		    "{\"g\":1}}}}}}}",
	    "/user_profile/b/c/d/e/f/g", "too deep");
	/* The length of a name. */
	snprintf(text, sizeof(text), "{\"user_profile\":{\"%0256d\":1}}", 0);
	ck_assert_uint_eq(leaves(text).n, 1);
	snprintf(text, sizeof(text), "{\"user_profile\":{\"%0257d\":1}}", 0);
	ck_rejected(text,
	    "/user_profile/000000000000000000000000000000000000000000"
	    "0000000000000000000000000000000000000000000000000000000"
	    "0000000000000000000000000000000000000000000000000000000"
	    "0000000000000000000000000000000000000000000000000000000"
	    "0000000000000000000000000000000000",
	    "at most 256 bytes");
	/* The length of a value, including quotes. */
	snprintf(
	    text, sizeof(text), "{\"user_profile\":{\"a\":\"%01022d\"}}", 0);
	ck_assert_uint_eq(leaves(text).n, 1);
	snprintf(
	    text, sizeof(text), "{\"user_profile\":{\"a\":\"%01023d\"}}", 0);
	ck_rejected(text, "/user_profile/a", "over 1024 bytes");
	/* The number of values. */
	n = (size_t)snprintf(
	    text, sizeof(text), "{\"user_profile\":{\"-\":null");
	for (i = 0; i < PROFILE_LEAVES_MAX - 1; i++)
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, ",\"%d\":1", i);
	snprintf(text + n, sizeof(text) - n, "}}");
	ck_assert_uint_eq(leaves(text).n, PROFILE_LEAVES_MAX);
	snprintf(text + n, sizeof(text) - n, "},\"system_state\":{\"x\":1}}");
	ck_rejected(text, "/system_state/x", "at most 256 values");
}

TEST(a_full_arena_is_reported)
{
	struct arena *a = arena_new(64);
	struct profile_leaves l;

	ck_assert_int_eq(profile_doc_patch(STR("{}"), a, &l, NULL), RC_TOOBIG);
	arena_free(a);
}
