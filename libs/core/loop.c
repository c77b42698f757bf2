/*
 * One iteration waits in epoll, then handles descriptors, due timers, a bounded
 * number of posts and deferred work, so that none of them starves the others.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"

#define EVENTS_MAX   64
#define POSTS_MAX    128 /* run in one iteration */
#define SLEEP_MAX_MS 1000
#define YIELDS       2  /* before the loop sleeps */
#define NOTES_MAX    64 /* read from an error queue at a time */

struct post {
	loop_fn fn;
	void *arg;
};

/* A timer in the heap. */
struct timer_entry {
	int64_t key;  /* when it runs, ns */
	uint64_t seq; /* order of setting, which breaks ties */
	struct loop_timer *t;
};

/* A binary heap; p[0] is the next timer to run. */
struct timer_heap {
	struct timer_entry *p;
	size_t n, cap;
	uint64_t seq;
};

struct loop {
	pthread_mutex_t lock; /* protects the members up to closed */
	pthread_cond_t room;  /* the inbox got room, or was closed */
	struct post *ring;
	size_t max, head, n;
	size_t waiting; /* threads in loop_post_wait() */
	bool awake;     /* the loop will check the inbox before it sleeps */
	bool closed;

	int epfd, wakefd;
	struct epoll_event events[EVENTS_MAX];
	int n_events,
	    event; /* the batch being handled, and its current event */

	struct timer_heap timers;
	int64_t floor; /* no timer set from now on runs before this */

	struct loop_deferred *deferred, **deferred_end;

	bool stop;
	pthread_t owner;               /* while running */
	_Atomic bool running;          /* orders reads of owner */
	_Atomic int64_t came_round_ns; /* 0: not running */
};

/* A failure is a bug, or the machine has no resources left. */
static void __attribute__((noreturn)) loop_die(const char *what)
{
	int err = errno;

	log_error("loop.broken", LOG_S("call", what),
	    LOG_S("error", strerrordesc_np(err)));
	abort();
}

static bool
loop_on_owner(const struct loop *l)
{
	return !atomic_load(&l->running) ||
	    pthread_equal(l->owner, pthread_self());
}

struct loop *
loop_new(size_t inbox_max)
{
	struct loop *l = mem_zalloc(sizeof(*l));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = l };

	assert(inbox_max > 0);
	(void)pthread_mutex_init(&l->lock, NULL);
	(void)pthread_cond_init(&l->room, NULL);
	l->ring = mem_calloc(inbox_max, sizeof(*l->ring));
	l->max = inbox_max;
	l->awake = true;
	l->deferred_end = &l->deferred;
	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epfd < 0)
		loop_die("epoll_create1");
	l->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->wakefd < 0)
		loop_die("eventfd");
	if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, l->wakefd, &ev) != 0)
		loop_die("epoll_ctl");
	return l;
}

/* ---- the inbox ---- */

static void
loop_wake(struct loop *l)
{
	/* Non-blocking, so it cannot be interrupted. */
	(void)eventfd_write(l->wakefd, 1);
}

static void
inbox_push(struct loop *l, loop_fn fn, void *arg)
{
	size_t at = l->head + l->n;

	l->ring[at < l->max ? at : at - l->max] = (struct post){ fn, arg };
	l->n++;
	/* With the lock held: the post may stop and free the loop. */
	if (!l->awake)
		loop_wake(l);
	l->awake = true;
}

static enum rc
inbox_post(struct loop *l, loop_fn fn, void *arg, bool wait)
{
	enum rc rc = RC_OK;

	(void)pthread_mutex_lock(&l->lock);
	while (wait && l->n == l->max && !l->closed) {
		l->waiting++;
		(void)pthread_cond_wait(&l->room, &l->lock);
		l->waiting--;
	}
	if (l->closed)
		rc = RC_DOWN;
	else if (l->n == l->max)
		rc = RC_RETRY;
	else
		inbox_push(l, fn, arg);
	(void)pthread_mutex_unlock(&l->lock);
	return rc;
}

