/*
 * memory-worker dead: dead letters are listed with their reasons, shown,
 * replayed and dropped.
 */
#include <signal.h>
#include <sys/resource.h>

#include "testkit/memory_fixture.h"

/* ---- the command ---- */

struct output {
	int code;
	char *text; /* stdout and stderr */
	size_t n;
};

static struct output
run_dead(const char *url, const char *const args[])
{
	static int nth;
	const char *argv[8] = { tk_bin("memory-worker"), "dead" };
	char env[96], name[32];
	struct output t;
	struct tk_proc p;
	size_t i;

	for (i = 0; args[i] != NULL; i++)
		argv[i + 2] = args[i];
	snprintf(env, sizeof(env), "NATS_URL=%s", url);
	snprintf(name, sizeof(name), "dead-%d", nth++);
	tk_spawn(&p, name, argv, TK_ENV(env));
	t.code = tk_wait(&p, MEMORY_FIXTURE_MS);
	t.text = tk_read_file(p.log, &t.n);
	return t;
}

/* Check the exit code, and that the output contains text. */
static void
ck_dead(struct memory_fixture *fx, int code, const char *text,
    const char *const args[])
{
	struct output t = run_dead(fx->nats.url, args);

	ck_assert_msg(t.code == code && strstr(t.text, text) != NULL,
	    "%d, not %d: %s", t.code, code, t.text);
	free(t.text);
}

/* The list as an array. */
static json_t *
list(struct memory_fixture *fx)
{
	struct output t = run_dead(fx->nats.url, TK_ENV("list", "--json"));
	json_t *all = json_array();
	char *line, *rest = t.text;

	ck_assert_int_eq(t.code, 0);
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		json_t *j = json_loads(line, 0, NULL);
		ck_assert_msg(j != NULL, "%s", line);
		json_array_append_new(all, j);
	}
	free(t.text);
	return all;
}

static const char *
text_of(json_t *all, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(all, i), key));
}

static int
number_of(json_t *all, size_t i, const char *key)
{
	return (int)json_integer_value(
	    json_object_get(json_array_get(all, i), key));
}

/* ---- dead letters ---- */

static void
js_api(struct memory_fixture *fx, const char *what, const char *json)
{
	char subject[96], code[TK_CODE];
	json_t *j;

	snprintf(subject, sizeof(subject), "$JS.API.%s", what);
	j = tk_nats_request(fx->nc, subject, json, code);
	ck_assert_msg(json_object_get(j, "error") == NULL, "%s %s", subject,
	    json_string_value(
		json_object_get(json_object_get(j, "error"), "description")));
	json_decref(j);
}

/* NATS and the stream alone, without a worker. */
static void
dead_stream_start(struct memory_fixture *fx)
{
	*fx = (struct memory_fixture){ 0 };
	tk_server_start(&fx->nats, TK_NATS);
	fx->nc = tk_nats_connect(fx->nats.url);
	js_api(fx, "STREAM.CREATE.SOUL_DEAD",
	    "{\"name\":\"SOUL_DEAD\",\"subjects\":[\"soul.dead.*\"],"
	    "\"storage\":\"file\"}");
}

static void
dead_stream_stop(struct memory_fixture *fx)
{
	natsConnection_Destroy(fx->nc);
	nats_Close();
}

static void
put_dead_letter(
    struct memory_fixture *fx, const char *why, const void *data, size_t n)
{
	natsMsg *m = NULL, *reply = NULL;

	ck_assert_int_eq(
	    natsMsg_Create(&m, "soul.dead.memory_store", NULL, data, (int)n),
	    NATS_OK);
	if (why != NULL) {
		natsMsgHeader_Set(m, "Soul-Dead-Reason", why);
		natsMsgHeader_Set(m, "Soul-Dead-Deliveries", "3");
	}
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&reply, fx->nc, m, MEMORY_FIXTURE_MS),
	    NATS_OK);
	ck_assert_msg(strstr(natsMsg_GetData(reply), "\"seq\"") != NULL, "%s",
	    natsMsg_GetData(reply));
	natsMsg_Destroy(m);
	natsMsg_Destroy(reply);
}

struct count {
	struct memory_fixture *fx;
	const char *stream;
	int64_t n;
};

static bool
has_as_many(void *arg)
{
	struct count *c = arg;

	return memory_fixture_stream_len(c->fx, c->stream) == c->n;
}

