/*
 * Tools of providers: their lists, calls, and what is reported of them.
 */
#include "testkit/orch_fixture.h"
#include "testkit/tool_provider.h"

#define LIST(tools)   "\"tools\":[" tools "],\"left_out\":[],\"notes\":[]"
#define READ_FILE     TOOL_PROVIDER_TOOL("fs", "read_file", "auto", "true")
#define MOVE_FILE     TOOL_PROVIDER_TOOL("fs", "move_file", "auto", "false")
#define CALLS(list)   "[" list "]"
#define ON_A(name)    "[\"" name "\",\"{\\\"path\\\":\\\"a.txt\\\"}\"]"
#define WITHOUT(name) "[\"" name "\",\"{}\"]"

struct bench {
	struct orch_fixture f;
	struct tool_provider p;
	struct orch_turn t;
};

static void
begin(struct bench *b, const char *list)
{
	orch_fixture_start(&b->f, 1);
	orch_peers_set(&b->f.peers, filter, INTENT_FALLBACK);
	tool_provider_start(&b->p, b->f.nats.url, "mcp-host");
	tool_provider_set(&b->p, list, list);
}

static void
finish(struct bench *b)
{
	orch_turn_close(&b->t);
	tool_provider_stop(&b->p);
	orch_fixture_stop(&b->f);
}

static const char *
last_text(struct bench *b)
{
	size_t n = orch_model_requests(&b->f.model);

	return orch_model_text(orch_model_request(&b->f.model, n - 1), -1);
}

TEST_T(a_tool_is_called_and_its_words_are_marked, 60)
{
	struct bench b;
	char text[1024];

	begin(&b, LIST(READ_FILE));
	tool_provider_set(&b.p, reply, "\"ok\":true,\"text\":\"hello a\"");
	orch_model_reply(&b.f.model, "我看看。", CALLS(ON_A("fs__read_file")));
	orch_model_reply(&b.f.model, "里面是 hello a。", NULL);
	orch_turn_start(&b.t, &b.f, "把 a.txt 里的内容读给我听");
	orch_ck_completed(&b.t, .reply = "里面是 hello a。",
	    .executed = "fs__read_file", .failed = "");
	json_t *call = tool_provider_call(&b.p, 0);
	ck_assert_str_eq(orch_text(call, "arguments.path"), "a.txt");
	ck_assert_str_eq(orch_text(call, "user_id"), "u1");
	ck_assert_str_eq(orch_text(call, "soul_id"), "soul_1");
	ck_assert_str_eq(orch_text(call, "session_id"), "s1");
	ck_assert_str_eq(orch_text(call, "turn_id"), b.t.turn_id);
	ck_assert_str_eq(orch_text(call, "terminal_id"), "t1");
	ck_assert_ptr_null(json_object_get(call, "approval"));
	ck_assert_str_eq(
	    last_text(&b), "{\"ok\":true,\"tool_output\":\"hello a\"}");
	ck_assert_str_eq(orch_model_tools(orch_model_request(&b.f.model, 0),
			     text, sizeof(text)),
	    "control_light,nod,fs__read_file");
	ck_assert_ptr_nonnull(
	    strstr(orch_model_text(orch_model_request(&b.f.model, 0), 0),
		"tool_output"));
	finish(&b);
}

/* The list is requested once, until it changes. */
TEST_T(a_list_is_cached_until_it_changes, 60)
{
	struct bench b;

	begin(&b, LIST(READ_FILE));
	for (int i = 0; i < 5; i++) {
		if (i == 2) {
			tool_provider_set(&b.p, revision, 2);
			tool_provider_announce(&b.p, NULL);
		}
		if (i == 3)
			tool_provider_announce(&b.p, "u2");
		if (i == 4)
			tool_provider_announce(&b.p, "u1");
		orch_model_reply(&b.f.model, "好。", NULL);
		orch_turn_start(&b.t, &b.f, "聊聊");
		orch_ck_completed(
		    &b.t, .reply = "好。", .executed = "", .failed = "");
		if (i < 4)
			orch_turn_close(&b.t);
		ck_assert_uint_eq(tool_provider_lists(&b.p),
		    i < 2       ? 1
			: i < 4 ? 2
				: 3);
	}
	finish(&b);
}

