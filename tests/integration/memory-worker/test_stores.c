/* All stores behave the same: Redis, and simulated Mem0 and Chroma servers. */
#include "core/mem.h"
#include "store/memory_store.h"
#include "testkit/fake_store.h"
#include "testkit/loop.h"
#include "testkit/state.h"

enum backend { BUILTIN, MEM0, CHROMA, KINDS };

static struct fake_store f;

struct world {
	enum backend kind;
	struct tk_server redis;
	struct tk_state db;
	struct store *store;
	char url[64];
	/* Result of the last call. */
	int times;
	enum rc rc;
	bool degraded;
	size_t n, total;
	struct buf texts; /* of the hits, separated by blanks */
	struct buf origins;
};

static struct store_http_opts
http_opts(struct world *w)
{
	return (struct store_http_opts){ .loop = w->db.loop,
		.peer = "fake",
		.base_url = w->url,
		.auth = "x-api-key",
		.key = "" };
}

static void
world_start(struct world *w, enum backend kind)
{
	*w = (struct world){ .kind = kind,
		.texts = BUF_INIT(65536),
		.origins = BUF_INIT(65536) };
	tk_server_start(&w->redis, TK_REDIS);
	tk_state_open(&w->db, w->redis.url);
	fake_store_start(
	    &f, kind == MEM0 ? fake_mem0_serve : fake_chroma_serve);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d", f.peer.port);
	if (kind == BUILTIN)
		w->store = builtin_store_new(&(struct builtin_store_opts){
		    .state = w->db.s, .max_bytes = 1 << 20 });
	else if (kind == MEM0)
		ck_assert_int_eq(
		    mem0_store_new(
			&(struct mem0_store_opts){ .http = http_opts(w),
			    .search_ms = 5000,
			    .state = w->db.s },
			&w->store),
		    RC_OK);
	else
		ck_assert_int_eq(
		    chroma_store_new(
			&(struct chroma_store_opts){ .http = http_opts(w),
			    .tenant = "default_tenant",
			    .database = "default_database",
			    .collection = "long_term_memory",
			    .search_ms = 5000,
			    .state = w->db.s },
			&w->store),
		    RC_OK);
}

static void
world_stop(struct world *w)
{
	store_free(w->store);
	tk_state_close(&w->db);
	fake_store_stop(&f);
	buf_free(&w->texts);
	buf_free(&w->origins);
}

/* Origin of a memory: session/terminal/trigger/tags/… */
static void
put_detail(struct buf *out, const struct rank_detail *o)
{
	size_t i;

	if (o == NULL)
		return;
	buf_printf(out, "%.*s/%.*s/%.*s", STR_ARG(o->session_id),
	    STR_ARG(o->terminal_id), STR_ARG(o->trigger_source));
	for (i = 0; i < o->n_tags; i++)
		buf_printf(out, "/%.*s", STR_ARG(o->tags[i]));
}

static void
on_result(void *arg, enum rc rc, const struct store_result *a)
{
	struct world *w = arg;
	size_t i;

	w->times++;
	w->rc = rc;
	w->n = a->n;
	w->total = a->total;
	w->degraded = a->degraded;
	buf_reset(&w->texts);
	buf_reset(&w->origins);
	for (i = 0; i < a->n; i++) {
		if (i > 0)
			buf_putc(&w->texts, ' ');
		buf_put_str(&w->texts, a->hit[i].memory->text);
		put_detail(&w->origins, a->hit[i].memory->detail);
	}
}

static bool
has_result(void *arg)
{
	return ((struct world *)arg)->times > 0;
}

/* Wait for the result, which is reported once. */
static enum rc
result(struct world *w)
{
	ck_assert(tk_loop_until(w->db.loop, has_result, w, 60000));
	ck_assert_int_eq(w->times, 1);
	return w->rc;
}

static struct store_request
request(struct world *w, const char *user, const char *soul)
{
	w->times = 0;
	return (struct store_request){
		.scope = { str_of(user), str_of(soul) },
		.deadline = { clock_wall().ms + 10000 },
		.fn = on_result,
		.arg = w,
	};
}

static struct wire_memory_job job;
static char made[WALL_FORMAT_MAX];

