/*
 * Requests to intent-filters from a loop, and replicas that are killed under
 * it.
 */
#include "testkit/intent_filter_load.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "state/terminal.h"
#include "testkit/loop.h"
#include "testkit/state.h"
#include "testkit/terminal_fixture.h"
#include "testkit/testkit.h"

/* As in llm-orchestrator. */
#define RESEND_MS   200
#define DEADLINE_MS 1500

#define CONCURRENCY 64
/* Until one hits a replica that has a request pending. */
#define KILLS_MAX 20

static bool
filter_load_is_connected(void *arg)
{
	const struct filter_load *a = arg;

	return bus_up(a->bus) && (a->state == NULL || state_up(a->state));
}

void
filter_load_start(
    struct filter_load *a, const char *nats_url, const char *redis_url)
{
	struct bus_opts o = { .url = nats_url, .name = "filter-load" };
	struct state_opts s = { .url = redis_url,
		.name = "filter-load",
		.on_format = tk_state_on_format };

	memset(a, 0, sizeof(*a));
	a->deadline_ms = DEADLINE_MS;
	a->loop = loop_new(4096);
	a->metrics = metric_set_new();
	o.loop = s.loop = a->loop;
	o.metrics = a->metrics;
	ck_assert_int_eq(bus_new(&o, &a->bus), RC_OK);
	s.workers = a->workers = worker_new(a->loop, 1, 8);
	s.deadline_ms = 5000;
	if (redis_url != NULL)
		ck_assert_int_eq(state_new(&s, &a->state), RC_OK);
	ck_assert(tk_loop_until(
	    a->loop, filter_load_is_connected, a, FILTER_LOAD_MS));
}

void
filter_load_stop(struct filter_load *a)
{
	bus_free(a->bus);
	state_free(a->state);
	worker_free(a->workers);
	loop_free(a->loop);
	metric_set_free(a->metrics);
}

void
filter_load_put_record(
    struct filter_load *a, const char *catalog, const char *hash)
{
	static int64_t version;
	struct terminal_writer w = {
		.broker = STR("main"), .epoch = 1, .ttl_ms = 60000
	};
	struct terminal_snapshot snap = { .version = version + 1,
		.json = str_of(catalog),
		.hash = str_of(hash) };
	int64_t current;

	version++;
	ck_assert_int_eq(terminal_fixture_put_catalog(
			     a->state, &w, STR("t1"), &snap, &current),
	    RC_OK);
}

static void
filter_load_on_reply(void *arg, enum rc rc, struct str data)
{
	struct filter_load *a = arg;

	a->pending--;
	if (rc == RC_OK && strstr(data.p, "execute_intents") != NULL) {
		a->good++;
	} else {
		a->bad++;
		a->worst = rc;
	}
	filter_load_fill(a, a->pending + 1);
}

void
filter_load_fill(struct filter_load *a, size_t concurrency)
{
	struct bus_meta meta = { .resend_ms = RESEND_MS };

	while (a->to_send > 0 && a->pending < concurrency) {
		meta.deadline.ms = clock_wall().ms + a->deadline_ms;
		ck_assert_int_eq(bus_request(a->bus, FILTER_FIXTURE_SUBJECT,
				     a->request_text, &meta,
				     (struct bus_reply_handler){
					 .fn = filter_load_on_reply, .arg = a },
				     NULL),
		    RC_OK);
		a->to_send--;
		a->pending++;
	}
}

bool
filter_load_is_done(void *arg)
{
	const struct filter_load *a = arg;

	return a->pending == 0 && a->to_send == 0;
}

int64_t
filter_load_retries(struct filter_load *a)
{
	return metric_value(
	    metric_counter(a->metrics, "soul_bus_asked_again_total", "", NULL));
}

/* ---- replicas ---- */

const char *
filter_replica_name(int i)
{
	static const char *const names[FILTER_REPLICAS] = { "one", "two",
		"three" };

	return names[i];
}

void
filter_replicas_start(struct filter_replicas *s)
{
	memset(s, 0, sizeof(*s));
	tk_server_start(&s->nats, TK_NATS);
	for (int i = 0; i < FILTER_REPLICAS; i++)
		filter_fixture_start(
		    &s->r[i], filter_replica_name(i), s->nats.url);
	filter_load_start(&s->load, s->nats.url, NULL);
	s->load.request_text = str_of(filter_fixture_protocol());
}

