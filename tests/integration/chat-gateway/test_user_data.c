/*
 * All data of a user are deleted on request, and exported before: every record
 * of the table in interfaces.json that is a user's.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/alarm_entry.h"
#include "state/evolution_entry.h"
#include "state/mcp.h"
#include "state/nav.h"
#include "state/session.h"
#include "state/soul.h"
#include "state/speech.h"
#include "state/star_home.h"
#include "state/turn.h"
#include "state/turn_detail.h"
#include "state/webhook.h"
#include "testkit/gateway_fixture.h"
#include "testkit/run_fixture.h"

#define PATH "/v1/users/ann/data"
/* Of records that only a turn, a deletion or an outage makes. */
static const char *const not_made[] = { "user_deleting", "session_retry",
	"turns", "memory_gone", "memory_past", "memory_past_items",
	"memory_vecs", "mcp_call" };

static const struct star_identity ann_agent = { STR_INIT("-"),
	STR_INIT("agent"), STR_INIT("demo_world/agent_007") };

static json_t *
redis_rows(void)
{
	json_t *all = json_load_file("proto-schemas/interfaces.json", 0, NULL);
	json_t *rows = json_incref(json_object_get(all, "redis"));

	ck_assert(json_is_array(rows));
	json_decref(all);
	return rows;
}

/* Only the user has any. */
static bool
row_is_of_run(const json_t *row)
{
	const json_t *of = json_object_get(row, "of");

	return json_array_size(of) > 0 &&
	    strcmp(json_string_value(json_array_get(of, 0)), "run") == 0;
}

static bool
row_is_of_user(const json_t *row)
{
	const json_t *of = json_object_get(row, "of");

	return json_array_size(of) > 0 &&
	    (strcmp(json_string_value(json_array_get(of, 0)), "user") == 0 ||
		row_is_of_run(row));
}

/* The pattern of all keys of a row that are the user's. */
static const char *
row_pattern(const json_t *row, const char *user, char dst[256])
{
	const char *s = json_string_value(json_object_get(row, "key"));
	size_t n = 0;
	bool named = row_is_of_run(row);

	for (; *s != '\0'; s++) {
		if (strncmp(s, "{#}", 3) == 0) {
			n += (size_t)snprintf(dst + n, 256 - n, "{b*}");
			s += 2;
		} else if (*s == '%') {
			n += (size_t)snprintf(
			    dst + n, 256 - n, "%s", named ? "*" : user);
			named = true;
		} else {
			dst[n++] = *s;
		}
	}
	/* What follows the last of a key. */
	snprintf(dst + n, 256 - n, "%s", dst[n - 1] == ':' ? "*" : "");
	return dst;
}

/* Keys of a row; those that do not expire. */
static size_t
row_count(struct gateway_fixture *b, const json_t *row, const char *user,
    size_t *lasting)
{
	struct state_reply *r, *ttl;
	char pattern[256];
	size_t i, n;

	ck_assert_int_eq(state_cmd(b->db.s,
			     STATE_ARGS(STR("KEYS"),
				 str_of(row_pattern(row, user, pattern))),
			     &r),
	    RC_OK);
	n = state_reply_len(r);
	*lasting = 0;
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(state_cmd(b->db.s,
				     STATE_ARGS(STR("PTTL"),
					 state_reply_str(state_reply_at(r, i))),
				     &ttl),
		    RC_OK);
		*lasting += state_reply_int(ttl) < 0;
		state_reply_free(ttl);
	}
	state_reply_free(r);
	return n;
}

static void
put_session(struct gateway_fixture *b)
{
	const struct session_key k = { STR("ann"), STR("s1") };
	const struct str message =
	    STR("{\"id\":\"1\",\"role\":\"user\",\"content\":\"secret\"}");
	const struct str event = STR("{\"x\":1}");
	const struct turn_slot p = { k, STR("i1"), STR("turn_1") };
	const struct turn_input in = { STR("s"), STR("t1"), 1000 };
	const struct session_new new = { .json = &message, .n = 1 };
	struct turn_events events = { .json = &event, .n = 1 };
	struct turn_entry e = { .fingerprint = STR("f"),
		.input = &in,
		.messages = &new,
		.events = &events };
	struct turn_ending end = { .reply = STR("{}") };
	struct turn_entered out;

	tk_state_soul(&b->db, "s", "INFJ", "ann");
	ck_assert_int_eq(turn_enter(b->db.s, &p, &e, b->db.arena, &out), RC_OK);
	ck_assert_int_eq(turn_leave(b->db.s, &p, &end, b->db.arena), RC_OK);
}