/* What left something out is ranked by the text of each turn. */
TEST_T(more_tools_are_searched_for, 60)
{
	struct bench b;
	char text[1024];

	begin(&b,
	    "\"tools\":[" READ_FILE "],\"left_out\":[{\"server\":\"hub\","
	    "\"names\":[\"hub__list\"],\"more\":7}],\"notes\":[\"mail is "
	    "down\"]");
	tool_provider_set(&b.p, found,
	    LIST(TOOL_PROVIDER_TOOL("hub", "list", "auto", "true")));
	orch_model_reply(&b.f.model, "",
	    "[[\"more_tools\",\"{\\\"query\\\":\\\"?issues\\\"}\"]]");
	orch_model_reply(&b.f.model, "", CALLS(ON_A("hub__list")));
	orch_model_reply(&b.f.model, "列好了。", NULL);
	orch_turn_start(&b.t, &b.f, "列一下问题");
	orch_ck_completed(
	    &b.t, .reply = "列好了。", .executed = "hub__list", .failed = "");
	const char *system =
	    orch_model_text(orch_model_request(&b.f.model, 0), 0);
	ck_assert_ptr_nonnull(strstr(system, "hub：hub__list……还有 7 个\n"));
	ck_assert_ptr_nonnull(strstr(system, "mail is down\n"));
	ck_assert_str_eq(orch_model_tools(orch_model_request(&b.f.model, 0),
			     text, sizeof(text)),
	    "control_light,nod,fs__read_file,more_tools");
	ck_assert_str_eq(orch_model_tools(orch_model_request(&b.f.model, 1),
			     text, sizeof(text)),
	    "control_light,nod,hub__list,fs__read_file,more_tools");
	ck_assert_uint_eq(tool_provider_lists(&b.p), 2);
	finish(&b);
}

/* ---- outcomes ---- */

struct outcome_row {
	enum tool_provider_mode mode;
	const char *reply;
	const char *sentence; /* by the turn's own sentence */
	const char *error;    /* of failed_skills */
};

static void
check_outcome(struct bench *b, const struct outcome_row *row)
{
	tool_provider_set(&b->p, mode, row->mode);
	tool_provider_set(&b->p, reply, row->reply);
	orch_model_reply(&b->f.model, "", CALLS(ON_A("fs__move_file")));
	orch_model_reply(&b->f.model, "嗯。", NULL);
	orch_turn_start(&b->t, &b->f, "移动 a.txt");
	orch_ck_completed(&b->t, .reply = row->sentence, .executed = "",
	    .failed = "fs__move_file", .errors = row->error);
	orch_turn_close(&b->t);
}

TEST_T(only_what_was_confirmed_was_done, 90)
{
	static const struct outcome_row rows[] = {
		{ TOOL_REPLIES,
		    "\"ok\":false,\"text\":\"no such file\",\"error\":{"
		    "\"code\":\"TOOL_ERROR\",\"message\":\"x\"}",
		    "嗯。\nmove_file没有成功：no such file。", "no such file" },
		{ TOOL_REPLIES,
		    "\"ok\":false,\"error\":{\"code\":\"SERVER_UNAVAILABLE\","
		    "\"message\":\"fs is down\"}",
		    "嗯。\n工具move_file现在连不上，没有执行。", "fs is down" },
		{ TOOL_REPLIES,
		    "\"ok\":false,\"error\":{\"code\":\"TIMEOUT\","
		    "\"message\":\"x\"}",
		    "嗯。\nmove_file已经发出，但没有得到确认。",
		    "not confirmed" },
		{ TOOL_REPLIES,
		    "\"ok\":false,\"error\":{\"code\":\"NEW_CODE\","
		    "\"message\":\"x\"}",
		    "嗯。\nmove_file已经发出，但没有得到确认。",
		    "not confirmed" },
		{ TOOL_REPLIES, "\"text\":\"?\"",
		    "嗯。\nmove_file已经发出，但没有得到确认。",
		    "not confirmed" },
		{ TOOL_MUTE, "", "嗯。\nmove_file已经发出，但没有得到确认。",
		    "not confirmed" },
		{ TOOL_RUNS, "", "嗯。\nmove_file已经发出，但没有得到确认。",
		    "not confirmed" },
	};
	struct bench b;

	begin(&b, LIST(MOVE_FILE));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tool_provider_announce(&b.p, NULL);
		check_outcome(&b, &rows[i]);
	}
	/* Each was sent once; the silent ones were canceled. */
	ck_assert_uint_eq(tool_provider_calls(&b.p), 7);
	ck_assert_uint_eq(tool_provider_cancels(&b.p), 2);
	tool_provider_set(&b.p, mode, TOOL_BAD);
	tool_provider_set(&b.p, reply, "\"ok\":true,\"text\":\"moved\"");
	orch_model_reply(&b.f.model, "", CALLS(ON_A("fs__move_file")));
	orch_model_reply(&b.f.model, "移好了。", NULL);
	orch_turn_start(&b.t, &b.f, "移动 a.txt");
	orch_ck_completed(&b.t, .reply = "移好了。",
	    .executed = "fs__move_file", .failed = "");
	finish(&b);
}

