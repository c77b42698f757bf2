/* Profiles: read, patched concurrently, forgotten. */
#include "core/mem.h"
#include "profile/profile_store.h"
#include "testkit/memory_fixture.h"

static json_t *
profile_request(struct memory_fixture *fx, const char *body, char code[64])
{
	return tk_nats_request(fx->nc, "soul.rpc.memory.profile", body, code);
}

/* Without what it has of the deployment, which was started once or twice. */
static void
profile_drop_system(json_t *system)
{
	json_t *count = json_object_get(system, "boot_count");

	json_object_del(system, "version");
	if (json_integer_value(count) == 1 || json_integer_value(count) == 2)
		json_object_del(system, "boot_count");
}

/* The profile after a request that must succeed. */
static const char *
profile_after(struct memory_fixture *fx, const char *body)
{
	static char text[4096];
	char code[64], *user, *system;
	json_t *j = profile_request(fx, body, code);

	ck_assert_msg(
	    code[0] == '\0', "%s: %s", body, tk_find_text(j, "error"));
	user = json_dumps(
	    json_object_get(j, "user_profile"), JSON_COMPACT | JSON_SORT_KEYS);
	profile_drop_system(json_object_get(j, "system_state"));
	system = json_dumps(
	    json_object_get(j, "system_state"), JSON_COMPACT | JSON_SORT_KEYS);
	snprintf(text, sizeof(text), "%s %s", user, system);
	free(user);
	free(system);
	json_decref(j);
	return text;
}

#define READ     "{\"user_id\":\"u1\"}"
#define PATCH(p) "{\"user_id\":\"u1\",\"patch\":{\"user_profile\":" p "}}"

TEST_T(a_profile_is_read_and_patched, 60)
{
	char code[64];
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	ck_assert_str_eq(profile_after(&fx, READ), "{} {}");
	j = profile_request(&fx, READ, code);
	ck_assert_str_eq(tk_text(j, "user_id"), "u1");
	ck_assert_ptr_null(json_object_get(j, "updated_at"));
	json_decref(j);

	ck_assert_str_eq(
	    profile_after(&fx,
		"{\"user_id\":\"u1\",\"patch\":{\"user_profile\":{\"name\":"
		"\"安\",\"preferences\":{\"drink\":\"茶\",\"likes\":[1,2]}},"
		"\"system_state\":{\"boot_count\":42}}}"),
	    "{\"name\":\"安\",\"preferences\":{\"drink\":\"茶\",\"likes\":"
	    "[1,2]}} {\"boot_count\":42}");
	j = profile_request(&fx, READ, code);
	ck_assert_int_eq(strlen(tk_text(j, "updated_at")) >= 20, 1);
	json_decref(j);
	ck_assert_str_eq(
	    profile_after(&fx, PATCH("{\"preferences\":{\"likes\":[3]}}")),
	    "{\"name\":\"安\",\"preferences\":{\"drink\":\"茶\",\"likes\":[3]"
	    "}} {\"boot_count\":42}");
	ck_assert_str_eq(
	    profile_after(
		&fx, PATCH("{\"name\":null,\"preferences\":{\"drink\":null}}")),
	    "{\"preferences\":{\"likes\":[3]}} {\"boot_count\":42}");
	/* A value replaces an object, and vice versa. */
	ck_assert_str_eq(profile_after(&fx, PATCH("{\"preferences\":5}")),
	    "{\"preferences\":5} {\"boot_count\":42}");
	ck_assert_str_eq(
	    profile_after(&fx, PATCH("{\"preferences\":{\"a\":{\"b\":1}}}")),
	    "{\"preferences\":{\"a\":{\"b\":1}}} {\"boot_count\":42}");
	ck_assert_str_eq(
	    profile_after(&fx, PATCH("{\"\":1,\"~\":2,\"/\":{\"~1\":3}}")),
	    "{\"\":1,\"/\":{\"~1\":3},\"preferences\":{\"a\":{\"b\":1}},\"~\":"
	    "2} {\"boot_count\":42}");
	ck_assert_str_eq(
	    profile_after(&fx, PATCH("null")), "{} {\"boot_count\":42}");
	memory_fixture_stop(&fx);
}