static void
put_star(struct gateway_fixture *b, const char *soul)
{
	struct star_home before,
	    home = { .user_id = STR("ann"),
		    .soul_id = str_of(soul),
		    .room = { STR("-"), STR("demo_world") },
		    .env_id = STR("demo_world"),
		    .agent_id = STR("agent_001"),
		    .terminal_id = STR("star-x") };
	struct star_claim c = {
		.hub = STR("h"), .user = STR("ann"), .session = STR("s")
	};
	struct arena *a = b->db.arena;

	ck_assert_int_eq(star_home_enter(b->db.s, &home, a, &before), RC_OK);
	ck_assert_int_eq(star_guest_enter(b->db.s, STR("ann"), str_of(soul),
			     STR("star:human:bob")),
	    RC_OK);
	ck_assert_int_eq(star_claim(b->db.s, &ann_agent, &c, a), RC_OK);
	ck_assert_int_eq(star_user_add(b->db.s, STR("ann"), &ann_agent), RC_OK);
	/* ann is a guest of eve's soul, too. */
	tk_state_soul(&b->db, "eves", "INFJ", "eve");
	ck_assert_int_eq(
	    star_guest_enter(b->db.s, STR("eve"), STR("eves"), STR("ann")),
	    RC_OK);
}

/* One that runs, and one that has ended. */
static void
put_runs(struct gateway_fixture *b)
{
	struct run_new new = run_fixture_new();
	char id[RUN_ID_MAX];
	struct run_record rec;

	new.key = STR("k1");
	ck_assert_int_eq(run_create(b->db.s, &new), RC_OK);
	new = run_fixture_new();
	new.session_id = STR("s1");
	ck_assert_int_eq(run_create(b->db.s, &new), RC_OK);
	str_copy(str_of(new.run_id), id, sizeof(id));
	rec = run_fixture_claim(b->db.s, id, b->db.arena);
	ck_assert_int_eq(
	    run_fixture_publish(b->db.s, &rec, RUN_IS_FAILED, 2, 2), RC_OK);
}

static void
put_mcp(struct gateway_fixture *b, struct str soul)
{
	const struct str ann = STR("ann");
	const struct mcp_user_server server = { STR("home"),
		STR("{\"url\":\"https://home.example/mcp\",\"headers\":"
		    "\"sealed-secret\",\"header_names\":[\"X-Key\"],"
		    "\"policy\":\"never\"}") };
	struct mcp_grant grant = { soul, STR("home"), STR("t"), STR("auto"),
		STR("") };
	const struct mcp_used used = { STR("home"), STR("t") };
	const struct mcp_content content = { STR("c1"), STR("image/png"),
		STR("c2VjcmV0") };

	ck_assert_int_eq(mcp_server_put(b->db.s, ann, &server), RC_OK);
	ck_assert_int_eq(mcp_grant_put(b->db.s, ann, &grant), RC_OK);
	grant.soul_id = STR("another");
	ck_assert_int_eq(mcp_grant_put(b->db.s, ann, &grant), RC_OK);
	ck_assert_int_eq(mcp_used_add(b->db.s, ann, STR("s1"), &used), RC_OK);
	ck_assert_int_eq(mcp_content_put(b->db.s, ann, &content), RC_OK);
}

static void
put_alarms(struct gateway_fixture *b)
{
	static const char *const json[] = {
		"{\"type\":\"alarm\",\"id\":\"al_1\",\"user_id\":\"ann\","
		"\"text\":\"secret alarm\",\"state\":\"set\",\"next_ms\":"
		"9000000000000,\"at_ms\":9000000000000,\"created_ms\":0,"
		"\"updated_ms\":0}",
		"{\"type\":\"push\",\"id\":\"pu_1\",\"user_id\":\"ann\","
		"\"text\":\"secret push\",\"state\":\"due\",\"next_ms\":"
		"9000000000000,\"at_ms\":0,\"created_ms\":0,\"updated_ms\":0}"
	};
	static const char *const ids[] = { "al_1", "pu_1" };
	struct wall now;

	for (size_t i = 0; i < NELEM(json); i++) {
		struct alarm_entry e = { .type = i == 0 ? ALARM_ENTRY_ALARM
							: ALARM_ENTRY_PUSH,
			.user_id = STR("ann"),
			.id = str_of(ids[i]) };
		const struct alarm_entry_change c = { .json = str_of(json[i]),
			.due = { INT64_C(9000000000000) },
			.most = 10 };

		ck_assert_int_eq(
		    alarm_entry_swap(b->db.s, &e, &c, b->db.arena, &now),
		    RC_OK);
	}
	ck_assert_int_eq(
	    speech_count(b->db.s, STR("ann"), STR("pu_1"), STR("2026-11-27")),
	    RC_OK);
}