enum rc
loop_post(struct loop *l, loop_fn fn, void *arg)
{
	return inbox_post(l, fn, arg, false);
}

enum rc
loop_post_wait(struct loop *l, loop_fn fn, void *arg)
{
	/* The loop would wait for itself. */
	assert(!atomic_load(&l->running) ||
	    !pthread_equal(l->owner, pthread_self()));
	return inbox_post(l, fn, arg, true);
}

void
loop_close(struct loop *l)
{
	(void)pthread_mutex_lock(&l->lock);
	l->closed = true;
	(void)pthread_cond_broadcast(&l->room);
	(void)pthread_mutex_unlock(&l->lock);
}

size_t
loop_inbox_len(struct loop *l)
{
	size_t n;

	(void)pthread_mutex_lock(&l->lock);
	n = l->n;
	(void)pthread_mutex_unlock(&l->lock);
	return n;
}

static bool
inbox_pop(struct loop *l, struct post *p)
{
	bool some;

	(void)pthread_mutex_lock(&l->lock);
	some = l->n != 0;
	if (some) {
		*p = l->ring[l->head];
		l->head = l->head + 1 < l->max ? l->head + 1 : 0;
		l->n--;
		if (l->waiting != 0)
			(void)pthread_cond_signal(&l->room);
	}
	(void)pthread_mutex_unlock(&l->lock);
	return some;
}

static void
loop_run_posts(struct loop *l)
{
	struct post p;

	for (int i = 0; i < POSTS_MAX && !l->stop && inbox_pop(l, &p); i++)
		p.fn(p.arg);
}

/* ---- timers ---- */

static bool
timer_heap_before(const struct timer_entry *a, const struct timer_entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->t->at.ns != b->t->at.ns)
		return a->t->at.ns < b->t->at.ns;
	return a->seq < b->seq;
}

static void
timer_heap_store(struct timer_heap *h, size_t i, struct timer_entry d)
{
	h->p[i] = d;
	d.t->pos = i + 1;
}

static void
timer_heap_sift_up(struct timer_heap *h, size_t i, struct timer_entry d)
{
	while (i > 0) {
		size_t parent = (i - 1) / 2;

		if (!timer_heap_before(&d, &h->p[parent]))
			break;
		timer_heap_store(h, i, h->p[parent]);
		i = parent;
	}
	timer_heap_store(h, i, d);
}

static void
timer_heap_sift_down(struct timer_heap *h, size_t i, struct timer_entry d)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n &&
		    timer_heap_before(&h->p[child + 1], &h->p[child]))
			child++;
		if (!timer_heap_before(&h->p[child], &d))
			break;
		timer_heap_store(h, i, h->p[child]);
		i = child;
	}
	timer_heap_store(h, i, d);
}

static void
timer_heap_add(struct timer_heap *h, int64_t key, struct loop_timer *t)
{
	struct timer_entry d = { key, h->seq++, t };

	if (h->n == h->cap) {
		h->cap = h->cap != 0 ? h->cap * 2 : 16;
		h->p = mem_realloc(h->p, h->cap * sizeof(*h->p));
	}
	timer_heap_sift_up(h, h->n++, d);
}

static void
timer_heap_remove(struct timer_heap *h, struct loop_timer *t)
{
	size_t i = t->pos - 1;
	struct timer_entry last;

	if (t->pos == 0)
		return;
	assert(i < h->n && h->p[i].t == t);
	t->pos = 0;
	last = h->p[--h->n];
	if (i == h->n)
		return;
	if (i > 0 && timer_heap_before(&last, &h->p[(i - 1) / 2]))
		timer_heap_sift_up(h, i, last);
	else
		timer_heap_sift_down(h, i, last);
}

static void
timer_heap_free(struct timer_heap *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		h->p[i].t->pos = 0;
	free(h->p);
	*h = (struct timer_heap){ 0 };
}

void
loop_timer_cancel(struct loop *l, struct loop_timer *t)
{
	assert(loop_on_owner(l));
	timer_heap_remove(&l->timers, t);
}