TEST_T(profiles_do_not_cross_users, 60)
{
	static const char *const names[] = { "u", "u1 ", "*", "u1:*", "U1",
		"{u1}", "u2", "~dTE" };
	char body[128];
	struct memory_fixture fx;
	size_t i;

	memory_fixture_start(&fx, 1);
	(void)profile_after(&fx, PATCH("{\"secret\":1}"));
	for (i = 0; i < NELEM(names); i++) {
		snprintf(body, sizeof(body), "{\"user_id\":\"%s\"}", names[i]);
		ck_assert_str_eq(profile_after(&fx, body), "{} {}");
	}
	memory_fixture_stop(&fx);
}

static const struct {
	const char *body, *why;
} bad[] = {
	{ "{}", "/user_id: is missing" },
	{ "{\"user_id\":\"u1\",\"patch\":[]}", "/patch: " },
	{ "{\"user_id\":\"u1\",\"patch\":{\"x\":{}}}", "/x: is neither" },
	{ PATCH("1"), "/user_profile: must be an object or null" },
	{ PATCH("{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}}}}}"),
	    "/user_profile/a/b/c/d/e/f: is nested too deep" },
};

TEST_T(invalid_patches_are_rejected, 60)
{
	char code[64], body[32768];
	struct memory_fixture fx;
	json_t *j;
	size_t i, n;

	memory_fixture_start(&fx, 1);
	for (i = 0; i < NELEM(bad); i++) {
		j = profile_request(&fx, bad[i].body, code);
		ck_assert_str_eq(code, "invalid_request");
		ck_assert_msg(strncmp(tk_text(j, "error"), bad[i].why,
				  strlen(bad[i].why)) == 0,
		    "%s: %s", bad[i].body, tk_text(j, "error"));
		json_decref(j);
	}
	/* A full profile accepts nothing new until something is removed. */
	n = (size_t)snprintf(body, sizeof(body),
	    "{\"user_id\":\"u1\",\"patch\":{\"user_profile\":{\"0\":1");
	for (i = 1; i < 256; i++)
		n += (size_t)snprintf(
		    body + n, sizeof(body) - n, ",\"%zu\":1", i);
	snprintf(body + n, sizeof(body) - n, "}}}");
	(void)profile_after(&fx, body);
	j = profile_request(&fx, PATCH("{\"0\":2,\"x\":1}"), code);
	ck_assert_str_eq(code, "invalid_request");
	ck_assert_ptr_nonnull(strstr(tk_text(j, "error"), "remove some"));
	json_decref(j);
	ck_assert_ptr_nonnull(strstr(profile_after(&fx, READ), "\"0\":1,"));
	ck_assert_ptr_nonnull(strstr(
	    profile_after(&fx, PATCH("{\"0\":null,\"x\":1}")), "\"x\":1}"));
	memory_fixture_stop(&fx);
}

/* Two workers, and concurrent patches of different parts. */
TEST_T(concurrent_patches_all_apply, 60)
{
	natsSubscription *sub;
	char body[128], *text;
	struct memory_fixture fx;
	json_t *j;
	int i;

	memory_fixture_start(&fx, 2);
	sub = tk_nats_listen(fx.nc, "answers");
	for (i = 0; i < 100; i++) {
		snprintf(
		    body, sizeof(body), PATCH("{\"p\":{\"%d\":%d}}"), i, i);
		ck_assert_int_eq(
		    natsConnection_PublishRequestString(
			fx.nc, "soul.rpc.memory.profile", "answers", body),
		    NATS_OK);
	}
	for (i = 0; i < 100; i++) {
		j = tk_nats_next(sub, MEMORY_FIXTURE_MS, NULL);
		ck_assert_ptr_nonnull(json_object_get(j, "user_profile"));
		json_decref(j);
	}
	natsSubscription_Destroy(sub);
	j = profile_request(&fx, READ, body);
	ck_assert_uint_eq(json_object_size(tk_at(j, "user_profile.p")), 100);
	text = json_dumps(j, 0);
	free(text);
	json_decref(j);
	memory_fixture_stop(&fx);
}