TEST_T(a_provider_without_a_process_is_offline, 60)
{
	struct bench b;

	begin(&b, LIST(MOVE_FILE));
	orch_model_reply(&b.f.model, "好。", NULL);
	orch_turn_start(&b.t, &b.f, "聊聊");
	orch_ck_completed(&b.t, .reply = "好。", .executed = "", .failed = "");
	orch_turn_close(&b.t);
	/* The list is cached, and nobody replies to a call. */
	tool_provider_stop(&b.p);
	orch_model_reply(&b.f.model, "", CALLS(ON_A("fs__move_file")));
	orch_model_reply(&b.f.model, "嗯。", NULL);
	orch_turn_start(&b.t, &b.f, "移动 a.txt");
	orch_ck_completed(&b.t,
	    .reply = "嗯。\n工具move_file现在连不上，没有执行。",
	    .executed = "", .failed = "fs__move_file", .errors = "offline");
	orch_turn_close(&b.t);
	orch_fixture_stop(&b.f);
}

/* ---- images ---- */

TEST_T(a_model_with_vision_sees_an_image, 60)
{
	char path[256], text[512], env[300];
	struct bench b;

	snprintf(path, sizeof(path), "%s", tk_path("models.json"));
	snprintf(env, sizeof(env), "LLM_PROVIDERS=%s", path);
	begin(&b, LIST(READ_FILE));
	orch_fixture_kill(&b.f, 0);
	snprintf(text, sizeof(text),
	    "{\"providers\":[{\"name\":\"a\",\"base_url\":"
	    "\"http://127.0.0.1:%d/v1\",\"model\":\"m\",\"vision\":true}]}",
	    b.f.model.port);
	tk_write_file(path, text);
	b.f.more[0] = env;
	orch_fixture_spawn(&b.f, 0);
	tool_provider_announce(&b.p, NULL);
	tool_provider_set(&b.p, reply,
	    "\"ok\":true,\"text\":\"a picture\",\"images\":[{\"mime_type\":"
	    "\"image/png\",\"data\":\"YQ==\"}]");
	orch_model_reply(&b.f.model, "", CALLS(ON_A("fs__read_file")));
	orch_model_reply(&b.f.model, "一只猫。", NULL);
	orch_turn_start(&b.t, &b.f, "看看 a.png");
	orch_ck_completed(&b.t, .reply = "一只猫。",
	    .executed = "fs__read_file", .failed = "");
	json_t *m = orch_model_message(orch_model_request(&b.f.model, 1), -1);
	json_t *part = json_array_get(json_object_get(m, "content"), 1);
	ck_assert_str_eq(
	    orch_text(part, "image_url.url"), "data:image/png;base64,YQ==");
	/* It is not stored. */
	json_t *stored = orch_fixture_messages(&b.f, "s1", 8);
	char *all = json_dumps(stored, JSON_COMPACT);
	ck_assert_ptr_null(strstr(all, "YQ=="));
	free(all);
	json_decref(stored);
	finish(&b);
}

/* ---- the model's mistakes ---- */

