/* A name server that does not respond must not block the loop. */
#include <netdb.h>

#include "testkit/httpc_fixture.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queried, released, returned;

/* Replaces the C library's function: hangs until it is released. */
int
getaddrinfo(const char *restrict node, const char *restrict service,
    const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
	(void)node;
	(void)service;
	(void)hints;
	*out = NULL;
	pthread_mutex_lock(&lock);
	queried++;
	pthread_cond_broadcast(&changed);
	while (!released)
		pthread_cond_wait(&changed, &lock);
	returned++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return EAI_AGAIN;
}

static void
hold(struct raw_server *p, int fd)
{
	raw_server_hold(p, fd);
}

static void
wait_for(const int *what, int n)
{
	pthread_mutex_lock(&lock);
	while (*what < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static struct httpc_fixture s;
static struct httpc_fixture_call a, b;

static void
cancel(void *arg)
{
	httpc_cancel(((struct httpc_fixture_call *)arg)->call);
}

/* The resolver's threads outlive their calls. */
static void
release_all(int n)
{
	pthread_mutex_lock(&lock);
	released = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	wait_for(&returned, n);
}

TEST(a_hanging_resolver_does_not_block_the_loop)
{
	httpc_fixture_open(&s, hold, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&a, s.c, "http://one.test/");
	a.rq.deadline.ms = clock_wall().ms + 300;
	httpc_fixture_run(&s, &a);
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	ck_assert_int_lt(httpc_fixture_call_ms(&a), 1500);
	wait_for(&queried, 1);

	httpc_fixture_call_init(&b, s.c, "http://two.test/");
	tk_loop_call(&s.k, httpc_fixture_call_start, &b);
	wait_for(&queried, 2);
	struct mono start = clock_mono();
	tk_loop_call(&s.k, cancel, &b);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 500);

	/* Freeing the client does not wait either. */
	httpc_fixture_call_init(&b, s.c, "http://three.test/");
	tk_loop_call(&s.k, httpc_fixture_call_start, &b);
	wait_for(&queried, 3);
	start = clock_mono();
	tk_loop_call(&s.k, httpc_fixture_free_client, &s);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 500);
	ck_assert_int_eq(b.rc, RC_DOWN);
	release_all(3);
	httpc_fixture_close(&s);
}

TEST(a_resolver_failure_after_the_call_is_ignored)
{
	httpc_fixture_open(&s, hold, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&a, s.c, "http://one.test/");
	tk_loop_call(&s.k, httpc_fixture_call_start, &a);
	wait_for(&queried, 1);
	release_all(1);
	ck_assert(tk_until(httpc_fixture_call_is_done, &a, 5000));
	ck_assert_int_eq(a.rc, RC_DOWN);
	httpc_fixture_close(&s);
}
