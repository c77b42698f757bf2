/*
 * Objects that wait for reuse, by one thread and by several.
 */
#include <pthread.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/spare.h"
#include "testkit/testkit.h"

TEST(the_last_one_put_is_taken_first)
{
	struct spare s = { 0 };
	int a, b;

	ck_assert_ptr_null(spare_take(&s));
	ck_assert(spare_put(&s, &a));
	ck_assert_ptr_eq(spare_take(&s), &a);
	ck_assert_ptr_null(spare_take(&s));
	ck_assert(spare_put(&s, &a));
	ck_assert(spare_put(&s, &b));
	ck_assert_ptr_nonnull(spare_take(&s));
	ck_assert_ptr_nonnull(spare_take(&s));
	ck_assert_ptr_null(spare_take(&s));
}

TEST(more_than_the_limit_are_returned)
{
	struct spare s = { 0 };
	int all[SPARE_MAX + 1];

	for (size_t i = 0; i < SPARE_MAX; i++)
		ck_assert(spare_put(&s, &all[i]));
	ck_assert(!spare_put(&s, &all[SPARE_MAX]));
	ck_assert_ptr_nonnull(spare_take(&s));
	ck_assert(spare_put(&s, &all[SPARE_MAX]));
}

#define THREADS 4
#define ROUNDS  20000

struct spare_object {
	size_t users; /* without a lock: it is one thread's at a time */
};

struct spare_thread {
	pthread_t thread;
	struct spare *spare;
	size_t made, freed, shared;
};

static void *
spare_thread_main(void *arg)
{
	struct spare_thread *me = arg;
	struct spare_object *o;

	for (size_t i = 0; i < ROUNDS; i++) {
		o = spare_take(me->spare);
		if (o == NULL) {
			o = mem_zalloc(sizeof(*o));
			me->made++;
		}
		me->shared += ++o->users != 1;
		me->shared += --o->users != 0;
		if (!spare_put(me->spare, o)) {
			free(o);
			me->freed++;
		}
	}
	return NULL;
}

TEST_T(an_object_is_one_threads_at_a_time, 60)
{
	struct spare s = { 0 };
	struct spare_thread t[THREADS];
	struct spare_object *o;
	size_t left = 0;

	for (size_t i = 0; i < THREADS; i++) {
		t[i] = (struct spare_thread){ .spare = &s };
		ck_assert_int_eq(pthread_create(&t[i].thread, NULL,
				     spare_thread_main, &t[i]),
		    0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(t[i].thread, NULL);
		ck_assert_uint_eq(t[i].shared, 0);
		left += t[i].made - t[i].freed;
	}
	while ((o = spare_take(&s)) != NULL) {
		left--;
		free(o);
	}
	/* None is lost. */
	ck_assert_uint_eq(left, 0);
}
