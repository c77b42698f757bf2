/*
 * A new fiber is entered by setcontext().  All later switches are
 * sigsetjmp() and siglongjmp() without the signal mask, which cost no system
 * call; glibc's check of jumps must be off for that, since it takes a jump to
 * another stack for a corrupted one.
 */
#undef _FORTIFY_SOURCE
#include <assert.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#define STACK_SIZE (1024UL * 1024)
/* Ended fibers whose stacks are kept for the next ones. */
#define SPARE_MAX 64

struct fiber {
	sigjmp_buf at;        /* where it is suspended */
	struct fiber *caller; /* who runs when it suspends; NULL: the thread */
	struct fiber *next;   /* of the spare, or of the ready ones */
	fiber_fn fn;
	void *arg;
	char *stack; /* its first page is the guard */
	size_t stack_size;
	bool ended;
	bool timed;
	int64_t cpu_ns;   /* used before cpu_from */
	int64_t cpu_from; /* since it was resumed, by the thread's clock */
#ifdef FIBER_ASAN
	void *fake_stack;
#endif
#ifdef FIBER_TSAN
	void *tsan;
#endif
};

/* The fibers of a thread. */
struct fiber_thread {
	struct fiber *running;
	struct fiber root; /* the thread's own stack */
	struct fiber *spare;
	size_t n_spare, n;
	struct fiber *ready, **ready_end; /* to be resumed by the thread */
};

static _Thread_local struct fiber_thread fiber_thread;

/* ---- sanitizers: they have to know which stack is in use ---- */

static void
fiber_leave(struct fiber *from, const struct fiber *to)
{
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(
	    &from->fake_stack, to->stack, to->stack_size);
#endif
#ifdef FIBER_TSAN
	if (from->tsan == NULL)
		from->tsan = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(to->tsan, 0);
#endif
	(void)from;
	(void)to;
}

static void
fiber_arrive(const struct fiber *at)
{
#ifdef FIBER_ASAN
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(at->fake_stack, &bottom, &size);
	/* The stack of the thread itself becomes known by leaving it. */
	if (fiber_thread.root.stack == NULL) {
		fiber_thread.root.stack = (char *)(uintptr_t)bottom;
		fiber_thread.root.stack_size = size;
	}
#endif
	(void)at;
}

/* ---- switching ---- */

static void
fiber_switch(struct fiber *from, struct fiber *to)
{
	fiber_thread.running = to == &fiber_thread.root ? NULL : to;
	if (sigsetjmp(from->at, 0) == 0) {
		fiber_leave(from, to);
		siglongjmp(to->at, 1);
	}
	fiber_arrive(from);
}

static struct fiber *
fiber_current(void)
{
	return fiber_thread.running != NULL ? fiber_thread.running
					    : &fiber_thread.root;
}

/* The first function on a stack: it runs one fiber after the other. */
static void
fiber_main(void)
{
	struct fiber *f = fiber_thread.running;

	fiber_arrive(f);
	for (;;) {
		f->fn(f->arg);
		f->ended = true;
		fiber_switch(f, f->caller);
	}
}

/* ---- stacks ---- */

static struct fiber *
fiber_stack_new(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fiber *f;
	char *stack;

	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0)
		mem_exhausted(STACK_SIZE);
	/* The fiber itself lies above its stack. */
	f = (struct fiber *)(void *)(stack + STACK_SIZE) - 1;
	f->stack = stack;
	f->stack_size = STACK_SIZE;
#ifdef FIBER_TSAN
	f->tsan = __tsan_create_fiber(0);
#endif
	return f;
}

static void
fiber_stack_free(struct fiber *f)
{
#ifdef FIBER_TSAN
	__tsan_destroy_fiber(f->tsan);
#endif
	(void)munmap(f->stack, STACK_SIZE);
}

/* As fiber_switch() to a stack that was never entered. */
static void
fiber_enter(struct fiber *from, struct fiber *f)
{
	ucontext_t uc;
	size_t room = (size_t)((char *)f - f->stack);

	if (getcontext(&uc) != 0)
		abort();
	uc.uc_stack.ss_sp = f->stack;
	uc.uc_stack.ss_size = room - room % 64;
	uc.uc_link = NULL;
	makecontext(&uc, fiber_main, 0);
	fiber_thread.running = f;
	if (sigsetjmp(from->at, 0) == 0) {
		fiber_leave(from, f);
		(void)setcontext(&uc);
	}
	fiber_arrive(from);
}

/* ---- the interface ---- */

/* Take back the stack of f if it has ended. */
static void
fiber_reap(struct fiber *f)
{
	if (!f->ended)
		return;
	fiber_thread.n--;
	if (fiber_thread.n_spare == SPARE_MAX) {
		fiber_stack_free(f);
		return;
	}
	f->next = fiber_thread.spare;
	fiber_thread.spare = f;
	fiber_thread.n_spare++;
}