void
loop_timer_set(
    struct loop *l, struct loop_timer *t, struct mono at, loop_fn fn, void *arg)
{
	loop_timer_cancel(l, t);
	t->at = at;
	t->fn = fn;
	t->arg = arg;
	if (at.ns != 0)
		timer_heap_add(
		    &l->timers, at.ns > l->floor ? at.ns : l->floor, t);
}

static void
loop_run_timers(struct loop *l)
{
	int64_t now = clock_mono().ns;

	/* Timers set by callbacks run in the next iteration at the earliest,
	 * or one that always sets itself would never end this loop. */
	l->floor = now + 1;
	while (l->timers.n != 0 && !l->stop && l->timers.p[0].key <= now) {
		struct loop_timer *t = l->timers.p[0].t;

		loop_timer_cancel(l, t);
		t->fn(t->arg);
	}
}

/* ---- deferred work ---- */

void
loop_defer(struct loop *l, struct loop_deferred *d, loop_fn fn, void *arg)
{
	assert(loop_on_owner(l));
	if (d->prev != NULL)
		return;
	*d = (struct loop_deferred){ fn, arg, NULL, l->deferred_end };
	*l->deferred_end = d;
	l->deferred_end = &d->next;
}

void
loop_defer_cancel(struct loop *l, struct loop_deferred *d)
{
	assert(loop_on_owner(l));
	if (d->prev == NULL)
		return;
	*d->prev = d->next;
	if (d->next != NULL)
		d->next->prev = d->prev;
	else
		l->deferred_end = d->prev;
	d->prev = NULL;
}

static void
loop_run_deferred(struct loop *l)
{
	struct loop_deferred end = { 0 }, *d;

	if (l->deferred == NULL)
		return;
	/* A mark after what is due now. */
	loop_defer(l, &end, NULL, NULL);
	while ((d = l->deferred) != &end && !l->stop) {
		loop_defer_cancel(l, d);
		d->fn(d->arg);
	}
	loop_defer_cancel(l, &end);
}

/* ---- descriptors ---- */

/* Drop pending events of w, which is no longer watched. */
static void
loop_forget_events(struct loop *l, const struct loop_fd *w)
{
	for (int i = l->event + 1; i < l->n_events; i++)
		if (l->events[i].data.ptr == w)
			l->events[i].data.ptr = NULL;
}

void
loop_fd_watch(struct loop *l, struct loop_fd *w, unsigned events)
{
	struct epoll_event ev = { .events = 0, .data.ptr = w };
	int op = w->events != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	assert(loop_on_owner(l));
	assert((events & ~(LOOP_READ | LOOP_WRITE)) == 0);
	if (events == w->events)
		return;
	if (events == 0) {
		/* Fails if w->fd was closed, which has removed it. */
		(void)epoll_ctl(l->epfd, EPOLL_CTL_DEL, w->fd, &ev);
		loop_forget_events(l, w);
		w->events = 0;
		return;
	}
	if ((events & LOOP_READ) != 0)
		ev.events |= EPOLLIN;
	if ((events & LOOP_WRITE) != 0)
		ev.events |= EPOLLOUT;
	if (epoll_ctl(l->epfd, op, w->fd, &ev) != 0) {
		/* w->fd was closed and reused. */
		if (op != EPOLL_CTL_MOD || errno != ENOENT ||
		    epoll_ctl(l->epfd, EPOLL_CTL_ADD, w->fd, &ev) != 0)
			loop_die("epoll_ctl");
	}
	w->events = events;
}

static void
loop_drain_wakefd(struct loop *l)
{
	eventfd_t count;

	(void)eventfd_read(l->wakefd, &count);
}

/*
 * The error queue of a socket (ICMP messages, say) is not read with its data,
 * and is reported as an event until it is.
 */
static void
loop_drain_errqueue(int fd)
{
	char note[256];
	int n = NOTES_MAX, how = MSG_ERRQUEUE | MSG_DONTWAIT;

	while (n-- > 0 && recv(fd, note, sizeof(note), how) >= 0)
		continue;
}