/* Patches with a time, as summaries apply them. */
TEST_T(an_old_patch_does_not_overwrite, 60)
{
	const struct wall then = { clock_wall().ms - 60000 };
	struct wire_err err;
	struct profile p;
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	(void)profile_after(&fx, PATCH("{\"name\":\"new\"}"));
	ck_assert_int_eq(
	    profile_merge(fx.db.s, STR("u1"),
		STR("{\"user_profile\":{\"name\":\"old\",\"age\":7}}"), then,
		&err),
	    RC_OK);
	ck_assert_str_eq(
	    profile_after(&fx, READ), "{\"age\":7,\"name\":\"new\"} {}");
	ck_assert_int_eq(
	    profile_merge(fx.db.s, STR("u1"), STR("{\"a\":1}"), then, &err),
	    RC_INVALID);
	ck_assert_str_eq(err.path, "/a");
	ck_assert_int_eq(
	    profile_merge(fx.db.s, STR("u1"), STR("nonsense"), then, NULL),
	    RC_INVALID);
	arena_reset(fx.db.arena);
	ck_assert_int_eq(
	    profile_read(fx.db.s, STR("u1"), fx.db.arena, &p), RC_OK);
	ck_assert_str_eq(p.user_profile.p, "{\"age\":7,\"name\":\"new\"}");
	/*
	 * Forgetting everything removes the profile, and blocks older patches.
	 */
	j = memory_fixture_forget_reply(&fx, "u1", NULL, NULL, NULL);
	ck_assert(json_is_true(json_object_get(j, "profile")));
	ck_assert_int_eq(tk_int(j, "forgotten"), 0);
	json_decref(j);
	ck_assert_int_eq(profile_merge(fx.db.s, STR("u1"),
			     STR("{\"user_profile\":{\"age\":7}}"), then, &err),
	    RC_OK);
	ck_assert_str_eq(profile_after(&fx, READ), "{} {}");
	memory_fixture_stop(&fx);
}

TEST_T(forgetting_memories_leaves_the_profile, 60)
{
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	(void)profile_after(&fx, PATCH("{\"name\":\"安\"}"));
	j = memory_fixture_forget_reply(&fx, "u1", "s1", NULL, NULL);
	ck_assert(json_is_false(json_object_get(j, "profile")));
	json_decref(j);
	j = memory_fixture_forget_reply(&fx, "u1", NULL, "memory_id", "m");
	json_decref(j);
	j = memory_fixture_forget_reply(&fx, "u1", NULL, "query", "q");
	json_decref(j);
	ck_assert_str_eq(profile_after(&fx, READ), "{\"name\":\"安\"} {}");
	memory_fixture_stop(&fx);
}

struct boot {
	struct memory_fixture *fx;
	long long count;
};

static bool
boots_are(void *arg)
{
	const struct boot *b = arg;
	json_t *j = tk_nats_request(
	    b->fx->nc, "soul.rpc.memory.profile", READ, (char[64]){ 0 });
	json_t *system = json_object_get(j, "system_state");
	long long n = json_integer_value(json_object_get(system, "boot_count"));
	const char *version =
	    json_string_value(json_object_get(system, "version"));

	ck_assert_int_le(n, b->count);
	ck_assert((n > 0) == (version != NULL && version[0] != '\0'));
	json_decref(j);
	return n == b->count;
}

/* Of those that are the only owner; and what a client has set is shown. */
TEST_T(starts_are_counted, 60)
{
	struct memory_fixture fx;
	struct boot b = { &fx, 1 };
	json_t *j;
	char code[64];

	memory_fixture_start(&fx, 1);
	ck_assert(tk_until(boots_are, &b, MEMORY_FIXTURE_MS));
	memory_fixture_spawn_ready(&fx, 1);
	ck_assert(boots_are(&b));
	tk_service_end(&fx.worker[0]);
	b.count = 2;
	ck_assert(tk_until(boots_are, &b, MEMORY_FIXTURE_MS));
	j = profile_request(&fx,
	    "{\"user_id\":\"u2\",\"patch\":{\"system_state\":{\"version\":"
	    "\"1.0\",\"boot_count\":{\"a\":1}}}}",
	    code);
	ck_assert_str_eq(tk_text(j, "system_state.version"), "1.0");
	ck_assert_int_eq(tk_int(j, "system_state.boot_count.a"), 1);
	json_decref(j);
	memory_fixture_stop(&fx);
}