/* Back on the thread's stack: run the fibers that have got a lock. */
static void
fiber_run_ready(void)
{
	struct fiber *f;

	while (
	    fiber_thread.running == NULL && (f = fiber_thread.ready) != NULL) {
		fiber_thread.ready = f->next;
		if (fiber_thread.ready == NULL)
			fiber_thread.ready_end = &fiber_thread.ready;
		f->caller = &fiber_thread.root;
		fiber_switch(&fiber_thread.root, f);
		fiber_reap(f);
	}
}

void
fiber_start(fiber_fn fn, void *arg)
{
	struct fiber *f = fiber_thread.spare, *caller = fiber_current();
	char trace[LOG_TRACE_MAX];
	bool fresh = f == NULL;

	if (fresh) {
		f = fiber_stack_new();
	} else {
		fiber_thread.spare = f->next;
		fiber_thread.n_spare--;
	}
	fiber_thread.n++;
	f->fn = fn;
	f->arg = arg;
	f->caller = caller;
	f->ended = false;
	f->timed = false;
	log_trace_get(trace);
	if (fresh)
		fiber_enter(caller, f);
	else
		fiber_switch(caller, f);
	fiber_reap(f);
	fiber_run_ready();
	log_trace_set(trace);
}

void
fiber_call(fiber_fn fn, void *arg)
{
	if (fiber_thread.running != NULL)
		fn(arg);
	else
		fiber_start(fn, arg);
}

struct fiber *
fiber_self(void)
{
	return fiber_thread.running;
}

void
fiber_suspend(void)
{
	struct fiber *f = fiber_thread.running, *caller;
	char trace[LOG_TRACE_MAX];

	assert(f != NULL);
	caller = f->caller;
	f->caller = NULL;
	if (f->timed)
		f->cpu_ns = fiber_cpu_ns();
	log_trace_get(trace);
	fiber_switch(f, caller);
	log_trace_set(trace);
	if (f->timed)
		f->cpu_from = clock_thread_ns();
}

void
fiber_resume(struct fiber *f)
{
	struct fiber *caller = fiber_current();
	char trace[LOG_TRACE_MAX];

	assert(f->caller == NULL && !f->ended);
	f->caller = caller;
	log_trace_get(trace);
	fiber_switch(caller, f);
	fiber_reap(f);
	fiber_run_ready();
	log_trace_set(trace);
}

void
fiber_cpu_begin(void)
{
	struct fiber *f = fiber_thread.running;

	assert(f != NULL);
	f->timed = true;
	f->cpu_ns = 0;
	f->cpu_from = clock_thread_ns();
}

int64_t
fiber_cpu_ns(void)
{
	const struct fiber *f = fiber_thread.running;

	assert(f != NULL && f->timed);
	return f->cpu_ns + clock_thread_ns() - f->cpu_from;
}

size_t
fiber_count(void)
{
	return fiber_thread.n;
}

/* ---- groups ---- */

/* f waits; it continues once the thread's own stack is reached again. */
static void
fiber_make_ready(struct fiber *f)
{
	f->next = NULL;
	if (fiber_thread.ready == NULL)
		fiber_thread.ready_end = &fiber_thread.ready;
	*fiber_thread.ready_end = f;
	fiber_thread.ready_end = &f->next;
}

struct fiber_member {
	struct fiber_group *g;
	fiber_fn fn;
	void *arg;
};

static void
fiber_group_main(void *arg)
{
	struct fiber_member m = *(struct fiber_member *)arg;

	m.fn(m.arg);
	if (--m.g->n == 0 && m.g->waits != NULL)
		fiber_make_ready(m.g->waits);
}

void
fiber_group_start(struct fiber_group *g, fiber_fn fn, void *arg)
{
	struct fiber_member m = { g, fn, arg };

	g->n++;
	fiber_start(fiber_group_main, &m);
}

void
fiber_group_wait(struct fiber_group *g)
{
	assert(fiber_thread.running != NULL);
	g->waits = fiber_thread.running;
	if (g->n > 0)
		fiber_suspend();
	g->waits = NULL;
}

/* ---- the lock ---- */

struct fiber_pending {
	struct fiber *fiber;
	struct fiber_pending *next;
};

void
fiber_lock(struct fiber_lock *l)
{
	struct fiber_pending me = { fiber_thread.running, NULL };

	assert(me.fiber != NULL);
	if (l->holder == NULL) {
		l->holder = me.fiber;
		return;
	}
	if (l->first == NULL)
		l->end = &l->first;
	*l->end = &me;
	l->end = &me.next;
	fiber_suspend();
}

void
fiber_unlock(struct fiber_lock *l)
{
	struct fiber_pending *w = l->first;

	assert(l->holder == fiber_thread.running);
	l->holder = NULL;
	if (w == NULL)
		return;
	l->first = w->next;
	l->holder = w->fiber;
	fiber_make_ready(w->fiber);
}