TEST_T(invalid_arguments_are_returned_to_the_model, 60)
{
	struct bench b;

	begin(&b, LIST(READ_FILE));
	orch_model_reply(&b.f.model, "", CALLS(WITHOUT("fs__read_file")));
	orch_model_reply(&b.f.model, "",
	    CALLS("[\"read_file\",\"{\\\"path\\\":\\\"a\\\",\\\"n\\\":\\\"3\\\""
		  "}\"]"));
	orch_model_reply(&b.f.model, "读好了。", NULL);
	orch_turn_start(&b.t, &b.f, "读 a.txt");
	orch_ck_completed(&b.t, .reply = "读好了。",
	    .executed = "fs__read_file", .failed = "");
	/* Coerced, and called by its name at the server. */
	ck_assert_uint_eq(tool_provider_calls(&b.p), 1);
	json_t *n = json_object_get(
	    json_object_get(tool_provider_call(&b.p, 0), "arguments"), "n");
	ck_assert_int_eq(json_integer_value(n), 3);
	finish(&b);
}

TEST_T(calls_are_parallel_and_in_order_per_tool, 60)
{
	struct bench b;

	begin(&b, LIST(READ_FILE "," MOVE_FILE));
	tool_provider_set(&b.p, mute, "fs__move_file");
	orch_model_reply(&b.f.model, "",
	    CALLS(ON_A("fs__move_file") "," ON_A("fs__move_file") "," ON_A(
		"fs__read_file")));
	orch_model_reply(&b.f.model, "嗯。", NULL);
	orch_turn_start(&b.t, &b.f, "移动两次，再读");
	orch_ck_completed(&b.t, .executed = "fs__read_file",
	    .failed = "fs__move_file,fs__move_file",
	    .errors = "not confirmed,not sent");
	ck_assert_uint_eq(tool_provider_calls(&b.p), 2);
	finish(&b);
}

/* ---- the gate ---- */

TEST_T(the_gate_holds_back_what_acts, 60)
{
	struct bench b;

	begin(&b, LIST(READ_FILE "," MOVE_FILE));
	orch_peers_set(&b.f.peers, exec_mode, "blocked");
	orch_model_reply(&b.f.model, "",
	    CALLS(ON_A("fs__move_file") "," ON_A("fs__read_file")));
	orch_model_reply(&b.f.model, "嗯。", NULL);
	orch_turn_start(&b.t, &b.f, "移动，再读");
	orch_ck_completed(&b.t, .executed = "fs__read_file",
	    .failed = "fs__move_file", .errors = "blocked");
	ck_assert_uint_eq(tool_provider_calls(&b.p), 1);
	finish(&b);
}

/* ---- progress and cancel ---- */

TEST_T(progress_becomes_a_warning, 60)
{
	struct orch_turn_opts o = { .stream = true };
	struct bench b;

	begin(&b, LIST(READ_FILE));
	tool_provider_set(&b.p, mode, TOOL_REPORTS);
	orch_model_reply(&b.f.model, "", CALLS(ON_A("fs__read_file")));
	orch_model_reply(&b.f.model, "好。", NULL);
	orch_turn_start_with(&b.t, &b.f, "读", &o);
	orch_ck_completed(&b.t, .executed = "fs__read_file", .failed = "");
	json_t *events = orch_events(&b.f);
	json_t *e = orch_event(events, b.t.turn_id, "warning", 0);
	ck_assert_str_eq(orch_text(e, "data.code"), "TOOL_PROGRESS");
	ck_assert_str_eq(
	    orch_text(e, "data.message"), "fs__read_file: 1/3 step 1");
	/* Once a second at most. */
	ck_assert_ptr_null(orch_event(events, b.t.turn_id, "warning", 1));
	json_decref(events);
	finish(&b);
}

static bool
one_call(void *p)
{
	return tool_provider_calls(p) == 1;
}

static bool
one_cancel(void *p)
{
	return tool_provider_cancels(p) == 1;
}