static void
loop_call_fd(struct loop_fd *w, unsigned got)
{
	unsigned events = 0;

	if ((got & EPOLLERR) != 0)
		loop_drain_errqueue(w->fd);

	if ((got & EPOLLIN) != 0)
		events |= LOOP_READ;
	if ((got & EPOLLOUT) != 0)
		events |= LOOP_WRITE;
	/* An earlier callback may have stopped watching for one of them. */
	events &= w->events;
	if ((got & (EPOLLERR | EPOLLHUP)) != 0)
		events = LOOP_READ | LOOP_WRITE;
	if (events != 0)
		w->fn(w->arg, events);
}

static void
loop_run_events(struct loop *l)
{
	for (l->event = 0; l->event < l->n_events && !l->stop; l->event++) {
		const struct epoll_event *ev = &l->events[l->event];

		if (ev->data.ptr == l)
			loop_drain_wakefd(l);
		else if (ev->data.ptr != NULL)
			loop_call_fd(ev->data.ptr, ev->events);
	}
	l->n_events = 0;
}

/* ---- running ---- */

/*
 * How long to sleep; unless it is 0, posts wake the loop from now on.  Yields
 * first, since letting a thread post before is cheaper than being woken.
 */
static int
loop_sleep_ms(struct loop *l)
{
	int64_t ms = SLEEP_MAX_MS;
	bool posts = false;

	for (int left = YIELDS; left >= 0 && !posts; left--) {
		(void)pthread_mutex_lock(&l->lock);
		posts = l->n != 0;
		l->awake = posts || left > 0;
		(void)pthread_mutex_unlock(&l->lock);
		if (left > 0 && !posts)
			(void)sched_yield();
	}
	if (posts || l->deferred != NULL)
		return 0;
	if (l->timers.n != 0) {
		int64_t ns = mono_diff_ns(
		    (struct mono){ l->timers.p[0].key }, clock_mono());

		/* Rounded up, or the loop would spin in the last millisecond.
		 */
		if (ns <= 0)
			ms = 0;
		else if (ns < SLEEP_MAX_MS * INT64_C(1000000))
			ms = (ns + 999999) / 1000000;
	}
	return (int)ms;
}

static void
loop_iterate(struct loop *l)
{
	int n = epoll_wait(l->epfd, l->events, EVENTS_MAX, loop_sleep_ms(l));

	if (n < 0 && errno != EINTR)
		loop_die("epoll_wait");
	l->n_events = n > 0 ? n : 0;
	atomic_store(&l->came_round_ns, clock_mono().ns);
	loop_run_events(l);
	loop_run_timers(l);
	loop_run_posts(l);
	loop_run_deferred(l);
}

void
loop_run(struct loop *l)
{
	assert(!atomic_load(&l->running));
	l->owner = pthread_self();
	atomic_store(&l->came_round_ns, clock_mono().ns);
	atomic_store(&l->running, true);
	while (!l->stop)
		loop_iterate(l);
	l->stop = false;
	atomic_store(&l->running, false);
	atomic_store(&l->came_round_ns, 0);
}

bool
loop_is_running(const struct loop *l)
{
	return atomic_load(&l->running);
}

void
loop_stop(struct loop *l)
{
	assert(loop_on_owner(l));
	l->stop = true;
}

int64_t
loop_idle_ms(const struct loop *l)
{
	int64_t at = atomic_load(&l->came_round_ns);

	if (at == 0)
		return 0;
	return mono_diff_ms(clock_mono(), (struct mono){ at });
}

void
loop_free(struct loop *l)
{
	struct post p;

	if (l == NULL)
		return;
	assert(!atomic_load(&l->running));
	loop_close(l);
	while (inbox_pop(l, &p))
		p.fn(p.arg);
	while (l->deferred != NULL)
		loop_defer_cancel(l, l->deferred);
	(void)close(l->wakefd);
	(void)close(l->epfd);
	(void)pthread_cond_destroy(&l->room);
	(void)pthread_mutex_destroy(&l->lock);
	timer_heap_free(&l->timers);
	free(l->ring);
	free(l);
}
