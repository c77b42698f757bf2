#include "testkit/bus_fixture.h"

#include <dirent.h>

bool
bus_fixture_until(
    struct bus_fixture *e, bool (*cond)(void *arg), void *arg, int ms)
{
	return tk_loop_until(e->loop, cond, arg, ms);
}

bool
bus_fixture_is_up(void *arg)
{
	return bus_up(arg);
}

bool
bus_fixture_is_down(void *arg)
{
	return !bus_up(arg);
}

bool
bus_fixture_never(void *arg)
{
	(void)arg;
	return false;
}

bool
bus_fixture_is_set(void *arg)
{
	return *(bool *)arg;
}

void
bus_fixture_set(void *arg)
{
	*(bool *)arg = true;
}

struct bus *
bus_fixture_bus_new(
    struct bus_fixture *e, const char *name, struct metric_set *metrics)
{
	struct bus_opts o = { .loop = e->loop,
		.url = e->nats.url,
		.name = name,
		.metrics = metrics };
	struct bus *b = NULL;

	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	return b;
}

struct bus *
bus_fixture_bus(struct bus_fixture *e, const char *name)
{
	struct bus *b = bus_fixture_bus_new(e, name, NULL);

	BUS_FIXTURE_WAIT(e, bus_fixture_is_up, b);
	return b;
}

void
bus_fixture_start(struct bus_fixture *e)
{
	memset(e, 0, sizeof(*e));
	tk_server_start(&e->nats, TK_NATS);
	e->loop = loop_new(4096);
	e->metrics = metric_set_new();
	e->bus = bus_fixture_bus_new(e, "test", e->metrics);
	BUS_FIXTURE_WAIT(e, bus_fixture_is_up, e->bus);
}

void
bus_fixture_stop(struct bus_fixture *e)
{
	bus_free(e->bus);
	loop_free(e->loop);
	metric_set_free(e->metrics);
}

/* Whether every thread of a process is stopped. */
static bool
bus_fixture_is_frozen(void *arg)
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

void
bus_fixture_freeze(struct bus_fixture *e)
{
	tk_signal(&e->nats.proc, SIGSTOP);
	ck_assert(
	    tk_until(bus_fixture_is_frozen, &e->nats.proc, BUS_FIXTURE_MS));
}

int64_t
bus_fixture_counter(struct bus_fixture *e, const char *name)
{
	return metric_value(metric_counter(e->metrics, name, "", NULL));
}

int64_t
bus_fixture_gauge(struct bus_fixture *e, const char *name)
{
	return metric_value(metric_gauge(e->metrics, name, "", NULL));
}

void
bus_fixture_on_reply(void *arg, enum rc rc, struct str data)
{
	struct bus_fixture_reply *a = arg;

	a->calls++;
	a->rc = rc;
	a->n = data.n;
	a->absent = data.p == NULL;
	a->at = clock_mono();
	str_copy(data, a->body, sizeof(a->body));
}

bool
bus_fixture_is_replied(void *arg)
{
	return ((const struct bus_fixture_reply *)arg)->calls > 0;
}

struct wall
bus_fixture_in_ms(int ms)
{
	return (struct wall){ clock_wall().ms + ms };
}

enum rc
bus_fixture_request(struct bus *b, const char *subject, struct str data, int ms,
    struct bus_fixture_reply *a)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(ms) };

	memset(a, 0, sizeof(*a));
	return bus_request(b, subject, data, &meta,
	    (struct bus_reply_handler){ .fn = bus_fixture_on_reply, .arg = a },
	    NULL);
}

enum rc
bus_fixture_call(struct bus_fixture *e, struct bus *b, const char *subject,
    const char *data, struct bus_fixture_reply *a)
{
	ck_assert_int_eq(
	    bus_fixture_request(b, subject, str_of(data), 3000, a), RC_OK);
	BUS_FIXTURE_WAIT(e, bus_fixture_is_replied, a);
	ck_assert_int_eq(a->calls, 1);
	return a->rc;
}

void
bus_fixture_on_echo(void *arg, struct bus_msg *m)
{
	if (arg != NULL)
		++*(int *)arg;
	ck_assert_int_eq(bus_reply(m, bus_msg_data(m)), RC_OK);
}

void
bus_fixture_serve(struct bus *b, const char *subject, bus_msg_fn fn, void *arg)
{
	ck_assert_int_eq(bus_subscribe(b, subject, NULL, fn, arg, NULL), RC_OK);
}

struct bus_fixture_json {
	int calls;
	enum rc rc;
	json_t *json;
};

static void
bus_fixture_on_json(void *arg, enum rc rc, struct str data)
{
	struct bus_fixture_json *d = arg;

	d->calls++;
	d->rc = rc;
	if (rc == RC_OK)
		d->json =
		    json_loadb(data.p, data.n, JSON_REJECT_DUPLICATES, NULL);
}

static bool
bus_fixture_has_json(void *arg)
{
	return ((struct bus_fixture_json *)arg)->calls > 0;
}

json_t *
bus_fixture_request_json(
    struct bus_fixture *e, const char *subject, const char *body)
{
	struct bus_fixture_json d = { 0, RC_OK, NULL };
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(3000) };

	ck_assert_int_eq(bus_request(e->bus, subject, str_of(body), &meta,
			     (struct bus_reply_handler){
				 .fn = bus_fixture_on_json, .arg = &d },
			     NULL),
	    RC_OK);
	BUS_FIXTURE_WAIT(e, bus_fixture_has_json, &d);
	ck_assert_int_eq(d.rc, RC_OK);
	ck_assert(json_is_object(d.json));
	return d.json;
}

void
bus_fixture_check_text(const json_t *o, const char *key, const char *want)
{
	ck_assert_msg(json_is_string(json_object_get(o, key)), "no %s", key);
	ck_assert_str_eq(json_string_value(json_object_get(o, key)), want);
}

void
bus_fixture_check_int(const json_t *o, const char *key, long long want)
{
	ck_assert_msg(json_is_integer(json_object_get(o, key)), "no %s", key);
	ck_assert_int_eq(json_integer_value(json_object_get(o, key)), want);
}
