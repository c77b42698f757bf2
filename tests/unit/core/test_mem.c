/*
 * Memory: never NULL, zeroed where documented, abort when exhausted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/testkit.h"

TEST(a_size_of_0_is_an_allocation)
{
	void *p[4] = { mem_alloc(0), mem_zalloc(0), mem_calloc(0, 8),
		mem_calloc(8, 0) };

	for (size_t i = 0; i < NELEM(p); i++) {
		ck_assert_ptr_nonnull(p[i]);
		p[i] = mem_realloc(p[i], 0);
		ck_assert_ptr_nonnull(p[i]);
		free(p[i]);
	}
}

TEST(memory_is_zeroed_and_grown)
{
	unsigned char *p = mem_zalloc(1000);

	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(p[i], 0);
	memset(p, 7, 1000);
	p = mem_realloc(p, 100000);
	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(p[i], 7);
	free(p);
	p = mem_calloc(10, 100);
	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(p[i], 0);
	free(p);
}

TEST(strdup_copies)
{
	char text[] = "text";
	char *p = mem_strdup(text);

	ck_assert_ptr_ne(p, text);
	ck_assert_str_eq(p, "text");
	free(p);
	p = mem_strdup("");
	ck_assert_str_eq(p, "");
	free(p);
}

struct outer {
	int a;
	struct {
		int x;
	} inner;
};

TEST(container_of_returns_the_struct)
{
	struct outer o;

	ck_assert_ptr_eq(CONTAINER_OF(&o.inner, struct outer, inner), &o);
}

/* Whether fn ends the process in another way than by exit(0). */
static bool
dies(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* Its output is expected. */
		(void)close(STDERR_FILENO);
		fn();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Hides the size from the compiler. */
static volatile size_t too_much = SIZE_MAX / 2 - 1;

static void
alloc_too_much(void)
{
	free(mem_alloc(too_much));
}

static void
zalloc_too_much(void)
{
	free(mem_zalloc(too_much));
}

static void
calloc_overflow(void)
{
	free(mem_calloc(too_much, 16));
}

static void
realloc_too_much(void)
{
	free(mem_realloc(NULL, too_much));
}

static void
alloc_little(void)
{
	free(mem_alloc(16));
}

TEST(exhausted_memory_aborts)
{
	ck_assert(dies(alloc_too_much));
	ck_assert(dies(zalloc_too_much));
	ck_assert(dies(calloc_overflow));
	ck_assert(dies(realloc_too_much));
	ck_assert(!dies(alloc_little));
}