void
filter_replicas_stop(struct filter_replicas *s)
{
	for (int i = 0; i < FILTER_REPLICAS; i++)
		tk_service_end(&s->r[i].s);
	filter_load_stop(&s->load);
	tk_server_stop(&s->nats, SIGTERM);
}

static bool
filter_replicas_is_reached(void *arg)
{
	const struct filter_replicas *s = arg;

	return s->load.good + s->load.bad >= s->until;
}

void
filter_replicas_run(struct filter_replicas *s, size_t n)
{
	s->until = s->load.good + s->load.bad + n;
	filter_load_fill(&s->load, CONCURRENCY);
	ck_assert(tk_loop_until(
	    s->load.loop, filter_replicas_is_reached, s, FILTER_LOAD_MS));
}

/* Whether a request had to be sent a second time. */
static bool
filter_replicas_kill_one(struct filter_replicas *s, int i)
{
	int64_t before = filter_load_retries(&s->load);

	tk_service_kill(&s->r[i].s);
	filter_replicas_run(s, 2000);
	filter_fixture_spawn(&s->r[i], filter_replica_name(i), s->nats.url);
	ck_assert(tk_loop_until(
	    s->load.loop, tk_service_ready, &s->r[i].s, FILTER_LOAD_MS));
	return filter_load_retries(&s->load) > before;
}

void
filter_replicas_kill(struct filter_replicas *s, int i)
{
	int n;

	for (n = 0; n < KILLS_MAX && !filter_replicas_kill_one(s, i); n++)
		;
	ck_assert_int_lt(n, KILLS_MAX);
}

/* ---- large catalogs ---- */

#define MISSING_COMMAND "讲一个关于大海和星星的故事给我听吧"

static const char *const filter_load_rooms[] = { "客厅", "卧室", "书房", "厨房",
	"阳台", "浴室", "走廊", "车库", "花园", "餐厅" };
static const char *const filter_load_things[] = { "灯", "空调", "窗帘", "风扇",
	"音箱", "电视", "加湿器", "插座", "热水器", "扫地机" };
static const char *const filter_load_verbs[][2] = { { "打开", "开" },
	{ "关闭", "关" }, { "调高", "升高" }, { "调低", "降低" },
	{ "暂停", "停下" }, { "继续", "恢复" }, { "检查", "查看" },
	{ "锁定", "锁上" }, { "重启", "重新启动" }, { "切换", "换个模式" } };

/* The i-th of 1,000 intents of a smart home. */
static json_t *
filter_load_intent(size_t i)
{
	const char *room = filter_load_rooms[i / 10 % 10],
		   *thing = filter_load_things[i / 100];
	const char *const *verb = filter_load_verbs[i % 10];
	char id[32], any[4][96], regex[160];

	snprintf(id, sizeof(id), "intent_%zu", i);
	snprintf(any[0], sizeof(any[0]), "%s%s的%s", verb[0], room, thing);
	snprintf(any[1], sizeof(any[1]), "%s%s%s", verb[1], room, thing);
	snprintf(any[2], sizeof(any[2]), "把%s%s%s", room, thing, verb[0]);
	snprintf(any[3], sizeof(any[3]), "%s%s%s一下", room, thing, verb[1]);
	snprintf(regex, sizeof(regex), "%s.{0,6}?(\\d{1,3})\\s*(?:度|档|%%|格)",
	    thing);
	return json_pack("{s:s,s:s,s:i,s:{s:[s,s,s,s],s:[s,s],s:f},"
			 "s:[{s:s,s:s},{s:s,s:s,s:i}]}",
	    "id", id, "name", any[0], "priority", (int)(i % 100), "match",
	    "keywords_any", any[0], any[1], any[2], any[3], "negative_keywords",
	    "不要", "别", "min_confidence", 0.35, "slots", "name", "skill",
	    "default", "house", "name", "level", "regex", regex, "regex_group",
	    1);
}

char *
filter_load_request(size_t n, bool hit)
{
	json_t *catalog = n == 3 ? filter_fixture_catalog() : json_array();
	const char *command = !hit ? MISSING_COMMAND
	    : n == 3 ? "把灯变成绿色，然后10分钟后提醒我"
		     : "打开书房的灯，然后暂停阳台的灯";
	char *text;
	json_t *r;
	size_t i;

	for (i = json_array_size(catalog); i < n; i++)
		json_array_append_new(catalog, filter_load_intent(i));
	r = json_pack(
	    "{s:s,s:o}", "command", command, "intent_catalog", catalog);
	text = json_dumps(r, JSON_COMPACT);
	json_decref(r);
	return text;
}
