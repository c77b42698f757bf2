#include "testkit/loop_thread.h"

#include "testkit/testkit.h"

struct call {
	pthread_mutex_t lock;
	pthread_cond_t done;
	loop_fn fn;
	void *arg;
	bool returned;
};

static void *
loop_thread_run(void *arg)
{
	loop_run(arg);
	return NULL;
}

void
tk_loop_new(struct tk_loop *k, size_t inbox_max)
{
	k->l = loop_new(inbox_max);
}

void
tk_loop_start(struct tk_loop *k)
{
	ck_assert_int_eq(
	    pthread_create(&k->thread, NULL, loop_thread_run, k->l), 0);
}

static void
loop_thread_call(void *arg)
{
	struct call *c = arg;

	if (c->fn != NULL)
		c->fn(c->arg);
	pthread_mutex_lock(&c->lock);
	c->returned = true;
	pthread_cond_signal(&c->done);
	pthread_mutex_unlock(&c->lock);
}

void
tk_loop_call(struct tk_loop *k, loop_fn fn, void *arg)
{
	struct call c = { .fn = fn, .arg = arg };

	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.done, NULL);
	ck_assert_int_eq(loop_post_wait(k->l, loop_thread_call, &c), RC_OK);
	pthread_mutex_lock(&c.lock);
	while (!c.returned)
		pthread_cond_wait(&c.done, &c.lock);
	pthread_mutex_unlock(&c.lock);
	pthread_cond_destroy(&c.done);
	pthread_mutex_destroy(&c.lock);
}

static void
loop_thread_stop(void *arg)
{
	loop_stop(arg);
}

void
tk_loop_stop(struct tk_loop *k)
{
	ck_assert_int_eq(loop_post_wait(k->l, loop_thread_stop, k->l), RC_OK);
	ck_assert_int_eq(pthread_join(k->thread, NULL), 0);
}