static void
put_cycle(struct gateway_fixture *b, const char *soul)
{
	const struct nav_rule rule = { 1, 0, 0 };
	const struct nav_event e = { .key = { STR("ann"), str_of(soul) },
		.id = STR("turn_9"),
		.session_id = STR("s1"),
		.terminal_id = STR("t1"),
		.turn = true };
	struct nav_claim claim = { .lease_ms = 600000, .max = 1, .per_day = 1 };
	struct nav_cycle_list list;
	struct wall due;

	ck_assert_int_eq(nav_note(b->db.s, &e, &rule, &due), RC_OK);
	ck_assert_int_eq(state_bucket(e.key.user_id, &claim.bucket), RC_OK);
	ck_assert_int_eq(nav_claim(b->db.s, &claim, b->db.arena, &list), RC_OK);
	ck_assert_uint_eq(list.n, 1);
	ck_assert_int_eq(mind_link_put(b->db.s, &list.cycle[0],
			     STR("{\"suggestion\":\"secret\"}")),
	    RC_OK);
}

static void
put_evolution(struct gateway_fixture *b, const char *soul)
{
	struct evolution_entry e = { .user_id = STR("ann"),
		.id = STR("evo_1") };
	const struct evolution_change c = { .soul_id = str_of(soul),
		.publish_ms = 600000,
		.json = STR("{\"evolution\":{\"evolution_id\":\"evo_1\","
			    "\"user_id\":\"ann\",\"soul_id\":\"s\","
			    "\"cycle_id\":\"c\",\"need\":\"secret need\","
			    "\"state\":\"refused\",\"steps\":[],"
			    "\"step_count\":3,\"created_at\":"
			    "\"2026-11-27T10:00:00Z\"},\"published\":3}") };

	ck_assert_int_eq(
	    evolution_entry_swap(b->db.s, &e, &c, b->db.arena), RC_OK);
}

/* One event was given up, another waits. */
static void
put_webhook(struct gateway_fixture *b)
{
	const struct webhook_key k = { STR("ann"), STR("wh_1") };
	struct webhook_event e = { STR("ann"), STR("run_ended"), { 2 }, 1 };
	const struct webhook_attempt t = { .seq = 1,
		.outcome = WEBHOOK_DEAD,
		.why = STR("secret"),
		.wait_ms = 600000 };
	size_t n;

	ck_assert_int_eq(
	    webhook_put(b->db.s, &k, (struct wall){ 1 }, (struct str){ 0 },
		STR("{\"id\":\"wh_1\",\"url\":\"https://hook.example\","
		    "\"created_at\":\"2026-11-27T10:00:00Z\","
		    "\"secret\":\"k.sealed-secret\"}")),
	    RC_OK);
	for (; e.seq < 3; e.seq++) {
		ck_assert_int_eq(webhook_enqueue(b->db.s, &e, &n), RC_OK);
		ck_assert_uint_eq(n, 1);
	}
	ck_assert_int_eq(webhook_end(b->db.s, &k, &t), RC_OK);
}

/* Everything that a user may have. */
static void
put_all(struct gateway_memory_fixture *r, char soul[GW_SOUL_ID])
{
	struct gateway_fixture *b = &r->b;
	natsMsg *m;
	char body[512];

	gw_soul(b, "ann", "friendly", soul);
	gw_online(b, "t1", true);
	gw_bind_ok(b, "ann", "t1", soul);
	gw_put_memory(r, "ann", soul, "m1", "secret", 1000);
	gw_ok(b, "PATCH", "/v1/users/ann/profile",
	    "{\"user_profile\":{\"name\":\"secret\"},"
	    "\"system_state\":{\"v\":\"secret\"}}");
	snprintf(body, sizeof(body),
	    "{\"soul_id\":\"%s\",\"session_id\":\"s1\",\"terminal_id\":\"t1\","
	    "\"user_id\":\"ann\",\"turn_id\":\"turn_9\",\"text\":\"气死我了\"}",
	    soul);
	ck_assert_int_eq(natsConnection_RequestString(&m, b->nc,
			     "soul.rpc.emotion.observe", body, GW_MS),
	    NATS_OK);
	natsMsg_Destroy(m);
	put_session(b);
	put_star(b, soul);
	put_runs(b);
	put_mcp(b, str_of(soul));
	put_cycle(b, soul);
	put_alarms(b);
	put_evolution(b, soul);
	ck_assert_int_eq(
	    turn_detail_put(b->db.s,
		&(struct turn_detail){ STR("ann"), STR("turn_9"), clock_wall(),
		    3600 * 1000, STR("secret"), STR("secret") }),
	    RC_OK);
	put_webhook(b);
}