static void
put_begin(struct world *w, const char *soul, const char *id, const char *text)
{
	const struct store_request a = request(w, "u1", soul);
	const struct store_put p = { &job, clock_wall(), false };

	wall_format(p.made, 0, made);
	job = (struct wire_memory_job){ .job_id = str_of(id),
		.kind = STR("memory_store"),
		.user_id = STR("u1"),
		.soul_id = str_of(soul),
		.text = str_of(text),
		.type = WIRE_MEMORY_TYPE_SKILL,
		.created_at = str_of(made) };
	store_put(w->store, &a, &p);
}

/* Store one of s1 with an origin. */
static void
put_from(struct world *w, const char *id, struct str *tags, size_t n)
{
	const struct store_request a = request(w, "u1", "s1");
	const struct store_put p = { &job, clock_wall(), false };

	wall_format(p.made, 0, made);
	job = (struct wire_memory_job){ .job_id = str_of(id),
		.kind = STR("memory_store"),
		.user_id = STR("u1"),
		.soul_id = STR("s1"),
		.session_id = STR("会 话"),
		.terminal_id = STR("t1"),
		.trigger_source = STR("user"),
		.text = STR("tea"),
		.tags = tags,
		.n_tags = n,
		.has_tags = true,
		.created_at = str_of(made) };
	store_put(w->store, &a, &p);
}

static enum rc
put(struct world *w, const char *soul, const char *id, const char *text)
{
	put_begin(w, soul, id, text);
	return result(w);
}

static enum rc
search(struct world *w, const char *user, const char *soul, const char *text,
    size_t k)
{
	const struct store_request a = request(w, user, soul);
	const struct rank_query q = {
		.text = str_of(text), .now = clock_wall(), .k = k
	};

	store_search(w->store, &a, &q);
	return result(w);
}

static enum rc
list(struct world *w, const char *user, const char *soul)
{
	const struct store_request a = request(w, user, soul);

	store_list(w->store, &a);
	return result(w);
}

static enum rc
forget(struct world *w, const char *user, const char *soul, const char *id)
{
	const struct store_request a = request(w, user, soul);

	store_forget(w->store, &a, str_of(id));
	return result(w);
}

static enum rc
clear(struct world *w, const char *user, const char *soul)
{
	const struct store_request a = request(w, user, soul);

	store_clear(w->store, &a);
	return result(w);
}

static void
contract(struct world *w)
{
	ck_assert(store_up(w->store));
	ck_assert_int_eq(list(w, "u1", "s1"), RC_OK);
	ck_assert_uint_eq(w->n, 0);
	ck_assert_int_eq(put(w, "s1", "a", "tea"), RC_OK);
	ck_assert_int_eq(put(w, "s1", "b", "coffee"), RC_OK);
	ck_assert_int_eq(put(w, "s2", "a", "water"), RC_OK);
	ck_assert_int_eq(list(w, "u1", "s1"), RC_OK);
	ck_assert_str_eq(w->texts.p, "tea coffee");
	ck_assert(!w->degraded);
	ck_assert_int_eq(search(w, "u1", "s1", "coffee", 1), RC_OK);
	ck_assert_str_eq(w->texts.p, "coffee");
	ck_assert_int_eq(search(w, "u1", "s1", "coffee", 5), RC_OK);
	ck_assert_str_eq(w->texts.p, "coffee tea");
	/* Other scopes, and invalid ones. */
	ck_assert_int_eq(search(w, "u2", "s1", "coffee", 5), RC_OK);
	ck_assert_uint_eq(w->n, 0);
	ck_assert_int_eq(list(w, "u1", "s2"), RC_OK);
	ck_assert_str_eq(w->texts.p, "water");
	ck_assert_int_eq(search(w, "", "s1", "coffee", 5), RC_INVALID);
	ck_assert_int_eq(list(w, "u1", "\x01"), RC_INVALID);
	ck_assert_int_eq(clear(w, "u1", ""), RC_INVALID);
	/* Forget, only within the scope, for good. */
	ck_assert_int_eq(forget(w, "u2", "s1", "a"), RC_NOENT);
	ck_assert_int_eq(forget(w, "u1", "s1", "x"), RC_NOENT);
	ck_assert_int_eq(forget(w, "u1", "s1", "a"), RC_OK);
	ck_assert_int_eq(forget(w, "u1", "s1", "a"), RC_NOENT);
	ck_assert_int_eq(put(w, "s1", "a", "tea"), RC_CONFLICT);
	ck_assert_int_eq(list(w, "u1", "s1"), RC_OK);
	ck_assert_str_eq(w->texts.p, "coffee");
	ck_assert_int_eq(clear(w, "u1", "s1"), RC_OK);
	ck_assert_uint_eq(w->total, 1);
	ck_assert_uint_eq(w->n, 1);
	ck_assert_int_eq(clear(w, "u1", "s1"), RC_OK);
	ck_assert_uint_eq(w->total, 0);
	ck_assert_int_eq(list(w, "u1", "s2"), RC_OK);
	ck_assert_str_eq(w->texts.p, "water");
}

