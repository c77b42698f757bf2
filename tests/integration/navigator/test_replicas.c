/*
 * Two replicas: each cycle has its effects a single time, whichever dies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/navigator_fixture.h"

#define SOULS 1000
/* Where a replica is killed. */
#define SOULS_KILLED 200

struct seen {
	json_t *cycles; /* cycle -> soul */
	size_t events;
};

static void
see(void *arg, json_t *j)
{
	struct seen *s = arg;
	json_t *p = json_object_get(j, "payload");

	s->events++;
	json_object_set(s->cycles,
	    json_string_value(json_object_get(p, "cycle_id")),
	    json_object_get(p, "soul_id"));
}

struct waiting {
	struct navigator_fixture *f;
	size_t n, found;
};

static bool
has_suggestions(void *arg)
{
	struct waiting *w = arg;
	struct seen s = { json_object(), 0 };

	w->found = tk_nats_stored(w->f->nc, "SOUL_EVENTS",
	    "soul.event.navigator_suggestion.*", see, &s);
	ck_assert_uint_eq(json_object_size(s.cycles), s.events);
	json_decref(s.cycles);
	return w->found >= w->n;
}

static void
put_souls(struct navigator_fixture *f, int n)
{
	char id[16];

	for (int i = 2; i <= n; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		tk_state_soul(&f->db, id, "INFP", "u1");
	}
}

static void
turn_of_all(struct navigator_fixture *f, int n)
{
	char id[16];

	for (int i = 1; i <= n; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		navigator_fixture_turn(f, id, "sadness");
	}
}

static void
start(struct navigator_fixture *f, int n)
{
	navigator_fixture_servers(f);
	navigator_fixture_llm(f);
	put_souls(f, n);
	f->env[0] = "NAV_LEASE_SECONDS=2";
	f->env[1] = "NAV_AT_ONCE=16";
	for (int i = 0; i < 2; i++)
		navigator_fixture_spawn(f, i);
}

TEST_T(each_cycle_runs_a_single_time, 120)
{
	struct navigator_fixture f;
	struct waiting w = { &f, SOULS, 0 };

	start(&f, SOULS);
	turn_of_all(&f, SOULS);
	ck_assert_msg(tk_until(has_suggestions, &w, NAVIGATOR_FIXTURE_MS),
	    "%zu suggestions", w.found);
	ck_assert_uint_eq(w.found, SOULS);
	ck_assert_int_eq(navigator_fixture_calls(&f), SOULS);
	navigator_fixture_stop(&f);
}

TEST_T(a_cycle_of_a_killed_replica_goes_on, 120)
{
	struct navigator_fixture f;
	struct waiting w = { &f, 20, 0 };

	start(&f, SOULS_KILLED);
	turn_of_all(&f, SOULS_KILLED);
	ck_assert(tk_until(has_suggestions, &w, NAVIGATOR_FIXTURE_MS));
	tk_service_kill(&f.nav[0]);
	w.n = SOULS_KILLED;
	ck_assert_msg(tk_until(has_suggestions, &w, NAVIGATOR_FIXTURE_MS),
	    "%zu suggestions", w.found);
	ck_assert_uint_eq(w.found, SOULS_KILLED);
	navigator_fixture_stop(&f);
}