static void
wait_stream(struct memory_fixture *fx, const char *stream, int64_t n)
{
	struct count c = { fx, stream, n };

	ck_assert_msg(tk_until(has_as_many, &c, MEMORY_FIXTURE_MS),
	    "%s has %lld", stream,
	    (long long)memory_fixture_stream_len(fx, stream));
}

static void
redis(struct memory_fixture *fx, const char *cmd, const char *key)
{
	struct str args[] = { str_of(cmd), str_of(key), STR("v"), STR("99") };

	ck_assert_int_eq(
	    state_cmd(fx->db.s, args, strcmp(cmd, "DEL") == 0 ? 2 : 4, NULL),
	    RC_OK);
}

/* A worker, and a job of s1 that it cannot store until further notice. */
static void
poison(struct memory_fixture *fx)
{
	memory_fixture_servers(fx);
	fx->env[0] = "MEMORY_JOB_MAX_DELIVERIES=2";
	memory_fixture_spawn_ready(fx, 0);
	redis(fx, "HSET", "soul:memory:{b0478}:u1:s1");
	memory_fixture_publish_fact(fx, "poison", "s1", "喜欢茶");
	wait_stream(fx, "SOUL_DEAD", 1);
}

/* ---- tests ---- */

TEST_T(a_failed_job_is_replayed_when_its_cause_is_fixed, 60)
{
	struct memory_list l;
	struct output t;
	struct memory_fixture fx;
	json_t *all, *raw;

	poison(&fx);
	all = list(&fx);
	ck_assert_uint_eq(json_array_size(all), 1);
	ck_assert_int_eq(number_of(all, 0, "seq"), 1);
	ck_assert_int_eq(number_of(all, 0, "deliveries"), 2);
	ck_assert_str_eq(
	    text_of(all, 0, "why"), "the store rejected it: invalid_request");
	ck_assert_str_eq(text_of(all, 0, "kind"), "memory_store");
	ck_assert_str_eq(text_of(all, 0, "job_id"), "poison");
	ck_assert_str_eq(text_of(all, 0, "user_id"), "u1");
	ck_assert_str_eq(text_of(all, 0, "soul_id"), "s1");
	ck_assert_str_eq(text_of(all, 0, "text"), "喜欢茶");
	json_decref(all);
	ck_dead(&fx, 0, "2 deliveries: the store rejected it", TK_ENV("list"));
	ck_dead(&fx, 0, "1 dead letter\n", TK_ENV("list"));
	ck_dead(
	    &fx, 0, "id       SOUL_JOBS.1.memory_store\n", TK_ENV("show", "1"));
	t = run_dead(fx.nats.url, TK_ENV("show", "1", "--raw"));
	raw = json_loads(t.text, 0, NULL);
	ck_assert_str_eq(tk_text(raw, "job_id"), "poison");
	json_decref(raw);
	free(t.text);
	/* The job fails again and gets another number. */
	ck_dead(&fx, 0, "1: replayed as SOUL_JOBS 2\n", TK_ENV("replay", "1"));
	wait_stream(&fx, "SOUL_DEAD", 1);
	all = list(&fx);
	ck_assert_int_eq(number_of(all, 0, "seq"), 2);
	json_decref(all);
	ck_dead(&fx, 1, "1: no such dead letter\n", TK_ENV("replay", "1"));
	redis(&fx, "DEL", "soul:memory:{b0478}:u1:s1");
	ck_dead(
	    &fx, 0, "2: replayed as SOUL_JOBS 3\n", TK_ENV("replay", "--all"));
	l = memory_fixture_wait_memories(&fx, 1);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "喜欢茶"), 1);
	memory_fixture_wait_jobs(&fx);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 0);
	ck_dead(&fx, 0, "no dead letters\n", TK_ENV("list"));
	memory_fixture_stop(&fx);
}

/*
 * As if killed between the publish and the deletion: the stream rejects
 * deletions. A second replay is discarded by the stream of jobs; a later one is
 * stored again with one effect.
 */