static void
probe(struct world *w)
{
	const struct store_request a = request(w, "ignored", "ignored");
	size_t rows = fake_store_rows(&f);

	store_probe(w->store, &a, STR("probe-1"), clock_wall());
	ck_assert_int_eq(result(w), RC_OK);
	ck_assert_uint_eq(fake_store_rows(&f), rows);
	ck_assert_int_eq(list(w, "soul-probe", "memory-worker"), RC_OK);
	ck_assert_uint_eq(w->n, 0);
}

TEST_T(all_stores_fulfil_the_contract, 60)
{
	struct world w;
	int kind;

	for (kind = BUILTIN; kind < KINDS; kind++) {
		world_start(&w, (enum backend)kind);
		contract(&w);
		probe(&w);
		world_stop(&w);
	}
}

/* Lists contain the origin of memories. */
TEST_T(lists_have_origins, 60)
{
	struct str tags[] = { STR("tea"), STR("冷 饮") };
	struct world w;
	int kind;

	for (kind = BUILTIN; kind < KINDS; kind++) {
		world_start(&w, (enum backend)kind);
		ck_assert_int_eq(put(&w, "s1", "a", "tea"), RC_OK);
		ck_assert_int_eq(list(&w, "u1", "s1"), RC_OK);
		ck_assert_str_eq(w.origins.p, "//");
		ck_assert_int_eq(clear(&w, "u1", "s1"), RC_OK);

		put_from(&w, "c", tags, NELEM(tags));
		ck_assert_int_eq(result(&w), RC_OK);
		ck_assert_int_eq(list(&w, "u1", "s1"), RC_OK);
		ck_assert_str_eq(w.origins.p, "会 话/t1/user/tea/冷 饮");
		world_stop(&w);
	}
}

#define SEARCHES 24
#define SCOPES   3

struct one_search {
	char text[16];
	enum rc rc;
	size_t n;
	bool found;
};

static void
on_one_found(void *arg, enum rc rc, const struct store_result *a)
{
	struct one_search *one = arg;

	one->rc = rc;
	one->n = a->n;
	one->found =
	    a->n > 0 && str_eq(a->hit[0].memory->text, str_of(one->text));
}

static bool
all_found(void *arg)
{
	const struct one_search *one = arg;
	size_t i;

	for (i = 0; i < SEARCHES && one[i].n > 0; i++)
		continue;
	return i == SEARCHES;
}

/* There is room for one index, while searches of several scopes use theirs. */
TEST_T(searches_at_one_time_have_an_index_each, 60)
{
	struct one_search one[SEARCHES] = { 0 };
	struct store_request req = { .fn = on_one_found };
	struct rank_query q = { .k = 1, .now = clock_wall() };
	char soul[SCOPES][8], id[16];
	struct world w;
	size_t i;

	world_start(&w, BUILTIN);
	store_free(w.store);
	w.store = builtin_store_new(
	    &(struct builtin_store_opts){ .state = w.db.s, .max_bytes = 1 });
	for (i = 0; i < SEARCHES; i++) {
		snprintf(soul[i % SCOPES], sizeof(soul[0]), "s%zu", i % SCOPES);
		snprintf(id, sizeof(id), "m%zu", i);
		snprintf(one[i].text, sizeof(one[i].text), "word%zu", i);
		ck_assert_int_eq(
		    put(&w, soul[i % SCOPES], id, one[i].text), RC_OK);
	}
	for (i = 0; i < SEARCHES; i++) {
		req.scope = (struct memory_scope){ STR("u1"),
			str_of(soul[i % SCOPES]) };
		req.deadline.ms = clock_wall().ms + 10000;
		req.arg = &one[i];
		q.text = str_of(one[i].text);
		store_search(w.store, &req, &q);
	}
	ck_assert(tk_loop_until(w.db.loop, all_found, one, 60000));
	for (i = 0; i < SEARCHES; i++) {
		ck_assert_int_eq(one[i].rc, RC_OK);
		ck_assert(one[i].found);
	}
	world_stop(&w);
}