TEST_T(a_cancel_reaches_the_provider, 60)
{
	struct bench b;

	begin(&b, LIST(MOVE_FILE));
	tool_provider_set(&b.p, mode, TOOL_RUNS);
	orch_model_reply(&b.f.model, "", CALLS(ON_A("fs__move_file")));
	orch_turn_start(&b.t, &b.f, "移动");
	ck_assert(tk_until(one_call, &b.p, ORCH_WAIT_MS));
	json_decref(orch_turn_query(&b.f, "cancel", b.t.turn_id));
	ck_assert_str_eq(orch_text(orch_turn_end(&b.t), "state"), "canceled");
	ck_assert(tk_until(one_cancel, &b.p, ORCH_WAIT_MS));
	/* It may have been executed, which the session says. */
	json_t *m = orch_fixture_messages(&b.f, "s1", 1);
	ck_assert_ptr_nonnull(strstr(
	    orch_text(json_array_get(m, 0), "content"), "not confirmed"));
	json_decref(m);
	finish(&b);
}

/* A sign of life is no progress. */
static bool
is_canceled_while_alive(void *p)
{
	tool_provider_alive(p);
	return one_cancel(p);
}

TEST_T(a_call_without_progress_ends_with_its_tools_time, 60)
{
	struct bench b;

	begin(&b,
	    LIST(TOOL_PROVIDER_TIMED("fs", "move_file", "auto", "false", "1")));
	tool_provider_set(&b.p, mode, TOOL_RUNS);
	orch_model_reply(&b.f.model, "", CALLS(ON_A("fs__move_file")));
	orch_model_reply(&b.f.model, "嗯。", NULL);
	orch_turn_start(&b.t, &b.f, "移动");
	ck_assert(tk_until(one_call, &b.p, ORCH_WAIT_MS));
	ck_assert(tk_until(is_canceled_while_alive, &b.p, ORCH_WAIT_MS));
	orch_ck_completed(&b.t, .executed = "", .failed = "fs__move_file",
	    .errors = "not confirmed");
	finish(&b);
}

/* ---- a direct turn ---- */

struct counter {
	pthread_mutex_t lock;
	size_t n, ended;
};

static void
count_message(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	const char *subject = natsMsg_GetSubject(m);
	struct counter *c = arg;

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&c->lock);
	if (strncmp(subject, "soul.tool.present.", 18) != 0)
		c->n++;
	c->ended += strncmp(subject, "soul.event.turn_completed.", 26) == 0;
	pthread_mutex_unlock(&c->lock);
	natsMsg_Destroy(m);
}

static bool
has_ended(void *arg)
{
	struct counter *c = arg;

	pthread_mutex_lock(&c->lock);
	bool is = c->ended > 0;
	pthread_mutex_unlock(&c->lock);
	return is;
}

/* Messages of one direct turn. */
static size_t
messages_of_a_turn(struct bench *b, struct counter *c)
{
	c->n = c->ended = 0;
	orch_turn_start(&b->t, &b->f, "把灯变绿");
	orch_ck_completed(&b->t, .executed = "control_light", .failed = "");
	ck_assert(tk_until(has_ended, c, ORCH_WAIT_MS));
	orch_turn_close(&b->t);
	return c->n;
}

TEST_T(a_direct_turn_sends_nothing_to_providers, 60)
{
	struct counter c = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct tool_provider others[2];
	natsSubscription *sub;
	struct bench b;
	size_t without, with;

	orch_fixture_start(&b.f, 1);
	orch_peers_set(&b.f.peers, filter,
	    INTENT_DECISION("execute_intents", INTENT_GREEN, ""));
	ck_assert_int_eq(natsConnection_Subscribe(
			     &sub, b.f.peers.nc, "soul.>", count_message, &c),
	    NATS_OK);
	/* The first turn also learns that memory is not ready. */
	(void)messages_of_a_turn(&b, &c);
	without = messages_of_a_turn(&b, &c);
	tool_provider_start(&b.p, b.f.nats.url, "mcp-host");
	tool_provider_start(&others[0], b.f.nats.url, "alarm-clock");
	tool_provider_start(&others[1], b.f.nats.url, "engine-runner");
	with = messages_of_a_turn(&b, &c);
	printf("%zu messages, with three providers %zu\n", without, with);
	ck_assert_uint_eq(with, without);
	ck_assert_uint_eq(tool_provider_lists(&b.p), 0);
	tool_provider_stop(&b.p);
	tool_provider_stop(&others[0]);
	tool_provider_stop(&others[1]);
	(void)natsSubscription_Unsubscribe(sub);
	natsSubscription_Destroy(sub);
	orch_fixture_stop(&b.f);
}