TEST_T(a_job_replayed_twice_has_one_effect, 60)
{
	struct output t;
	struct memory_fixture fx;
	json_t *all;

	poison(&fx);
	redis(&fx, "DEL", "soul:memory:{b0478}:u1:s1");
	js_api(&fx, "STREAM.UPDATE.SOUL_DEAD",
	    "{\"name\":\"SOUL_DEAD\",\"subjects\":[\"soul.dead.*\"],"
	    "\"storage\":\"file\",\"sealed\":true}");
	ck_dead(&fx, 1,
	    "1: but its dead letter was not deleted; replaying it again",
	    TK_ENV("replay", "1"));
	memory_fixture_wait_memories(&fx, 1);
	ck_dead(&fx, 1, "1: replayed as SOUL_JOBS 2\n", TK_ENV("replay", "1"));
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 2);
	all = list(&fx);
	ck_assert_uint_eq(json_array_size(all), 1);
	json_decref(all);
	t = run_dead(fx.nats.url, TK_ENV("show", "1", "--raw"));
	memory_fixture_publish_job(&fx, "another", t.text);
	free(t.text);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 3);
	memory_fixture_wait_jobs(&fx);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_stop(&fx);
}

TEST_T(replay_all_ignores_new_dead_letters, 60)
{
	struct memory_fixture fx;
	json_t *all;

	memory_fixture_servers(&fx);
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_publish_job(
	    &fx, "broken", "{\"job_id\":\"b1\",\"text\":\"a\\u001bb\"}");
	memory_fixture_publish_job(&fx, "nothing", "");
	wait_stream(&fx, "SOUL_DEAD", 2);
	all = list(&fx);
	ck_assert_str_eq(text_of(all, 0, "job_id"), "b1");
	ck_assert_str_eq(text_of(all, 0, "why"), "/kind: is missing");
	ck_assert_int_eq(number_of(all, 0, "deliveries"), 1);
	ck_assert_ptr_null(text_of(all, 0, "user_id"));
	json_decref(all);
	/* Text must not control the terminal. */
	ck_dead(&fx, 0, "\n    a?b\n", TK_ENV("list"));
	ck_dead(
	    &fx, 0, "2: replayed as SOUL_JOBS 4\n", TK_ENV("replay", "--all"));
	wait_stream(&fx, "SOUL_DEAD", 2);
	ck_dead(&fx, 1, "4: dropped\n9: no such dead letter\n",
	    TK_ENV("drop", "3", "4", "9"));
	ck_dead(&fx, 0, "no dead letters\n", TK_ENV("list"));
	ck_assert(!tk_log_has(&fx.worker[0].proc, "WARNING"));
	memory_fixture_stop(&fx);
}

TEST_T(a_job_too_big_for_a_dead_letter, 60)
{
	static char big[1024 * 1024 - 200];
	struct memory_fixture fx;
	json_t *all;

	memset(big, 'x', sizeof(big) - 1);
	memory_fixture_servers(&fx);
	memory_fixture_spawn_ready(&fx, 0);
	memory_fixture_publish_job(&fx, "big", big);
	wait_stream(&fx, "SOUL_DEAD", 1);
	all = list(&fx);
	ck_assert_str_eq(text_of(all, 0, "why"),
	    "1048375 bytes exceed the limit of a dead letter: SOUL_JOBS has it "
	    "as 1");
	json_decref(all);
	memory_fixture_wait_jobs(&fx);
	memory_fixture_stop(&fx);
}

TEST_T(any_message_in_a_stream_with_gaps, 60)
{
	static char big[1024 * 1024 - 200];
	struct memory_fixture fx;
	json_t *all;
	struct output t;

	memset(big, 'y', sizeof(big));
	dead_stream_start(&fx);
	ck_dead(&fx, 0, "no dead letters\n", TK_ENV("list"));
	ck_dead(&fx, 0, "no dead letters\n", TK_ENV("replay", "--all"));
	put_dead_letter(&fx, NULL, "old\0\033[2J", 8);
	put_dead_letter(&fx, "deleted", "", 0);
	put_dead_letter(&fx, "deleted", "", 0);
	put_dead_letter(&fx, "a \"reason\" 原因", big, sizeof(big));
	put_dead_letter(&fx, "deleted", "", 0);
	put_dead_letter(&fx, "last", "{\"text\":\"一二三四五六七八九十\"}", 41);
	put_dead_letter(&fx, "deleted", "", 0);
	js_api(&fx, "STREAM.MSG.DELETE.SOUL_DEAD", "{\"seq\":2}");
	js_api(&fx, "STREAM.MSG.DELETE.SOUL_DEAD", "{\"seq\":3}");
	js_api(&fx, "STREAM.MSG.DELETE.SOUL_DEAD", "{\"seq\":5}");
	js_api(&fx, "STREAM.MSG.DELETE.SOUL_DEAD", "{\"seq\":7}");
	all = list(&fx);
	ck_assert_uint_eq(json_array_size(all), 3);
	ck_assert_ptr_null(text_of(all, 0, "why"));
	ck_assert_int_eq(number_of(all, 0, "bytes"), 8);
	ck_assert_int_eq(number_of(all, 1, "seq"), 4);
	ck_assert_int_eq(number_of(all, 1, "bytes"), sizeof(big));
	ck_assert_str_eq(text_of(all, 1, "why"), "a \"reason\" 原因");
	ck_assert_int_eq(number_of(all, 2, "seq"), 6);
	ck_assert_str_eq(text_of(all, 2, "text"), "一二三四五六七八九十");
	json_decref(all);
	ck_dead(&fx, 0, "unknown reason\n    old??[2J\n", TK_ENV("list"));
	t = run_dead(fx.nats.url, TK_ENV("show", "4", "--raw"));
	ck_assert_uint_eq(t.n, sizeof(big));
	ck_assert_int_eq(memcmp(t.text, big, sizeof(big)), 0);
	free(t.text);
	t = run_dead(fx.nats.url, TK_ENV("show", "1", "--raw"));
	ck_assert_uint_eq(t.n, 8);
	free(t.text);
	ck_dead(&fx, 1, "5: no such dead letter\n", TK_ENV("show", "5"));
	/* No worker creates the stream of jobs. */
	ck_dead(&fx, 1, "1: not replayed: no stream accepts jobs of its kind",
	    TK_ENV("replay", "1", "6"));
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_DEAD"), 3);
	dead_stream_stop(&fx);
}