/* Several pages. */
TEST_T(long_lists_are_complete, 60)
{
	struct world w;
	char id[16];
	int kind, i;

	for (kind = BUILTIN; kind < KINDS; kind++) {
		world_start(&w, (enum backend)kind);
		for (i = 0; i < 410; i++) {
			snprintf(id, sizeof(id), "m%d", i);
			ck_assert_int_eq(put(&w, "s1", id, "x"), RC_OK);
		}
		ck_assert_int_eq(list(&w, "u1", "s1"), RC_OK);
		ck_assert_uint_eq(w.n, 410);
		ck_assert(!w.degraded);
		ck_assert_int_eq(clear(&w, "u1", "s1"), RC_OK);
		ck_assert_uint_eq(w.total, 410);
		ck_assert_uint_eq(w.n, 410);
		world_stop(&w);
	}
}

/* Forgotten while it is being stored, a memory is not stored. */
TEST_T(forgotten_while_being_stored, 60)
{
	const struct memory_scope scope = { STR("u1"), STR("s1") };
	struct world w;
	int kind;

	for (kind = MEM0; kind < KINDS; kind++) {
		world_start(&w, (enum backend)kind);
		put_begin(&w, "s1", "a", "tea");
		ck_assert_int_eq(w.times, 0);
		ck_assert_int_eq(
		    memory_add_tombstone(w.db.s, &scope, STR("a")), RC_OK);
		ck_assert_int_eq(result(&w), RC_CONFLICT);
		ck_assert_uint_eq(fake_store_rows(&f), 0);
		world_stop(&w);
	}
}

static const struct {
	int status;
	enum rc rc;
} statuses[] = {
	{ 400, RC_INVALID },
	{ 401, RC_DENIED },
	{ 403, RC_DENIED },
	{ 422, RC_INVALID },
	{ 429, RC_RETRY },
	{ 500, RC_BUG },
	{ 502, RC_DOWN },
	{ 503, RC_DOWN },
	{ 504, RC_TIMEOUT },
};

/* A failed put is never reported as forgotten. */
TEST_T(http_errors_have_codes, 60)
{
	struct world w;
	size_t i;
	int kind;

	for (kind = MEM0; kind < KINDS; kind++) {
		world_start(&w, (enum backend)kind);
		for (i = 0; i < NELEM(statuses); i++) {
			fake_store_fail(&f, statuses[i].status, 1);
			ck_assert_msg(
			    put(&w, "s1", "a", "tea") == statuses[i].rc,
			    "%d: %d", statuses[i].status, w.rc);
			fake_store_fail(&f, statuses[i].status, 1);
			ck_assert_int_eq(
			    search(&w, "u1", "s1", "tea", 5), statuses[i].rc);
		}
		fake_store_fail(&f, 404, 4);
		ck_assert_int_eq(put(&w, "s1", "a", "tea"), RC_DENIED);
		fake_store_fail(&f, 0, 0);
		ck_assert_int_eq(put(&w, "s1", "a", "tea"), RC_OK);
		world_stop(&w);
	}
}

/* Calls in progress end with the store. */
TEST_T(calls_end_with_the_store, 60)
{
	struct world w;
	int kind;

	for (kind = MEM0; kind < KINDS; kind++) {
		world_start(&w, (enum backend)kind);
		put_begin(&w, "s1", "a", "tea");
		ck_assert_int_eq(w.times, 0);
		store_free(w.store);
		w.store = NULL;
		ck_assert_int_eq(w.times, 1);
		ck_assert_int_eq(w.rc, RC_DOWN);
		world_stop(&w);
	}
}