static bool
is_listed(const char *const *list, size_t n, const char *name)
{
	while (n > 0)
		if (strcmp(list[--n], name) == 0)
			return true;
	return false;
}

/* Before: each row has a key; after: none but those that expire. */
static void
check_rows(struct gateway_fixture *b, bool before)
{
	json_t *rows = redis_rows(), *row;
	size_t i, n, lasting, of_user = 0;

	json_array_foreach (rows, i, row) {
		const char *name = tk_text(row, "name");
		const char *fate = tk_text(row, "user_data");

		if (!row_is_of_user(row))
			continue;
		of_user++;
		ck_assert_str_ne(fate, "none");
		n = row_count(b, row, "ann", &lasting);
		if (before)
			ck_assert_msg(
			    n > 0 || is_listed(not_made, NELEM(not_made), name),
			    "the test makes no %s", name);
		else
			ck_assert_msg(lasting == 0 &&
				(n == 0 || strcmp(fate, "expires") == 0),
			    "%zu %s, of which %zu last", n, name, lasting);
	}
	ck_assert_uint_gt(of_user, 30);
	json_decref(rows);
}

TEST(everything_of_a_user_is_deleted)
{
	char soul[GW_SOUL_ID];
	struct gateway_memory_fixture r;
	struct star_holder holder;
	struct soul known;
	natsSubscription *sub;
	struct str *guests;
	json_t *j;
	size_t n;
	int other;

	gw_memory_start(&r);
	sub = gw_audit_subscribe(&r.b);
	put_all(&r, soul);
	check_rows(&r.b, true);
	j = gw_json(&r.b, "DELETE", PATH, NULL);
	ck_assert_int_eq(tk_int(j, "souls"), 3);
	ck_assert_int_eq(tk_int(j, "sessions"), 1);
	ck_assert_int_eq(tk_int(j, "memories"), 1);
	ck_assert_int_eq(tk_int(j, "terminals"), 1);
	ck_assert_int_eq(tk_int(j, "star_identities"), 1);
	ck_assert_int_eq(tk_int(j, "runs"), 2);
	ck_assert_int_eq(tk_int(j, "alarms"), 2);
	ck_assert_int_eq(tk_int(j, "webhooks"), 1);
	json_decref(j);
	check_rows(&r.b, false);
	/* What others know. */
	ck_assert_int_eq(
	    star_find(r.b.db.s, &ann_agent, r.b.db.arena, &holder), RC_NOENT);
	ck_assert_int_eq(soul_read(r.b.db.s, STR("star:human:bob"),
			     str_of(soul), r.b.db.arena, &known),
	    RC_NOENT);
	ck_assert_int_eq(star_guests_read(r.b.db.s, STR("eve"), STR("eves"),
			     r.b.db.arena, &guests, &n),
	    RC_OK);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(
	    soul_read(r.b.db.s, STR("eve"), STR("eves"), r.b.db.arena, &known),
	    RC_OK);
	do {
		j = tk_nats_next(sub, GW_MS, NULL);
		ck_assert_ptr_nonnull(j);
		other =
		    strcmp(tk_text(j, "payload.action"), "user_data_deleted");
		json_decref(j);
	} while (other != 0);
	natsSubscription_Destroy(sub);
	/* Repeated it finds nothing. */
	j = gw_json(&r.b, "DELETE", PATH, NULL);
	ck_assert_int_eq(tk_int(j, "souls"), 0);
	ck_assert_int_eq(tk_int(j, "sessions"), 0);
	json_decref(j);
	gw_memory_stop(&r);
}

TEST(without_memory_worker_it_is_deleted_too)
{
	char soul[GW_SOUL_ID];
	struct gateway_memory_fixture r;
	json_t *j;

	gw_memory_start(&r);
	put_all(&r, soul);
	tk_service_end(&r.worker);
	j = gw_json(&r.b, "DELETE", PATH, NULL);
	ck_assert_int_eq(tk_int(j, "memories"), 1);
	json_decref(j);
	check_rows(&r.b, false);
	gateway_fixture_stop(&r.b);
}