#define MANY 20000

TEST_T(many_dead_letters_need_little_memory, 60)
{
	jsCtx *ctx = NULL;
	struct rusage u;
	struct output t;
	struct memory_fixture fx;
	size_t i, lines = 0;
	char data[128];

	dead_stream_start(&fx);
	ck_assert_int_eq(natsConnection_JetStream(&ctx, fx.nc, NULL), NATS_OK);
	for (i = 0; i < MANY; i++) {
		int n = snprintf(data, sizeof(data),
		    "{\"job_id\":\"j%zu\",\"text\":\"喜欢茶\"}", i);
		ck_assert_int_eq(js_PublishAsync(ctx, "soul.dead.memory_store",
				     data, n, NULL),
		    NATS_OK);
	}
	ck_assert_int_eq(js_PublishAsyncComplete(ctx, NULL), NATS_OK);
	jsCtx_Destroy(ctx);
	t = run_dead(fx.nats.url, TK_ENV("list", "--json"));
	ck_assert_int_eq(t.code, 0);
	for (i = 0; i < t.n; i++)
		lines += t.text[i] == '\n';
	ck_assert_uint_eq(lines, MANY);
	free(t.text);
	/* The servers are still running, so this is the command's maximum. */
	ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &u), 0);
	if (getenv("SAN") == NULL || *getenv("SAN") == '\0')
		ck_assert_int_lt(u.ru_maxrss, 64L * 1024);
	dead_stream_stop(&fx);
}

TEST_T(errors_are_explained, 60)
{
	struct memory_fixture fx = { 0 };
	struct output t;

	tk_server_start(&fx.nats, TK_NATS);
	ck_dead(&fx, 1, "this NATS has no stream SOUL_DEAD", TK_ENV("list"));
	ck_dead(
	    &fx, 1, "this NATS has no stream SOUL_DEAD", TK_ENV("drop", "1"));
	ck_dead(&fx, 64, "expected list, show", TK_ENV("lst"));
	ck_dead(&fx, 64, "unknown argument: 1x", TK_ENV("show", "1x"));
	ck_dead(&fx, 64, "unknown argument: 0", TK_ENV("drop", "0"));
	ck_dead(&fx, 64, "unknown argument: --all", TK_ENV("drop", "--all"));
	ck_dead(&fx, 64, "give the numbers", TK_ENV("replay"));
	ck_dead(
	    &fx, 64, "give either --all or", TK_ENV("replay", "--all", "1"));
	ck_dead(&fx, 64, "show takes one number", TK_ENV("show", "1", "2"));
	ck_dead(&fx, 0, "usage: memory-worker dead list", TK_ENV("--help"));
	tk_server_stop(&fx.nats, SIGKILL);
	t = run_dead(fx.nats.url, TK_ENV("list"));
	ck_assert_int_eq(t.code, 69);
	ck_assert_ptr_nonnull(
	    strstr(t.text, "no NATS server in NATS_URL can be reached"));
	free(t.text);
	t = run_dead("http://there", TK_ENV("list"));
	ck_assert_int_eq(t.code, 78);
	free(t.text);
}
