/*
 * bed: a nats-server, a loop run by the test itself, and buses on it.
 *
 * The loop runs only inside bed_until(), on the test's own thread; between two
 * calls the test may touch everything the loop owns.
 */
#ifndef BED_H
#define BED_H

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "core/loop.h"
#include "core/metric.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define BED_MS 10000

struct bed {
	struct tk_server nats;
	struct loop *loop;
	struct metric_set *metrics; /* of the first bus */
	struct bus *bus;            /* the first */
};

/* Run the loop until cond(arg); false after ms. */
static inline bool
bed_until(struct bed *e, bool (*cond)(void *arg), void *arg, int ms)
{
	return tk_loop_until(e->loop, cond, arg, ms);
}

static inline bool
bed_is_up(void *arg)
{
	return bus_up(arg);
}

static inline bool
bed_is_down(void *arg)
{
	return !bus_up(arg);
}

static inline bool
bed_never(void *arg)
{
	(void)arg;
	return false;
}

static inline bool
bed_is_set(void *arg)
{
	return *(bool *)arg;
}

static inline void
bed_set(void *arg)
{
	*(bool *)arg = true;
}

/* A bus on the bed's loop, not waited for. */
static inline struct bus *
bed_bus_new(struct bed *e, const char *name, struct metric_set *metrics)
{
	struct bus_opts o = { .loop = e->loop,
		.url = e->nats.url,
		.name = name,
		.metrics = metrics };
	struct bus *b = NULL;

	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	return b;
}

/* A bus that is connected. */
static inline struct bus *
bed_bus(struct bed *e, const char *name)
{
	struct bus *b = bed_bus_new(e, name, NULL);

	ck_assert(bed_until(e, bed_is_up, b, BED_MS));
	return b;
}

static inline void
bed_start(struct bed *e)
{
	memset(e, 0, sizeof(*e));
	tk_server_start(&e->nats, TK_NATS);
	e->loop = loop_new(4096);
	e->metrics = metric_set_new();
	e->bus = bed_bus_new(e, "test", e->metrics);
	ck_assert(bed_until(e, bed_is_up, e->bus, BED_MS));
}

static inline void
bed_stop(struct bed *e)
{
	bus_free(e->bus);
	loop_free(e->loop);
	metric_set_free(e->metrics);
}

/* Whether every thread of a process is stopped. */
static inline bool
bed_is_frozen(void *arg)
{
	const struct tk_proc *p = arg;
	char path[64], text[512];
	struct dirent *t;
	bool frozen = true;
	DIR *d;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while (frozen && (t = readdir(d)) != NULL) {
		if (t->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat",
		    (int)p->pid, t->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
		frozen = strstr(text, ") T ") != NULL;
	}
	closedir(d);
	return frozen;
}

/* Stop the server; what is sent to it from now on waits for a SIGCONT. */
static inline void
bed_freeze(struct bed *e)
{
	tk_signal(&e->nats.proc, SIGSTOP);
	ck_assert(tk_until(bed_is_frozen, &e->nats.proc, BED_MS));
}

static inline int64_t
bed_counter(struct bed *e, const char *name)
{
	return metric_value(metric_counter(e->metrics, name, "", NULL));
}

static inline int64_t
bed_gauge(struct bed *e, const char *name)
{
	return metric_value(metric_gauge(e->metrics, name, "", NULL));
}

/* What came back for one request. */
struct answer {
	int calls;
	enum rc rc;
	size_t n;
	bool absent;
	char body[256]; /* its beginning */
	struct mono at;
};

static inline void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct answer *a = arg;

	a->calls++;
	a->rc = rc;
	a->n = data.n;
	a->absent = data.p == NULL;
	a->at = clock_mono();
	str_copy(data, a->body, sizeof(a->body));
}

static inline bool
is_answered(void *arg)
{
	return ((const struct answer *)arg)->calls > 0;
}

static inline struct wall
in_ms(int ms)
{
	return (struct wall){ clock_wall().ms + ms };
}

/* Start a request that ends in *a. */
static inline enum rc
ask(struct bus *b, const char *subject, struct str data, int ms,
    struct answer *a)
{
	struct bus_meta meta = { .deadline = in_ms(ms) };

	memset(a, 0, sizeof(*a));
	return bus_request(b, subject, data, &meta,
	    (struct bus_reply_handler){ .fn = on_answer, .arg = a }, NULL);
}

/* Ask and wait for the end; the code it ended with. */
static inline enum rc
ask_wait(struct bed *e, struct bus *b, const char *subject, const char *data,
    struct answer *a)
{
	ck_assert_int_eq(ask(b, subject, str_of(data), 3000, a), RC_OK);
	ck_assert(bed_until(e, is_answered, a, BED_MS));
	ck_assert_int_eq(a->calls, 1);
	return a->rc;
}

/* A handler that sends back what it got, and counts in *arg (an int). */
static inline void
on_echo(void *arg, struct bus_msg *m)
{
	if (arg != NULL)
		++*(int *)arg;
	ck_assert_int_eq(bus_reply(m, bus_msg_data(m)), RC_OK);
}

static inline void
serve(struct bus *b, const char *subject, bus_msg_fn fn, void *arg)
{
	ck_assert_int_eq(bus_subscribe(b, subject, NULL, fn, arg, NULL), RC_OK);
}

#endif /* !BED_H */