/* Two runs, the newest first or not, and the two events of one of them. */
static void
check_exported_runs(const char *text)
{
	const char *line = text;
	size_t runs = 0, events = 0;

	while ((line = strstr(line, "{\"run\":{")) != NULL) {
		runs++;
		line++;
	}
	for (line = text; (line = strstr(line, "{\"run_event\":{")) != NULL;
	     line++)
		events++;
	ck_assert_uint_eq(runs, 2);
	ck_assert_uint_eq(events, 2);
	ck_assert_ptr_nonnull(strstr(text, "\"prompt\":\"x\""));
	ck_assert_ptr_nonnull(strstr(text, "\"state\":\"failed\""));
	ck_assert_ptr_nonnull(strstr(text, "\"conversation.failed\""));
}

TEST(the_export_has_homes_identities_servers_grants_and_runs)
{
	char soul[GW_SOUL_ID], want[512], path[256], grant[256];
	struct gateway_memory_fixture r;
	struct tk_response a = { 0 };

	gw_memory_start(&r);
	put_all(&r, soul);
	ck_assert_int_eq(gw_request(&r.b, &a, "GET",
			     "/v1/memories/export?user_id=ann", NULL),
	    200);
	snprintf(want, sizeof(want),
	    "{\"star_place\":{\"soul_id\":\"%s\",\"env_id\":\"demo_world\","
	    "\"agent_id\":\"agent_001\",\"terminal_id\":\"star-x\","
	    "\"entered_at\":\"",
	    soul);
	ck_assert_ptr_nonnull(strstr(a.body.p, want));
	ck_assert_ptr_nonnull(strstr(a.body.p,
	    "{\"star_identity\":{\"class\":\"agent\",\"id\":"
	    "\"demo_world/agent_007\"}}\n"));
	ck_assert_ptr_nonnull(strstr(a.body.p, "{\"profile\":"));
	ck_assert_ptr_nonnull(strstr(a.body.p, "{\"end\":"));
	check_exported_runs(a.body.p);
	ck_assert_ptr_nonnull(strstr(a.body.p,
	    "{\"mcp_server\":{\"name\":\"home\",\"url\":"
	    "\"https://home.example/mcp\",\"headers\":[{\"name\":\"X-Key\","
	    "\"value\":\"***\"}],\"policy\":\"never\"}}\n"));
	ck_assert_ptr_null(strstr(a.body.p, "sealed-secret"));
	snprintf(grant, sizeof(grant),
	    "{\"mcp_grant\":{\"server\":\"home\",\"tool\":\"t\","
	    "\"soul_id\":\"%s\",\"policy\":\"auto\"}}\n",
	    soul);
	ck_assert_ptr_nonnull(strstr(a.body.p, grant));
	ck_assert_ptr_nonnull(strstr(a.body.p, "\"another\""));
	ck_assert_ptr_nonnull(strstr(a.body.p, "secret alarm"));
	ck_assert_ptr_nonnull(strstr(a.body.p, "secret push"));
	ck_assert_ptr_nonnull(strstr(a.body.p, "secret need"));
	ck_assert_ptr_nonnull(strstr(a.body.p,
	    "{\"webhook\":{\"id\":\"wh_1\",\"url\":\"https://hook.example\","));
	snprintf(path, sizeof(path),
	    "/v1/memories/export?user_id=ann&soul_id=%s", soul);
	ck_assert_int_eq(gw_request(&r.b, &a, "GET", path, NULL), 200);
	ck_assert_ptr_nonnull(strstr(a.body.p, want));
	ck_assert_ptr_null(strstr(a.body.p, "star_identity"));
	ck_assert_ptr_null(strstr(a.body.p, "run_id"));
	ck_assert_ptr_nonnull(strstr(a.body.p, grant));
	ck_assert_ptr_null(strstr(a.body.p, "\"another\""));
	ck_assert_ptr_null(strstr(a.body.p, "mcp_server"));
	tk_response_free(&a);
	gw_memory_stop(&r);
}

TEST(only_the_user_and_operators_may_delete)
{
	static const struct {
		const char *token, *want;
	} rows[] = {
		{ TOKEN_BOB, "403 " },
		{ TOKEN_LAMP, "403 " },
		{ TOKEN_PROVISIONER, "403 " },
	};
	struct gateway_fixture b;
	size_t i;

	gw_start_with_tokens(&b);
	for (i = 0; i < NELEM(rows); i++)
		gw_rejects_as(
		    &b, rows[i].token, "DELETE", PATH, NULL, rows[i].want);
	gw_ok_as(&b, TOKEN_ANN, "DELETE", PATH, NULL);
	gw_ok_as(&b, TOKEN_OPERATOR, "DELETE", PATH, NULL);
	gateway_fixture_stop(&b);
}
