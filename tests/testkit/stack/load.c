/*
 * No assertions on the load thread: Check supports them on the test's thread
 * only.
 */
#include "testkit/stack/load.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/stack/lock.h"

/* Pause between two turns, to stay below the rate limit of a token. */
#define PAUSE_MS 30

struct load {
	struct client owner;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool enough;
	struct load_stats saw;
	size_t failed;
	int status; /* the last failed response */
	json_t *answer;
};

static int64_t
load_chat(struct load *n, const char *text)
{
	struct mono began = clock_mono();
	int status;
	json_t *j = client_call(n->owner.st->service[STACK_CHAT_GATEWAY].http,
	    "POST", "/v1/chat", client_chat_request(&n->owner, text), &status);

	if (status != 200) {
		n->failed++;
		n->status = status;
		json_decref(n->answer);
		n->answer = json_incref(j);
	}
	json_decref(j);
	return mono_diff_ms(clock_mono(), began);
}

static bool
pause_or_end(struct load *n)
{
	struct timespec until;
	bool enough;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PAUSE_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&n->lock);
	while (!n->enough &&
	    pthread_cond_timedwait(&n->changed, &n->lock, &until) != ETIMEDOUT)
		;
	enough = n->enough;
	pthread_mutex_unlock(&n->lock);
	return enough;
}

static void
load_count(struct load *n, size_t *turns, int64_t ms)
{
	(*turns)++;
	if (ms > n->saw.slowest_ms)
		n->saw.slowest_ms = ms;
}

static void *
load_main(void *arg)
{
	struct load *n = arg;
	bool last;

	if (n->owner.st->opts->locked)
		client_set_identity(lock_token(LOCK_DEMO), "127.0.0.77");
	do {
		last = pause_or_end(n);
		load_count(n, &n->saw.commands, load_chat(n, "把灯变成绿色"));
		load_count(
		    n, &n->saw.completions, load_chat(n, "今天上海天气如何？"));
	} while (!last);
	return NULL;
}

struct client
load_prepare(struct stack *st)
{
	json_t *all =
	    client_ok(st, "GET", "/v1/souls?user_id=" STACK_USER, NULL);

	/* Once per stack. */
	client_select_soul(st, STACK_USER, STACK_BODY,
	    json_array_size(tk_at(all, "items")) > 0
		? tk_text(all, "items.0.soul_id")
		: client_create_soul(st, STACK_USER, "load", "ISTJ"));
	json_decref(all);
	return (struct client){ st, STACK_USER, "beside", STACK_BODY };
}

struct load *
load_begin(const struct client *o)
{
	struct load *n = mem_zalloc(sizeof(*n));
	pthread_condattr_t monotonic;

	n->owner = *o;
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&n->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	ck_assert_int_eq(pthread_create(&n->thread, NULL, load_main, n), 0);
	return n;
}

void
load_end(struct load *n, struct load_stats *saw)
{
	char *text;

	pthread_mutex_lock(&n->lock);
	n->enough = true;
	pthread_cond_signal(&n->changed);
	pthread_mutex_unlock(&n->lock);
	ck_assert_int_eq(pthread_join(n->thread, NULL), 0);
	text = n->answer != NULL ? json_dumps(n->answer, 0) : NULL;
	ck_assert_msg(n->failed == 0,
	    "%zu of %zu turns of the load failed, the last with %d %s",
	    n->failed, n->saw.commands + n->saw.completions, n->status,
	    text != NULL ? text : "");
	ck_assert_msg(n->saw.slowest_ms <= LOAD_TURN_MS,
	    "a turn of the load generator took %lld ms",
	    (long long)n->saw.slowest_ms);
	if (saw != NULL)
		*saw = n->saw;
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n);
}
